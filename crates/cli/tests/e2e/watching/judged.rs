//! Rules that are judged while a test runs, and once it is stored.

use std::time::Duration;

use super::same::NAMED;
use super::writer::{HEADER, Watching, Writer, log, records, tenth};
use crate::support::*;

/// Watches a log by rules: twelve seconds, of which the last ones come only while somebody watches.
fn judged(store: &Store, rules: &str, flags: &[&str]) -> (Done, Vec<String>) {
    store.file("rules.toml", format!("rules = [{rules}]\n"));
    let mut writer = Writer::new(store, "run.jtl");
    let words = [&["run.jtl", "--rules", "rules.toml", "--idle-end", "2s"], flags, &NAMED].concat();
    let mut watching = Watching::begin(store, &words);
    writer.write(&log(0..6));
    watching.until(0);
    writer.write(&records(6..12, ""));
    watching.ended()
}

#[test]
fn rule_that_is_broken_for_good_ends_it() {
    // Two or three requests of each second fail, and none takes less than 5 ms.
    for rule in ["failures < 2 for 5s", "failures < 10", "max < 20ms", "p50 < 5ms", "failures < 1%"] {
        let store = Store::embedded();
        let (done, _) = judged(&store, &format!("\"load < 11\", \"{rule}\""), &["--abort-after", "3s"]);
        assert_eq!(done.code, Some(4), "{rule}: {}", done.err);
        assert_told(&done.err, &[rule, "aborted at second", "perfpipe ingest"]);
        assert!(store.list().is_empty(), "{rule}");
    }
}

/// The tenths of a second that a test, which runs in real time, has written by the end of the command that watches it.
fn written_by_the_end(rule: &str) -> i64 {
    let store = Store::embedded();
    store.file("rules.toml", format!("rules = [\"{rule}\"]\n"));
    let mut writer = Writer::new(&store, "run.jtl");
    writer.write(HEADER);
    let words = ["run.jtl", "--rules", "rules.toml", "--abort-after", "2s"];
    let mut watching = Watching::begin(&store, &[&words[..], &NAMED].concat());
    let mut written = 0;
    while watching.child.try_wait().unwrap().is_none() && written < 600 {
        writer.write(&tenth(written));
        written += 1;
        // A slow machine slows the test as it slows the command.
        std::thread::sleep(Duration::from_millis(100));
    }
    let (done, _) = watching.ended();
    assert_eq!(done.code, Some(4), "{rule}: {}", done.err);
    assert_told(&done.err, &[rule, "aborted at second 2:"]);
    written
}

#[test]
fn rule_that_is_broken_for_good_ends_it_within_two_seconds() {
    // Each is broken for good by what happens in second 2.
    let rules = ["failures < 8", "failures < 2 for 3s", "p50 < 5ms"];
    std::thread::scope(|scope| {
        let trials = rules.map(|rule| (rule, scope.spawn(move || written_by_the_end(rule))));
        for (rule, trial) in trials {
            let written = trial.join().unwrap();
            // One second more, for a machine that is busy.
            assert!((30..=60).contains(&written), "{rule}: {written} tenths of a second");
        }
    });
}

#[test]
fn rule_that_only_the_end_can_tell_does_not_end_it() {
    let store = Store::embedded();
    let rules = r#""requests > 1000", "p95 of \"Put\" < 1ms", "p50 in hold < 900ms", "cpu < 100""#;
    let (done, told) = judged(&store, rules, &["--abort-after", "1s"]);
    assert_eq!(done.code, Some(2), "{}", done.err);
    // A label that the run does not have is misspelt, as for `check`.
    assert_told(&done.err, &["Put"]);
    assert!(told.iter().any(|line| line.trim_start().starts_with("11 ")), "{told:?}");
    assert_eq!(store.keys(), ["go live"]);
}

#[test]
fn rules_are_checked_once_the_run_is_stored() {
    for (rules, code) in [("\"p95 < 60ms\"", 0), ("\"p95 < 60ms\", \"p50 < 5ms\"", 4)] {
        let store = Store::embedded();
        let (done, told) = judged(&store, rules, &[]);
        assert_eq!(done.code, Some(code), "{}", done.err);
        assert_eq!(store.keys(), ["go live"]);
        assert!(told.iter().any(|line| line.contains("p95 < 60ms") && line.contains("yes")), "{told:?}");
    }
}

#[test]
fn rule_that_can_not_be_judged_meanwhile_is_refused() {
    let store = Store::embedded();
    for rule in ["p95 < baseline", "throughput > 5 at 32"] {
        store.file("rules.toml", format!("rules = [\"{rule}\"]\n"));
        let complaint = store.run(&["watch", "run.jtl", "--rules", "rules.toml"]).complaint(2);
        assert_told(&complaint, &[rule, "rules.toml", "perfpipe check"]);
    }
}
