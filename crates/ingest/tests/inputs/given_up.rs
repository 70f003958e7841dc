//! Ingests that are given up: one that is cancelled and one whose future is dropped leave nothing in the store.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{ErrorKind, IngestOptions, Store};
use tokio::runtime::Runtime;

use crate::support::long_log;

/// A store, and a pipe with the first half of a log, of which the ingest waits for the rest.
struct Waiting {
    folder: tempfile::TempDir,
    store: Store,
    pipe: PathBuf,
    options: IngestOptions,
}

impl Waiting {
    fn new(in_lake: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("store");
        let store = match in_lake {
            true => {
                Store::from(ParquetStore::open_bucket(&format!("file://{}", place.display()), &[]).unwrap())
            }
            false => Store::folder(place).unwrap(),
        };
        let pipe = folder.path().join("log.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut options = IngestOptions::default();
        (options.framework, options.test) = (Some("go".into()), Some("t".into()));
        Self { folder, store, pipe, options }
    }

    /// Writes the first half of the log, and gives the pipe, whose end is the log's.
    fn half(&self) -> File {
        let log = long_log();
        let mut pipe = File::options().write(true).open(&self.pipe).unwrap();
        pipe.write_all(&log[..log.len() / 2]).unwrap();
        pipe
    }

    fn assert_nothing_is_stored(&self, runtime: &Runtime) {
        assert_eq!(runtime.block_on(self.store.runs()).unwrap(), []);
        let left = |folder: &str| {
            let entries = std::fs::read_dir(self.folder.path().join("store").join(folder));
            entries.map(|entries| entries.count()).unwrap_or_default()
        };
        assert_eq!((left("staging"), left("runs/go+t")), (0, 0));
    }
}

fn each_store(check: impl Fn(&Waiting, &Runtime)) {
    let runtime = Runtime::new().unwrap();
    for in_lake in [false, true] {
        let waiting = Waiting::new(in_lake);
        check(&waiting, &runtime);
        waiting.assert_nothing_is_stored(&runtime);
    }
}

#[test]
fn cancelled_ingest_on_a_thread_of_its_own_fails_and_stores_nothing() {
    each_store(|waiting, runtime| {
        let (store, files, options) =
            (waiting.store.clone(), [waiting.pipe.clone()], waiting.options.clone());
        let handle = runtime.handle().clone();
        let task = runtime.spawn_blocking(move || {
            handle.block_on(store.ingest(&files, &options)).map(|done| done.info.key)
        });
        let pipe = waiting.half();
        waiting.options.progress.cancel();
        drop(pipe);
        let error = runtime.block_on(task).unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error:?}");
        assert!(waiting.options.progress.is_stopping());
    });
}

#[test]
fn ingest_whose_future_is_dropped_stores_nothing() {
    each_store(|waiting, runtime| {
        let (store, files, options) =
            (waiting.store.clone(), [waiting.pipe.clone()], waiting.options.clone());
        let task =
            runtime.spawn(async move { store.ingest(&files, &options).await.map(|done| done.info.key) });
        let pipe = waiting.half();
        task.abort();
        drop(pipe);
        assert!(runtime.block_on(task).unwrap_err().is_cancelled());
    });
}
