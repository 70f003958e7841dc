//! Rules that hold and rules that are broken, for a person, for JUnit and for GitHub.

mod chance;
mod comment;
mod points;

use serde_json::Value;

use crate::support::*;

/// Judges the runs of a test.
fn check(store: &Store, test: &str, arguments: &[&str]) -> Done {
    store.run(&[&["check", "--test", test], arguments].concat())
}

/// Verdicts, whatever they are.
fn verdicts(done: &Done) -> Vec<Value> {
    done.rows_anyway()
}

const HOLDING: [&str; 6] = [
    "p95 < 200ms",
    "failures < 1%",
    "throughput > 100",
    "cpu < 6500 for 30s",
    "p95 of \"Get 2048\" in hold < 0.1s",
    "rejects == 0",
];

#[test]
fn rules_are_judged_by_the_figures_that_export_gives() {
    let mut both = Vec::new();
    for store in Store::each() {
        let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        let label = text(&labels(&store, &key)[0], "label").to_owned();
        let holding = HOLDING.map(|rule| rule.replace("Get 2048", &label));
        let holding: Vec<&str> = holding.iter().map(String::as_str).collect();
        let table = check(&store, &key.test, &holding).text();
        assert_eq!(table.lines().count(), 2 + HOLDING.len(), "{table}");

        let summary = summary(&store, &key, &["--phase", "hold"]);
        let broken = ["p95 in hold < 1ms", "throughput in hold > 1000000", "p50 < 1 for 10s", "mean < 1s"];
        let done = check(&store, &key.test, &[&["--format", "json"], &broken[..]].concat());
        assert_eq!(done.code, Some(4), "{}", done.err);
        assert_told(&done.err, &["3 of 4 rules"]);
        let rows = verdicts(&done);
        let holds: Vec<bool> = rows.iter().map(|row| row["passed"].as_bool().unwrap()).collect();
        assert_eq!(holds, [false, false, false, true]);
        assert_eq!(rows[0]["value"], summary["p95"]);
        assert_eq!(rows[1]["value"], summary["throughput"]);
        assert!(count(&rows[2], "last") - count(&rows[2], "first") >= 9, "{rows:?}");
        both.push((table, rows));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores judge differently");
}

fn labels(store: &Store, key: &Key) -> Vec<Value> {
    export(store, key, &["--what", "labels"]).as_array().unwrap().clone()
}

fn summary(store: &Store, key: &Key, flags: &[&str]) -> Value {
    export(store, key, &[&["--what", "summary"], flags].concat())[0].clone()
}

fn export(store: &Store, key: &Key, flags: &[&str]) -> Value {
    let run = ["export", "--framework", &key.framework, "--test", &key.test, "--format", "json"];
    store.run(&[&run[..], flags].concat()).json()
}

#[test]
fn baseline_is_another_run_of_this_store_or_of_another() {
    let released = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&released);
    for store in Store::each() {
        let key_here = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
        let name = format!("{}_{}", key.framework, key.test);
        let same = ["p95 <= baseline", "throughput >= baseline * 0.95", "mean in hold < baseline + 1ms"];
        let elsewhere = ["--baseline", &name, "--baseline-store", released.place()];
        check(&store, &key_here.test, &[&elsewhere[..], &same].concat()).text();
        let itself = check(&store, &key_here.test, &[&["--baseline", &name], &same[..]].concat());
        assert_told(&itself.complaint(2), &["compared with itself", "--baseline-store"]);
        let done = check(&store, &key_here.test, &[&elsewhere[..], &["p95 < baseline * 0.5"]].concat());
        assert_eq!(done.code, Some(4), "{}", done.err);
        let complaint =
            check(&store, &key.test, &["--baseline", "nobody_2048", "p95 < baseline"]).complaint(3);
        assert_told(&complaint, &["nobody_2048", &name, "--no-baseline pass"]);
        let complaint = check(&store, &key.test, &["p95 < baseline"]).complaint(2);
        assert!(complaint.contains("--baseline"), "{complaint}");
    }
}

#[test]
fn file_of_rules_that_is_no_small_plain_file_is_refused() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    let pipe = store.folder.path().join("rules.pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let large = store.file("large.toml", "#".repeat((1 << 20) + 1));
    for (path, why) in [
        ("/dev/zero", "no plain file"),
        (pipe.to_str().unwrap(), "no plain file"),
        (&large, "larger than 1 MiB"),
    ] {
        let rules = store.run(&["check", "--test", "t", "--rules", path]).complaint(1);
        assert_told(&rules, &[path, why]);
        let ports = store.run(&["ingest", log.to_str().unwrap(), "--frameworks", path]).complaint(1);
        assert_told(&ports, &[path, why]);
    }
}

#[test]
fn files_of_rules_and_reports_for_ci_services() {
    let store = Store::embedded();
    let log = fixture("outage.csv.zip");
    let framework = "a<b>&\"c\",d:e%";
    store.run(&["ingest", log.to_str().unwrap(), "--framework", framework, "--test", "out"]).said();
    let file =
        store.file("rules.toml", "# ours\nrules = [\n  \"failures < 1%\",\n  \"throughput > 1\",\n]\n");
    let (junit, summary) = (store.file("out.xml", ""), store.file("summary.md", "before\n"));
    let mut command =
        store.command(&["check", "--test", "out", "--rules", &file, "--junit", &junit, "--github"]);
    let done = done(command.env("GITHUB_STEP_SUMMARY", &summary));
    assert_eq!(done.code, Some(4), "{}", done.err);
    let annotation = done.err.lines().find(|line| line.starts_with("::error ")).unwrap();
    assert!(
        annotation.starts_with("::error title=perfpipe%3A a<b>&\"c\"%2Cd%3Ae%25_out::failures < 1%25 failed")
    );

    let xml = std::fs::read_to_string(&junit).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    assert_eq!(suite.attribute("name"), Some(&*format!("{framework}_out")));
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("2"), Some("1")));
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(cases[0].attribute("name"), Some("failures < 1%"));
    let failed: Vec<bool> =
        cases.iter().map(|case| case.children().any(|node| node.has_tag_name("failure"))).collect();
    assert_eq!(failed, [true, false]);

    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("before\n\n**Failed: `failures < 1%`** in `a<b>&\"c\",d:e%_out`: "), "{text}");
}

#[test]
fn misspelt_rule_is_an_error_and_never_a_pass() {
    let store = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
    let bad = store.file("bad.toml", "rules = [\n  \"p95 < 1s\",\n  \"p95 < 5%\",\n]\n");
    let odd = store.file("odd.toml", "rules = [\"p95 < 1s\"]\nrule = 5\n");
    for (arguments, parts) in [
        (&[][..], &["rule"][..]),
        (&["througput > 5"], &["`througput > 5`", "Measures: throughput"]),
        (&["mean of \"nobody\" < 5"], &["\"nobody\""]),
        (&["--rules", &bad], &["bad.toml, line 3", "%"]),
        (&["--rules", &odd], &["odd.toml, line 2", "unknown field"]),
    ] {
        let complaint = check(&store, &key.test, arguments).complaint(2);
        assert!(parts.iter().all(|part| complaint.contains(part)), "{arguments:?}: {complaint}");
    }
    check(&store, &key.test, &["--rules", "nowhere.toml"]).complaint(1);
    check(&store, "1024", &["p95 < 1s"]).complaint(1);
}

#[test]
fn folder_is_not_a_database() {
    let complaint = done(perfpipe().args(["list", "--store", "postgres://me@here/x"])).complaint(2);
    assert!(complaint.contains("Write --database URL"), "{complaint}");
}
