//! CPU exports of other intervals, of other scales, and of something else than the CPU.

use serde_json::Value;

use crate::support::*;

const T0: i64 = 1_795_203_720;

/// A log of so many seconds with ten requests in each.
fn log(store: &Store, seconds: i64) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..seconds * 10).map(|at| format!("{},12,Get,true,1\n", T0 * 1000 + at * 100)));
    store.file("log.csv", log)
}

/// A CPU export with a reading of `value` at each of these seconds after t0.
fn export(store: &Store, name: &str, readings: impl IntoIterator<Item = (i64, f64)>) -> String {
    let rows = readings.into_iter().map(|(second, value)| format!("{},{value}\n", T0 + second));
    store.file(name, std::iter::once("clock,value\n".to_owned()).chain(rows).collect::<String>())
}

/// A reading every so many seconds of ten minutes: half of them 50, half 100.
fn every(step: usize) -> impl Iterator<Item = (i64, f64)> {
    (0..600).step_by(step).map(|second| (second, if second < 300 { 50.0 } else { 100.0 }))
}

fn key() -> Key {
    Key::new("go", "t")
}

/// Ingests a log of ten minutes with an export; returns what is said of it.
fn ingest(store: &Store, cpu: &str, flags: &[&str]) -> String {
    let log = log(store, 600);
    store.run(&[&["ingest", &log, cpu, "--framework", "go", "--test", "t"], flags].concat()).said()
}

/// The look-back that is stored with the run.
fn lookback(store: &Store) -> i64 {
    let run: Value = serde_json::from_str(&store.export(&key(), "run", "json", &[])).unwrap();
    count(&run["view"], "cpu_lookback")
}

fn figure(summary: &Value, name: &str) -> f64 {
    summary[name].as_f64().unwrap_or_else(|| panic!("{name} of {summary}"))
}

#[test]
fn readings_once_a_minute_cover_the_run_and_the_look_back_is_told_and_stored() {
    for store in Store::each() {
        let minutely = export(&store, "minutely.csv", every(60));
        // What is told where a reading counts for longer than usual.
        let told = "60 s";
        let said = ingest(&store, &minutely, &[]);
        assert!(said.contains(told), "{said}");
        assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
        let summary = store.summary(&key(), &[]);
        assert_eq!((figure(&summary, "cpu_coverage"), figure(&summary, "cpu_mean")), (1.0, 75.0));
        assert_eq!(lookback(&store), 60, "what acted is what is stored");
        let found = store.run(&["inspect", &log(&store, 600), &minutely]).text();
        assert!(found.contains(told), "{found}");

        // What is told wins, and readings every second have their three seconds.
        let said = ingest(&store, &minutely, &["--cpu-lookback", "3"]);
        assert!(!said.contains(told), "{said}");
        let summary = store.summary(&key(), &[]);
        assert_eq!(figure(&summary, "cpu_coverage"), 40.0 / 600.0);
        assert_eq!(lookback(&store), 3);
        let each = export(&store, "each.csv", every(1));
        let said = store.run(&["attach-cpu", "go_t", &each]).said();
        assert!(!said.contains(told), "{said}");
        assert_eq!(lookback(&store), 3);

        let said = store.run(&["attach-cpu", "go_t", &minutely]).said();
        assert!(said.contains(told), "{said}");
        assert_eq!(lookback(&store), 60);
        assert_eq!(figure(&store.summary(&key(), &[]), "cpu_mean"), 75.0);
        // Whoever reads may still choose.
        assert_eq!(figure(&store.summary(&key(), &["--cpu-lookback", "3"]), "cpu_coverage"), 40.0 / 600.0);
    }
}

#[test]
fn campaign_knows_runs_again_whatever_their_interval_is() {
    let store = Store::embedded();
    let folder = store.folder.path().join("night");
    std::fs::create_dir(&folder).unwrap();
    std::fs::rename(log(&store, 600), folder.join("go_t.csv")).unwrap();
    let cpu = export(&store, "night/go_t.cpu.csv", every(30));
    let status = |flags: &[&str]| {
        let rows =
            store.run(&[&["ingest", folder.to_str().unwrap(), "--format", "json"], flags].concat()).rows();
        (text(&rows[0], "status").to_owned(), rows[0]["cpu_seconds_percent"].as_f64())
    };
    assert_eq!(status(&[]), ("new".into(), Some(100.0)));
    assert_eq!(status(&[]), ("unchanged".into(), None));
    assert_eq!(status(&["--cpu-lookback", "3"]), ("changed".into(), Some(80.0 / 6.0)));
    assert_eq!(status(&["--cpu-lookback", "3"]), ("unchanged".into(), None));
    assert_eq!(status(&[]), ("changed".into(), Some(100.0)));
    std::fs::remove_file(cpu).unwrap();
    assert_eq!(status(&[]), ("unchanged".into(), None), "what was joined once is kept");
}

#[test]
fn readings_of_memory_are_refused() {
    let store = Store::embedded();
    let log = log(&store, 10);
    let memory = export(&store, "memory.csv", [(0, 57_335_808.0), (5, 7_798_784.0), (9, 9_000_000.0)]);
    let told = store.run(&["ingest", &log, &memory, "--framework", "go", "--test", "t"]).complaint(3);
    assert_told(&told, &["7798784", "57335808", "1,000,000 %", "system.cpu.util"]);
    assert_eq!(store.list(), [""; 0]);
    // Hundreds of cores, all busy, are a machine that there is.
    let large = export(&store, "large.csv", (0..10).map(|second| (second, 51_200.0)));
    store.run(&["ingest", &log, &large, "--framework", "go", "--test", "t"]).said();
    assert_eq!(figure(&store.summary(&key(), &[]), "cpu_mean"), 51_200.0);
    store.run(&["attach-cpu", "go_t", &memory, "--replace"]).complaint(3);
}

#[test]
fn seconds_with_several_readings_that_differ_are_told() {
    let store = Store::embedded();
    let twice = (0..600).flat_map(|second| [(second, 73.5), (second, 36.75)]);
    let said = ingest(&store, &export(&store, "twice.csv", twice), &[]);
    assert_told(&said, &["600 seconds"]);
    assert_eq!(figure(&store.summary(&key(), &[]), "cpu_mean"), 36.75, "the last wins");
    let same = (0..600).flat_map(|second| [(second, 73.5), (second, 73.5)]);
    let said = ingest(&store, &export(&store, "same.csv", same), &[]);
    assert!(!said.contains("600 seconds"), "{said}");
}

#[test]
fn readings_that_look_like_fractions_are_told() {
    let store = Store::embedded();
    let said =
        ingest(&store, &export(&store, "half.csv", every(1).map(|(at, value)| (at, value / 100.0))), &[]);
    assert_told(&said, &["--cpu-scale fraction"]);
    let said = ingest(&store, &export(&store, "idle.csv", every(1).map(|(at, _)| (at, 0.0))), &[]);
    assert!(!said.contains("--cpu-scale"), "{said}");
}

/// The league's row of a framework.
fn standing(store: &Store, framework: &str) -> Value {
    let out = store.folder.path().join("pages");
    let report =
        ["report", "--test", "t", "--table", "json", "--format", "svg", "--out", out.to_str().unwrap()];
    let rows = store.run(&report).rows();
    rows.iter().find(|row| row["framework"] == framework).unwrap_or_else(|| panic!("no {framework}")).clone()
}

fn league(store: &Store) -> String {
    store.run(&["report", "--test", "t", "--format", "svg"]).text()
}

#[test]
fn one_machine_costs_the_same_whatever_its_cpu_is_exported_in() {
    for store in Store::each() {
        let log = log(&store, 60);
        let machine: [(&str, f64, &[&str]); 3] = [
            ("core", 3600.0, &["--cpu-scale", "percent-of-core"]),
            ("machine", 50.0, &["--cpu-scale", "percent-of-machine", "--cores", "72"]),
            ("fraction", 0.5, &["--cpu-scale", "fraction", "--cores", "72"]),
        ];
        for (name, value, flags) in machine {
            let cpu = export(&store, &format!("{name}.csv"), (0..60).map(|second| (second, value)));
            let key = Key::new(name, "t");
            let run = ["ingest", &log, &cpu, "--framework", name, "--test", "t"];
            let said = store.run(&[&run, flags].concat()).said();
            assert!(!said.contains("CPU reading"), "{said}");
            let found = standing(&store, name);
            assert_eq!(figure(&found, "cpu_mean"), 3600.0, "{name}");
            let cost = figure(&found, "throughput") / 36.0;
            assert!((figure(&found, "requests_per_cpu_second") - cost).abs() < 1e-9, "{name}");
            // Whatever is read, the unit is the same.
            assert_eq!(rows(&store.export(&key, "cpu", "csv", &[]))[0]["value"], "3600", "{name}");
            assert_eq!(rows(&store.export(&key, "samples", "csv", &[]))[0]["cpu"], "3600", "{name}");
            // The same export, told nothing of, and then told.
            store.run(&["attach-cpu", &format!("{name}_t"), &cpu]).said();
            assert_eq!(figure(&standing(&store, name), "cpu_mean"), value);
            store.run(&[&["attach-cpu", &format!("{name}_t"), &cpu], flags].concat()).said();
            assert_eq!(figure(&standing(&store, name), "cpu_mean"), 3600.0);
        }
        let league = league(&store);
        assert!(!league.contains("may mean the whole machine"), "{league}");
    }
}

#[test]
fn scale_that_needs_the_cores_is_refused_without_them() {
    let store = Store::embedded();
    let log = log(&store, 10);
    let cpu = export(&store, "cpu.csv", (0..10).map(|second| (second, 50.0)));
    for scale in ["percent-of-machine", "fraction"] {
        for command in
            [&["ingest", &log, &cpu, "--framework", "go", "--test", "t"][..], &["inspect", &log, &cpu]]
        {
            let told = store.run(&[command, &["--cpu-scale", scale]].concat()).complaint(2);
            assert!(told.contains("--cores N"), "{told}");
        }
    }
}

#[test]
fn readings_that_fit_another_scale_better_are_told() {
    let store = Store::embedded();
    let flat = |name: &str, value: f64| export(&store, name, (0..600).map(|second| (second, value)));
    let (hundred, large) = (flat("hundred.csv", 100.0), flat("large.csv", 390.0));
    let said = ingest(&store, &hundred, &["--cores", "4"]);
    assert!(said.contains("--cpu-scale percent-of-machine --cores 4"), "{said}");
    let said = ingest(&store, &large, &["--cores", "4"]);
    assert!(!said.contains("--cpu-scale"), "{said}");
    let said = ingest(&store, &large, &["--cores", "4", "--cpu-scale", "percent-of-machine"]);
    assert!(said.contains("--cpu-scale percent-of-core"), "{said}");
}

#[test]
fn figures_per_cpu_second_that_can_not_be_compared_are_not_shown_as_if_they_could() {
    let store = Store::embedded();
    let log = log(&store, 600);
    let run = |framework: &str, cpu: &str, flags: &[&str]| {
        store.run(&[&["ingest", &log, cpu, "--framework", framework, "--test", "t"], flags].concat()).said()
    };
    // Readings of the ramp only: a fifth of the load, and a third of the seconds.
    run("part", &export(&store, "part.csv", (0..200).map(|second| (second, 140.0))), &[]);
    run("whole", &export(&store, "whole.csv", (0..600).map(|second| (second, 700.0))), &[]);
    let part = standing(&store, "part");
    assert_eq!(part["requests_per_cpu_second"], Value::Null, "{part}");
    assert!((figure(&part, "cpu_coverage") - 203.0 / 600.0).abs() < 1e-9, "{part}");
    assert_eq!(figure(&standing(&store, "whole"), "cpu_coverage"), 1.0);
    let told = league(&store);
    assert!(told.contains("CPU coverage") && !told.contains("may be the whole machine"), "{told}");

    run("part", &export(&store, "full.csv", (0..600).map(|second| (second, 97.0))), &[]);
    let told = league(&store);
    assert!(!told.contains("CPU coverage"), "{told}");
    assert!(told.contains("part: no CPU reading above 100 %, so 100 % may be the whole machine"), "{told}");
    // A fraction would be a figure of hundreds of thousands.
    run("part", &export(&store, "fraction.csv", (0..600).map(|second| (second, 0.97))), &[]);
    assert_eq!(standing(&store, "part")["requests_per_cpu_second"], Value::Null);
    run(
        "part",
        &export(&store, "told.csv", (0..600).map(|second| (second, 97.0))),
        &["--cpu-scale", "percent-of-core"],
    );
    assert!(!league(&store).contains("may be the whole machine"));
}

#[test]
fn cores_that_the_readings_may_count_as_one_make_no_idle_cpu() {
    let store = Store::embedded();
    // Six steps of ten threads, of which 23 are as many as the server serves.
    let mut rows = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    for second in 0..60 {
        let threads = 10.0 * f64::from(second / 10 + 1);
        let elapsed = 13.0 * (threads / 23.0_f64).max(1.0);
        let requests = threads / elapsed * 1000.0;
        for at in 0..requests as i64 {
            let time = (T0 + i64::from(second)) * 1000 + at * 1000 / requests as i64;
            rows += &format!("{time},{},Get,true,{threads}\n", elapsed.round());
        }
    }
    let log = store.file("steps.csv", rows);
    let busy = |second: i64| (second, if second < 20 { 50.0 + second as f64 } else { 100.0 });
    let cpu = export(&store, "cpu.csv", (0..60).map(busy));
    let ingest = |flags: &[&str]| {
        store.run(&[&["ingest", &log, &cpu, "--framework", "go", "--test", "t"], flags].concat()).said()
    };
    let diagnosed = |flags: &[&str]| {
        let done = store.run(&[&["diagnose", "--framework", "go", "--test", "t"], flags].concat());
        (String::from_utf8(done.out).unwrap(), done.err)
    };
    ingest(&[]);
    let (found, said) = diagnosed(&["--cores", "4"]);
    assert!(found.contains("saturation") && !found.contains("idle-cpu"), "{found}");
    assert!(said.contains("--cores is not used"), "{said}");
    ingest(&["--cpu-scale", "percent-of-machine", "--cores", "4"]);
    let (found, said) = diagnosed(&[]);
    assert!(!found.contains("idle-cpu") && !said.contains("is not used"), "{found}{said}");
    // One core of four, told to be that, is idle: by the cores that were told at the ingest.
    ingest(&["--cpu-scale", "percent-of-core", "--cores", "4"]);
    let (found, _) = diagnosed(&["--format", "csv"]);
    assert!(found.contains("idle-cpu") && found.contains("25 % of the 4 cores"), "{found}");
}

/// The warnings among what is said, without those on a replaced run.
fn warnings(said: &str) -> Vec<&str> {
    let all = said.lines().filter_map(|line| line.strip_prefix("warning: "));
    all.filter(|told| !told.starts_with("replaced")).collect()
}

#[test]
fn readings_of_another_time_zone_are_a_warning_that_names_the_flag_and_the_flag_helps() {
    for store in Store::each() {
        let an_hour_early =
            export(&store, "early.csv", every(1).map(|(second, value)| (second - 3600, value)));
        let said = ingest(&store, &an_hour_early, &[]);
        let [told] = warnings(&said)[..] else { panic!("{said}") };
        assert_told(
            told,
            &["no CPU reading falls within the run", "1 hour", "--cpu-offset 3600", "600 seconds"],
        );
        let found = store.run(&["inspect", &log(&store, 600), &an_hour_early]).text();
        assert_told(&found, &["--cpu-offset 3600"]);
        let said = ingest(&store, &an_hour_early, &["--cpu-offset", "3600"]);
        assert_eq!(warnings(&said), [""; 0], "{said}");

        // Dates without a zone, of a clock an hour ahead of the log's.
        let date = |second: i64| {
            format!("2026-11-20 {:02}:{:02}:{:02}", 20 + second / 3600, second / 60 % 60, second % 60)
        };
        let rows: String = (0..600).map(|second| format!("{},50\n", date(second + 42 * 60))).collect();
        let dated = store.file("dated.csv", format!("clock,value\n{rows}"));
        let said = ingest(&store, &dated, &[]);
        let [told] = warnings(&said)[..] else { panic!("{said}") };
        assert_told(told, &["--time-zone +01:00, or --cpu-offset -3600"]);
        let said = ingest(&store, &dated, &["--time-zone", "+01:00"]);
        assert_eq!(warnings(&said), [""; 0], "{said}");
    }
}

#[test]
fn readings_that_cover_less_than_half_of_the_run_are_a_warning_if_a_shift_of_their_clock_would_help() {
    let store = Store::embedded();
    let log = log(&store, 1700);
    let cpu = export(&store, "early.csv", (0..1700).map(|second| (second - 900, 50.0)));
    let said = store.run(&["ingest", &log, &cpu, "--framework", "go", "--test", "t"]).said();
    let [told] = warnings(&said)[..] else { panic!("{said}") };
    assert_told(told, &["1700 seconds", "15 min", "--cpu-offset 900", "1,700 seconds"]);
    let half = export(&store, "half.csv", (0..900).map(|second| (second, 50.0)));
    let said = store.run(&["ingest", &log, &half, "--framework", "go", "--test", "t"]).said();
    assert!(warnings(&said).iter().all(|told| !told.contains("clocks")), "{said}");
}

#[test]
fn readings_of_another_day_are_a_warning_that_says_how_the_right_ones_are_attached() {
    let store = Store::embedded();
    let yesterday = export(&store, "yesterday.csv", every(1).map(|(second, value)| (second - 86_400, value)));
    let said = ingest(&store, &yesterday, &[]);
    let [told] = warnings(&said)[..] else { panic!("{said}") };
    assert_told(told, &["no CPU reading falls within the run", "perfpipe attach-cpu go_t FILE"]);
    let right = export(&store, "right.csv", every(1));
    store.run(&["attach-cpu", "go_t", &right]).said();
}
