//! Summaries in the formats of services that compare builds.

use serde_json::Value;

use crate::support::*;

/// A store with a run of the fixtures.
fn filled() -> (Store, String) {
    let store = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
    (store, format!("{}_{}", key.framework, key.test))
}

fn summary(store: &Store, run: &str, flags: &[&str]) -> Done {
    store.run(&[&["export", run, "--what", "summary"], flags].concat())
}

#[test]
fn form_of_k6_is_read_back_with_the_same_figures() {
    let (store, run) = filled();
    let text = summary(&store, &run, &["--format", "k6"]).text();
    let metrics = &serde_json::from_str::<Value>(&text).unwrap()["metrics"];
    let expected = &summary(&store, &run, &["--percentiles", "90,95", "--format", "json"]).json()[0];
    let of = |metric: &str, field: &str| metrics[metric][field].as_f64().unwrap();
    for (field, column) in [("avg", "elapsed_mean"), ("max", "elapsed_max"), ("med", "p50"), ("p(90)", "p90")]
    {
        let (own, other) = (of("http_req_duration{expected_response:true}", field), &expected[column]);
        assert!((own - other.as_f64().unwrap()).abs() < 1e-9, "{field}: {own}, {other}");
    }
    assert_eq!(metrics["http_reqs"]["count"], expected["successes"]);
    assert!((of("http_reqs", "rate") - expected["throughput"].as_f64().unwrap()).abs() < 1e-6);
    assert!(of("http_req_waiting", "p(95)") > of("http_req_waiting", "med"));
    assert_eq!((of("checks", "value"), of("http_req_failed", "passes")), (1.0, 0.0));

    let file = store.file("load-performance.json", &text);
    store.run(&["ingest", &file, "--framework", "again", "--test", "points"]).said();
    let points = store.run(&["export", "--test", "points", "--what", "points", "--format", "json"]).json();
    assert_eq!((text_of(&points, "tool"), &points[0]["requests"]), ("k6", &expected["successes"]));
}

fn text_of<'a>(rows: &'a Value, name: &str) -> &'a str {
    text(&rows[0], name)
}

#[test]
fn services_get_the_figures_of_the_summary() {
    let (store, run) = filled();
    let p95 = summary(&store, &run, &["--percentiles", "95", "--format", "json"]).json()[0]["p95"].clone();
    let export = |format: &str| summary(&store, &run, &["--percentiles", "95", "--format", format]).text();
    let bencher: Value = serde_json::from_str(&export("bencher")).unwrap();
    assert_eq!(bencher[&run]["p95_ms"]["value"].as_f64(), p95.as_f64());
    let smaller: Value = serde_json::from_str(&export("smaller-is-better")).unwrap();
    let named =
        smaller.as_array().unwrap().iter().find(|one| one["name"] == format!("{run} p95_ms")).unwrap();
    assert_eq!((named["value"].as_f64(), text(named, "unit")), (p95.as_f64(), "ms"));
    let bigger = export("bigger-is-better");
    assert!(bigger.contains("throughput") && !bigger.contains("p95"), "{bigger}");
    assert!(export("otava").starts_with("time,framework,test,throughput,failures_percent,"));
    let metrics = export("openmetrics");
    let line = metrics.lines().find(|line| line.starts_with("perfpipe_p95_ms{")).unwrap();
    assert!(line.ends_with(&format!("}} {p95}")) && !line.contains("repeat"), "{line}");
}

#[test]
fn formats_of_summaries_are_of_nothing_else() {
    let (store, run) = filled();
    for (arguments, told) in [
        (&["--format", "bencher"][..], "--what summary"),
        (&["--what", "labels", "--format", "openmetrics"], "--what seconds or --what summary"),
        (&["--what", "summary", "--format", "influx"], "--what seconds"),
        (&["--what", "summary", "--format", "k6", "--percentiles", "99"], "--percentiles"),
    ] {
        assert_told(&store.run(&[&["export", &run], arguments].concat()).complaint(2), &[told]);
    }
}
