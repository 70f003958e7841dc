//! Properties of the store's files that must hold for any content.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a property that does not hold is reported by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::folder::manifest::Manifest;
use super::folder::paths;
use super::packed::PackedRun;
use super::{ParquetStore, ParquetWriter, place, samples, tables};
use crate::sink::{CommitStage, FinishedRun, RunWriter};
use crate::{Repaired, Repairer};
use perfpipe_model::fuzz::Taker;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::RejectSpool;
use perfpipe_model::run::replace::Replace;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::series::cpu::TimeSeries;

/// Returns the name of a run's folder.
pub fn folder(key: &RunKey) -> String {
    paths::folder_name(key)
}

/// Reads any bytes, with correct checksums, as each table: the result is rows or an error.
pub fn tables(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    let mut written = place::create(&path).unwrap();
    written.write_all(data).unwrap();
    let sums = written.finish().unwrap();
    let file = || place::open(path.clone(), sums.clone()).unwrap();
    let info = RunInfo::new(RunKey::new("go", "t"), 0, 1_000_000_000);
    let _ = super::seconds::read_seconds(file(), &info);
    let _ = tables::read_cpu(file());
    let _ = tables::read_errors(file(), &info);
    let _ = tables::read_labels(file());
    // Nothing can be read after an error.
    tables::read_rejects(&file()).take_while(Result::is_ok).for_each(drop);
    let mut rows = 0;
    let mut count = |batch: perfpipe_model::SampleBatch| {
        rows += batch.len();
        assert_eq!(batch.label.codes().len(), batch.len());
        assert_eq!(batch.success.len(), batch.len());
        Ok(())
    };
    let _ = samples::open(file()).and_then(|rows| samples::stream(rows, Resolution::default(), &mut count));
}

/// Returns every file below a folder except locks.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else if entry.file_name() != ".lock" {
            found.insert(entry.path());
        }
    }
    found
}

/// Creates a temporary folder, in memory where possible, since nothing needs to be durable.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Reads any bytes as a manifest and as its sealed content. The result is an error, or a run that is written back
/// unchanged. Whatever it is, readers, writers and repairs touch nothing outside the store, and no file of another run.
pub fn manifest(data: &[u8]) {
    let top = place();
    let store = ParquetStore::open(top.path().join("store")).unwrap();
    let other = RunKey::new("other", "run");
    store_empty(&store, &other, 7, Replace::Any).unwrap();
    let run = store.path().join("runs/go+2048");
    for folder in [&run, &run.join("run-a"), &top.path().join("run-b")] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("seconds.parquet"), "kept").unwrap();
    }
    let seal = |run: &str| {
        format!("{{\"layout\": 3, \"crc32\": {}, \"run\": {run}}}", crc32fast::hash(run.as_bytes()))
            .into_bytes()
    };
    let sealed = std::str::from_utf8(data).map(|text| seal(text.trim())).unwrap_or_default();
    for bytes in [data, &sealed] {
        let path = run.join("manifest.json");
        std::fs::write(&path, bytes).unwrap();
        if let Ok(Some(read)) = Manifest::read(&path) {
            let again = top.path().join("again.json");
            read.put(&again).unwrap();
            let again = Manifest::read(&again).unwrap().unwrap();
            assert_eq!((&again.generation, &again.info), (&read.generation, &read.info));
            assert_eq!(again.files, read.files);
        }
        let found = store.look().unwrap();
        assert_eq!(found.runs.len() + found.unread.len(), 2);
        let of_others = || {
            let mut all = files(top.path());
            all.retain(|path| !path.starts_with(&run) && !path.starts_with(store.path().join("set-aside")));
            all.retain(|path| !path.ends_with("again.json"));
            all
        };
        let before = of_others();
        // A writer sweeps, but nothing here was left by a stopped writer.
        drop(ParquetWriter::begin(&store.home, Some(&RunKey::new("third", "run")), false).unwrap());
        for key in found.runs.iter().map(|info| &info.key) {
            let _ = (store.read(key), store.check_files(key));
        }
        assert_eq!(of_others(), before);
    }
    let kept = files(top.path()).len();
    let _ = store.repair(&mut Repairer::new(false, &mut |_| {}));
    assert!(files(top.path()).len() >= kept, "a repair deletes nothing");
    assert_eq!(store.info(&other).unwrap().unwrap().cpu_offset, 7);
}

/// Reads any bytes as a packed run, and as the contents of a packed run: an error, or one run that can be read and copied.
/// Whatever it is, nothing is written outside the folder that it is unpacked into, and that folder goes with it.
pub fn packed(data: &[u8]) {
    let top = place();
    let (path, unpacked) = (top.path().join("go.run"), top.path().join("unpacked"));
    std::fs::create_dir(&unpacked).unwrap();
    for bytes in [data.to_vec(), packed_parts(data)] {
        std::fs::write(&path, bytes).unwrap();
        if let Ok(run) = PackedRun::open_in(&path, &unpacked) {
            let key = &run.info().key;
            let (found, other) =
                (run.store().look().unwrap(), ParquetStore::open(top.path().join("store")).unwrap());
            assert_eq!((found.runs.len(), &found.runs[0].key, found.unread.len()), (1, key, 0));
            if let Ok(whole) = run.store().read(key) {
                store_empty(&other, &whole.unwrap().info.key, 7, Replace::Any).unwrap();
            }
            let _ = run.store().check_files(key);
            std::fs::remove_dir_all(other.path()).unwrap();
        }
        assert_eq!(files(top.path()), BTreeSet::from([path.clone()]));
    }
}

/// Returns a zip of the parts of a packed run, each with bytes of `data`, the manifest sealed.
fn packed_parts(data: &[u8]) -> Vec<u8> {
    let mut taker = Taker::new(data);
    let tables: Vec<&[u8]> = tables::SMALL.iter().map(|_| taker.bytes()).collect();
    let manifest = String::from_utf8_lossy(taker.rest());
    let run = manifest.trim();
    let seal = format!("{{\"layout\": 3, \"crc32\": {}, \"run\": {run}}}", crc32fast::hash(run.as_bytes()));
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let own = [("perfpipe-run.json", &b"{\"version\":1}"[..]), ("manifest.json", seal.as_bytes())];
    for (name, bytes) in own.into_iter().chain(tables::SMALL.into_iter().zip(tables)) {
        zip.start_file(name, plain).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Stores an empty run with a mark by which it can be recognised.
fn store_empty(
    store: &ParquetStore,
    key: &RunKey,
    mark: i64,
    replace: Replace,
) -> perfpipe_model::Result<()> {
    let writer = ParquetWriter::begin(&store.home, Some(key), false)?;
    commit_empty(writer, key, mark, replace)
}

fn commit_empty(
    writer: ParquetWriter,
    key: &RunKey,
    mark: i64,
    replace: Replace,
) -> perfpipe_model::Result<()> {
    let mut info = RunInfo::new(key.clone(), 0, 0);
    info.cpu_offset = mark;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(writer.commit(FinishedRun {
        info: &info,
        labels: &[],
        injectors: &[],
        cells: &mut std::iter::empty(),
        cpu: &TimeSeries::default(),
        series: &[],
        errors: Box::new(std::iter::empty()),
        label_counts: &[],
        rejects: &mut RejectSpool::default(),
        replace,
        stage: &CommitStage::default(),
        part: None,
    }))
}

/// Performs any sequence of operations on a store and on a map; the store must hold what the map does.
pub fn operations(data: &[u8]) {
    let folder = place();
    let store = ParquetStore::open(folder.path().join("store")).unwrap();
    drop(store.home.folder("one").unwrap().stage().unwrap());
    let mut taker = Taker::new(data);
    let mut expected: BTreeMap<RunKey, i64> = BTreeMap::new();
    for mark in 1..=24 {
        if taker.is_empty() {
            break;
        }
        operate(&store, &mut taker, mark, &mut expected);
        let found = store.look().unwrap();
        assert!(found.unread.is_empty(), "{:?}", found.unread);
        let held: BTreeMap<RunKey, i64> =
            found.runs.into_iter().map(|info| (info.key, info.cpu_offset)).collect();
        assert_eq!(held, expected);
    }
    for (key, mark) in &expected {
        assert_eq!(store.read(key).unwrap().unwrap().info.cpu_offset, *mark);
        assert_eq!(store.check_files(key).unwrap(), [""; 0]);
    }
    drop(ParquetWriter::begin(&store.home, None, false).unwrap());
    let after = files(store.path());
    assert!(
        !after.iter().any(|path| path.starts_with(store.home.folder("one").unwrap().staging())),
        "{after:?}"
    );
    // Each run has a manifest and five tables; the store has its marker.
    let set_aside = after.iter().filter(|path| path.starts_with(store.path().join("set-aside"))).count();
    assert_eq!(after.len() - set_aside, 6 * expected.len() + 1, "{after:?}");
}

fn operate(store: &ParquetStore, taker: &mut Taker<'_>, mark: i64, expected: &mut BTreeMap<RunKey, i64>) {
    let operation = taker.byte();
    let which = taker.byte();
    let framework = ["go", "Go", "a/b"][usize::from(which) % 3];
    let key = RunKey::new(framework, "t").with_repeat(1 + u32::from(which >> 6));
    let run = store.home.folder("one").unwrap().runs().join(paths::folder_name(&key));
    match operation % 8 {
        0 | 1 => {
            store_empty(store, &key, mark, Replace::SameKey).unwrap();
            expected.insert(key, mark);
        }
        2 => {
            let (next, lock) =
                store.home.folder("one").unwrap().lock_next(key.clone().with_repeat(1)).unwrap();
            let first = (1..).map(|repeat| key.clone().with_repeat(repeat));
            assert_eq!(Some(&next), first.into_iter().find(|key| !expected.contains_key(key)).as_ref());
            drop(lock);
            store_empty(store, &next, mark, Replace::Any).unwrap();
            expected.insert(next, mark);
        }
        3 => assert_eq!(store.drop_run(&key).unwrap(), expected.remove(&key).is_some()),
        // A writer that gives up, while a second one is refused.
        4 => {
            let writer = ParquetWriter::begin(&store.home, Some(&key), true).unwrap();
            assert!(store_empty(store, &key, mark, Replace::Any).is_err());
            drop(writer);
        }
        // A writer that is killed: its files stay, and its lock is free.
        5 => {
            let dead = store.home.folder("one").unwrap().staging().join(format!("run-dead{mark}"));
            std::fs::create_dir_all(&dead).unwrap();
            std::fs::write(dead.join("seconds.parquet"), "half").unwrap();
            drop(store.home.folder("one").unwrap().stage().unwrap());
            assert!(!dead.exists());
        }
        // A writer that is killed after its run has appeared, but before its files are moved in.
        6 if expected.contains_key(&key) => {
            let (home, manifest) = store.home.folder("one").unwrap().find(&key).unwrap().unwrap();
            let files = store.home.folder("one").unwrap().generation(&home, &manifest.generation);
            std::fs::rename(files, store.home.folder("one").unwrap().staging().join(manifest.generation))
                .unwrap();
        }
        7 if expected.contains_key(&key) => damage(store, &run, taker, &key, expected),
        _ => {}
    }
}

/// Renames the folder of a run or truncates its manifest, then repairs the store.
fn damage(
    store: &ParquetStore,
    run: &Path,
    taker: &mut Taker<'_>,
    key: &RunKey,
    expected: &mut BTreeMap<RunKey, i64>,
) {
    // First move in what a killed writer left.
    drop(store.home.folder("one").unwrap().stage().unwrap());
    if taker.flag() {
        std::fs::rename(run, run.with_file_name("by+hand")).unwrap();
    } else {
        let manifest = run.join("manifest.json");
        let text = std::fs::read(&manifest).unwrap();
        std::fs::write(&manifest, &text[..usize::from(taker.byte())]).unwrap();
        expected.remove(key);
    }
    assert_eq!(store.look().unwrap().unread.len(), 1);
    let mut say = |_| {};
    let mut repairer = Repairer::new(false, &mut say);
    store.repair(&mut repairer).unwrap();
    let Repaired { steps, changes, left } = repairer.done();
    assert_eq!((steps, changes.len(), left), (1, 1, 0));
}
