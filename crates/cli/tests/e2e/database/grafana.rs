//! The views and the dashboard for Grafana, which are files of the docs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::postgres::psql;
use crate::support::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana").join(name)
}

fn k6(store: &Store) -> Key {
    let log = fixture("other/k6/metrics.csv.gz");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "k6", "--test", "t"]).said();
    Key::new("k6", "t")
}

#[test]
fn views_tell_the_seconds_as_an_export_does() {
    // The last one has times in µs, and no CPU readings.
    for name in ["Results-2048-9000.csv", "Results-flaky-8181.csv", "other/k6/metrics.csv.gz"] {
        let Some(store) = Store::database() else { return };
        let is_fine = name.starts_with("other");
        let key = if is_fine { k6(&store) } else { Fixture::named(name).ingest_into(&store) };
        psql(store.place(), &fs::read_to_string(file("seconds.sql")).unwrap());
        let ours = store.export(&key, "seconds", "csv", &["--percentiles", "50,95,99"]);
        let mut ours = csv::Reader::from_reader(ours.as_bytes());
        let header = ours.headers().unwrap().clone();
        let names = ["second", "successes", "failures", "elapsed_mean", "p50", "p95", "p99"];
        let at = names.map(|name| header.iter().position(|own| own == name).unwrap());
        let run = format!("framework = '{}' and test = '{}'", key.framework, key.test);
        let asked = "second, successes, failures, elapsed_mean, p50, p95, p99";
        let theirs =
            psql(store.place(), &format!("select {asked} from perfpipe_seconds where {run} order by second"));
        let mut seconds = 0;
        for (ours, theirs) in ours.records().map(Result::unwrap).zip(theirs.lines()) {
            let ours = at.map(|at| ours[at].to_owned());
            let theirs: Vec<&str> = theirs.split('|').collect();
            for (one, other) in ours.iter().zip(&theirs) {
                let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
                let same = one == other
                    || one.parse().is_ok_and(|one| other.parse().is_ok_and(|other| is_near(one, other)));
                assert!(same, "{ours:?} {theirs:?}");
            }
            seconds += 1;
        }
        let info = store.list().remove(0);
        assert_eq!(seconds, count(&info, "seconds"));
        let first = psql(
            store.place(),
            &format!("select extract(epoch from min(time)) * 1000 from perfpipe_seconds where {run}"),
        );
        assert_eq!(first.parse::<f64>().unwrap() as i64, count(&info, "t0_ms"));
        let readings = psql(store.place(), &format!("select count(*) from perfpipe_cpu where {run}"));
        assert_eq!(readings == "0", is_fine);
    }
}

/// The queries of the dashboard, with Grafana's macros and variables in the words that Grafana puts there.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(sql)
                        if name == "rawSql" || (name == "query" && sql.starts_with("select")) =>
                    {
                        let sql = sql.replace("${run:sqlstring}", "'perfectnio_2048','go_2048'");
                        found.push(
                            sql.replace("$__timeFilter(time)", "time between '2000-01-01' and '2100-01-01'"),
                        );
                    }
                    other => queries(other, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|one| queries(one, found)),
        _ => {}
    }
}

#[test]
fn dashboard_asks_what_the_views_answer() {
    let Some(store) = Store::database() else { return };
    let files = ["Results-2048-9000.csv.zip", "Results-2048-9000.cpu.csv"].map(fixture);
    let files = files.each_ref().map(|path| path.to_str().unwrap());
    store.run(&["ingest", files[0], files[1], "--framework", "perfectnio", "--test", "2048"]).said();
    psql(store.place(), &fs::read_to_string(file("seconds.sql")).unwrap());
    let dashboard: Value = serde_json::from_slice(&fs::read(file("dashboard.json")).unwrap()).unwrap();
    let mut found = Vec::new();
    queries(&dashboard, &mut found);
    assert_eq!(found.len(), 5);
    for sql in found {
        assert!(!psql(store.place(), &sql).is_empty(), "{sql}");
    }
}
