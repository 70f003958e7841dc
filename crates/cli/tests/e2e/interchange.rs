//! The forms that other tools read, in both stores, against the figures of the tables.

use serde_json::Value;

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

#[test]
fn statistics_are_in_the_shape_of_jmeter() {
    each(|store, key| {
        let text = export(store, key, &["--what", "statistics"]).text();
        let statistics: Value = serde_json::from_str(&text).unwrap();
        let asked = ["--what", "summary", "--include-failures", "--percentiles", "50,90,95,99"];
        let labels = table(store, key, &["--what", "labels"]);
        assert_eq!(statistics.as_object().unwrap().len(), labels.len() + 1);
        let label = |row: &Value| text_of(row, "label");
        for name in labels.iter().map(label).chain(["Total".to_owned()]) {
            let mut flags = asked.to_vec();
            if name != "Total" {
                flags.extend(["--label", &name]);
            }
            let (found, summary) = (&statistics[&name], &table(store, key, &flags)[0]);
            assert_eq!(found["transaction"], Value::from(name.as_str()));
            for (theirs, ours) in [
                ("meanResTime", "elapsed_mean"),
                ("minResTime", "elapsed_min"),
                ("maxResTime", "elapsed_max"),
                ("medianResTime", "p50"),
                ("pct1ResTime", "p90"),
                ("pct2ResTime", "p95"),
                ("pct3ResTime", "p99"),
                ("errorCount", "failures"),
            ] {
                assert_eq!(found[theirs].as_f64(), summary[ours].as_f64(), "{name} {theirs}");
            }
            let requests = summary["successes"].as_u64().unwrap() + summary["failures"].as_u64().unwrap();
            assert_eq!(found["sampleCount"], Value::from(requests));
            let rate = requests as f64 / summary["seconds"].as_f64().unwrap();
            assert!((found["throughput"].as_f64().unwrap() - rate).abs() < 1e-9);
            let kilobytes =
                summary["bytes"].as_f64().unwrap() / 1024.0 / summary["seconds"].as_f64().unwrap();
            assert!((found["receivedKBytesPerSec"].as_f64().unwrap() - kilobytes).abs() < 1e-9);
        }
        text
    });
}

fn text_of(row: &Value, column: &str) -> String {
    text(row, column).to_owned()
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
