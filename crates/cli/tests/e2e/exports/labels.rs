//! The figures of each label, worked out from the samples one by one.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::*;

type Row = HashMap<String, String>;

fn numbers(samples: &[&Row], column: &str) -> Vec<f64> {
    samples.iter().filter_map(|sample| sample[column].parse().ok()).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn deviation(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<_>>()).map(f64::sqrt)
}

/// `percentile_cont` of values.
fn p90(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = 0.9 * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    low + (high - low) * position.fract()
}

fn same(row: &Value, column: &str, expected: Option<f64>) {
    let found = row[column].as_f64();
    let close = |(found, expected): (f64, f64)| (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
    assert!(
        found.zip(expected).map_or(found.is_none() && expected.is_none(), close),
        "{column}: {found:?} for {expected:?}"
    );
}

/// Failures are counted, and their times and bytes only where all requests are asked for.
#[test]
fn labels_are_as_their_samples() {
    for store in Store::each() {
        let key = Fixture::named("Results-flaky-8181.csv").ingest_into(&store);
        let samples = rows(&store.export(&key, "samples", "csv", &[]));
        for flags in [&[][..], &["--include-failures"]] {
            let labels: Value = serde_json::from_str(&store.export(&key, "labels", "json", flags)).unwrap();
            let labels = labels.as_array().unwrap();
            assert_eq!(labels.len(), 3);
            for row in labels {
                let taken = |sample: &&Row| sample["success"] == "true" || !flags.is_empty();
                let own = samples.iter().filter(|sample| sample["label"] == text(row, "label"));
                let own: Vec<&Row> = own.filter(taken).collect();
                let times = numbers(&own, "elapsed");
                assert!(times.len() > 1500);
                same(row, "elapsed_min", times.iter().copied().reduce(f64::min));
                same(row, "elapsed_max", times.iter().copied().reduce(f64::max));
                same(row, "elapsed_sd", deviation(&times));
                same(row, "p90", Some(p90(&times)));
                same(row, "latency_mean", mean(&numbers(&own, "latency")));
                same(row, "connect_mean", mean(&numbers(&own, "connect")));
                same(row, "bytes", Some(numbers(&own, "bytes").iter().sum()));
                same(row, "sent_bytes", Some(numbers(&own, "sent_bytes").iter().sum()));
            }
        }
    }
}

/// Absent is never zero.
#[test]
fn what_the_log_does_not_record_is_absent() {
    let store = Store::embedded();
    let log = "timeStamp,elapsed,label,success\n1795203738615,10,Get,true\n1795203738700,40,Get,true\n";
    let file = store.file("short.csv", log);
    store.run(&["ingest", &file, "--framework", "go", "--test", "short"]).said();
    let labels = rows(&store.export(&Key::new("go", "short"), "labels", "csv", &[]));
    assert_eq!((labels[0]["elapsed_min"].as_str(), labels[0]["elapsed_sd"].as_str()), ("10", "15"));
    for column in ["latency_mean", "connect_mean", "bytes", "sent_bytes"] {
        assert_eq!(labels[0][column], "", "{column}");
    }
    let summary = rows(&store.export(&Key::new("go", "short"), "summary", "csv", &[]));
    for column in ["latency_mean", "bytes", "sent_bytes", "bytes_per_second", "sent_bytes_per_second"] {
        assert_eq!(summary[0][column], "", "{column}");
    }
}

/// Zero is never absent, whatever is selected.
#[test]
fn what_the_log_records_as_zero_is_zero() {
    let header = "timeStamp,elapsed,label,success,bytes,sentBytes,Latency,Connect";
    let log = format!("{header}\n1795203738615,10,Get,true,0,0,0,0\n1795203738700,40,Put,true,0,0,0,\n");
    for store in Store::each() {
        let file = store.file("zeros.csv", &log);
        store.run(&["ingest", &file, "--framework", "go", "--test", "zeros"]).said();
        let key = Key::new("go", "zeros");
        for flags in [&[][..], &["--label", "Get"], &["--from", "0", "--to", "0"], &["--include-failures"]] {
            let labels = rows(&store.export(&key, "labels", "csv", flags));
            for column in ["latency_mean", "connect_mean", "bytes", "sent_bytes"] {
                assert!(labels.iter().all(|row| row[column] == "0"), "{column} {flags:?}");
            }
            let summary = rows(&store.export(&key, "summary", "csv", flags));
            for column in ["latency_mean", "bytes", "sent_bytes", "bytes_per_second", "sent_bytes_per_second"]
            {
                assert_eq!(summary[0][column], "0", "{column} {flags:?}");
            }
        }
        let seconds = rows(&store.export(&key, "seconds", "csv", &[]));
        assert_eq!(seconds[0]["latency_mean"], "0");
    }
}

/// One label has no time to connect above 0, and the others have.
#[test]
fn label_has_the_same_figures_alone() {
    let store = Store::embedded();
    let key = Fixture::named("Results-mix-8181.noheader.csv").ingest_into(&store);
    let all = rows(&store.export(&key, "labels", "csv", &[]));
    for row in &all {
        assert!(!row["connect_mean"].is_empty());
        assert_eq!(rows(&store.export(&key, "labels", "csv", &["--label", &row["label"]]))[0], *row);
    }
}
