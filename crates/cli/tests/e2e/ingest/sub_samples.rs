//! Sub-samples, which JMeter writes as records of their own, counted and left out.

use serde_json::Value;

use crate::support::*;

/// The labels of a run, and how many requests each has.
fn labels(store: &Store, key: &Key, flags: &[&str]) -> Vec<(String, i64)> {
    let rows: Value = serde_json::from_str(&store.export(key, "labels", "json", flags)).unwrap();
    let label =
        |row: &Value| (text(row, "label").to_owned(), count(row, "successes") + count(row, "failures"));
    rows.as_array().unwrap().iter().map(label).collect()
}

/// 240 requests, among them those of a sampler `Plain-0`, and 540 parts of them.
fn ingest(store: &Store, flags: &[&str]) -> Key {
    let log = fixture("statistics/sub-samples.csv");
    store.run(&[&["ingest", log.to_str().unwrap()], flags].concat()).said();
    store.only_key()
}

#[test]
fn sub_samples_are_left_out_and_samplers_of_such_names_are_not() {
    let mut both = Vec::new();
    for store in Store::each() {
        let key = ingest(&store, &[]);
        assert_eq!(labels(&store, &key, &[]).len(), 13);
        let at_top = labels(&store, &key, &["--top-level"]);
        let expected = ["Go", "Page", "Plain", "Plain-0"].map(|label| (label.to_owned(), 60));
        assert_eq!(at_top, expected);
        let (all, top) = (store.summary(&key, &[]), store.summary(&key, &["--top-level"]));
        let requests = |row: &Value| count(row, "successes") + count(row, "failures");
        assert_eq!((requests(&all), requests(&top)), (780, 240));
        // JMeter fails a page of which a part failed.
        assert_eq!((count(&all, "failures"), count(&top, "failures")), (70, 35));
        let errors = rows(&store.export(&key, "errors", "csv", &["--top-level"]));
        assert_eq!(errors.iter().map(|row| row["count"].parse::<i64>().unwrap()).sum::<i64>(), 35);
        let rule = ["check", "--test", &key.test, "--top-level", "requests == 240"];
        let done = store.run(&rule);
        assert!(done.err.contains("Go-0, Go-1") && !done.err.contains("Plain-0"), "{}", done.err);
        assert_eq!(done.code, Some(0), "{}", done.err);
        // Each part is in flight beside its page: without the parts, no thread sends two requests at once.
        let diagnosed = store.run(&["diagnose", "--test", &key.test, "--top-level"]);
        assert!(diagnosed.err.contains("Go-0, Go-1"), "{}", diagnosed.err);
        let of_label = ["export", "--framework", &key.framework, "--test", &key.test, "--top-level"];
        let complaint = store.run(&[&of_label[..], &["--label", "Go-0"]].concat()).complaint(2);
        assert!(complaint.contains("no label"), "{complaint}");
        both.push((at_top, top["throughput"].clone()));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores differ");
}

#[test]
fn sub_samples_without_stored_samples_are_refused() {
    for store in Store::each() {
        let key = ingest(&store, &["--no-samples"]);
        let run = ["export", "--framework", &key.framework, "--test", &key.test, "--top-level"];
        let complaint = store.run(&run).complaint(1);
        assert!(complaint.contains("--no-samples"), "{complaint}");
    }
    // Where no label has such a name there is nothing to tell.
    let store = Store::embedded();
    store.run(&["ingest", fixture("crlf.csv").to_str().unwrap(), "--no-samples"]).said();
    let key = store.only_key();
    assert_eq!(store.summary(&key, &["--top-level"]), store.summary(&key, &[]));
}

#[test]
fn inspection_names_labels_that_read_like_them() {
    let store = Store::embedded();
    let log = fixture("statistics/sub-samples.csv");
    let said = store.run(&["inspect", log.to_str().unwrap()]).text();
    assert_told(&said, &["10 labels", "Go-0"]);
    let said = store.run(&["inspect", fixture("crlf.csv").to_str().unwrap()]).text();
    assert!(!said.contains("sub-samples"), "{said}");
}
