//! Rules about the points of a sweep at one concurrency, alone and beside rules about runs.

use serde_json::Value;

use crate::support::*;

/// The summaries of ab of one framework as points of a test.
fn fill(store: &Store, framework: &str, port: u32, test: &str) {
    let logs = [32, 64].map(|level| fixture(&format!("other/ab/jempower/{level}.{port}")));
    let logs = logs.each_ref().map(|path| path.to_str().unwrap());
    store.run(&[&["ingest"], &logs[..], &["--framework", framework, "--test", test]].concat()).said();
}

fn check(store: &Store, arguments: &[&str]) -> Done {
    store.run(&[&["check", "--format", "json"], arguments].concat())
}

fn verdicts(done: &Done) -> Vec<Value> {
    done.rows_anyway()
}

#[test]
fn levels_are_judged_alike_in_both_stores() {
    for store in Store::each() {
        fill(&store, "beta", 8101, "/hello");
        let holding =
            ["--test", "/hello", "throughput > 992 at 32", "failures <= 3805 at 64", "p99 < 0.1s at 32"];
        let rows = verdicts(&check(&store, &holding));
        assert_eq!(rows.len(), 3);
        assert_eq!(text(&rows[0], "run"), "beta /hello by ab at c32");
        let sweep = store.run(&["sweep", "--test", "/hello", "--format", "json"]).rows();
        assert_eq!(rows[0]["value"], sweep[0]["throughput"]);
        assert_eq!(rows[2]["value"], sweep[0]["p99_ms"]);
        let done = check(&store, &["--test", "/hello", "failures < 1% at 64", "mean < 1s at 48"]);
        assert_eq!(done.code, Some(4), "{}", done.err);
        let rows = verdicts(&done);
        assert_eq!(rows[0]["value"], sweep[1]["failures_percent_max"]);
        assert!(text(&rows[1], "note").contains("only at 32, 64"), "{rows:?}");
    }
}

#[test]
fn rules_about_runs_and_points_stand_in_one_command() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    fill(&store, "go", 8100, "t");
    fill(&store, "beta", 8101, "t");
    let junit = store.file("check.xml", "");
    let rules = ["requests == 200", "throughput > 1 at 32"];
    let done = check(&store, &[&["--test", "t", "--junit", &junit], &rules[..]].concat());
    assert_eq!(done.code, Some(0), "{}", done.err);
    let rows = verdicts(&done);
    let runs: Vec<&str> = rows.iter().map(|row| text(row, "run")).collect();
    assert_eq!(runs, ["go_t", "beta t by ab at c32", "go t by ab at c32"]);
    assert_eq!(std::fs::read_to_string(&junit).unwrap().matches("<testsuite ").count(), 3);
    let done = check(&store, &["--test", "t", "--framework", "beta", "throughput > 1 at 32"]);
    assert_eq!(verdicts(&done).len(), 1);
}

#[test]
fn misused_levels_are_refused() {
    let store = Store::embedded();
    fill(&store, "beta", 8101, "t");
    let complaint = |code, arguments: &[&str]| check(&store, arguments).complaint(code);
    assert_told(&complaint(2, &["beta_t", "mean < 1s at 32"]), &["is about points", "--test"]);
    assert_told(&complaint(2, &["--test", "t", "--tag", "a=b", "mean < 1s at 32"]), &["nor tags"]);
    assert_told(&complaint(2, &["--test", "t", "cpu < 1 at 32"]), &["cpu is not known of points"]);
    assert_told(&complaint(2, &["--test", "t", "answers > 1"]), &["points only", "at 32"]);
    assert_told(&complaint(1, &["--test", "x", "mean < 1s at 32"]), &["no points of the test x"]);
    for view in [["--label", "Get"], ["--phase", "hold"], ["--from", "3"]] {
        let said = complaint(2, &[&["--test", "t", "mean < 1s at 32"], &view[..]].concat());
        assert_told(&said, &[view[0], "has no effect on the rule", "about points"]);
    }
    let rules = store.file("rules.toml", "rules = [\"mean < 1s at 32\"]");
    let done = store.run(&["report", "--test", "t", "--format", "html", "--rules", &rules]);
    assert!(done.err.contains("about points"), "{}", done.err);
}
