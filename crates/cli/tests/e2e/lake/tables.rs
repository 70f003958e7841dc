//! The logs of the tables, as a reader of Delta Lake takes them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::*;

/// The tables that every store has.
pub(super) const TABLES: [&str; 8] =
    ["samples", "seconds", "cpu", "series", "errors", "labels", "rejects", "runs"];

/// The folder of a lake on the disk.
pub(super) fn folder(store: &Store) -> PathBuf {
    store.place().strip_prefix("file://").unwrap().into()
}

/// The files of a table of a lake on the disk: each path with its partition values.
pub(super) fn files(store: &Store, table: &str) -> BTreeMap<String, Value> {
    let log = folder(store).join(table).join("_delta_log");
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Besides entries there may be checkpoints.
    entries.retain(|entry| entry.extension().is_some_and(|ending| ending == "json"));
    entries.sort();
    let mut files = BTreeMap::new();
    for (version, entry) in entries.iter().enumerate() {
        assert_eq!(entry.file_name().unwrap().to_str().unwrap(), format!("{version:020}.json"));
        for line in std::fs::read_to_string(entry).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(path) = line["remove"]["path"].as_str() {
                assert!(files.remove(path).is_some(), "{table}: {path} is removed, and was not there");
            }
            if let Some(path) = line["add"]["path"].as_str() {
                files.insert(path.to_owned(), line["add"]["partitionValues"].clone());
                // The log has URLs.
                let size = folder(store).join(table).join(path.replace("%25", "%")).metadata().unwrap().len();
                assert_eq!(line["add"]["size"].as_u64(), Some(size), "{table}: {path}");
            }
        }
    }
    files
}

/// The generations in a table.
pub(super) fn generations(store: &Store, table: &str) -> Vec<String> {
    let mut found: Vec<String> =
        files(store, table).values().map(|values| text(values, "generation").to_owned()).collect();
    found.dedup();
    found
}
