//! `perfpipe inspect`: what it says of files is what an ingest then does with them.

use serde_json::{Value, json};

use crate::support::*;

/// What is said of these files, as JSON.
fn inspected(store: &Store, files: &[&str]) -> Value {
    store.run(&[&["inspect", "--format", "json"], files].concat()).json()
}

/// The rejects of a run, as line and reason.
fn stored_rejects(store: &Store, key: &Key) -> Vec<(String, String)> {
    let rows = rows(&store.export(key, "rejects", "csv", &[]));
    rows.iter().map(|row| (row["line"].clone(), row["reason"].clone())).collect()
}

/// Whatever an ingest finds, the inspection said before, where its sample is the whole log.
fn agrees(found: &Value, store: &Store, what: &str) {
    let run = &store.list()[0];
    let key = store.only_key();
    assert_eq!(found["whole"], true, "{what}");
    assert_eq!(found["refusal"], Value::Null, "{what}");
    assert_eq!(found["key"]["framework"], run["framework"], "{what}");
    assert_eq!(found["key"]["test"], run["test"], "{what}");
    assert_eq!(found["t0_ms"], run["t0_ms"], "{what}");
    assert_eq!(
        found["records_estimate"],
        count(run, "requests") + count(run, "transactions") + count(run, "rejects")
    );
    let requests = count(found, "successes") + count(found, "failures");
    assert_eq!(json!(requests), run["requests"], "{what}");
    for name in ["failures", "transactions", "rejects"] {
        assert_eq!(found[name], run[name], "{name} of {what}");
    }
    let first: Vec<(String, String)> = found["first_rejects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reject| (reject["line"].to_string(), text(reject, "reason").to_owned()))
        .collect();
    let stored = stored_rejects(store, &key);
    assert_eq!(first, stored[..stored.len().min(5)], "{what}");
    let kinds =
        found["reject_kinds"].as_array().unwrap().iter().map(|kind| count(kind, "count")).sum::<i64>();
    assert_eq!(kinds, stored.len() as i64, "{what}");
    let labels: Value =
        serde_json::from_str(&store.export(&key, "labels", "json", &["--transactions"])).unwrap();
    let of = |labels: &Value| -> Vec<(String, i64)> {
        let label = |row: &Value| (text(row, "label").to_owned(), count(row, "failures"));
        labels.as_array().unwrap().iter().map(label).collect()
    };
    let mut names: Vec<String> = of(&labels).into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(of(&found["labels"]).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names, "{what}");
}

#[test]
fn every_fixture_is_ingested_as_it_was_said_to_be() {
    for fixture in Fixture::all() {
        for log in fixture.logs() {
            let store = Store::embedded();
            let files = fixture.files(&log);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let found = inspected(&store, &files);
            assert!(!std::path::Path::new(store.place()).exists(), "an inspection made a store");
            let said = store.run(&[&["ingest"], &files[..]].concat()).said();
            agrees(&found, &store, &log);
            for inferred in found["inferred"].as_array().unwrap() {
                assert!(said.contains(&format!("inferred {}", inferred.as_str().unwrap())), "{said}");
            }
            let facts = &fixture.facts;
            assert_eq!(found["last_ms"], facts["last_ms"], "{log}");
            assert_eq!(found["logs"][0]["sample_bytes"], facts["bytes"], "{log}");
            assert_eq!(
                found["injectors"].as_array().unwrap().len(),
                facts["injectors"].as_array().map_or(0, Vec::len),
                "{log}"
            );
            if !facts["cpu"].is_null() {
                assert_eq!(found["cpu"]["readings"], facts["cpu"]["samples"], "{log}");
                assert_eq!(found["cpu"]["first_second"], facts["cpu"]["first_clock"], "{log}");
                assert_eq!(found["cpu"]["last_second"], facts["cpu"]["last_clock"], "{log}");
                assert_eq!(found["cpu"]["min"].as_f64(), facts["cpu"]["min"].as_f64(), "{log}");
                assert_eq!(found["cpu"]["clock"], Value::Null, "{log}");
            }
        }
    }
}

#[test]
fn particulars_of_a_log_are_told() {
    let store = Store::embedded();
    let one = |name: &str| inspected(&store, &[fixture(name).to_str().unwrap()])["logs"][0].clone();
    let log = one("Results-vars-8181.csv.zip");
    assert_eq!(log["packing"], "zip, deflate");
    assert_eq!(
        log["ignored_columns"],
        json!(["grpThreads", "Filename", "Encoding", "SampleCount", "ErrorCount", "a", "b"])
    );
    assert_eq!((&log["missing_columns"], &log["injectors_by"]), (&json!([]), &json!("hostname")));
    let log = one("Results-mix-8181.noheader.csv");
    assert_eq!((&log["header"], log["columns"].as_array().unwrap().len()), (&json!(false), 17));
    assert_eq!((&log["packing"], &log["injectors_by"]), (&json!("plain"), &json!("nothing")));
    let log = one("Results-mix-8181.datefmt.csv");
    let form =
        json!({ "form": "date", "pattern": "yyyy/MM/dd HH:mm:ss.SSS", "names_zone": false, "zone": "UTC" });
    assert_eq!(log["time_stamp"], form);
    assert_eq!(one("crlf.csv")["time_stamp"], json!({ "form": "epoch-ms" }));
    assert_eq!(one("tab.jtl")["delimiter"], "\t");
    let log = one("two-headers.csv");
    assert_eq!((&log["repeated_headers"], &log["first_repeated_header"]), (&json!(1), &json!(152)));
    assert_eq!(one("distributed.csv")["injectors_by"], "thread-name");
}

/// A log of so many records, a millisecond apart, with so many bad ones among them. Their labels are `width` long.
fn log_of(records: i64, bad_every: i64, width: usize) -> String {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    for at in 0..records {
        let success = if at % bad_every == bad_every - 1 { "maybe" } else { "true" };
        log.push_str(&format!("{},12,{:0width$},{success}\n", 1_795_203_738_615_i64 + at, at % 7));
    }
    log
}

#[test]
fn large_log_is_read_at_its_beginning_and_its_end() {
    let store = Store::embedded();
    let records = 120_000;
    let log = store.file("go_large.csv", log_of(records, 1000, 350));
    let found = inspected(&store, &[&log]);
    let of_log = &found["logs"][0];
    assert_eq!((&found["whole"], &found["end_seen"]), (&json!(false), &json!(true)));
    assert_eq!(found["t0_ms"], 1_795_203_738_615_i64);
    assert_eq!(found["last_ms"], 1_795_203_738_615_i64 + records - 2, "the last record is a reject");
    let (bytes, sample) = (of_log["unpacked_bytes"].as_i64().unwrap(), count(of_log, "sample_bytes"));
    assert!(sample > 31 << 20 && sample <= 32 << 20, "{sample} of {bytes}");
    // Every record has the same length, but for a few of the bad ones.
    let estimate = count(&found, "records_estimate");
    assert!((estimate - records).abs() < records / 1000, "{estimate}");
    assert!((count(&found, "rejects_estimate") - 120).abs() <= 2, "{found}");
    let text = store.run(&["inspect", &log]).text();
    assert!(
        text.contains("an estimate") && text.contains("a record later in the log may be earlier"),
        "{text}"
    );
    assert!(text.contains("the rest of the log was not checked"), "{text}");
    let text = store.run(&["inspect", &log, "--max-rejects", "100"]).text();
    assert!(text.contains("would fail at this rate of rejects"), "{text}");
}

#[test]
fn log_whose_last_line_does_not_end_is_looked_at_all_the_same() {
    let store = Store::embedded();
    let log = endless_log(&store, "go_hole.csv");
    let found = inspected(&store, &[&log]);
    assert_eq!(
        (&found["whole"], &found["successes"], &found["rejects"]),
        (&json!(false), &json!(1000), &json!(1))
    );
    assert_eq!(found["logs"][0]["sample_bytes"], 32 << 20);
    assert_eq!(text(&found["first_rejects"][0], "record").chars().count(), 501);
}

#[test]
fn too_many_rejects_in_the_sample_end_as_an_ingest_does() {
    let store = Store::embedded();
    let log = store.file("go_bad.csv", log_of(500, 5, 11));
    for flags in [&["--max-rejects", "99"][..], &["--strict"]] {
        let inspect = store.run(&[&["inspect", &log], flags].concat());
        let ingest = store.run(&[&["ingest", &log], flags].concat()).complaint(3);
        assert_eq!((inspect.code, &inspect.err), (Some(3), &ingest));
        assert!(String::from_utf8(inspect.out).unwrap().contains("would be refused"));
    }
    let found = inspected(&store, &[&log]);
    assert_eq!(
        found["reject_kinds"],
        json!([{ "code": "not-a-boolean", "reason": "success is not true or false", "count": 100 }])
    );
}

#[test]
fn readings_whose_clock_is_hours_off_are_noticed() {
    let store = Store::embedded();
    let log = fixture("Results-mix-8181.datefmt.csv");
    let cpu = fixture("Results-mix-8181.datefmt.cpu.csv");
    let files = [log.to_str().unwrap(), cpu.to_str().unwrap()];
    let found = inspected(&store, &[&files[..], &["--time-zone", "Europe/Warsaw"]].concat());
    let clock = &found["cpu"]["clock"];
    assert_eq!((&found["cpu"]["covered"], &clock["shift"]), (&json!(0), &json!(-3600)));
    assert_eq!((&clock["time_zone"], &clock["cpu_offset"]), (&json!("+00:00"), &json!(-3600)));
    // Either remedy is one.
    for flags in [
        ["--time-zone", "+00:00", "--cpu-offset", "0"],
        ["--time-zone", "Europe/Warsaw", "--cpu-offset", "-3600"],
    ] {
        let found = inspected(&store, &[&files[..], &flags].concat());
        assert_eq!(found["cpu"]["covered"], found["cpu"]["seconds"]);
        assert_eq!(found["cpu"]["covered"], clock["covered"]);
    }
    let text = store.run(&[&["inspect"], &files[..], &["--time-zone", "Europe/Warsaw"]].concat()).text();
    assert_told(&text, &["1 hour"]);
    assert!(text.contains("--time-zone +00:00, or --cpu-offset -3600"), "{text}");
}

#[test]
fn cpu_export_alone_is_looked_at_and_refused() {
    let store = Store::embedded();
    let cpu = fixture("Results-2048-9000.cpu.csv");
    let done = store.run(&["inspect", cpu.to_str().unwrap()]);
    assert_told(&done.err, &["Results-2048-9000.cpu.csv"]);
    let text = String::from_utf8(done.out).unwrap();
    assert!(done.code == Some(2) && text.contains("84, one every 1 s"), "{text}");
}

#[test]
fn pipe_is_looked_at_and_what_was_read_is_said_to_be_gone() {
    let store = Store::embedded();
    for (name, packing) in [("crlf.csv", "plain"), ("outage.csv.zip", "zip")] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let found = store.pipe(&bytes, &["inspect", "-", "--format", "json"]).json();
        let by_name = inspected(&store, &[fixture(name).to_str().unwrap()]);
        for same in ["t0_ms", "last_ms", "successes", "failures", "whole", "labels", "records_estimate"] {
            assert_eq!(found[same], by_name[same], "{same} of {name}");
        }
        assert_eq!(
            (&found["logs"][0]["pipe"], &found["logs"][0]["packing"]),
            (&json!(true), &json!(packing))
        );
        let text = store.pipe(&bytes, &["inspect", "-"]).text();
        assert!(
            text.contains("standard input") && text.contains("the part that was read is consumed"),
            "{text}"
        );
    }
    // One that goes on for long is not read to its end.
    let log = log_of(120_000, i64::MAX, 350);
    let found = store.pipe(log.as_bytes(), &["inspect", "-", "--format", "json"]).json();
    assert_eq!((&found["whole"], &found["records_estimate"]), (&json!(false), &Value::Null));
}

#[test]
fn several_logs_are_the_injectors_of_one_run() {
    let store = Store::embedded();
    let files = [fixture("tab.jtl"), fixture("crlf.csv")];
    let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let found = inspected(&store, &files);
    store.run(&[&["ingest"], &files[..]].concat()).said();
    agrees(&found, &store, "two logs");
    assert_eq!(found["injectors"], json!(["tab.jtl", "crlf.csv"]));
}
