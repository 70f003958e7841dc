//! What a watched run and an ordinary ingest store must be the same, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::*;

/// All that is exported of a run.
const EXPORTS: [&str; 7] = ["samples", "seconds", "errors", "labels", "cpu", "rejects", "summary"];

/// What `--framework` and `--test` are given.
pub(super) const NAMED: [&str; 4] = ["--framework", "go", "--test", "live"];

/// That a store holds what an ingest of these finished logs stores.
pub(super) fn assert_same_as_ingest(watched: &Store, logs: &[(&str, String)]) {
    let ingested = Store::embedded();
    let paths: Vec<String> = logs.iter().map(|(name, text)| ingested.file(name, text)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_same(watched, &ingested, &paths, &EXPORTS);
}

/// That a store has what an ingest of finished logs into another one stores.
pub(super) fn assert_same(watched: &Store, ingested: &Store, logs: &[&str], exports: &[&str]) {
    ingested.run(&[&["ingest"], logs, &NAMED].concat()).said();
    let key = Key::new("go", "live");
    for what in exports {
        let of = |store: &Store| store.export(&key, what, "csv", &[]);
        assert!(of(watched) == of(ingested), "{what}:\n{}\n{}", of(watched), of(ingested));
    }
    let of = |store: &Store| {
        let mut run = store.list().remove(0);
        run["ingested_at"] = "".into();
        run
    };
    assert_eq!(of(watched), of(ingested));
    if !watched.is_database() {
        assert_eq!(files(watched), files(ingested));
    }
    assert!(watched.leftovers().is_empty());
}

/// The checksums of all files of the runs in a folder, by their names, without what tells the time.
fn files(store: &Store) -> BTreeMap<String, u32> {
    let mut files = BTreeMap::new();
    gather(&Path::new(store.place()).join("runs"), &mut files);
    assert!(files.len() > 2, "{files:?}");
    files
}

fn gather(folder: &Path, files: &mut BTreeMap<String, u32>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            gather(&path, files);
        } else if name != "manifest.json" {
            files.insert(name, crc32fast::hash(&std::fs::read(&path).unwrap()));
        }
    }
}
