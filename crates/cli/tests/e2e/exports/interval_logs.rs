//! Interval logs of HdrHistogram, which have no requests: runs without samples, in both stores.

use crate::support::*;
use crate::zips::{deflated, gzip};

const LOG: &str = "other/hdrhistogram/clean.hlog";

const KEY: [&str; 4] = ["--framework", "nio", "--test", "hello"];

fn ingested(store: &Store, files: &[&str]) -> String {
    store.run(&[&["ingest"], files, &KEY[..]].concat()).said()
}

fn read() -> Vec<u8> {
    std::fs::read(fixture(LOG)).unwrap()
}

#[test]
fn log_is_a_run_without_samples_that_tells_its_rounding() {
    for store in Store::each() {
        let said = ingested(&store, &[fixture(LOG).to_str().unwrap()]);
        assert_told(
            &said,
            &["3 significant digits", "failures are not in the log", "(counts only)", "p50 9.119 ms"],
        );
        let list = &store.list()[0];
        assert_eq!(list["requests"], 3000);
        assert_told(&list["caveats"].to_string(), &["rounded up to 3 digits", "failures are not in the log"]);
        assert_eq!((&list["samples_stored"], &list["failures"]), (&false.into(), &0.into()));
        let key = store.only_key();
        let seconds: Vec<u64> = rows(&store.export(&key, "seconds", "csv", &[]))
            .iter()
            .map(|row| row["successes"].parse().unwrap())
            .collect();
        assert_eq!(seconds, [1726, 1274]);
        let summary = store.summary(&key, &[]);
        for (name, exact) in [("p50", 9.112), ("p99", 14.528_13)] {
            let found = summary[name].as_f64().unwrap();
            assert!(found >= exact && found < exact * 1.001, "{name}: {found}");
        }
        let complaint = store.run(&[&["export", "--what", "samples"], &KEY[..]].concat()).complaint(1);
        assert_told(&complaint, &["has no single requests", "Give a log of requests"]);
        store.run(&["verify"]).text();
        store.run(&["diagnose", "nio_hello"]).text();
    }
}

#[test]
fn log_is_read_from_packed_files_pipes_and_folders() {
    let plain = Store::embedded();
    ingested(&plain, &[fixture(LOG).to_str().unwrap()]);
    let expected = plain.export(&plain.only_key(), "seconds", "csv", &[]);
    let store = Store::embedded();
    let is_same = |what: &str| {
        assert_eq!(store.export(&Key::new("nio", "hello"), "seconds", "csv", &[]), expected, "{what}");
    };
    ingested(&store, &[&store.file("run.hlog.gz", gzip(&read()))]);
    is_same("gzip");
    ingested(&store, &[&store.file("run.zip", deflated(&[("run.hlog", &read())]))]);
    is_same("zip");
    for bytes in [read(), gzip(&read()), deflated(&[("run.hlog", &read())])] {
        store.pipe(&bytes, &[&["ingest", "-"], &KEY[..]].concat()).said();
        is_same("pipe");
    }
    let there = Store::embedded();
    assert_told(&store.run(&["copy", "--to", there.place()]).said(), &["read back the same"]);
    assert_eq!(there.list(), store.list());
    store.file("night/nio-hello.hlog", read());
    let folder = store.folder.path().join("night").display().to_string();
    let campaign = Store::embedded();
    let pass = || campaign.run(&["ingest", &folder, "--framework", "nio", "--test", "hello"]);
    let first = pass();
    assert!(first.err.contains("3 significant digits"), "{}", first.err);
    let second = pass();
    assert!(second.err.contains("1 unchanged"), "{}", second.err);
}

#[test]
fn readings_of_the_processor_are_joined_by_second() {
    let store = Store::embedded();
    let readings: String = (1_795_347_885..1_795_347_895).map(|clock| format!("{clock},50\n")).collect();
    let cpu = store.file("cpu.csv", format!("clock,value\n{readings}"));
    let said = ingested(&store, &[fixture(LOG).to_str().unwrap(), &cpu]);
    assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
}

#[test]
fn inspection_and_pages_tell_the_rounding() {
    let store = Store::embedded();
    let log = fixture(LOG).display().to_string();
    let found = store.run(&["inspect", &log]).text();
    assert_told(&found, &["HdrHistogram", "3 significant digits"]);
    ingested(&store, &[&log]);
    let pages = store.folder.path().join("pages").display().to_string();
    store.run(&["report", "--test", "hello", "--format", "svg", "--out", &pages]).text();
    let page = std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().path());
    let texts: Vec<String> = page.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("rounded up to 3 digits")), "{} pages", texts.len());
}

#[test]
fn logs_of_answers_say_in_list_and_pages_what_they_lack() {
    let store = Store::embedded();
    let log = fixture("other/hey/failures.csv").display().to_string();
    let summary = store.file("hey.txt", std::fs::read(fixture("other/hey/failures-summary.out")).unwrap());
    // It counts the same answers by status, and is of another run.
    let complaint =
        store.run(&["ingest", &log, &summary, "--framework", "go", "--test", "hello"]).complaint(2);
    assert_told(&complaint, &["hey.txt is the summary of a load tool"]);
    store.run(&["ingest", &log, "--framework", "go", "--test", "hello"]).said();
    let lacks = "requests without an answer are missing";
    assert_eq!(store.list()[0]["caveats"], serde_json::json!([lacks]));
    let pages = store.folder.path().join("pages").display().to_string();
    store.run(&["report", "--test", "hello", "--format", "svg", "--out", &pages]).text();
    let page = std::fs::read_to_string(store.folder.path().join("pages/go_hello.svg")).unwrap();
    assert!(page.contains(&lacks[1..]), "{page}");
}
