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
fn label_that_is_called_total_is_told_from_the_total() {
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

/// JMeter counts sub-samples as samples like any other.
#[test]
fn statistics_with_sub_samples_are_those_of_jmeter_to_the_last_digit() {
    let log = fixture("statistics/sub-samples.csv");
    let theirs = std::fs::read_to_string(fixture("statistics/sub-samples.json")).unwrap();
    for store in Store::each() {
        store.run(&["ingest", log.to_str().unwrap()]).said();
        let ours = export(&store, &store.only_key(), &["--what", "statistics"]).text();
        assert_eq!(statistics(&ours), statistics(&theirs));
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
fn document_of_a_run_has_the_fields_of_its_schema() {
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

/// A client that sends every 10 ms for 100 s, of which the server stands still for the last 10 s.
#[test]
fn percentiles_are_corrected_for_a_stall_where_that_is_asked_for() {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    log.extend((0..9000).map(|at| format!("{},10,Get,true\n", 1_795_203_738_000_i64 + 10 * at)));
    log.push_str("1795203828000,10000,Get,true\n");
    for store in Store::each() {
        store.run(&["ingest", &store.file("go_stall.csv", &log)]).said();
        let key = store.only_key();
        let plain = &table(&store, &key, &["--what", "summary"])[0];
        assert_eq!((&plain["p99"], &plain["p99_corrected"]), (&10.into(), &Value::Null));
        let corrected = &table(&store, &key, &["--what", "summary", "--corrected", "10ms"])[0];
        assert_eq!(corrected["p99"], plain["p99"]);
        assert_eq!(
            (&corrected["corrected_interval_ms"], &corrected["p50_corrected"]),
            (&10.into(), &10.into())
        );
        assert!((corrected["p99_corrected"].as_f64().unwrap() - 9000.1).abs() < 1e-9, "{corrected}");
        let hgrm = |flags: &[&str]| export(&store, &key, &[&["--what", "hgrm"], flags].concat()).text();
        let (plain, corrected) = (hgrm(&[]), hgrm(&["--corrected", "10ms"]));
        assert!(plain.contains("Total count    =         9001]") && !plain.contains("orrected"), "{plain}");
        assert!(corrected.contains("Total count    =        10000]"), "{corrected}");
        let last = "#[Corrected for coordinated omission, expected interval = 10 ms]\n";
        assert!(corrected.ends_with(last), "{corrected}");
    }
}

#[test]
fn figures_of_the_samples_are_those_of_the_samples() {
    each(|store, key| {
        let rows = table(store, key, &["--what", "percentiles", "--percentiles", "50,99"]);
        let samples = rows_of_successes(store, key);
        for (row, measure) in rows.iter().zip(["elapsed", "latency", "connect"]) {
            let mut values: Vec<f64> =
                samples.iter().filter_map(|sample| sample[measure].parse().ok()).collect();
            values.sort_by(f64::total_cmp);
            assert_eq!((text(row, "measure"), count(row, "samples")), (measure, values.len() as i64));
            let position = 0.99 * (values.len() - 1) as f64;
            let (below, above) = (values[position as usize], values[position.ceil() as usize]);
            let expected = below + position.fract() * (above - below);
            assert!((row["p99"].as_f64().unwrap() - expected).abs() < 1e-9, "{row}");
            assert_eq!(row["max"].as_f64(), values.last().copied());
        }
        let summary = &table(store, key, &["--what", "summary", "--percentiles", "50,99"])[0];
        assert_eq!((&rows[0]["p50"], &rows[0]["mean"]), (&summary["p50"], &summary["elapsed_mean"]));
        let codes = table(store, key, &["--what", "codes"]);
        let sum = |of: &str| codes.iter().map(|code| count(code, of)).sum::<i64>();
        assert_eq!(
            (sum("successes"), sum("failures")),
            (count(summary, "successes"), count(summary, "failures"))
        );
        let timeout = "Non HTTP response code: java.net.SocketTimeoutException";
        let of = |code: &&Value| text(code, "response_code") == timeout;
        assert_eq!(codes.iter().find(of).map(|code| count(code, "failures")), Some(42));
        format!("{rows:?}{codes:?}")
    });
    let store = Store::embedded();
    store.run(&["ingest", fixture("crlf.csv").to_str().unwrap(), "--no-samples"]).said();
    for what in ["percentiles", "codes"] {
        let complaint = export(&store, &store.only_key(), &["--what", what]).complaint(1);
        assert!(complaint.contains("--no-samples"), "{complaint}");
    }
}

fn rows_of_successes(store: &Store, key: &Key) -> Vec<HashMap<String, String>> {
    let mut samples = rows(&store.export(key, "samples", "csv", &[]));
    samples.retain(|sample| sample["success"] == "true" && sample["transaction"] == "false");
    samples
}

#[test]
fn flag_that_would_change_nothing_is_refused() {
    let store = Store::embedded();
    let key = Fixture::named("crlf.csv").ingest_into(&store);
    for flags in [
        &["--what", "labels", "--within", "200ms"][..],
        &["--what", "hgrm", "--apdex", "200ms"],
        &["--what", "seconds", "--corrected", "10ms"],
        &["--what", "samples", "--top-level"],
        &["--what", "summary", "--within", "200"],
        &["--what", "hgrm", "--corrected", "0ms"],
        &["--what", "samples", "--cpu-offset", "3"],
        &["--what", "samples", "--cpu-lookback", "9"],
        &["--what", "samples", "--transactions"],
        &["--what", "labels", "--percentiles", "99"],
        &["--what", "statistics", "--percentiles", "50,60,70"],
        &["--what", "statistics", "--include-failures"],
        &["--what", "hgrm", "--injectors", "3"],
        &["--what", "rejects", "--from", "3"],
        &["--what", "cpu", "--label", "Get 2048"],
    ] {
        export(&store, &key, flags).complaint(2);
    }
}

#[test]
fn form_has_its_own_format() {
    let store = Store::embedded();
    let key = Fixture::named("Results-mix-8181.datefmt.csv").ingest_into(&store);
    for what in ["run", "statistics", "hgrm"] {
        let complaint = export(&store, &key, &["--what", what, "--format", "csv"]).complaint(2);
        assert!(complaint.contains("Leave out --format"), "{complaint}");
    }
    let unknown = export(&store, &key, &["--what", "hgrm", "--label", "nobody"]).complaint(2);
    assert!(unknown.contains("no label"), "{unknown}");
}
