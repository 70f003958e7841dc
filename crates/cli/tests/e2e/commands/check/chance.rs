//! Rules about chance: what fails, what passes, and what the data can't tell; in tables, for JUnit and for GitHub.

use serde_json::Value;

use crate::support::*;

/// The start of the first run, in ms since 1970.
pub(super) const START: i64 = 1_795_000_000_000;

/// A log of a minute with 50 requests in each second, whose times are spread around `elapsed` ms by the seed.
pub(super) fn log(start_ms: i64, elapsed: i64, seed: u64) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for request in 0..3000_i64 {
        (0..3).for_each(|shift| state ^= [state << 13, state >> 7, state << 17][shift]);
        let spread = (state >> 33) as i64 % elapsed - elapsed / 2;
        text += &format!("{},{},Get,200,true,4\n", start_ms + request * 20, elapsed + spread);
    }
    text
}

/// Ingests repeats that begin at these minutes, with a tag.
pub(super) fn fill(store: &Store, framework: &str, (minutes, elapsed): (&[i64], i64), branch: &str) {
    for minute in minutes {
        let seed = minute.unsigned_abs() * 977 + elapsed.unsigned_abs();
        let file = store.file("run.csv", log(START + minute * 60_000, elapsed, seed));
        let tag = format!("branch={branch}");
        let flags = ["--framework", framework, "--test", "t", "--append-repeat", "--tag", &tag];
        store.run(&[&["ingest", &file], &flags[..]].concat()).said();
    }
}

fn rows(done: &Done) -> Vec<Value> {
    done.rows_anyway()
}

/// A store with three old repeats, three that equal them, and three that are slower.
pub(super) fn filled() -> Store {
    let store = Store::embedded();
    fill(&store, "old", (&[0, 5, 10], 1000), "main");
    fill(&store, "same", (&[15, 20, 25], 1000), "main");
    fill(&store, "slow", (&[30, 35, 40], 1150), "main");
    store
}

pub(super) const FIVE: &str = "mean not worse than baseline by 5%";
pub(super) const TINY: &str = "mean not worse than baseline by 0.01%";
const PLAIN: &str = "p95 not worse than baseline";

fn check(store: &Store, run: &str, flags: &[&str]) -> Done {
    store.run(&[&["check", run, "--baseline", "old_t"], flags].concat())
}

#[test]
fn rules_pass_fail_and_are_unknown_by_the_means_of_repeats() {
    let store = filled();
    let done = check(
        &store,
        "slow_t",
        &[FIVE, PLAIN, "throughput not worse than baseline by 5%", "--format", "json"],
    );
    assert_eq!(done.code, Some(4), "{}", done.err);
    let verdicts = rows(&done);
    let outcomes: Vec<&str> = verdicts.iter().map(|row| text(row, "outcome")).collect();
    assert_eq!(outcomes, ["failed", "failed", "passed"]);
    let first = &verdicts[0];
    // These repeats scatter no more than the seconds within them.
    assert_eq!((text(first, "run"), text(first, "noise")), ("slow_t", "seconds"));
    assert!(first["change_percent_low"].as_f64() > Some(5.0), "{first}");
    assert!(first["value"].as_f64() > first["limit"].as_f64(), "{first}");
    assert_told(&done.err, &["2 of 3 rules failed"]);

    let done = check(&store, "same_t", &[FIVE, PLAIN, TINY, "--format", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_told(&done.err, &["warning: 1 of 3 rules passed although the data can't tell", "--unknown fail"]);
    let verdicts = rows(&done);
    let outcomes: Vec<&str> = verdicts.iter().map(|row| text(row, "outcome")).collect();
    assert_eq!(outcomes, ["passed", "passed", "unknown"]);
    assert!(verdicts.iter().all(|row| row["passed"] == true));
    assert!(text(&verdicts[1], "note").starts_with("no harm shown ("), "{verdicts:?}");
    let done = check(&store, "same_t", &[FIVE, TINY, "--unknown", "fail"]);
    assert_eq!(done.code, Some(4));
    assert_told(&done.err, &["1 of 2 rules failed, 1 of them since the data can't tell"]);
}

#[test]
fn outcomes_are_written_for_people_and_for_ci_services() {
    let store = filled();
    let (junit, summary) = (store.file("out.xml", ""), store.file("summary.md", ""));
    let arguments = ["check", "same_t", "--baseline", "old_t", TINY, PLAIN, "--junit", &junit, "--github"];
    let done = done(store.command(&arguments).env("GITHUB_STEP_SUMMARY", &summary));
    assert_eq!(done.code, Some(0), "{}", done.err);
    let table = String::from_utf8(done.out.clone()).unwrap();
    assert!(table.lines().nth(2).unwrap().contains("unknown"), "{table}");
    let warning = done.err.lines().find(|line| line.starts_with("::warning ")).unwrap();
    assert!(warning.starts_with("::warning title=perfpipe%3A same_t::mean not worse"), "{warning}");
    assert!(warning.contains("is unknown in same_t") && !done.err.contains("::error"), "{}", done.err);
    assert!(std::fs::read_to_string(&summary).unwrap().contains("| unknown |"));
    let xml = std::fs::read_to_string(&junit).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("2"), Some("0")));
    let said: Vec<&str> = suite
        .descendants()
        .filter(|node| node.has_tag_name("system-out"))
        .filter_map(|node| node.text())
        .collect();
    assert!(matches!(said.as_slice(), [one] if one.contains("the data can't tell")), "{xml}");
    let markdown = check(&store, "same_t", &[TINY, "--format", "md"]).text();
    assert!(markdown.contains("| unknown |"), "{markdown}");
    let failed = check(&store, "same_t", &[TINY, "--unknown", "fail", "--junit", &junit, "--github"]);
    assert!(failed.err.contains("::error title"), "{}", failed.err);
    assert!(std::fs::read_to_string(&junit).unwrap().contains("<failure"));
}

#[test]
fn latest_runs_of_a_branch_are_the_baseline_of_all_repeats() {
    let store = Store::embedded();
    for day in 0..4 {
        fill(&store, "go", (&[day * 1440, day * 1440 + 5], 1000), "main");
    }
    fill(&store, "go", (&[6000, 6005], 1200), "new");
    let last = ["--baseline", "last 6 of tag:branch=main"];
    let check = |run: &[&str], flags: &[&str]| store.run(&[&["check"], run, &last, flags].concat());
    let new = ["--test", "t", "--tag", "branch=new"];
    let done = check(&new, &[FIVE, "--format", "json"]);
    assert_eq!(done.code, Some(4), "{}", done.err);
    assert_eq!(rows(&done).len(), 1, "two repeats are judged once");
    assert_eq!(check(&["go_t#8"], &[FIVE]).code, Some(0));
    let first = check(&["go_t#1"], &[FIVE, "--format", "json"]);
    assert_eq!(first.code, Some(3), "{}", first.err);
    assert_told(&first.err, &["[no-earlier-run]", "1 of 1 rule", "--no-baseline pass"]);
    assert_eq!(rows(&first)[0]["note"], "there is no earlier run to compare with");
    let passed =
        check(&["go_t#1"], &[FIVE, "p95 < baseline * 1.1", "--no-baseline", "pass", "--format", "json"]);
    assert_eq!(passed.code, Some(0), "{}", passed.err);
    assert!(rows(&passed).iter().all(|row| row["passed"] == true));
    // A rule that fails counts for more than one without a baseline.
    assert_eq!(check(&["go_t#1"], &[FIVE, "p95 < 1ms"]).code, Some(4));
}

#[test]
fn bad_baselines_are_refused_and_never_a_pass() {
    let store = filled();
    let file = store.file("run.csv", log(START, 1000, 3));
    store.run(&["ingest", &file, "--framework", "old", "--test", "u"]).said();
    let refused = |code, arguments: &[&str]| store.run(&[&["check"], arguments].concat()).complaint(code);
    assert_told(&refused(2, &["same_t", PLAIN]), &["--baseline"]);
    assert_told(&refused(2, &["old_t#1", PLAIN, "--baseline", "old_t#1"]), &["compared with itself"]);
    assert_told(&refused(2, &["old_t#1", PLAIN, "--baseline", "old_t"]), &["3 repeats", "'old_t#1'"]);
    assert_told(&refused(2, &["same_t", PLAIN, "--baseline", "old_u"]), &["test u", "test t"]);
    assert_told(&refused(2, &["same_t", "p95 not wrose than baseline", "--baseline", "old_t"]), &["wrose"]);
    assert_told(&refused(2, &["same_t", "p95 worse than baseline", "--baseline", "old_t"]), &["no operator"]);
    assert_told(
        &refused(2, &["same_t", "p95 of \"Gett\" not worse than baseline", "--baseline", "old_t"]),
        &["Gett"],
    );
    let absent = ["same_t", PLAIN, "--baseline", "nobody_t"];
    assert_told(&refused(3, &absent), &["nobody_t", "--no-baseline pass"]);
    let nowhere = ["same_t", PLAIN, "--baseline", "same_t", "--baseline-store", "nowhere"];
    assert_told(&refused(3, &nowhere), &["nowhere", "--no-baseline pass"]);
    for arguments in [&absent[..], &nowhere] {
        let done = store.run(&[&["check"], arguments, &["--no-baseline", "pass"]].concat());
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
    // One of several runs is the baseline: chance says nothing of it.
    let all = store.run(&["check", "--test", "t", "--baseline", "old_t#1", "--baseline", "old_t#2", PLAIN]);
    assert_eq!(all.code, Some(4), "{}", all.err);
    assert_told(&all.err, &["old_t is its own baseline"]);
}

#[test]
fn fixed_limits_say_how_often_equal_runs_break_them() {
    let store = filled();
    let done =
        check(&store, "same_t#1", &["mean < baseline * 1.002", "mean < baseline * 1.5", "--format", "json"]);
    let verdicts = rows(&done);
    let often: Vec<f64> =
        verdicts.iter().map(|row| row["equal_runs_break_percent"].as_f64().unwrap()).collect();
    assert!(often[0] > 5.0 && often[0] < 50.0 && often[1] < 0.1, "{often:?}");
    assert!(text(&verdicts[0], "note").contains("equal runs would break this in about"), "{verdicts:?}");
}
