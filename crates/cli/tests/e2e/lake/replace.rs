//! Runs are replaced, dropped, renamed and copied; in each table one commit does it.

use std::path::{Path, PathBuf};

use super::tables::{TABLES, files, filled, folder, generations};
use crate::support::*;

const LOG: &str = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n1795203739000,7,Get,false\n";

/// Ingests a log of one more request than `LOG` has.
fn ingest(store: &Store, test: &str, flags: &[&str]) -> Done {
    let log = store.file("log.csv", format!("{LOG}1795203740000,9,Get,true\n"));
    store.run(&[&["ingest", &log, "--framework", "go", "--test", test], flags].concat())
}

#[test]
fn each_commit_leaves_one_generation_in_each_table() {
    let store = Store::lake();
    let log = store.file("first.csv", LOG);
    store.run(&["ingest", &log, "--framework", "go", "--test", "a b/ü%20"]).said();
    let first = generations(&store, "runs");
    assert_eq!(first.len(), 1);
    assert_eq!(text(files(&store, "runs").values().next().unwrap(), "test"), "a b/ü%20");
    ingest(&store, "a b/ü%20", &[]).said();
    let second = generations(&store, "runs");
    assert!(second.len() == 1 && second != first);
    for table in filled() {
        assert_eq!(generations(&store, table), second, "{table}");
    }
    // Those who had begun to read the first one still can.
    assert!(
        folder(&store)
            .join("samples")
            .join(format!("generation={}", first[0]))
            .join("samples.parquet")
            .is_file()
    );
    let key = Key::new("go", "a b/ü%20");
    assert_eq!(store.samples(&key, &[]).len(), 1 + 3);
    store.run(&["drop", "--framework", "go", "--test", "a b/ü%20"]).said();
    assert!(TABLES.into_iter().all(|table| files(&store, table).is_empty()));
    assert!(store.list().is_empty());
}

#[test]
fn run_that_may_not_replace_another_leaves_nothing() {
    for store in Store::lakes() {
        ingest(&store, "a", &[]).said();
        let before = store.export(&Key::new("go", "a"), "samples", "csv", &[]);
        let other = store.file("go_a.csv", LOG);
        // The key is inferred, and was made from a file of another name.
        assert_told(&store.run(&["ingest", &other]).complaint(1), &["go_a", "--replace"]);
        assert_eq!(store.export(&Key::new("go", "a"), "samples", "csv", &[]), before);
        let broken = store.file("broken.csv", format!("{LOG}x,y\n"));
        store.run(&["ingest", &broken, "--framework", "go", "--test", "a", "--strict"]).complaint(3);
        assert_eq!(store.export(&Key::new("go", "a"), "samples", "csv", &[]), before);
        ingest(&store, "a", &["--append-repeat"]).said();
        assert_eq!(store.list().len(), 2);
        store.run(&["verify"]).text();
    }
}

#[test]
fn runs_are_renamed_copied_and_get_readings() {
    for store in Store::lakes() {
        ingest(&store, "a", &[]).said();
        store.run(&["rename", "go_a", "--framework", "nio", "--test", "b"]).said();
        assert_eq!(store.keys(), ["nio b"]);
        let cpu = store.file("cpu.csv", "clock,value\n1795203738,50\n1795203739,60\n1795203740,70\n");
        store.run(&["attach-cpu", "nio_b", &cpu]).said();
        let key = Key::new("nio", "b");
        assert_eq!(rows(&store.export(&key, "cpu", "csv", &[])).len(), 3);
        let back = store.folder.path().join("back");
        store.run(&["copy", "--to", back.to_str().unwrap()]).said();
        let mut embedded = Store::embedded();
        embedded.flag[1] = back.to_str().unwrap().to_owned();
        for what in ["samples", "seconds", "cpu", "errors"] {
            assert_eq!(
                embedded.export(&key, what, "csv", &[]),
                store.export(&key, what, "csv", &[]),
                "{what}"
            );
        }
        store.run(&["verify"]).text();
    }
}

/// All files below a folder that belong to a generation.
pub(super) fn files_of(folder: &Path, generation: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_of(&path, generation)),
            false => found.extend(path.to_str().unwrap().contains(generation).then(|| path.clone())),
        }
    }
    found
}

#[test]
fn files_of_a_replaced_run_are_removed_once_they_are_old() {
    let store = Store::lake();
    ingest(&store, "a b", &[]).said();
    let first = generations(&store, "runs").remove(0);
    ingest(&store, "a b", &[]).said();
    let second = generations(&store, "runs").remove(0);
    ingest(&store, "c", &[]).said();
    let all = files_of(&folder(&store), &first);
    // One in each table that has something of every run, and the manifest.
    assert_eq!(all.len(), filled().count() + 1, "{all:?}");
    let entry = folder(&store).join("runs/_delta_log/00000000000000000002.json");
    let text = std::fs::read_to_string(&entry).unwrap();
    let (before, rest) = text.split_once("\"deletionTimestamp\":").unwrap();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    // Without the checksum, as in an entry of an earlier version.
    let (before, rest) = (format!("{before}\"deletionTimestamp\":1795000000000"), rest);
    let (info, changed) = before.split_once('\n').unwrap();
    let (info, _) = info.split_once(",\"perfpipe.crc32\"").unwrap();
    std::fs::write(&entry, format!("{info}}}}}\n{changed}{rest}")).unwrap();
    // Its manifest was written before: nothing leaves a table before it is there.
    ingest(&store, "d", &[]).said();
    assert_eq!(files_of(&folder(&store), &first).len(), all.len());
    let manifest = folder(&store).join("manifests").join(format!("{first}.json"));
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_795_000_000);
    std::fs::File::open(manifest).unwrap().set_modified(long_ago).unwrap();
    ingest(&store, "e", &[]).said();
    assert!(files_of(&folder(&store), &first).is_empty());
    assert_eq!(files_of(&folder(&store), &second).len(), filled().count() + 1);
    store.run(&["verify"]).text();
}

#[test]
fn refused_run_leaves_no_file() {
    let store = Store::lake();
    ingest(&store, "a", &[]).said();
    let before = files_of(&folder(&store), "generation=");
    let broken = store.file("broken.csv", format!("{LOG}x,y\n"));
    store.run(&["ingest", &broken, "--framework", "go", "--test", "a", "--strict"]).complaint(3);
    assert_eq!(files_of(&folder(&store), "generation="), before);
}
