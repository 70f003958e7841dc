//! Every fixture, plain and zipped, in either store: what is stored is what the facts say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::*;

#[test]
fn every_fixture_gives_the_facts_of_its_readme() {
    for fixture in Fixture::all() {
        for log in fixture.logs() {
            let stores = Store::each();
            for store in &stores {
                let files = fixture.files(&log);
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                let said = store.run(&[&["ingest"], &files[..]].concat()).said();
                assert!(said.contains("inferred test"), "{said}");
                check(&fixture, store);
                check_said(&said, store);
            }
        }
    }
}

/// What an ingest says at its end, without reading the run again, is what the stored run says.
fn check_said(said: &str, store: &Store) {
    let summary = store.summary(&store.only_key(), &[]);
    let throughput = summary["throughput"].as_f64().unwrap();
    let line = said.lines().find(|line| line.contains("throughput")).unwrap();
    assert!(
        line.replace(',', "").contains(&format!(" {throughput:.1} successes/s")),
        "{line}, not {throughput}"
    );
    let figure = |name: &str, decimals: usize| format!("{:.decimals$} ms", summary[name].as_f64().unwrap());
    let [mean, p50, p95] = ["elapsed_mean", "p50", "p95"].map(|name| figure(name, 1));
    let times = format!("mean {mean}, p50 {p50}, p95 {p95}, max {}", figure("elapsed_max", 0));
    let told = said.lines().find(|line| line.contains("response time")).unwrap().replace(',', "");
    assert!(told.ends_with(&times.replace(',', "")), "{told}, not {times}");
    if let Some(line) = said.lines().find(|line| line.contains("have a reading")) {
        let share = format!("{:.1} % of", summary["cpu_coverage"].as_f64().unwrap() * 100.0);
        assert!(line.contains(&share), "{line}, not {share}");
    }
}

#[test]
fn killed_and_the_flaky_log_hold_what_everybody_knows_of_them() {
    for (name, requests, failures, rejects) in
        [("Results-2048-8181.killed.csv", 7649, 0, 1), ("Results-flaky-8181.csv", 5187, 321, 0)]
    {
        let store = Store::embedded();
        Fixture::named(name).ingest_into(&store);
        let run = &store.list()[0];
        let found = (count(run, "requests"), count(run, "failures"), count(run, "rejects"));
        assert_eq!(found, (requests, failures, rejects), "{name}");
    }
}

#[test]
fn dates_are_read_in_the_zone_that_is_told() {
    let fixture = Fixture::named("Results-mix-8181.datefmt.csv");
    let store = Store::embedded();
    for (zone, hours) in [("UTC", 0), ("+01:00", 1), ("Europe/Warsaw", 1), ("America/New_York", -5)] {
        store.run(&["ingest", &fixture.logs()[0], "--time-zone", zone]).said();
        assert_eq!(
            count(&store.list()[0], "t0_ms"),
            count(&fixture.facts, "t0_ms") - hours * 3_600_000,
            "{zone}"
        );
    }
}

fn check(fixture: &Fixture, store: &Store) {
    let name = format!("{} in {}", fixture.name(), store.flag[0]);
    let facts = &fixture.facts;
    let run = &store.list()[0];
    for (ours, theirs) in [
        ("t0_ms", "t0_ms"),
        ("seconds", "seconds"),
        ("failures", "failures"),
        ("transactions", "transactions"),
        ("rejects", "rejects"),
    ] {
        assert_eq!(count(run, ours), count(facts, theirs), "{ours} of {name}");
    }
    assert_eq!(count(run, "requests"), count(facts, "successes") + count(facts, "failures"), "{name}");
    let key = store.only_key();
    check_summary(facts, &store.summary(&key, &["--include-failures", "--percentiles", PERCENTILES]), &name);
    check_seconds(facts, &store.export(&key, "seconds", "csv", &[]), &name);
    check_samples(facts, &store.export(&key, "samples", "csv", &[]), &name);
    check_labels(facts, &store.export(&key, "labels", "json", &[]), &name);
    check_cpu(&facts["cpu"], &store.export(&key, "cpu", "csv", &[]), &name);
    let rejects = rows(&store.export(&key, "rejects", "csv", &[]));
    assert_eq!(rejects.len() as i64, count(facts, "rejects"), "{name}");
}

const PERCENTILES: &str = "25,50,75,90,95,99";

fn check_summary(facts: &Value, summary: &Value, name: &str) {
    for what in ["successes", "failures", "transactions", "rejects", "seconds", "t0_ms"] {
        assert_eq!(count(summary, what), count(facts, what), "{what} of {name}");
    }
    assert_eq!(count(summary, "bytes"), count(facts, "sum_bytes"), "{name}");
    assert_eq!(count(summary, "sent_bytes"), count(facts, "sum_sent_bytes"), "{name}");
    for (fact, value) in facts["elapsed"].as_object().unwrap() {
        let ours = if fact.starts_with('p') { fact.clone() } else { format!("elapsed_{fact}") };
        let (ours, value) = (summary[&ours].as_f64().unwrap(), value.as_f64().unwrap());
        assert!((ours - value).abs() < 1e-9, "{fact} of {name}: {ours}, not {value}");
    }
}

fn check_seconds(facts: &Value, csv: &str, name: &str) {
    assert_eq!(
        header(csv),
        "second,successes,failures,load,elapsed_mean,elapsed_min,elapsed_max,latency_mean,latency_min,\
         latency_max,p25,p50,p75,p95,cpu"
    );
    let rows = rows(csv);
    let number = |text: &String| text.parse::<i64>().unwrap();
    let seconds: Vec<i64> = rows.iter().map(|row| number(&row["second"])).collect();
    assert_eq!(seconds, (0..count(facts, "seconds")).collect::<Vec<_>>(), "{name}");
    let busy = rows.iter().filter(|row| number(&row["successes"]) + number(&row["failures"]) > 0).count();
    assert_eq!(busy as i64, count(facts, "seconds_with_requests"), "{name}");
    for what in ["successes", "failures"] {
        assert_eq!(rows.iter().map(|row| number(&row[what])).sum::<i64>(), count(facts, what), "{name}");
    }
}

fn check_samples(facts: &Value, csv: &str, name: &str) {
    let mut codes = BTreeMap::<String, i64>::new();
    let mut injectors = BTreeSet::<String>::new();
    let (mut earliest, mut latest, mut transactions, mut threads) = (i64::MAX, i64::MIN, 0, 0);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    let [t_ms, injector, transaction, code, load] =
        ["t_ms", "injector", "transaction", "response_code", "all_threads"].map(column);
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).unwrap() {
        let t_ms: i64 = row[t_ms].parse().unwrap();
        (earliest, latest) = (earliest.min(t_ms), latest.max(t_ms));
        if !row[injector].is_empty() && !injectors.contains(&row[injector]) {
            injectors.insert(row[injector].to_owned());
        }
        if &row[transaction] == "true" {
            transactions += 1;
            continue;
        }
        match codes.get_mut(&row[code]) {
            Some(count) => *count += 1,
            None => _ = codes.insert(row[code].to_owned(), 1),
        }
        threads = threads.max(row[load].parse().unwrap());
    }
    assert_eq!((earliest, latest), (0, count(facts, "last_ms") - count(facts, "t0_ms")), "{name}");
    assert_eq!(transactions, count(facts, "transactions"), "{name}");
    assert_eq!(threads, count(facts, "max_all_threads"), "{name}");
    assert_eq!(serde_json::to_value(codes).unwrap(), facts["codes"], "{name}");
    assert_eq!(serde_json::to_value(injectors).unwrap(), facts["injectors"], "{name}");
}

fn check_labels(facts: &Value, json: &str, name: &str) {
    let rows: Vec<Value> = serde_json::from_str(json).unwrap();
    let ours: BTreeMap<&str, (i64, i64)> = rows
        .iter()
        .map(|row| (text(row, "label"), (count(row, "successes"), count(row, "failures"))))
        .collect();
    let theirs: BTreeMap<&str, (i64, i64)> = facts["labels"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(label, facts)| (label.as_str(), (count(facts, "successes"), count(facts, "failures"))))
        .filter(|(_, (successes, failures))| successes + failures > 0)
        .collect();
    assert_eq!(ours, theirs, "{name}");
}

fn check_cpu(facts: &Value, csv: &str, name: &str) {
    let rows = rows(csv);
    let clocks: Vec<i64> = rows.iter().map(|row| row["clock"].parse().unwrap()).collect();
    let values: Vec<f64> = rows.iter().map(|row| row["value"].parse().unwrap()).collect();
    if facts.is_null() {
        assert!(rows.is_empty(), "{name}");
        return;
    }
    assert_eq!(clocks.len() as i64, count(facts, "samples"), "{name}");
    assert_eq!(clocks.iter().min().copied(), facts["first_clock"].as_i64(), "{name}");
    assert_eq!(clocks.iter().max().copied(), facts["last_clock"].as_i64(), "{name}");
    assert_eq!(values.iter().copied().reduce(f64::min), facts["min"].as_f64(), "{name}");
    assert_eq!(values.iter().copied().reduce(f64::max), facts["max"].as_f64(), "{name}");
}
