//! What stands out in real logs, and that nothing does in calm ones.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::*;

fn diagnose(store: &Store, key: &Key, flags: &[&str]) -> Done {
    let run = ["diagnose", "--framework", &key.framework, "--test", &key.test];
    store.run(&[&run[..], flags].concat())
}

/// The findings of a run: each one's kind, first and last second, and the whole row.
fn findings(store: &Store, key: &Key, flags: &[&str]) -> Vec<(String, i64, i64, Value)> {
    let rows = diagnose(store, key, &[&["--format", "json"], flags].concat()).rows();
    let row =
        |row: &Value| (text(row, "finding").into(), count(row, "first"), count(row, "last"), row.clone());
    rows.iter().map(row).collect()
}

fn kinds(findings: &[(String, i64, i64, Value)]) -> Vec<(&str, i64, i64)> {
    findings.iter().map(|(kind, first, last, _)| (&**kind, *first, *last)).collect()
}

#[test]
fn knee_of_the_real_run_and_its_idle_cpu_are_named() {
    let mut both = Vec::new();
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        let found = findings(&store, &key, &[]);
        assert_eq!(kinds(&found), [("saturation", 20, 77), ("idle-cpu", 20, 77)], "{found:?}");
        assert!(text(&found[0].3, "what").contains("stops growing at about 23.2 threads"), "{found:?}");
        assert!(text(&found[0].3, "evidence").contains("1,755/s at 30 threads"), "{found:?}");
        assert!(text(&found[1].3, "evidence").contains("of the 124 % it had at 20 threads"), "{found:?}");
        let figure = |finding: usize, name: &str| {
            let figures = found[finding].3["figures"].as_array().unwrap();
            let figure = figures.iter().find(|figure| figure["name"] == name).unwrap();
            (figure["value"].as_f64().unwrap(), figure["unit"].as_str().unwrap().to_owned())
        };
        let is_near = |(value, unit): (f64, String), near: f64, own: &str| {
            assert!((value - near).abs() < 0.05 && unit == own, "{value} {unit}");
        };
        is_near(figure(0, "load"), 23.2, "threads");
        assert_eq!(figure(0, "load_last"), (60.0, "threads".to_owned()));
        assert_eq!(figure(0, "throughput_at_knee").0.round(), 1755.0);
        is_near(figure(1, "cpu"), 76.1, "%");
        is_near(figure(1, "share_of_capacity"), 61.1, "%");
        let with_cores = findings(&store, &key, &["--cores", "2"]);
        assert!(text(&with_cores[1].3, "evidence").contains("of the 2 cores"), "{with_cores:?}");
        // Of the hold alone there is one load, and nothing to be said.
        assert_eq!(findings(&store, &key, &["--phase", "hold"]).len(), 0);
        both.push(
            ["text", "md", "csv", "json"].map(|format| diagnose(&store, &key, &["--format", format]).text()),
        );
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores give different findings");
}

#[test]
fn outage_is_told_with_its_seconds_and_its_cause() {
    for store in Store::each() {
        let key = Fixture::named("outage.csv").ingest_into(&store);
        let found = findings(&store, &key, &[]);
        assert_eq!(kinds(&found), [("failures", 0, 74), ("failures", 40, 49)], "{found:?}");
        assert!(text(&found[1].3, "evidence").contains("HttpHostConnectException"), "{found:?}");
        let log = fixture("two-headers.csv");
        store.run(&["ingest", log.to_str().unwrap(), "--framework", "two", "--test", "t"]).said();
        let key = Key::new("two", "t");
        // Second 7 has 8 requests, where 20 are usual.
        assert_eq!(kinds(&findings(&store, &key, &[])), [("pause", 7, 19)]);
    }
}

#[test]
fn slow_injector_of_a_distributed_run_is_named() {
    for store in Store::each() {
        let key = Fixture::named("distributed.csv").ingest_into(&store);
        let done = diagnose(&store, &key, &[]);
        assert!(done.err.contains("nothing stands out"), "{}", done.err);
        assert_eq!(done.text().lines().count(), 2, "a heading and its rule");

        // Its requests take three times as long, so that it sends a third of them.
        let log = std::fs::read_to_string(fixture("distributed.csv")).unwrap();
        let mut slow = String::new();
        let mut of_slow = 0;
        for line in log.lines() {
            if line.contains("127.0.0.3:1100-") {
                of_slow += 1;
                if of_slow % 3 == 0 {
                    let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
                    fields[1] = (fields[1].parse::<u64>().unwrap() * 3).to_string();
                    writeln!(slow, "{}", fields.join(",")).unwrap();
                }
            } else {
                writeln!(slow, "{line}").unwrap();
            }
        }
        let path = store.file("slow.csv", slow);
        store.run(&["ingest", &path, "--framework", "slow", "--test", "t"]).said();
        let found = findings(&store, &Key::new("slow", "t"), &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(text(&found[0].3, "what").contains("127.0.0.3:1100 sends fewer requests"), "{found:?}");
    }
}

#[test]
fn hole_in_the_cpu_readings_is_found() {
    for store in Store::each() {
        let key = Fixture::named("Results-mix-8181.noheader.csv").ingest_into(&store);
        // Seven epoch seconds are missing: six seconds of the run lie wholly within them.
        let found = findings(&store, &key, &["--cpu-lookback", "0"]);
        assert!(kinds(&found).contains(&("cpu-coverage", 7, 12)), "{found:?}");
    }
}
