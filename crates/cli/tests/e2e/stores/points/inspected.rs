//! What an inspection shows of summaries.

use super::output;
use crate::support::*;

#[test]
fn inspection_of_summaries_shows_sections_keys_and_what_is_lost() {
    let store = Store::embedded();
    let folder = output("wrk/workers");
    let inspect = |more: &[&str]| store.run(&[&["inspect"], more].concat());
    let named = ["--name", "result_w{workers}_{repeat}.log", "--framework", "tiny"];
    let found = inspect(&[&[folder.as_str()], &named[..], &["--format", "json"]].concat());
    assert_told(&found.err, &["36 points: an ingest would take them"]);
    let sections = found.rows();
    assert_eq!(sections.len(), 36);
    assert!(sections.iter().all(|row| row["framework"] == "tiny" && row["line"].as_u64().is_some()));
    let aborted = output("ab/drop-abort.txt");
    let keys = ["--framework", "f", "--test", "t", "--concurrency", "16"];
    let found = inspect(&[&[aborted.as_str()], &keys[..]].concat());
    assert_told(&found.err, &["no figures: ab gave up after 49 requests"]);
    assert_told(&found.text(), &["aborted", "drop-abort.txt"]);
    // Without a key, the sections are shown, and it fails as an ingest would.
    let nameless = inspect(&[&output("hey/clean-summary.out")]);
    assert_eq!(nameless.code, Some(2), "{}", nameless.err);
    assert!(String::from_utf8_lossy(&nameless.out).contains("hey"));
    assert_told(&nameless.err, &["--framework"]);
    let log = fixture("crlf.csv");
    let idle = inspect(&[log.to_str().unwrap(), "--concurrency", "8"]).complaint(2);
    assert_told(&idle, &["--concurrency is for summaries"]);
    assert!(!store.folder.path().join("store").exists(), "nothing is stored");
}

#[test]
fn inspection_of_standard_input_knows_summaries_and_logs() {
    let store = Store::embedded();
    let text = std::fs::read(output("wrk/sweep/alpha_c8_r1.txt")).unwrap();
    assert_told(&store.pipe(&text, &["inspect", "-"]).text(), &["wrk", "/hello", "8"]);
    let log = std::fs::read(fixture("crlf.csv")).unwrap();
    let found = store.pipe(&log, &["inspect", "-", "--framework", "go", "--test", "t"]).text();
    assert_told(&found, &["200, 18 of them failures", "from a pipe"]);
}
