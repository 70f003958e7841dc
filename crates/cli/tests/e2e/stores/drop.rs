//! Runs are dropped by name, by test, by tag and by age; several of them only after a confirmation.

use std::io::Write;
use std::process::Stdio;

use crate::support::*;

/// A store of three runs of one test, of which one has a tag, and one of another test.
fn filled(store: Store) -> Store {
    let log = fixture("crlf.csv");
    let keys = [("go", "t", "1"), ("go", "t", "2"), ("nio", "t", "1"), ("go", "u", "1")];
    for (framework, test, repeat) in keys {
        let key = ["--framework", framework, "--test", test, "--repeat", repeat];
        let tag: &[&str] = if framework == "nio" { &["--tag", "release=1.0"] } else { &[] };
        store.run(&[&["ingest", log.to_str().unwrap()], &key[..], tag].concat()).said();
    }
    store
}

/// Makes all runs of a store as old as this, in days.
fn age(store: &Store, days: i64) {
    let then = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() - days * 86_400).unwrap();
    store.set("ingested_at", &then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
}

#[test]
fn several_runs_are_dropped_only_with_a_confirmation() {
    for store in Store::each().into_iter().map(filled) {
        let all = store.keys();
        for chosen in [&["go_t", "nio_t"][..], &["--test", "t"], &["--test", "t", "--framework", "go"]] {
            let complaint = store.run(&[&["drop"], chosen].concat()).complaint(2);
            assert_told(&complaint, &["go_t", "--yes"]);
            let said = store.run(&[&["drop", "--dry-run"], chosen].concat()).said();
            assert_told(&said, &["would be dropped: go_t"]);
            assert_eq!(store.keys(), all, "{chosen:?}");
        }
        store.run(&["drop", "--yes", "--test", "t", "--framework", "go"]).said();
        assert_eq!(store.keys(), ["nio t", "go u"]);
        // A name that is wrong leaves the others.
        let complaint = store.run(&["drop", "nio_t", "go_x", "--yes"]).complaint(1);
        assert_told(&complaint, &["go_x"]);
        assert_eq!(store.keys(), ["nio t", "go u"]);
        let said = store.run(&["drop", "nio_t", "go_u", "-y"]).said();
        assert_told(&said, &["dropped nio_t", "dropped go_u"]);
        assert!(store.list().is_empty());
        assert_eq!(store.leftovers(), [""; 0]);
    }
}

/// Runs the command on a terminal of its own, on which this is typed.
fn typed(store: &Store, answer: &str, arguments: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_perfpipe");
    let line = format!("{binary} {arguments} --store '{}'", store.place());
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    String::from_utf8(finish(child).out).unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn terminal_is_asked_before_several_runs_are_dropped() {
    let store = filled(Store::embedded());
    let all = store.keys();
    for answer in ["n\n", "\n", "what\n"] {
        let said = typed(&store, answer, "drop --test t");
        assert_told(&said, &["go_t#1, go_t#2, nio_t", "Drop 3 runs"]);
        assert_eq!(store.keys(), all, "{answer:?}");
    }
    assert_told(&typed(&store, "y\n", "drop --test t"), &["Drop 3 runs", "dropped go_t#1"]);
    assert_eq!(store.keys(), ["go u"]);
}

#[test]
fn old_runs_are_dropped_and_those_with_a_tag_are_kept() {
    for store in Store::each().into_iter().map(filled) {
        let older =
            |days: &str, more: &[&str]| store.run(&[&["drop", "--older-than", days, "--yes"], more].concat());
        assert_told(&older("1h", &[]).said(), &["nothing was dropped", "1 h ago"]);
        age(&store, 91);
        assert_eq!(store.run(&["verify"]).code, Some(0), "the runs are as they were but for their age");
        assert_told(&older("92d", &[]).said(), &["nothing was dropped"]);
        assert_told(&older("90d", &["--keep-tagged", "release", "--test", "u"]).said(), &["dropped go_u"]);
        let said = older("90d", &["--keep-tagged", "release"]).said();
        assert_told(&said, &["dropped go_t#1 from", "dropped go_t#2 from"]);
        assert_eq!(store.keys(), ["nio t"]);
        assert_told(&older("90d", &["--keep-tagged", "release"]).said(), &["nothing was dropped", "release"]);
        older("90d", &["--tag", "release=1.0"]).said();
        assert!(store.list().is_empty());
    }
}

#[test]
fn run_that_can_not_be_read_is_dropped_by_its_parts_and_kept_otherwise() {
    let store = filled(Store::embedded());
    let manifest = std::path::Path::new(store.place()).join("runs/go+t/manifest.json");
    std::fs::write(&manifest, "{").unwrap();
    let old = store.run(&["drop", "--older-than", "0s", "--keep-tagged", "release", "--yes"]).complaint(1);
    assert_told(&old, &["go+t", "left out"]);
    assert!(manifest.is_file(), "nobody knows its age");
    store.run(&["drop", "go_t"]).said();
    assert!(!manifest.exists());
}
