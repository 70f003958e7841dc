//! One run from many machines: parts that are ingested apart, and merged.

use std::fs::File;
use std::path::PathBuf;

use crate::postgres::required::skip;
use crate::stores::determinism::exports;
use crate::support::*;
use crate::tools::tracer::kill_before_change;

/// A log, its CPU export, and a time before its first record, epoch ms.
const LOG: &str = "Results-flaky-8181.csv";
const CPU: &str = "Results-flaky-8181.cpu.csv";
const ORIGIN: &str = "1795203824000";

const RUN: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// Cuts a log between two records into so many files, each with the header, in the folder of a test.
fn pieces(store: &Store, count: usize) -> Vec<String> {
    let log = std::fs::read(fixture(LOG)).unwrap();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(log.as_slice());
    let mut record = csv::ByteRecord::new();
    let mut begins = Vec::new();
    while reader.read_byte_record(&mut record).unwrap() {
        begins.push(record.position().unwrap().byte() as usize);
    }
    let header = &log[..begins[0]];
    let cut = |at: usize| begins.get(begins.len() * at / count).copied().unwrap_or(log.len());
    let piece = |at: usize| {
        let records = &log[cut(at)..cut(at + 1)];
        store.file(&format!("load-{}.csv", at + 1), [header, records].concat())
    };
    (0..count).map(piece).collect()
}

/// The arguments that ingest a log as a part of the run.
fn part<'a>(log: &'a str, number: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["ingest", log, "--part", number, "--origin", ORIGIN];
    [&fixed[..], &RUN, more].concat()
}

/// Ingests all parts of a run of so many.
fn ingest_all(store: &Store, count: usize) {
    for (at, log) in pieces(store, count).iter().enumerate() {
        let said = store.run(&part(log, &format!("{}/{count}", at + 1), &[])).said();
        assert_told(&said, &[&format!("{} of {count}", at + 1)]);
    }
}

fn merge(store: &Store, parts: &str) -> Done {
    store.run(&["merge", "nio_2048", "--parts", parts])
}

/// One store of each kind that can be had here.
fn each() -> Vec<Store> {
    Store::each().into_iter().chain(Store::lakes()).collect()
}

#[test]
fn parts_that_are_merged_are_the_run_of_all_logs() {
    each().iter().for_each(merged_as_the_whole);
}

fn merged_as_the_whole(parts: &Store) {
    let cpu = fixture(CPU);
    let cpu = cpu.to_str().unwrap();
    let flags = ["--tag", "commit=a"];
    let whole = Store::embedded();
    let logs = pieces(&whole, 3);
    let files: Vec<&str> = logs.iter().map(String::as_str).chain([cpu]).collect();
    whole.run(&[&["ingest"], &files[..], &RUN, &["--origin", ORIGIN], &flags].concat()).said();
    for (number, log) in [("2/3", 1), ("1/3", 0), ("3/3", 2)].map(|(number, at)| (number, &logs[at])) {
        let injector = log.rsplit('/').next().unwrap();
        let more = [&[cpu, "--injector", injector], &flags[..]].concat();
        parts.run(&part(log, number, &more)).said();
    }
    assert_eq!(parts.list().len(), 0, "a part is no run");
    let said = merge(parts, "3").said();
    assert_told(&said, &["merged 3 parts to nio_2048", "injectors"]);
    assert_eq!(exports(parts, &RUN, true), exports(&whole, &RUN, true));
    parts.run(&["verify", "nio_2048"]).text();
    assert_told(&parts.run(&["merge", "nio_2048", "--parts", "3"]).complaint(1), &["no parts of nio_2048"]);
    assert!(parts.leftovers().is_empty() && !PathBuf::from(parts.place()).join("parts").exists());
    // It is a run like any other.
    parts.run(&["copy", "nio_2048", "--to", "other"]).said();
    parts.run(&["drop", "nio_2048"]).said();
}

/// Logs of three machines whose threads name their hosts; two have the same address in their own networks.
fn named_by_threads(store: &Store) -> Vec<String> {
    let log = |(at, host): (usize, &str)| {
        let record = |n: usize| {
            let (time, elapsed) = (1_795_203_824_500 + 700 * n + 11 * at, 20 + n % 7);
            format!("{time},{elapsed},Get,200,OK,{host}-TG 1-{},true,100,10,4,4,9,0,1\n", 1 + n % 4)
        };
        let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,grpThreads,\
                      allThreads,Latency,IdleTime,Connect\n";
        let records: String = (0..60).map(record).collect();
        store.file(&format!("p{at}.csv"), [header, &records].concat())
    };
    ["10.0.0.1", "10.0.0.2", "10.0.0.1"].into_iter().enumerate().map(log).collect()
}

#[test]
fn parts_whose_threads_name_their_injectors_are_the_run_of_all_logs() {
    each().iter().for_each(|parts| {
        let whole = Store::embedded();
        let logs = named_by_threads(&whole);
        let files: Vec<&str> = logs.iter().map(String::as_str).collect();
        whole.run(&[&["ingest"], &files[..], &RUN, &["--origin", ORIGIN]].concat()).said();
        for (log, number) in logs.iter().zip(["1/3", "2/3", "3/3"]) {
            let injector = log.rsplit('/').next().unwrap();
            parts.run(&part(log, number, &["--injector", injector])).said();
        }
        merge(parts, "3").said();
        let found = exports(parts, &RUN, true);
        assert_eq!(found, exports(&whole, &RUN, true));
        assert!(found.iter().any(|export| export.contains("p0.csv/10.0.0.1")));
    });
}

/// Without the names of injectors, parts are pieces of one log, here of one that itself names three of them.
#[test]
fn split_log_whose_threads_name_their_injectors_is_the_log() {
    let (whole, parts) = (Store::embedded(), Store::embedded());
    let log = std::fs::read_to_string(&named_by_threads(&whole)[0]).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let hosts = |(n, line): (usize, &&str)| line.replace("10.0.0.1", &format!("10.0.0.{}", 1 + n % 3)) + "\n";
    let records: Vec<String> = lines[1..].iter().enumerate().map(hosts).collect();
    let piece =
        |name: &str, records: &[String]| whole.file(name, [lines[0], "\n", &records.concat()].concat());
    let all = piece("all.csv", &records);
    whole.run(&[&["ingest", &all], &RUN[..], &["--origin", ORIGIN]].concat()).said();
    for (number, half) in ["1/2", "2/2"].iter().zip(records.chunks(30)) {
        let file = piece(&format!("half-{}.csv", &number[..1]), half);
        parts.run(&part(&file, number, &[])).said();
    }
    merge(&parts, "2").said();
    assert_eq!(exports(&parts, &RUN, true), exports(&whole, &RUN, true));
}

#[test]
fn split_log_is_the_log() {
    let (whole, parts) = (Store::embedded(), Store::embedded());
    let log = fixture(LOG);
    let flags = ["--origin", ORIGIN];
    whole.run(&[&["ingest", log.to_str().unwrap()], &RUN[..], &flags].concat()).said();
    ingest_all(&parts, 7);
    assert_told(&merge(&parts, "7").said(), &["merged 7 parts"]);
    assert_eq!(exports(&parts, &RUN, true), exports(&whole, &RUN, true));
}

#[test]
fn parts_are_listed_and_dropped_until_they_are_merged() {
    each().iter().for_each(listed_and_dropped);
}

fn listed_and_dropped(store: &Store) {
    let logs = pieces(store, 3);
    for (log, number) in logs.iter().zip(["1/3", "2/3"]) {
        store.run(&part(log, number, &[])).said();
    }
    let told = || store.run(&["list"]).err;
    assert_told(&told(), &["2 parts of 3 of nio_2048", "1, 2", "`perfpipe merge nio_2048 --parts 3`"]);
    let of_test = store.run(&["list", "--test", "2048"]);
    assert_told(&of_test.err, &["2 parts of 3 of nio_2048"]);
    assert_eq!(of_test.code, Some(0), "its only runs are parts");
    assert_told(&store.run(&["list", "--test", "2049"]).complaint(1), &["no run of the test 2049"]);
    store.run(&part(&logs[0], "1/3", &["--repeat", "2"])).said();
    assert_told(&merge(store, "3").complaint(2), &["2 repeats of nio_2048", "nio_2048#1, nio_2048#2"]);
    store.run(&["drop", "nio_2048", "--part", "1"]).complaint(2);
    store.run(&["drop", "nio_2048#2", "--part", "1"]).said();
    let complaint = merge(store, "3").complaint(1);
    assert_told(&complaint, &["part 3 of 3 of nio_2048 is missing", "--part"]);
    assert_told(&merge(store, "2").complaint(1), &["--part K/3", "Give --parts 3"]);
    assert_told(&store.run(&["merge", "go_2048", "--parts", "3"]).complaint(1), &["go_2048", "nio_2048"]);
    assert_told(
        &store.run(&part(&logs[2], "2/3", &[])).complaint(1),
        &["part 2/3", "load-2.csv", "--replace"],
    );
    store.run(&["drop", "nio_2048", "--part", "2", "--dry-run"]).said();
    assert_told(&store.run(&["drop", "nio_2048", "--part", "3"]).complaint(1), &["no part 3 of nio_2048"]);
    store.run(&["drop", "nio_2048", "--part", "2", "--part", "1"]).said();
    assert!(!told().contains("part"), "{}", told());
}

#[test]
fn part_that_is_wrong_is_refused_with_a_remedy() {
    let store = Store::embedded();
    let logs = pieces(&store, 2);
    store.run(&part(&logs[0], "1/2", &[])).said();
    for (more, what) in [
        (&["--max-span", "11d"][..], "maximum span"),
        (&["--tag", "commit=a"], "tag:commit a"),
        (&["--no-samples"], "samples left out"),
        (&[fixture(CPU).to_str().unwrap()], "cpu export"),
    ] {
        store.run(&part(&logs[1], "2/2", more)).said();
        assert_told(&merge(&store, "2").complaint(1), &["part 2/2", what, "--part"]);
        assert!(store.list().is_empty());
    }
    store.run(&part(&logs[0], "2/2", &["--replace"])).said();
    assert_told(&merge(&store, "2").complaint(1), &["part 2/2", "same log as part 1/2", "load-1.csv"]);
    for wrong in ["0/2", "3/2", "2", "x/y", "1/20000"] {
        assert_told(&store.run(&part(&logs[1], wrong, &[])).complaint(2), &["--part"]);
    }
    let empty = store.file("empty.csv", "");
    assert_told(&store.run(&part(&empty, "2/2", &["--replace"])).complaint(3), &["empty.csv"]);
    let early = store.file("early.csv", "timeStamp,elapsed,success\n1795203823999,7,true\n");
    let complaint = store.run(&part(&early, "2/2", &["--replace"])).complaint(3);
    assert_told(&complaint, &["early.csv", "Give all parts an origin that is not after 1795203823999"]);
    // Of another version.
    let nested = |number: &str| format!("{}/parts/nio+2048/{number}", store.place());
    store.run(&part(&logs[1], "2/2", &["--replace"])).said();
    let flag = ["--store".to_owned(), nested("2")];
    Store::at(flag).set("tool_version", "0.0.7");
    assert_told(&merge(&store, "2").complaint(1), &["version of perfpipe 0.0.7"]);
    store.run(&part(&logs[1], "2/2", &[])).said();
    merge(&store, "2").said();
}

#[test]
fn parts_are_written_by_many_and_merged_by_one() {
    let store = Store::embedded();
    let logs = pieces(&store, 2);
    store.run(&part(&logs[0], "1/2", &[])).said();
    let lock = File::options().write(true).open(format!("{}/parts/nio+2048/.lock", store.place())).unwrap();
    lock.lock_shared().unwrap();
    store.run(&part(&logs[1], "2/2", &[])).said();
    assert_told(&merge(&store, "2").complaint(1), &["parts of nio_2048", "another perfpipe"]);
    lock.unlock().unwrap();
    lock.lock().unwrap();
    let complaint = store.run(&part(&logs[1], "2/2", &[])).complaint(1);
    assert_told(&complaint, &["nio_2048 are being merged", "Wait"]);
    lock.unlock().unwrap();
    merge(&store, "2").said();
}

#[test]
fn database_of_which_a_part_is_written_is_not_merged() {
    let Some(store) = Store::database() else { return };
    let logs = pieces(&store, 2);
    store.run(&part(&logs[0], "1/2", &[])).said();
    let endless = endless_log(&store, "endless.csv");
    let mut writer = store.spawn(&part(&endless, "2/2", &[]));
    wait_for("the writer reads", || read_by(writer.id()) > 1 << 20);
    assert_told(&merge(&store, "2").complaint(1), &["parts of nio_2048", "another perfpipe", "Wait"]);
    assert_told(
        &store.run(&part(&logs[1], "2/2", &[])).complaint(1),
        &["part 2 of nio_2048", "another perfpipe"],
    );
    signal("KILL", writer.id());
    writer.wait().unwrap();
    store.wait_for_killed_writers();
    store.run(&part(&logs[1], "2/2", &[])).said();
    merge(&store, "2").said();
    assert_eq!(store.leftovers(), [""; 0]);
}

#[test]
fn parts_may_be_written_at_once() {
    each().iter().for_each(written_at_once);
}

fn written_at_once(store: &Store) {
    let (logs, bad) = (pieces(store, 6), store.file("bad.csv", "timeStamp,elapsed,success\nnoon,1,true\n"));
    let numbers: Vec<String> = (1..=6).map(|number| format!("{number}/6")).collect();
    let spawn = |log: &str, number: &str| store.spawn(&part(log, number, &[]));
    let writers: Vec<_> = logs.iter().zip(&numbers).map(|(log, number)| spawn(log, number)).collect();
    // One that fails removes nothing of the others.
    let failing: Vec<_> = numbers.iter().map(|number| spawn(&bad, number)).collect();
    failing.into_iter().for_each(|writer| assert!(matches!(finish(writer).code, Some(1 | 3))));
    for (writer, number) in writers.into_iter().zip(&numbers) {
        let done = finish(writer);
        // A part that another one was just writing is told to wait.
        if done.code != Some(0) {
            assert_told(&done.complaint(1), &["is being written"]);
            let at = number.split('/').next().unwrap().parse::<usize>().unwrap() - 1;
            store.run(&part(&logs[at], number, &[])).said();
        }
    }
    merge(store, "6").said();
}

#[test]
fn damaged_part_is_told_and_left_out_of_the_list() {
    let store = Store::embedded();
    let logs = pieces(&store, 2);
    for (log, number) in logs.iter().zip(["1/2", "2/2"]) {
        store.run(&part(log, number, &[])).said();
    }
    let manifest = format!("{}/parts/nio+2048/2/runs/nio+2048/manifest.json", store.place());
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"successes\":", "\"successes\":1")).unwrap();
    let listed = store.run(&["list"]);
    assert_eq!(listed.code, Some(1));
    assert_told(&listed.err, &["left out", "parts/nio+2048/2"]);
    assert_told(&merge(&store, "2").complaint(1), &["parts/nio+2048/2"]);
    assert!(store.leftovers().is_empty());
}

#[test]
fn scheduler_tells_the_number_of_a_part() {
    let store = Store::embedded();
    let logs = pieces(&store, 2);
    let ingest = |log: &str, number: &str, variables: &[(&str, &str)]| {
        let mut command = store.command(&part(log, number, &[]));
        done(command.envs(variables.iter().copied()))
    };
    let slurm = [("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_MAX", "4")];
    let slurm = [&slurm[..], &[("SLURM_ARRAY_TASK_COUNT", "2")]].concat();
    assert_told(&ingest(&logs[0], "auto", &slurm).said(), &["1 of 2"]);
    assert_told(&ingest(&logs[1], "auto/2", &[("JOB_COMPLETION_INDEX", "1")]).said(), &["2 of 2"]);
    assert_told(&ingest(&logs[1], "auto", &[("JOB_COMPLETION_INDEX", "1")]).complaint(2), &["auto/16"]);
    assert_told(&ingest(&logs[1], "auto", &[]).complaint(2), &["--part 3/16"]);
    merge(&store, "2").said();
}

/// A store in another folder with what one in a folder has.
fn copy_of(store: &Store) -> Store {
    let is_bucket = store.place().starts_with("file://");
    let copy = if is_bucket { Store::lake() } else { Store::embedded() };
    let path = |store: &Store| PathBuf::from(store.place().trim_start_matches("file://"));
    std::fs::create_dir_all(path(&copy).parent().unwrap()).unwrap();
    let copied = std::process::Command::new("cp").arg("-r").args([path(store), path(&copy)]).status();
    assert!(copied.unwrap().success());
    copy
}

/// Kills a merge before each of its changes in turn: the parts are there, or the run, or both; and merging again completes
/// it.
#[test]
fn crash_before_any_step_of_a_merge_leaves_the_parts_or_the_run() {
    killed_merges(&Store::embedded(), 1);
}

#[test]
fn crash_before_a_third_of_the_steps_of_a_merge_in_a_bucket_leaves_the_parts_or_the_run() {
    killed_merges(&Store::lake(), 3);
}

#[test]
#[ignore = "minutes: .ci/long bucket"]
fn crash_before_any_step_of_a_merge_in_a_bucket_leaves_the_parts_or_the_run() {
    killed_merges(&Store::lake(), 1);
}

/// Kills a merge before each of its changes, or before one in so many.
fn killed_merges(parts: &Store, step: usize) {
    ingest_all(parts, 2);
    let content = |store: &Store| {
        let key = store.only_key();
        ["samples", "errors", "statistics"].map(|what| {
            let format = if what == "statistics" { "json" } else { "csv" };
            store.export(&key, what, format, &[])
        })
    };
    let whole = copy_of(parts);
    merge(&whole, "2").said();
    let expected = content(&whole);
    let (mut with_run, mut with_parts) = (0, 0);
    for change in (0..).step_by(step) {
        let store = copy_of(parts);
        let merging = store.command(&["merge", "nio_2048", "--parts", "2"]);
        let killed = match kill_before_change(&merging, change) {
            Ok((_, killed)) => killed,
            Err(error) => return skip("PTRACE", format!("no process can be traced here ({error})")),
        };
        let told = format!("before {killed:?}, change {change}");
        let has_run = !store.list().is_empty();
        let has_parts = store.run(&["list"]).err.contains("2 parts of 2 of nio_2048");
        assert!(has_run || has_parts, "{told}");
        (with_run, with_parts) = (with_run + usize::from(has_run), with_parts + usize::from(has_parts));
        assert!(!has_run || content(&store) == expected, "{told}");
        if has_parts {
            merge(&store, "2").said();
            assert!(content(&store) == expected, "{told}");
        }
        // The next writer removes what was left.
        store
            .run(&["ingest", fixture("tab.jtl").to_str().unwrap(), "--framework", "a", "--test", "b"])
            .said();
        assert_eq!(store.leftovers(), [""; 0], "{told}");
        if killed.is_none() {
            break;
        }
    }
    assert!(with_run > 1 && with_parts > 3, "{with_run} {with_parts}");
}
