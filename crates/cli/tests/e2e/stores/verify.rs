//! Damaged runs: named while the others are gone on with, found by `verify`, put right or set aside by `repair`.

use std::path::{Path, PathBuf};

use crate::postgres::psql;
use crate::support::*;

/// A store with three runs: `go 2048` twice, and `nio 2048` with CPU readings and rejects.
fn filled(store: Store) -> Store {
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    for repeat in ["1", "2"] {
        store.run(&["ingest", log, "--framework", "go", "--test", "2048", "--repeat", repeat]).said();
    }
    let mut log = std::fs::read_to_string(fixture("transactions.csv")).unwrap();
    log.push_str("not a record\n");
    let log = store.file("nio.csv", log);
    let cpu = fixture("distributed.cpu.csv");
    store.run(&["ingest", &log, cpu.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    store
}

fn folder(store: &Store, name: &str) -> PathBuf {
    Path::new(store.place()).join("runs").join(name)
}

/// A file of the current files of a run.
fn file(store: &Store, run: &str, name: &str) -> PathBuf {
    let entries = std::fs::read_dir(folder(store, run)).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.is_dir()).unwrap().join(name)
}

fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 4;
    std::fs::write(path, bytes).unwrap();
}

fn exports(store: &Store, framework: &str) -> Vec<String> {
    let flags = ["export", "--framework", framework, "--test", "2048", "--repeat", "1", "--what"];
    ["seconds", "errors", "cpu", "labels", "rejects", "samples", "summary"]
        .map(|what| store.run(&[&flags[..], &[what]].concat()).text())
        .into()
}

/// Fails, having written data, and says so much.
fn assert_left_out(done: Done, named: &str) -> String {
    assert_eq!(done.code, Some(1), "{}", done.err);
    for part in [named, "left out", "perfpipe verify"] {
        assert!(done.err.contains(part), "{part} is not in: {}", done.err);
    }
    String::from_utf8(done.out).unwrap()
}

/// Repairing finds nothing to do, and changes nothing.
fn assert_repairs_nothing(store: &Store) {
    let (before, said) = (store.list(), store.run(&["repair"]).said());
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(store.list(), before);
}

#[test]
fn damaged_run_is_named_and_the_others_are_gone_on_with() {
    for name in ["manifest.json", "seconds.parquet"] {
        let store = filled(Store::embedded());
        let path = match name {
            "manifest.json" => folder(&store, "nio+2048").join(name),
            name => file(&store, "nio+2048", name),
        };
        damage(&path);
        let named = path.to_str().unwrap();
        let report = ["report", "--test", "2048", "--format", "svg", "--table", "csv"];
        let league = assert_left_out(store.run(&report), named);
        assert!(league.contains("go") && !league.contains("nio"), "{league}");
        assert!(store.folder.path().join("perfpipe-report/go_2048.svg").is_file());
        let verdicts = assert_left_out(
            store.run(&["check", "--test", "2048", "requests > 1", "--format", "csv"]),
            named,
        );
        assert_eq!(verdicts.lines().count(), 3, "{verdicts}");
        let broken = store.run(&["check", "--test", "2048", "requests < 1"]);
        assert!(broken.code == Some(4) && broken.err.contains(named), "{}", broken.err);
        let to = Store::embedded();
        let done = store.run(&["copy", "--to", to.place()]);
        assert_eq!(done.err.matches("read back the same").count(), 2, "{}", done.err);
        assert_left_out(done, named);
        assert_eq!(to.keys(), ["go 2048", "go 2048"]);
        if name == "manifest.json" {
            let list = assert_left_out(store.run(&["list", "--format", "csv"]), named);
            assert_eq!(list.lines().count(), 3, "{list}");
            assert_left_out(store.run(&["compare", "go_2048#1", "go_2048#2"]), named);
            let log = std::fs::read(fixture("tab.jtl")).unwrap();
            store.file("night/other_2048.csv", log);
            assert_left_out(store.run(&["ingest", "night", "--framework", "x", "--test", "y"]), named);
            assert_eq!(
                store.run(&["list", "--format", "csv"]).out.iter().filter(|byte| **byte == b'\n').count(),
                4
            );
        }
    }
}

#[test]
fn damaged_file_of_the_store_itself_is_made_anew() {
    for damaged in [Some("{"), None] {
        let store = filled(Store::embedded());
        let before = exports(&store, "nio");
        let marker = Path::new(store.place()).join("perfpipe.json");
        damaged.map_or_else(|| std::fs::remove_file(&marker), |text| std::fs::write(&marker, text)).unwrap();
        let list = assert_left_out(store.run(&["list", "--format", "csv"]), "perfpipe.json");
        assert_eq!(list.lines().count(), 4, "{list}");
        assert_eq!(exports(&store, "nio"), before);
        assert_eq!(store.run(&["verify"]).code, Some(3));
        let said = store.run(&["repair"]).said();
        assert!(said.contains("perfpipe.json"), "{said}");
        assert_eq!(store.list().len(), 3);
        assert_eq!(store.run(&["verify"]).code, Some(0));
        assert_eq!(exports(&store, "nio"), before);
    }
}

/// What `verify` finds of the runs that are named: its exit code, and its rows.
fn verified(store: &Store, names: &[&str]) -> (Option<i32>, Vec<serde_json::Value>) {
    let done = store.run(&[&["verify", "--format", "json"], names].concat());
    (done.code, done.rows_anyway())
}

#[test]
fn verify_finds_nothing_wrong_with_whole_runs() {
    for store in Store::each() {
        for (number, fixture) in Fixture::all().iter().enumerate() {
            let files = fixture.files(&fixture.logs()[0]);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let name = number.to_string();
            let flags = ["--framework", "all", "--test", &name, "--max-rejects", "10"];
            let more = if number % 5 == 4 { &["--no-samples"][..] } else { &[] };
            store.run(&[&["ingest"], &files[..], &flags, more].concat()).said();
        }
        let (code, rows) = verified(&store, &[]);
        assert!(code == Some(0) && rows.iter().all(|row| row["whole"] == true), "{rows:?}");
        assert_eq!(rows.len(), Fixture::all().len());
        assert_eq!(verified(&store, &["all_0"]).1.len(), 1);
        store.run(&["verify", "nobody_2048"]).complaint(1);
        assert_repairs_nothing(&store);
    }
}

#[test]
fn verify_names_each_damaged_file_and_repair_sets_the_run_aside() {
    for name in ["manifest.json", "cpu.parquet", "errors.parquet", "samples.parquet", "rejects.jsonl"] {
        let store = filled(Store::embedded());
        let path = match name {
            "manifest.json" => folder(&store, "nio+2048").join(name),
            name => file(&store, "nio+2048", name),
        };
        damage(&path);
        let bytes = std::fs::read(&path).unwrap();
        let (code, rows) = verified(&store, &[]);
        let damaged: Vec<&str> =
            rows.iter().filter(|row| row["whole"] == false).map(|row| text(row, "faults")).collect();
        assert!(code == Some(3) && damaged.len() == 1 && damaged[0].contains(name), "{rows:?}");
        assert_eq!(verified(&store, &["go_2048#1", "go_2048#2"]).0, Some(0));
        let before = tree(&store);
        let would = store.run(&["repair", "--dry-run"]).said();
        assert_told(&would, &["nio+2048", "set-aside"]);
        assert_eq!(tree(&store), before);
        let said = store.run(&["repair"]).said();
        assert_told(&said, &["nio+2048", "set-aside"]);
        assert_eq!(store.keys(), ["go 2048", "go 2048"]);
        assert_eq!(store.run(&["verify"]).code, Some(0));
        // Nothing is lost.
        let aside = Path::new(store.place()).join("set-aside/nio+2048");
        let kept = aside.join(path.strip_prefix(folder(&store, "nio+2048")).unwrap());
        assert_eq!(std::fs::read(kept).unwrap(), bytes);
        assert_repairs_nothing(&store);
        filled(store).list();
    }
}

#[test]
fn export_of_several_names_the_damaged_one_and_writes_no_file() {
    let store = filled(Store::embedded());
    damage(&file(&store, "go+2048+2", "samples.parquet"));
    for (what, format) in [("samples", "csv"), ("samples", "parquet"), ("percentiles", "csv")] {
        let export = ["export", "go_2048", "--what", what, "--format", format];
        let complaint = store.run(&[&export[..], &["-o", "out"]].concat()).complaint(1);
        assert_told(&complaint, &["of 2 runs, go_2048#2 can't be read", "samples.parquet", "[store-failed]"]);
        assert!(!store.folder.path().join("out").exists(), "{what} {format}");
        store.run(&[&["export", "go_2048#1"], &export[2..]].concat());
    }
    damage(&file(&store, "go+2048+2", "seconds.parquet"));
    for what in ["seconds", "summary", "labels"] {
        let complaint = store.run(&["export", "go_2048", "--what", what, "-o", "out"]).complaint(1);
        assert_told(&complaint, &["go_2048#2 can't be read", "seconds.parquet"]);
        assert!(!store.folder.path().join("out").exists(), "{what}");
    }
}

/// Every file of a store but for locks.
fn tree(store: &Store) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                walk(&path, found);
            }
            found.push(path);
        }
    }
    let mut found = Vec::new();
    walk(Path::new(store.place()), &mut found);
    found.retain(|path| !path.ends_with(".lock"));
    found.sort();
    found
}

#[test]
fn counts_that_are_damaged_or_wrong_are_taken_anew_from_the_samples() {
    for name in ["seconds.parquet", "labels.parquet", "counts of a second", "counts of a label"] {
        for store in Store::each() {
            let store = filled(store);
            let before = exports(&store, "nio");
            if store.is_database() {
                let sql = match name {
                    "seconds.parquet" => "delete from perfpipe.seconds where second = 3 and run = RUN",
                    "labels.parquet" => "delete from perfpipe.labels where run = RUN",
                    // One that still adds up.
                    "counts of a second" => {
                        "update perfpipe.seconds set second = 12 where second = 3 and run = RUN and success"
                    }
                    _ => "update perfpipe.labels set successes = successes + 1 where run = RUN",
                };
                let run = "(select run from perfpipe.runs where framework = 'nio')";
                psql(store.place(), &sql.replace("RUN", run));
            } else if name.ends_with("parquet") {
                damage(&file(&store, "nio+2048", name));
            } else {
                continue;
            }
            let (code, rows) = verified(&store, &[]);
            let damaged: Vec<&str> =
                rows.iter().filter(|row| row["whole"] == false).map(|row| text(row, "run")).collect();
            assert!(code == Some(3) && damaged == ["nio_2048"], "{name}: {rows:?}");
            let said = store.run(&["repair"]).said();
            assert_told(&said, &["nio_2048", "samples"]);
            assert_eq!(exports(&store, "nio"), before, "{name}");
            assert_eq!(verified(&store, &[]).0, Some(0));
            assert_eq!(store.leftovers(), [""; 0]);
        }
    }
}

#[test]
fn damage_that_a_database_can_not_repair_is_told_and_left() {
    let Some(store) = Store::database().map(filled) else { return };
    psql(store.place(), "update perfpipe.runs set successes = successes + 1 where framework = 'nio'");
    let (code, rows) = verified(&store, &["nio_2048"]);
    assert!(code == Some(3), "{rows:?}");
    let complaint = store.run(&["repair"]).complaint(1);
    assert!(
        complaint.contains("left as it is: nio_2048") && complaint.contains("could not be repaired"),
        "{complaint}"
    );
    assert_eq!(store.list().len(), 3);
}

#[test]
fn run_in_the_folder_of_another_goes_where_it_belongs_or_is_set_aside() {
    let store = filled(Store::embedded());
    let before = exports(&store, "nio");
    std::fs::rename(folder(&store, "nio+2048"), folder(&store, "nio+4096")).unwrap();
    crate::stores::earlier_versions::copy(&folder(&store, "go+2048"), &folder(&store, "go+2048.bak"));
    let list = assert_left_out(store.run(&["list", "--format", "csv"]), "go+2048.bak");
    assert_eq!(list.lines().count(), 3, "{list}");
    let (code, rows) = verified(&store, &[]);
    assert!(code == Some(3) && rows.iter().filter(|row| row["whole"] == false).count() == 2, "{rows:?}");
    // Two folders are moved only after a confirmation.
    let unmoved = tree(&store);
    let asked = store.run(&["repair"]).complaint(2);
    assert_told(
        &asked,
        &["2 repairs would be made", "nio+4096 is moved to", "go+2048.bak is set aside", "--yes"],
    );
    assert_eq!(tree(&store), unmoved);
    store.run(&["repair", "--yes"]).said();
    assert_eq!(store.list().len(), 3);
    assert_eq!(exports(&store, "nio"), before);
    assert!(Path::new(store.place()).join("set-aside/go+2048.bak/manifest.json").is_file());
    assert_eq!(verified(&store, &[]).0, Some(0));
}
