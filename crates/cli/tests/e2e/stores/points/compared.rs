//! Points at a level: two compared, and all frameworks ranked.

use serde_json::Value;

use super::output;
use crate::support::*;

/// Stores what wrk printed of two servers, three times at each level.
fn filled() -> Store {
    let store = Store::embedded();
    store.run(&["ingest", &output("wrk/sweep"), "--name", "{framework}_c{concurrency}_r{repeat}.txt"]).said();
    store
}

fn row<'a>(rows: &'a [Value], measure: &str) -> &'a Value {
    rows.iter().find(|row| row["measure"] == measure).unwrap()
}

fn near(value: &Value, printed: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - printed).abs() < 0.0051)
}

#[test]
fn points_of_two_frameworks_are_compared_at_a_level() {
    let store = filled();
    let compare = |more: &[&str]| store.run(&[&["compare", "--test", "/hello"], more].concat());
    let done = compare(&["alpha@c32", "beta@c32", "--format", "json"]);
    let rows = done.rows_anyway();
    // The medians of three repeats, as another program reckoned them.
    let answers = row(&rows, "answers_per_second");
    assert!(near(&answers["a"], 1648.40) && near(&answers["b"], 1009.08), "{answers}");
    assert!(answers["a_least"].as_f64() < answers["a"].as_f64(), "{answers}");
    assert_eq!(
        (&answers["outcome"], row(&rows, "throughput")["outcome"].as_str()),
        (&"less".into(), Some("worse"))
    );
    let (low, high) =
        (answers["difference_low"].as_f64().unwrap(), answers["difference_high"].as_f64().unwrap());
    assert!(low < -639.32 && high < 0.0 && high > -639.32, "{answers}");
    for (measure, printed) in [("p50_ms", 18.61), ("p90_ms", 21.80), ("p99_ms", 35.44)] {
        let of = row(&rows, measure);
        assert!(near(&of["a"], printed) && of["a_latency_source"] == "printed", "{of}");
        assert!(of["outcome"].is_null(), "a printed latency is not judged: {of}");
    }
    assert_eq!(row(&rows, "failures")["b"], 0.0);
    // A figure that decides comes first, and the other rates are exploratory.
    let decided = compare(&["alpha@c32", "beta@c32", "--decide", "answers_per_second", "--format", "json"]);
    let decided = decided.rows();
    let outcomes = [&decided[0], row(&decided, "throughput")].map(|row| text(row, "outcome").to_owned());
    assert_eq!(
        (text(&decided[0], "measure"), outcomes),
        ("answers_per_second", ["less".into(), "exploratory".into()])
    );
    assert_told(&done.err, &["beta@c32: changes of throughput below ", "repeats of each show 5 %"]);
    let unknown = compare(&["alpha@c32", "beta@c32", "--decide", "p95"]).complaint(2);
    assert_told(&unknown, &["no figure p95", "p90_ms"]);
    // One repeat alone is named by its number, as one of a run is.
    let alone = compare(&["alpha@c32#1", "alpha@c32:wrk#3", "--format", "json"]).rows();
    let answers = row(&alone, "answers_per_second");
    assert!(answers["a"] == answers["a_least"] && answers["a"] != answers["b"], "{answers}");
    assert_told(&compare(&["alpha@c32#1", "alpha@c32#9"]).complaint(1), &["no point alpha@c32#9"]);
    // Two repeats have no interval, which is said.
    store.run(&["ingest", &output("wrk/http500.txt"), "--framework", "lone", "--test", "/hello"]).said();
    let level = store
        .run(&["list", "--points", "--test", "/hello", "--framework", "lone", "--format", "json"])
        .rows();
    let lone = format!("lone@c{}", level[0]["concurrency"]);
    let done = compare(&["alpha@c32", &lone]);
    assert_told(&done.err, &["points have no samples", "fewer than three"]);
    assert_told(&done.text(), &["unknown", "failures"]);
}

#[test]
fn names_of_points_that_are_unknown_or_several_are_refused() {
    let store = filled();
    let logs = output("wrk/workers");
    let named = ["--name", "result_w{workers}_{repeat}.log", "--framework", "tiny"];
    store.run(&[&["ingest", &logs], &named[..]].concat()).said();
    let compare = |more: &[&str]| store.run(&[&["compare"], more].concat());
    let missing = compare(&["alpha@c32", "beta@c33", "--test", "/hello"]).complaint(1);
    assert_told(&missing, &["no point beta@c33", "beta@c64:wrk"]);
    let several = compare(&["tiny@w1", "tiny@w2", "--test", "/json"]).complaint(2);
    assert_told(&several, &["tiny@w1 names several points", "tiny@c32@w1:weighttp, tiny@c32@w1:wrk"]);
    let chosen = compare(&["tiny@w1:wrk", "tiny@w2:wrk", "--test", "/json", "--format", "json"]).rows();
    let throughput = row(&chosen, "throughput").clone();
    assert!(near(&throughput["a"], 201.95) || near(&throughput["a"], 201.96), "{throughput}");
    let tools = compare(&["tiny@w1:wrk", "tiny@w1:weighttp", "--test", "/json"]);
    assert_told(&tools.err, &["was measured by wrk, tiny@w1:weighttp by weighttp"]);
    for (flags, part) in [
        (&["--phase", "hold"][..], "--phase is for runs"),
        (&["--out", "charts"], "--out is for runs"),
        (&["--format", "html"], "--format html is for runs"),
    ] {
        let given = ["alpha@c32", "beta@c32", "--test", "/hello"];
        assert_told(&compare(&[&given[..], flags].concat()).complaint(2), &[part]);
    }
    assert_told(&compare(&["alpha@c32", "--test", "/hello"]).complaint(2), &["two keys"]);
    assert_told(&compare(&["alpha_x", "beta_x", "--test", "/hello"]).complaint(2), &["go@c64"]);
    assert_told(&compare(&["alpha@c32", "beta@c32"]).complaint(1), &["--test"]);
}

#[test]
fn league_at_a_level_ranks_those_that_do_not_fail() {
    let store = filled();
    let sweep = |more: &[&str]| store.run(&[&["sweep", "--test", "/hello"], more].concat());
    let league = |at: &str| {
        let rows = rows(&sweep(&["--at", at, "--format", "csv"]).text());
        rows.into_iter()
            .map(|row| (format!("{}–{}", row["rank_low"], row["rank_high"]), row["framework"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(league("32"), [("1–1".into(), "alpha".into()), ("2–2".into(), "beta".into())]);
    // From c = 64 on, beta sheds nearly all requests.
    assert_eq!(league("c64"), [("1–1".into(), "alpha".to_owned()), ("–".into(), "beta".into())]);
    assert_told(&sweep(&["--at", "64"]).err, &["not ranked", "beta"]);
    assert_told(&sweep(&["--at", "65"]).complaint(1), &["at concurrency 65", "1, 2, 4, 8, 16, 32, 64, 128"]);
    // Of one repeat each, nothing is known of ranks.
    let once = output("wrk/sweep/alpha_c32_r1.txt");
    let other = output("wrk/sweep/beta_c32_r1.txt");
    let named = ["--name", "{framework}_c{concurrency}_r{repeat}.txt", "--test", "/hello", "--at", "32"];
    let single = store.run(&[&["sweep", &once, &other], &named[..]].concat());
    assert_told(&single.text(), &["1–2  alpha", "1–2  beta"]);
    let html = sweep(&["--at", "32", "--format", "html"]).text();
    assert_told(&html, &["alpha", "/hello at concurrency 32"]);
}
