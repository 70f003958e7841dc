//! The forms that other tools read, in both stores, against the figures of the tables.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::*;

fn export(store: &Store, key: &Key, flags: &[&str]) -> Done {
    let run = ["export", "--framework", &key.framework, "--test", &key.test];
    store.run(&[&run[..], flags].concat())
}

fn table(store: &Store, key: &Key, flags: &[&str]) -> Vec<Value> {
    export(store, key, &[&["--format", "json"], flags].concat()).json().as_array().unwrap().clone()
}

fn each(mut check: impl FnMut(&Store, &Key) -> String) {
    let mut both = Vec::new();
    for store in Store::each() {
        let key = Fixture::named("Results-mix-8181.datefmt.csv").ingest_into(&store);
        both.push(check(&store, &key));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores differ");
}

#[test]
fn a_label_that_is_called_total_is_told_from_the_total() {
    for store in Store::each() {
        let mut log = String::from("timeStamp,elapsed,label,success\n");
        for (at, label) in ["Total", "Get", "Total (as logged)", "Total"].iter().enumerate() {
            log.push_str(&format!("{},5,{label},true\n", 1_795_203_738_615 + at));
        }
        store.run(&["ingest", &store.file("go_2048.csv", log)]).said();
        let statistics: Value =
            serde_json::from_str(&export(&store, &store.only_key(), &["--what", "statistics"]).text())
                .unwrap();
        let counts = statistics.as_object().unwrap().iter();
        let counts: Vec<_> = counts.map(|(name, of)| (name.as_str(), of["sampleCount"].as_u64())).collect();
        let expected =
            [("Get", 1), ("Total", 4), ("Total (as logged)", 2), ("Total (as logged) (as logged)", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name, Some(count))));
    }
}

/// The figures of a `statistics.json` by label and name, each to the last digit.
fn statistics(json: &str) -> BTreeMap<String, BTreeMap<String, Figure>> {
    let raw: BTreeMap<String, BTreeMap<String, Box<RawValue>>> = serde_json::from_str(json).unwrap();
    let figures = |of: BTreeMap<String, Box<RawValue>>| {
        of.into_iter().map(|(name, text)| (name, Figure::read(text.get()))).collect()
    };
    raw.into_iter().map(|(label, of)| (label, figures(of))).collect()
}

#[derive(Debug, PartialEq)]
enum Figure {
    Text(String),
    Number(f64),
    Absent,
}

impl Figure {
    fn read(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::Number(number),
            Err(_) if text == "null" => Self::Absent,
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

/// The logs of which there is JMeter's own file.
const DASHBOARDS: [&str; 8] = [
    "Results-2048-9000.csv",
    "Results-flaky-8181.csv",
    "Results-mix-8181.datefmt.csv",
    "Results-vars-8181.csv",
    "crlf.csv",
    "outage.csv",
    "tab.jtl",
    "transactions.csv",
];

#[test]
fn statistics_are_those_of_jmeter_to_the_last_digit() {
    for name in DASHBOARDS {
        let stem = Path::new(name).file_stem().unwrap().to_str().unwrap();
        let theirs = std::fs::read_to_string(fixture(&format!("statistics/{stem}.json"))).unwrap();
        for store in Store::each() {
            let key = Fixture::named(name).ingest_into(&store);
            let ours = export(&store, &key, &["--what", "statistics"]).text();
            assert_eq!(statistics(&ours), statistics(&theirs), "{name}");
        }
    }
}

#[test]
fn statistics_without_samples_lack_what_only_these_tell() {
    for store in Store::each() {
        let log = fixture("transactions.csv");
        store.run(&["ingest", log.to_str().unwrap(), "--no-samples"]).said();
        let done = export(&store, &store.only_key(), &["--what", "statistics"]);
        assert!(done.err.contains("null"), "{}", done.err);
        let ours = statistics(&done.text());
        let theirs = std::fs::read_to_string(fixture("statistics/transactions.json")).unwrap();
        for (label, of) in statistics(&theirs) {
            for (name, figure) in of {
                match (name.as_str(), &ours[&label][&name], figure) {
                    ("throughput" | "receivedKBytesPerSec" | "sentKBytesPerSec", found, _) => {
                        assert_eq!(*found, Figure::Absent, "{label} {name}");
                    }
                    ("meanResTime", Figure::Number(found), Figure::Number(mean)) => {
                        assert!((found - mean).abs() < 1e-9, "{label}: {found} for {mean}");
                    }
                    (_, found, figure) => assert_eq!(*found, figure, "{label} {name}"),
                }
            }
        }
    }
}

/// Of a part of a run they are what JMeter says of a log of that part alone.
#[test]
fn statistics_of_a_part_are_those_of_its_samples() {
    each(|store, key| {
        let part = ["--from", "3", "--to", "9"];
        let text = export(store, key, &[&["--what", "statistics"], &part[..]].concat()).text();
        let total = &serde_json::from_str::<Value>(&text).unwrap()["Total"];
        let samples = rows(&store.export(key, "samples", "csv", &part));
        let number = |row: &HashMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
        let starts = samples.iter().map(|row| number(row, "t_ms"));
        let ends = samples.iter().map(|row| number(row, "t_ms") + number(row, "elapsed"));
        let span = ends.fold(0.0, f64::max) - starts.fold(f64::MAX, f64::min);
        assert_eq!(total["sampleCount"], samples.len());
        let found = total["throughput"].as_f64().unwrap();
        assert!((found - samples.len() as f64 / span * 1000.0).abs() < 1e-9, "{found}");
        let label =
            export(store, key, &[&["--what", "statistics", "--label", "Get slow"], &part[..]].concat());
        let label = label.json();
        let slow = samples.iter().filter(|row| row["label"] == "Get slow").count();
        assert_eq!((label.as_object().unwrap().len(), &label["Total"]["sampleCount"]), (1, &slow.into()));
        text
    });
}

#[test]
fn the_document_of_a_run_has_the_fields_of_its_schema() {
    each(|store, key| {
        let document = export(store, key, &["--what", "run"]).json();
        let fields: Vec<&String> = document.as_object().unwrap().keys().collect();
        let schema = [
            "framework",
            "ingested_at",
            "labels",
            "partial",
            "phases",
            "repeat",
            "samples_stored",
            "schema",
            "sources",
            "summary",
            "t0_ms",
            "test",
            "tool_version",
            "view",
        ];
        let mut sorted: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
        sorted.sort_unstable();
        assert_eq!(sorted, schema);
        assert_eq!(document["schema"], "perfpipe-run/1");
        assert_eq!(document["summary"], table(store, key, &["--what", "summary"])[0]);
        assert_eq!(document["phases"], Value::from(table(store, key, &["--what", "phases"])));
        assert_eq!(document["labels"], Value::from(table(store, key, &["--what", "labels"])));
        let of_view = export(store, key, &["--what", "run", "--from", "2", "--to", "5"]).json();
        assert_eq!((&of_view["view"]["from"], &of_view["summary"]["seconds"]), (&2.into(), &4.into()));
        document["summary"].to_string()
    });
}

#[test]
fn percentiles_are_in_the_form_of_hdrhistogram() {
    each(|store, key| {
        let text = export(store, key, &["--what", "hgrm"]).text();
        let summary = &table(store, key, &["--what", "summary"])[0];
        let max = summary["elapsed_max"].as_i64().unwrap();
        let mean = summary["elapsed_mean"].as_f64().unwrap();
        assert!(text.contains(&format!("#[Mean    = {mean:>12.3}")), "{text}");
        let total = summary["successes"].as_u64().unwrap();
        assert!(text.contains(&format!("{max:>8}.000 1.000000000000 {total:>10}\n")), "{text}");
        text
    });
}

#[test]
fn a_form_has_its_own_format() {
    let store = Store::embedded();
    let key = Fixture::named("Results-mix-8181.datefmt.csv").ingest_into(&store);
    for what in ["run", "statistics", "hgrm"] {
        let complaint = export(&store, &key, &["--what", what, "--format", "csv"]).complaint(2);
        assert!(complaint.contains("Leave out --format"), "{complaint}");
    }
    let unknown = export(&store, &key, &["--what", "hgrm", "--label", "nobody"]).complaint(2);
    assert!(unknown.contains("no label"), "{unknown}");
}
