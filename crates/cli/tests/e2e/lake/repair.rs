//! What is wrong in a bucket is put right as far as that is known, and else said.

use std::fs;
use std::path::{Path, PathBuf};

use super::replace::files_of;
use super::tables::{TABLES, files, filled, folder, generations};
use crate::support::*;

const LOG: &str = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n1795203739000,7,Get,false\n";

fn ingest(store: &Store, test: &str) {
    let log = store.file("log.csv", LOG);
    store.run(&["ingest", &log, "--framework", "go", "--test", test]).said();
}

/// The only file of this name of a generation that is shown.
fn file(store: &Store, table: &str, name: &str) -> PathBuf {
    let generation = generations(store, table).remove(0);
    folder(store).join(table).join(format!("generation={generation}")).join(name)
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_a_writer_left_that_stopped_before_its_run_appeared_is_put_right() {
    let store = Store::lake();
    ingest(&store, "a b/ü%20");
    let first = generations(&store, "runs");
    let exported = store.export(&Key::new("go", "a b/ü%20"), "samples", "csv", &[]);
    ingest(&store, "a b/ü%20");
    let second = generations(&store, "runs").remove(0);
    ingest(&store, "new");
    for version in [2, 3] {
        fs::remove_file(folder(&store).join(format!("runs/_delta_log/{version:020}.json"))).unwrap();
    }
    assert_eq!(generations(&store, "samples").len(), 2);
    let told = ["go_a b/ü%20: tables", "go_new: tables", "samples, seconds, cpu, errors, labels, rejects"];
    assert_told(&store.run(&["repair", "--dry-run"]).said(), &[&["would be done"], &told[..]].concat());
    assert_eq!(generations(&store, "samples").len(), 2);
    assert_told(&store.run(&["repair"]).said(), &told);
    assert!(filled().all(|table| generations(&store, table) == first));
    assert_eq!(store.export(&Key::new("go", "a b/ü%20"), "samples", "csv", &[]), exported);
    assert_told(&store.run(&["repair"]).said(), &["nothing is damaged"]);
    // What belongs to no run is removed once it is old.
    assert!(!files_of(&folder(&store), &second).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_told(
        &store.run(&["repair", "--keep-for", "0s", "--force"]).said(),
        &["2 replaced, dropped or interrupted runs"],
    );
    assert!(files_of(&folder(&store), &second).is_empty());
    let kept = files_of(&folder(&store), "run-");
    assert_eq!(kept.len(), filled().count() + 1, "{kept:?}");
    store.run(&["verify"]).text();
    assert_told(&store.run(&["repair", "--keep-for", "0s", "--force"]).said(), &["nothing is damaged"]);
}

#[test]
fn parts_are_no_leftovers() {
    for store in Store::lakes() {
        let log = store.file("log.csv", LOG);
        let run = ["--framework", "go", "--test", "a", "--origin", "1795203738000"];
        store.run(&[&["ingest", &log, "--part", "1/1"], &run[..]].concat()).said();
        assert_told(&store.run(&["repair", "--keep-for", "0s", "--force"]).said(), &["nothing is damaged"]);
        store.run(&["merge", "go_a", "--parts", "1"]).said();
        store.run(&["verify"]).text();
    }
}

#[test]
fn damaged_run_is_counted_again_or_left() {
    let store = Store::lake();
    ingest(&store, "a");
    let key = Key::new("go", "a");
    let exported = ["seconds", "labels", "samples"].map(|what| store.export(&key, what, "csv", &[]));
    damage(&file(&store, "seconds", "seconds.parquet"));
    assert_eq!(store.run(&["verify"]).code, Some(3));
    assert_told(&store.run(&["repair"]).said(), &["go_a: counted again from its samples"]);
    assert_eq!(["seconds", "labels", "samples"].map(|what| store.export(&key, what, "csv", &[])), exported);
    for table in ["seconds", "samples"] {
        damage(&file(&store, table, &format!("{table}.parquet")));
    }
    assert_told(
        &store.run(&["repair"]).complaint(1),
        &["left as it is: go_a", "drop it, and ingest it again"],
    );
    ingest(&store, "a");
    store.run(&["verify"]).text();
    // Without its manifest nothing is known of a run.
    fs::remove_file(
        folder(&store).join("manifests").join(format!("{}.json", generations(&store, "runs")[0])),
    )
    .unwrap();
    assert_told(&store.run(&["repair"]).complaint(1), &["left as it is", "the manifest of a run is gone"]);
    store.run(&["drop", "--framework", "go", "--test", "a"]).said();
    assert_told(&store.run(&["repair"]).said(), &["nothing is damaged"]);
    assert!(TABLES.into_iter().all(|table| files(&store, table).is_empty()));
}

#[test]
fn files_that_an_ingest_may_be_writing_are_removed_only_by_force() {
    for store in Store::lakes() {
        ingest(&store, "a");
        let refused = store.run(&["repair", "--keep-for", "5h"]).complaint(2);
        assert_told(&refused, &["--keep-for", "6h", "--force"]);
        store.run(&["repair", "--keep-for", "6h"]).said();
        store.run(&["repair", "--force"]).complaint(2);
    }
}

#[test]
fn leftovers_are_of_a_bucket() {
    let store = Store::embedded();
    ingest(&store, "a");
    assert_told(&store.run(&["repair", "--keep-for", "1d"]).complaint(2), &["--keep-for", "bucket"]);
}
