//! Goals for response times: the share within a time, and Apdex, against the samples.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::*;

/// The percentage of some samples that succeeded within a time, and their Apdex.
fn expected(samples: &[&HashMap<String, String>], ms: u32) -> (f64, f64) {
    let upto = |limit: u32| {
        let fast = |sample: &&&HashMap<String, String>| {
            sample["success"] == "true" && sample["elapsed"].parse::<u32>().unwrap() <= limit
        };
        samples.iter().filter(fast).count() as f64
    };
    let all = samples.len() as f64;
    (100.0 * upto(ms) / all, (upto(ms) + (upto(4 * ms) - upto(ms)) / 2.0) / all)
}

fn close(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} for {expected}");
}

const GOALS: [&str; 4] = ["--within", "100ms", "--apdex", "0.1s"];

/// Failures keep no goal: 321 of these requests fail, most of them fast.
#[test]
fn goals_are_those_of_all_requests() {
    for store in Store::each() {
        let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&store);
        let samples = rows(&store.export(&key, "samples", "csv", &[]));
        let all: Vec<_> = samples.iter().collect();
        let (within, apdex) = expected(&all, 100);
        assert!(within < 94.0 && apdex < 0.97, "{within} {apdex}");
        for flags in [&[][..], &["--include-failures"]] {
            let summary = store.summary(&key, &[&GOALS, flags].concat());
            close(&summary["within_100ms_percent"], within);
            close(&summary["apdex_100ms"], apdex);
        }
        let seconds: Value = serde_json::from_str(&store.export(&key, "seconds", "json", &GOALS)).unwrap();
        for row in seconds.as_array().unwrap() {
            let second = count(row, "second");
            let of_second =
                |sample: &&HashMap<String, String>| sample["t_ms"].parse::<i64>().unwrap() / 1000 == second;
            let (within, apdex) = expected(&samples.iter().filter(of_second).collect::<Vec<_>>(), 100);
            close(&row["within_100ms_percent"], within);
            close(&row["apdex_100ms"], apdex);
        }
        let report = ["report", "--test", &key.test, "--format", "svg", "--table", "json"];
        let league = store.run(&[&report[..], &GOALS].concat()).rows();
        close(&league[0]["within_100ms_percent"], within);
        close(&league[0]["apdex_100ms"], apdex);
    }
}

#[test]
fn rules_are_about_goals_and_bytes() {
    let store = Store::embedded();
    let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&store);
    let summary = store.summary(&key, &GOALS);
    let rules = [
        "within 100ms > 50%",
        "within 100ms of \"Flaky, equals\" > 50% for 3s",
        "apdex 100ms >= 0.5",
        "bytes_per_second > 1 kB/s",
        "sent_bytes_per_second > 1000 MB/s",
        "within 100ms >= 99.9%",
    ];
    let done = store.run(&[&["check", "--test", &key.test, "--format", "json"], &rules[..]].concat());
    assert_eq!(done.code, Some(4), "{}", done.err);
    let verdicts = done.rows_anyway();
    let holds: Vec<_> = verdicts.iter().map(|row| row["passed"] == true).collect();
    assert_eq!(holds, [true, true, true, true, false, false], "{verdicts:?}");
    assert_eq!(verdicts[0]["value"], summary["within_100ms_percent"]);
    assert_eq!(verdicts[2]["value"], summary["apdex_100ms"]);
    assert_eq!(verdicts[3]["value"], summary["bytes_per_second"]);
    assert_eq!((text(&verdicts[4], "unit"), count(&verdicts[4], "limit")), ("B/s", 1_000_000_000));
    let complaint = store.run(&["check", "--test", &key.test, "within 100ms > 0.95"]).complaint(2);
    assert!(complaint.contains("no unit"), "{complaint}");
}
