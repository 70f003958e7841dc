//! Versions of a test: tags, trends over them, and baselines of several runs.

use serde_json::Value;

use crate::support::*;

/// A log of 40 seconds with 50 requests in each, which take about `elapsed` ms.
fn log(start_ms: i64, elapsed: i64, seed: i64) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for request in 0..2000_i64 {
        // The hash spreads the times, so that no two repeats are alike.
        let spread = (request * 7919 + seed * 104_729) % 11 - 5;
        let row = (start_ms + request * 20, elapsed + spread + seed % 3);
        text += &format!("{},{},Get,200,true,4\n", row.0, row.1);
    }
    text
}

/// Ingests three repeats of six commits, the last three of which are slower.
fn commits(store: &Store) {
    for run in 0..18_i64 {
        let commit = run / 3;
        let elapsed = if commit < 3 { 100 } else { 130 };
        let file = store.file("run.csv", log(1_795_000_000_000 + run * 3_600_000, elapsed, run));
        let (tag, branch) =
            (format!("commit=c{commit}"), if commit == 5 { "branch=new" } else { "branch=main" });
        let flags = ["--framework", "go", "--test", "t", "--append-repeat", "--tag", &tag, "--tag", branch];
        store.run(&[&["ingest", &file], &flags[..]].concat()).said();
    }
}

fn rows(done: &Done) -> Vec<Value> {
    done.rows_anyway()
}

#[test]
fn trend_marks_the_version_that_changes_the_level() {
    let mut both = Vec::new();
    for store in Store::each() {
        commits(&store);
        let trend = ["trend", "--test", "t", "--by", "tag:commit"];
        let table = rows(&store.run(&[&trend[..], &["--format", "json"]].concat()));
        let versions: Vec<&str> = table.iter().map(|row| text(row, "version")).collect();
        assert_eq!(versions, ["c0", "c1", "c2", "c3", "c4", "c5"]);
        assert!(table.iter().all(|row| count(row, "runs") == 3));
        for row in &table {
            let is_changed = row["version"] == "c3";
            assert_eq!(row["p95_outcome"] == "worse", is_changed, "{row}");
            assert_eq!(row["elapsed_mean_outcome"] == "worse", is_changed, "{row}");
            // Answers that take longer end a run a little later.
            let change = row["throughput_change_percent"].as_f64();
            assert!(change.is_none_or(|change| change.abs() < 0.2), "{row}");
            assert!(row["p95_low"].as_f64() < row["p95"].as_f64(), "{row}");
        }
        let main = rows(&store.run(&[&trend[..], &["--tag", "branch=main", "--format", "json"]].concat()));
        assert_eq!(main.len(), 5);
        let told = store.run(&[&trend[..], &["--out", "charts", "--page-format", "svg"]].concat());
        let svg = std::fs::read_to_string(store.folder.path().join("charts/go_t_trend.svg")).unwrap();
        assert!(svg.contains("c3") && svg.contains("(worse)"), "{}", told.err);
        both.push((table, svg));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores differ");
}

#[test]
fn tags_are_listed_and_runs_are_filtered_by_them() {
    let store = Store::embedded();
    commits(&store);
    let list = |flags: &[&str]| rows(&store.run(&[&["list", "--format", "json"], flags].concat()));
    let new = list(&["--tag", "branch=new"]);
    assert_eq!(new.len(), 3);
    assert!(
        new.iter().all(|row| row["tags"] == serde_json::json!({"branch": "new", "commit": "c5"})),
        "{new:?}"
    );
    assert_eq!(list(&["--tag", "branch=main", "--tag", "commit=c1"]).len(), 3);
    let nothing = store.run(&["list", "--tag", "commit=c9"]).complaint(1);
    assert_told(&nothing, &["commit=c9", "c0, c1, c2, c3, c4, c5"]);
    let missing = store.run(&["trend", "--test", "t", "--by", "tag:version"]).complaint(1);
    assert_told(&missing, &["version", "--tag version=VALUE"]);
    let compared =
        ["compare", "--test", "t", "--framework", "go", "--tag", "commit=c0", "--tag", "commit=c4"];
    let changes = rows(&store.run(&[&compared[..], &["--format", "json"]].concat()));
    let p95 = changes.iter().find(|row| row["measure"] == "p95").unwrap();
    assert_eq!(
        (text(p95, "run"), text(p95, "outcome"), text(p95, "noise")),
        ("commit=c4", "worse", "repeats")
    );
}

#[test]
fn latest_runs_with_a_tag_are_a_baseline() {
    let store = Store::embedded();
    commits(&store);
    let check = |run: &str, baseline: &str| {
        let rule = "p95 < baseline * 1.1";
        store.run(&["check", run, "--baseline", baseline, rule, "--format", "json"])
    };
    // Against those before the change, and against those since.
    assert_eq!(check("go_t#10", "last 5 of tag:branch=main").code, Some(4));
    assert_eq!(check("go_t#18", "last 5 of tag:branch=main").code, Some(0));
    let first = check("go_t#1", "last 5 of tag:branch=main");
    assert_eq!(first.code, Some(3));
    assert_eq!(rows(&first)[0]["note"], "there is no earlier run to compare with");
    assert_told(&first.err, &["no earlier run of go", "branch=main", "--no-baseline pass"]);
    assert_told(&check("go_t#3", "last 5 of tag:branch=main").err, &["2 earlier runs", "branch=main"]);
}

#[test]
fn change_for_the_worse_in_the_newest_versions_fails() {
    let store = Store::embedded();
    commits(&store);
    let trend = |flags: &[&str]| {
        let trend = ["trend", "--test", "t", "--by", "tag:commit", "--fail-on", "worse", "--format", "json"];
        store.run(&[&trend[..], flags].concat())
    };
    let done = trend(&[]);
    assert_eq!((done.code, rows(&done).len()), (Some(4), 6), "{}", done.err);
    assert_told(&done.err, &["[worse]", "p95 +", "since c3", "newest 5 versions"]);
    assert_eq!(trend(&["--newest", "3"]).code, Some(4));
    assert_eq!(trend(&["--newest", "2"]).code, Some(0));
    let compare = |flags: &[&str]| {
        let sides = ["--test", "t", "--framework", "go", "--tag", "commit=c0"];
        store.run(&[&["compare"], &sides[..], flags].concat())
    };
    let done = compare(&["--tag", "commit=c4", "--fail-on", "worse"]);
    assert_eq!(done.code, Some(4));
    assert_told(
        &done.err,
        &["commit=c4 is worse than commit=c0", "elapsed_mean of the run +29.7 %", "and 1 more"],
    );
    assert_eq!(compare(&["--tag", "commit=c4"]).code, Some(0));
    assert_eq!(compare(&["--tag", "commit=c1", "--fail-on", "worse"]).code, Some(0));
}

#[test]
fn comparison_that_can_not_fail_is_refused() {
    let store = Store::embedded();
    for test in ["t", "u"] {
        let file = store.file("run.csv", log(1_795_000_000_000, 100, 1));
        store.run(&["ingest", &file, "--framework", "go", "--test", test]).said();
    }
    let itself = store.run(&["compare", "go_t", "go_t", "--fail-on", "worse"]).complaint(2);
    assert_told(&itself, &["go_t is compared with itself"]);
    let other = store.run(&["compare", "go_t", "go_u", "--fail-on", "worse"]).complaint(2);
    assert_told(&other, &["of the test t", "of the test u"]);
}

#[test]
fn rule_on_a_label_that_one_run_lacks_does_not_stop_the_others() {
    let store = Store::embedded();
    for (framework, label) in [("go", "Get"), ("nio", "Put")] {
        let file =
            store.file("run.csv", log(1_795_000_000_000, 100, 1).replace(",Get,", &format!(",{label},")));
        store.run(&["ingest", &file, "--framework", framework, "--test", "t"]).said();
    }
    let rules = ["mean of \"Get\" < 200ms", "mean < 1ms"];
    let done = store.run(&[&["check", "--test", "t", "--junit", "out.xml"], &rules[..]].concat());
    assert_eq!(done.code, Some(4), "{}", done.err);
    let text = String::from_utf8(done.out.clone()).unwrap();
    let holds: Vec<bool> = text.lines().skip(2).map(|line| line.contains("  yes  ")).collect();
    assert_eq!(holds, [false, false, false, true], "broken rules come first: {text}");
    let junit = std::fs::read_to_string(store.folder.path().join("out.xml")).unwrap();
    assert!(junit.contains("tests=\"4\" failures=\"3\""), "{junit}");
    // A label that no run has is rather misspelt.
    store.run(&["check", "--test", "t", "mean of \"Gett\" < 1ms"]).complaint(2);
}
