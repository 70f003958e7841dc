//! Runs to be stored, and the storing of them step by step.

use std::future::Future;
use std::path::{Path, PathBuf};

use perfpipe_ingest::counts::{Cell, CellKey, ErrorCount, InjectorLoad, LabelCount, Spread};
use perfpipe_ingest::run::{Reject, Replace, SourceFile};
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::store::RunStore;
use perfpipe_ingest::store::parquet::{ParquetStore, ParquetWriter};
use perfpipe_ingest::store::{BatchEncoder, RunWriter};
use perfpipe_ingest::{Result, RunInfo, RunKey, SampleBatch};

use crate::read_back::{Row, rows};
pub(crate) use crate::whole_run::{Example, finish};

/// A store in a folder of the test's own.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) store: ParquetStore,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(folder.path().join("data")).unwrap();
        Self { folder, store }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder of the one run that is stored here.
    pub(crate) fn run(&self) -> PathBuf {
        let [run] = names(&self.path().join("runs")).try_into().unwrap();
        self.path().join("runs").join(run)
    }

    /// The one generation of the one run that is stored here.
    pub(crate) fn generation(&self) -> PathBuf {
        let [name] = generations(&self.run()).try_into().unwrap();
        self.run().join(name)
    }
}

/// The names in a folder, ascending.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Changes what a run's manifest says, and seals it again.
pub(crate) fn edit_manifest(path: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let sealed = std::fs::read(path).unwrap();
    let mut sealed: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
    edit(&mut sealed["run"]);
    let run = sealed["run"].to_string();
    let (layout, crc32) = (&sealed["layout"], crc32fast::hash(run.as_bytes()));
    std::fs::write(path, format!("{{\"layout\":{layout},\"crc32\":{crc32},\"run\":{run}}}")).unwrap();
}

/// Makes the manifest of the one run say that its files are what they are by now.
pub(crate) fn reseal(place: &Place) {
    let generation = place.generation();
    let sums = |name: &String| {
        let bytes = std::fs::read(generation.join(name)).unwrap();
        let crc32: Vec<u32> = bytes.chunks(1 << 20).map(crc32fast::hash).collect();
        (name.clone(), serde_json::json!({"bytes": bytes.len(), "crc32": crc32}))
    };
    let files: serde_json::Map<_, _> = names(&generation).iter().map(sums).collect();
    edit_manifest(&place.run().join("manifest.json"), |run| run["files"] = files.into());
}

pub(crate) fn generations(run: &Path) -> Vec<String> {
    names(run).into_iter().filter(|name| name.starts_with("run-")).collect()
}

pub(crate) fn key() -> RunKey {
    RunKey::new("perfectnio", "2048")
}

/// A run of this many samples, told from others by `mark`, which is its failures' count.
pub(crate) fn example(mark: u64, samples: usize) -> Example {
    let mut info = RunInfo::new(key(), 1_795_203_738_609, 1_795_203_817_638);
    info.failures = mark;
    info.successes = samples as u64 - mark;
    info.rejects = 1;
    info.samples_stored = true;
    info.sources = vec![source("run.csv", "log"), source("cpu.csv", "cpu")];
    let mut reject = Reject::new("run.csv", 7, mark, "because", "1,2");
    reject.code = Some("not-a-number".into());
    Example {
        info,
        batch: batch(mark, samples),
        labels: vec!["a".into(), "b\n\"é\"".into()],
        injectors: vec![String::new(), "10.0.0.1".into()],
        cells: cells(mark, samples as u64),
        cpu: TimeSeries::new((0..90).map(|second| (1_795_203_730 + second, mark as f64 / 3.0)).collect()),
        errors: vec![ErrorCount {
            second: 0,
            label: "a".into(),
            response_code: "500".into(),
            message: "m".into(),
            transaction: false,
            count: mark,
        }],
        label_counts: vec![LabelCount {
            label: "a".into(),
            successes: samples as u64 - mark,
            failures: mark,
            transactions: 0,
        }],
        rejects: vec![reject],
    }
}

pub(crate) fn source(file: &str, kind: &str) -> SourceFile {
    SourceFile::new(file, kind.to_owned().into(), 5, 7)
}

fn batch(mark: u64, samples: usize) -> SampleBatch {
    let mut batch = SampleBatch::default();
    for at in 0..samples {
        let failed = (at as u64) < mark;
        batch.t_ms.push(at as i64 % 79_000);
        batch.label.push(if at % 2 == 0 { b"a" } else { b"b\n\"\xc3\xa9\"" });
        batch.elapsed.push(at as i32 % 300);
        batch.response_code.push(if failed { b"500" } else { b"200" });
        batch.success.push(!failed);
        batch.bytes.push(Some(at as i64));
        batch.sent_bytes.push((at % 3 == 0).then_some(121));
        batch.all_threads.push(Some(9));
        batch.latency.push(Some(at as i32 % 100));
        batch.idle_time.push(None);
        batch.connect.push(Some(0));
        batch.cpu.push((at % 5 != 0).then_some(at as f64 / 7.0));
        batch.injector.push_null();
        batch.transaction.push(false);
    }
    batch
}

/// The failures in one cell, and the other samples spread over all seconds.
fn cells(mark: u64, samples: u64) -> Vec<(CellKey, Cell)> {
    let (each, more) = ((samples - mark) / 80, (samples - mark) % 80);
    let successes = (0..80).map(|second| cell(second, mark, each + u64::from(u64::from(second) < more)));
    let (key, failed) = cell(0, mark, mark);
    std::iter::once((CellKey { success: false, ..key }, failed)).chain(successes).collect()
}

fn cell(second: u32, mark: u64, samples: u64) -> (CellKey, Cell) {
    let load = |injector| InjectorLoad { injector, samples: mark, threads: 3 };
    let cell = Cell {
        elapsed: vec![(1, samples / 2), (second as i32 + 2, samples - samples / 2)],
        latency: Spread { n: 4, sum: 9, min: 1, max: 3 },
        connect: 5,
        bytes: 6,
        sent_bytes: 7,
        before_boundary: 2,
        injectors: if second.is_multiple_of(2) { vec![load(1)] } else { vec![load(0), load(1)] },
    };
    (CellKey { second, label: second % 2, success: true, transaction: false }, cell)
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Begins a run and writes its samples, without committing it.
pub(crate) fn begin(store: &ParquetStore, example: &Example) -> Result<ParquetWriter> {
    block_on(async {
        let mut writer = store.begin(Some(&example.info.key), example.info.samples_stored).await?;
        write(&mut writer, &example.batch).await?;
        Ok(writer)
    })
}

pub(crate) async fn write(writer: &mut impl RunWriter, batch: &SampleBatch) -> Result<()> {
    let mut encoder = writer.encoder()?;
    if let Some(chunk) = encoder.encode(batch)? {
        writer.write(chunk).await?;
    }
    Ok(())
}

pub(crate) fn commit(writer: ParquetWriter, example: &Example, replace: Replace) -> Result<()> {
    block_on(finish(writer, example, replace))
}

pub(crate) fn store(store: &ParquetStore, example: &Example) -> Result<()> {
    commit(begin(store, example)?, example, Replace::Any)
}

/// The stored rows of a run, in their order.
pub(crate) fn stored_rows(store: &ParquetStore, key: &RunKey) -> Result<Vec<Row>> {
    let mut found = Vec::new();
    store.samples(key, &mut |batch| {
        found.extend(rows(&batch));
        Ok(())
    })?;
    Ok(found)
}

pub(crate) fn stored_rejects(store: &ParquetStore, key: &RunKey) -> Result<Vec<Reject>> {
    let mut rejects = Vec::new();
    store.rejects(key, &mut |reject| {
        rejects.push(reject);
        Ok(())
    })?;
    Ok(rejects)
}

/// The store holds the whole of this run, and no other of its key.
pub(crate) fn assert_stored(store: &ParquetStore, example: &Example) {
    let key = &example.info.key;
    let run = store.read(key).unwrap().unwrap();
    assert_eq!(run.info, example.info);
    assert_eq!((&run.cpu, &run.errors), (&example.cpu, &example.errors));
    assert_eq!(run.labels, example.label_counts);
    let table = perfpipe_ingest::counts::CellTable::new(
        example.labels.clone(),
        example.injectors.clone(),
        example.cells.iter().cloned(),
    );
    assert_eq!(crate::read_back::named(&run.cells), crate::read_back::named(&table));
    assert_eq!(stored_rejects(store, key).unwrap(), example.rejects);
    assert!(stored_rows(store, key).unwrap() == rows(&example.batch).collect::<Vec<_>>());
}
