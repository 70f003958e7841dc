//! No flag is ignored without a word: each changes what it is given for, or is refused.

use crate::support::*;

const T0: i64 = 1_795_203_720;

/// All that is exported.
const TABLES: [&str; 12] = [
    "seconds",
    "samples",
    "errors",
    "cpu",
    "summary",
    "phases",
    "sweep",
    "labels",
    "rejects",
    "run",
    "statistics",
    "hgrm",
];

/// Each choice of what is looked at, so that it matters to the run below.
const CHOICES: [&[&str]; 10] = [
    &["--from", "35"],
    &["--to", "60"],
    &["--phase", "hold"],
    &["--label", "b"],
    &["--transactions"],
    &["--include-failures"],
    &["--injectors", "3"],
    &["--cpu-offset", "1"],
    &["--cpu-lookback", "0"],
    &["--percentiles", "50,99.9"],
];

/// A run with a ramp, a hold and a tail, two labels that fail now and then, transactions that fail with them, a reject,
/// and CPU readings every other second.
fn store_with_run() -> Store {
    let store = Store::embedded();
    let mut log =
        "timeStamp,elapsed,label,responseCode,responseMessage,dataType,success,allThreads,URL\n".to_owned();
    for second in 0..100 {
        let threads = if second < 30 { 1 + second / 3 } else { [10, 3][usize::from(second >= 90)] };
        for at in 0..10 {
            let (time, label) = ((T0 + second) * 1000 + at * 100, if at % 2 == 0 { "a" } else { "b" });
            let failed = second % 3 == 0 && at > 7;
            let (elapsed, code) =
                (10 + at + second % 7 + 50 * i64::from(failed), if failed { 500 } else { 200 });
            log += &format!("{time},{elapsed},{label},{code},m,text,{},{threads},http://h/x\n", !failed);
        }
        let message = "\"Number of samples in transaction : 10, number of failing samples : 1\"";
        let time = (T0 + second) * 1000;
        log += &format!("{time},900,t,,{message},,{},{threads},null\n", second % 3 != 0);
    }
    log += "x,y\n";
    let log = store.file("log.csv", log);
    let readings: String = (0..100).step_by(2).map(|at| format!("{},{}\n", T0 + at, 150 + at)).collect();
    let cpu = store.file("cpu.csv", format!("clock,value\n{readings}"));
    store.run(&["ingest", &log, &cpu, "--framework", "go", "--test", "t"]).said();
    store
}

#[test]
fn every_choice_changes_what_is_exported_or_is_refused() {
    let store = store_with_run();
    let mut acting = Vec::new();
    for what in TABLES {
        let export = |flags: &[&str]| {
            let run = ["export", "--framework", "go", "--test", "t", "--what", what];
            store.run(&[&run[..], flags].concat())
        };
        let plain = export(&[]).text();
        for choice in CHOICES {
            let done = export(choice);
            if done.code == Some(0) {
                assert!(done.text() != plain, "{choice:?} does nothing to {what}, without a word");
                acting.push((what, choice[0]));
                continue;
            }
            let told = done.complaint(2);
            let named = format!("{} has no effect on --what {what}", choice[0]);
            assert!(told.contains(&named) && told.contains("it is for --what "), "{told}");
        }
    }
    let acts = |what: &str, flags: &[&'static str]| {
        let of: Vec<&str> = acting.iter().filter(|(one, _)| *one == what).map(|(_, flag)| *flag).collect();
        assert_eq!(of, flags, "{what}");
    };
    let all: Vec<&str> = CHOICES.iter().map(|choice| choice[0]).collect();
    ["seconds", "summary", "phases", "sweep", "run"].iter().for_each(|what| acts(what, &all));
    ["labels", "hgrm"].iter().for_each(|what| acts(what, &all[..6]));
    ["statistics", "errors"].iter().for_each(|what| acts(what, &all[..5]));
    acts("samples", &all[..4]);
    acts("cpu", &["--from", "--to", "--phase", "--cpu-offset"]);
    acts("rejects", &[]);
}

#[test]
fn percentiles_that_are_the_usual_ones_are_refused_where_others_are() {
    let store = store_with_run();
    let labels =
        ["export", "--framework", "go", "--test", "t", "--what", "labels", "--percentiles", "25,50,75,95"];
    assert!(store.run(&labels).complaint(2).contains("--percentiles has no effect on --what labels"));
}

#[test]
fn flags_of_a_report_that_would_do_nothing_are_refused() {
    let store = store_with_run();
    let report = |flags: &[&str]| store.run(&[&["report", "--test", "t"][..], flags].concat());
    for (flags, remedy) in [
        (&["--scale", "2"][..], "--format png"),
        (&["--scale", "3", "--format", "svg,html"], "--format png"),
        (&["--chart", "sweep", "--format", "html"], "--format svg, pdf or png"),
        (&["--paper", "a4", "--format", "html"], "--format svg, pdf or png"),
        (&["--one-file", "--format", "svg,html"], "--format pdf"),
        (&["--log-scale", "--format", "html"], "--format svg, pdf or png"),
        (&["--palette", "viridis", "--format", "html"], "--format svg, pdf or png"),
        (&["--palette", "viridis", "--chart", "sweep"], "--chart time,sweep"),
        (&["--axis", "clock", "--chart", "sweep"], "--chart time,sweep"),
        (&["--time-zone", "UTC"], "--axis clock"),
        (&["--time-zone", "UTC", "--axis", "elapsed"], "--axis clock"),
        (&["--color-by", "load", "--chart", "sweep", "--format", "svg"], "--chart time,sweep"),
    ] {
        let told = report(flags).complaint(2);
        assert!(told.contains(&format!("{} has no effect", flags[0])) && told.contains(remedy), "{told}");
    }
    let told = report(&["--time-zone", "Mars/Olympus", "--axis", "clock"]).complaint(2);
    assert_told(&told, &["Mars/Olympus", "--time-zone Europe/Warsaw"]);
    assert_eq!(report(&["--scale", "1", "--format", "png"]).code, Some(0));
    assert_eq!(report(&["--chart", "sweep", "--format", "html,svg"]).code, Some(0));
}

#[test]
fn league_is_ordered_by_any_of_its_columns_and_by_no_other() {
    let store = store_with_run();
    let league = |flags: &[&str]| {
        store.run(&[&["report", "--test", "t", "--format", "svg", "--table", "csv"][..], flags].concat())
    };
    let goal = ["--within", "20ms", "--order-by", "within_20ms_percent"];
    assert!(league(&goal).text().contains("within_20ms_percent"));
    let told = league(&goal[2..]).complaint(2);
    assert_told(&told, &["within_20ms_percent", "p50, p95, p99"]);
}

#[test]
fn failures_of_transactions_are_told_only_where_these_count() {
    let store = store_with_run();
    let count = |flags: &[&str]| -> u64 {
        let rows = rows(&store.export(&Key::new("go", "t"), "errors", "csv", flags));
        rows.iter().map(|row| row["count"].parse::<u64>().unwrap()).sum()
    };
    let failures =
        |flags: &[&str]| count(flags) as i64 - crate::support::count(&summary(&store, flags), "failures");
    assert_eq!((count(&[]), count(&["--transactions"])), (68, 102));
    assert_eq!((failures(&[]), failures(&["--transactions"])), (0, 0), "as the summary has it");
}

fn summary(store: &Store, flags: &[&str]) -> serde_json::Value {
    store.summary(&Key::new("go", "t"), flags)
}

#[test]
fn flags_of_other_commands_that_would_do_nothing_are_refused() {
    let store = store_with_run();
    let log = store.folder.path().join("log.csv");
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"];
    let compare = ["compare", "go_t", "go_t"];
    for style in [
        &["--page-format", "png"][..],
        &["--scale", "3"],
        &["--paper", "letter"],
        &["--log-scale"],
        &["--fonts", "none"],
        &["--page-format", "svg,pdf"],
        &["--scale", "2"],
        &["--paper", "a4"],
    ] {
        for (command, remedy) in [(&ingest[..], "--out DIR"), (&compare, "--out DIR")] {
            let told = store.run(&[command, style].concat()).complaint(2);
            assert!(told.contains(style[0]) && told.contains(remedy), "{told}");
        }
    }
    for style in [
        &["--color-by", "cpu"][..],
        &["--color-by", "load"],
        &["--palette", "viridis"],
        &["--axis", "clock"],
        &["--cpu-max", "500"],
    ] {
        let told = store.run(&[&ingest[..], style].concat()).complaint(2);
        assert!(told.contains(style[0]) && told.contains("--out DIR"), "{told}");
        // The lines of its page have colours and an axis that nobody chooses.
        let told = store.run(&[&compare[..], style, &["--out", "charts"]].concat()).complaint(2);
        assert!(told.contains(&format!("unexpected argument '{}'", style[0])), "{told}");
    }
    let told = store.run(&[&compare[..], &["--cores", "4"]].concat()).complaint(2);
    assert!(told.contains("unexpected argument '--cores'"), "{told}");
    let diagnose = ["diagnose", "--framework", "go", "--test", "t", "--percentiles", "50"];
    assert!(store.run(&diagnose).complaint(2).contains("--percentiles"));
    for flag in [&["--jobs", "2"][..], &["--dry-run"]] {
        assert!(store.run(&[&ingest[..], flag].concat()).complaint(2).contains(flag[0]));
    }
}

#[test]
fn baseline_that_no_rule_compares_with_and_a_store_that_is_not_opened_are_refused() {
    let store = store_with_run();
    let check = ["check", "--test", "t", "--baseline", "go_t"];
    let told = store.run(&[&check[..], &["p95 < 1s"]].concat()).complaint(2);
    assert!(told.contains("--baseline has no effect") && told.contains("< baseline"), "{told}");
    let told = store.run(&[&check[..], &["p95 <= baseline"]].concat()).complaint(2);
    assert!(told.contains("go_t is compared with itself"), "{told}");
    let log = store.folder.path().join("log.csv");
    for command in
        [&["inspect", log.to_str().unwrap()][..], &["completions", "bash"], &["man", "--out", "man"]]
    {
        for flag in [["--store", "x"], ["--database", "postgres://h/d"]] {
            for line in [[command, &flag].concat(), [&flag, command].concat()] {
                let told = done(perfpipe().args(&line).current_dir(store.folder.path())).complaint(2);
                assert!(told.contains(&format!("{} has no effect", flag[0])), "{told}");
            }
        }
    }
}
