//! Ingesting into a store of the test's own, and reading all of it back.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perfpipe_ingest::run::Reject;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{
    IngestOptions, Ingested, PipelineOptions, Result, RunKey, SampleBatch, SampleSink, StoredRun, ingest,
    stream,
};

use crate::read_back::{Row, rows};

/// A folder with files in it and a store beside them.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

/// Everything that a store gives back of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) run: StoredRun,
    pub(crate) rejects: Vec<Reject>,
    /// In the order of the logs.
    pub(crate) rows: Vec<Row>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a file of this content here.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn store(&self) -> ParquetStore {
        ParquetStore::open(self.path("data")).unwrap()
    }

    /// Ingests the files into the store, in the place of whatever it holds.
    pub(crate) fn ingest(&self, files: &[PathBuf], options: &IngestOptions) -> Result<Ingested> {
        block_on(ingest(&self.store(), files, options))
    }

    /// The one run of the store, once it was ingested.
    pub(crate) fn stored(&self, files: &[PathBuf], options: &IngestOptions) -> Stored {
        let key = self.ingest(files, options).unwrap().info.key;
        self.read(&key, options.keep_samples)
    }

    /// All that the store has of a run, which has samples or not.
    pub(crate) fn read(&self, key: &RunKey, has_samples: bool) -> Stored {
        let store = self.store();
        let (mut rejects, mut found) = (Vec::new(), Vec::new());
        let mut add_reject = |reject| {
            rejects.push(reject);
            Ok(())
        };
        let mut add_rows = |batch| {
            found.extend(rows(&batch));
            Ok(())
        };
        store.rejects(key, &mut add_reject).unwrap();
        if has_samples {
            store.samples(key, &mut add_rows).unwrap();
        }
        let mut run = store.read(key).unwrap().unwrap();
        run.info.ingested_at.clear();
        Stored { run, rejects, rows: found }
    }

    /// Nothing of an ingest that failed is to be seen.
    pub(crate) fn assert_empty(&self) {
        assert_eq!(self.store().runs().unwrap(), []);
        let left = |name: &str| std::fs::read_dir(self.path("data").join(name)).map_or(0, Iterator::count);
        assert_eq!(left("staging"), 0);
    }
}

/// The same rows, sorted.
pub(crate) fn ascending(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows
}

/// Does work that fails where it takes longer than this, in the place of hanging for ever.
pub(crate) fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || drop(done.send(work())));
    match ended.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it hangs: it has not ended within {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(thread.join().unwrap_err()),
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A key that is told, and these sizes. The smallest logs are read side by side.
pub(crate) fn options(workers: usize, block_size: usize, look_ahead: usize) -> IngestOptions {
    let sizes = PipelineOptions::default().with_workers(workers).with_block_size(block_size);
    let sizes = sizes.with_look_ahead(look_ahead).with_memory(4 * block_size);
    let sizes = sizes.with_readers(3).with_reader_bytes(1);
    IngestOptions::default().with_framework("f").with_test("t").with_sizes(sizes)
}

/// The usual sizes, and one reader.
pub(crate) fn usual() -> IngestOptions {
    by_readers(options(2, 1 << 20, 32 << 20), 1)
}

/// The same options, with this many readers.
pub(crate) fn by_readers(mut options: IngestOptions, readers: usize) -> IngestOptions {
    // No more than workers read.
    (options.sizes.readers, options.sizes.workers) = (readers, options.sizes.workers.max(readers));
    options
}

/// A sink that keeps everything, and counts how often it was told to begin again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keep {
    pub(crate) rows: Vec<Row>,
    pub(crate) restarts: usize,
}

impl SampleSink for Keep {
    fn batch(&mut self, batch: SampleBatch) -> Result<()> {
        self.rows.extend(rows(&batch));
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        *self = Self { rows: Vec::new(), restarts: self.restarts + 1 };
        Ok(())
    }
}

/// Streams the files.
pub(crate) fn streamed(files: &[PathBuf], options: &IngestOptions) -> Result<(Keep, Ingested)> {
    block_on(stream(Keep::default(), files, options))
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Writes bytes into a named pipe while `read` reads it.
#[cfg(unix)]
pub(crate) fn through_pipe<T>(desk: &Desk, name: &str, bytes: &[u8], read: impl FnOnce(PathBuf) -> T) -> T {
    let fifo = desk.path(name);
    let _ = std::fs::remove_file(&fifo);
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let failed = Arc::new(Mutex::new(None));
    std::thread::scope(|scope| {
        // A reader that gives up closes the pipe, which is no fault of the writer's.
        scope.spawn(|| *failed.lock().unwrap() = std::fs::write(&fifo, bytes).err());
        read(fifo.clone())
    })
}
