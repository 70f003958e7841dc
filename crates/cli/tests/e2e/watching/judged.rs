//! Rules that are judged while a test runs, and once it is stored.

use super::same::NAMED;
use super::writer::{Watching, Writer, log, records};
use crate::support::*;

/// Watches a log by rules: twelve seconds, of which the last ones come only while somebody watches.
fn judged(store: &Store, rules: &str, flags: &[&str]) -> (Done, Vec<String>) {
    store.file("rules.toml", format!("rules = [{rules}]\n"));
    let mut writer = Writer::new(store, "run.jtl");
    let words = [&["run.jtl", "--check", "rules.toml", "--idle-end", "2s"], flags, &NAMED].concat();
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
        assert_told(&done.err, &[rule, "for good", "perfpipe ingest"]);
        assert!(store.list().is_empty(), "{rule}");
    }
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
        let complaint = store.run(&["watch", "run.jtl", "--check", "rules.toml"]).complaint(2);
        assert_told(&complaint, &[rule, "rules.toml", "perfpipe check"]);
    }
}
