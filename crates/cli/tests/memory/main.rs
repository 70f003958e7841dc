//! The most memory that each command takes, on logs that are long and on logs that are made to take much. The table is
//! ignored by default; `.ci/long memory` makes it. What runs always is small, with a budget to match.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod bombs;
mod bombs_logs;
mod bombs_summaries;
mod log;
mod measured;
mod packed;
mod readings;

use std::fmt::Write;
use std::path::Path;

use log::Log;
use measured::{Run, measured};

/// A row of the table.
struct Case {
    name: &'static str,
    log: Log,
    /// Flags of `ingest`.
    flags: &'static [&'static str],
    /// What ingest ends with.
    code: i32,
    /// MiB that no command may take more of.
    limit: u64,
}

/// Runs and attacks, those of twelve hours or less and the attacks within 200 MB. The heap of long labels is 85 MB; how much more
/// their threads leave in pieces differs by some 20 MB from run to run.
const CASES: [Case; 13] = [
    Case::run("200 labels, 1 hour", Log::Seconds { seconds: 3600, labels: 200 }, 200),
    Case::run("200 labels, 4 hours", Log::Seconds { seconds: 4 * 3600, labels: 200 }, 200),
    Case::run("200 labels, 12 hours", Log::Seconds { seconds: 12 * 3600, labels: 200 }, 200),
    Case::run("200 labels, 24 hours", Log::Seconds { seconds: 24 * 3600, labels: 200 }, 300),
    Case::run("10 million requests", Log::Seconds { seconds: 1000, labels: 10_000 }.of_few_labels(), 200),
    Case::run("8,000 labels of 200 KB", Log::Labels { labels: 8000, length: 200_000 }, 200),
    Case::run("4,000 labels of 1 MB", Log::Labels { labels: 4000, length: 1_000_000 }, 200),
    Case::run("500,000 labels of 1 KB", Log::Labels { labels: 500_000, length: 1000 }, 250),
    Case::run("5,000 response codes of 200 KB", Log::Codes { codes: 5000, length: 200_000 }, 200),
    Case { code: 3, ..Case::run("20 million lines of `x`", Log::Rejects { lines: 20_000_000 }, 200) },
    Case {
        flags: &["--max-rejects", "1000000000"],
        ..Case::run("the same, allowed", Log::Rejects { lines: 20_000_000 }, 200)
    },
    Case {
        flags: &["--max-span", "12d"],
        ..Case::run("12 days at 1/s", Log::Seconds { seconds: 12 * 86_400 - 10, labels: 1 }, 300)
    },
    Case {
        flags: &["--max-span", "12d"],
        ..Case::run("12 sparse days", Log::Sparse { days: 12, requests: 1_500_000 }, 300)
    },
];

impl Case {
    const fn run(name: &'static str, log: Log, limit: u64) -> Self {
        Self { name, log, flags: &[], code: 0, limit }
    }

    /// Ingests the log by so many workers, and reads it back in every way where `read` says so.
    fn measure(&self, folder: &Path, workers: &str, read: bool) -> Vec<(String, Run)> {
        let store = folder.join("store");
        let at = ["--store", store.to_str().unwrap()];
        let key = ["ingest", "-", "--framework", "f", "--test", "t", "--replace", "--workers", workers];
        let ingest = measured(&[&key[..], &at, self.flags].concat(), folder, Some(&self.log));
        assert_eq!(ingest.code, Some(self.code), "{}: {}", self.name, ingest.said);
        let mut runs = vec![(format!("ingest, {workers} workers"), ingest)];
        if read && self.code == 0 {
            for (name, command) in readers(folder) {
                let command: Vec<&str> = command.iter().map(String::as_str).collect();
                let run = measured(&[&command[..], &at].concat(), folder, None);
                assert_eq!(run.code, Some(0), "{}, {name}: {}", self.name, run.said);
                runs.push((name.to_owned(), run));
            }
        }
        runs
    }
}

/// The commands that read a run.
fn readers(folder: &Path) -> Vec<(&'static str, Vec<String>)> {
    let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let cpu = place("cpu.csv");
    std::fs::write(&cpu, "clock,value\n1700000000,50\n1700000001,60\n").unwrap();
    let export =
        |what: &str| ["export", "--framework", "f", "--test", "t", "--what", what].map(String::from).to_vec();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    vec![
        ("export seconds", export("seconds")),
        ("export labels", export("labels")),
        ("export errors", export("errors")),
        ("export phases", export("phases")),
        ("diagnose", words(&["diagnose", "f_t"])),
        ("check", words(&["check", "--test", "t", "requests > 0"])),
        ("trend", words(&["trend", "--test", "t", "--by", "run"])),
        ("export samples", export("samples")),
        ("report", words(&["report", "--test", "t", "--out", &place("charts")])),
        ("report html", words(&["report", "--test", "t", "--format", "html", "--out", &place("charts")])),
        ("copy", words(&["copy", "--to", &place("copy")])),
        ("attach-cpu", words(&["attach-cpu", "f_t", &cpu])),
    ]
}

/// The table, and which of its figures are beyond their limits.
#[test]
#[ignore = "takes half an hour and 10 GB of disk"]
fn no_log_takes_more_memory_than_is_promised() {
    let only = std::env::var("PERFPIPE_MEMORY_CASE").unwrap_or_default();
    let (mut table, mut beyond) =
        (String::from("| log | command | MB | s |\n|---|---|--:|--:|\n"), Vec::new());
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let folder = tempfile_in_target();
        let few = case.measure(folder.path(), "2", true);
        let many = case.measure(folder.path(), "16", false);
        for (name, run) in few.into_iter().chain(many) {
            let row = format!("| {} | {name} | {} | {:.0} |", case.name, run.megabytes, run.seconds);
            eprintln!("{row}");
            writeln!(table, "{row}").unwrap();
            if run.megabytes > case.limit {
                beyond.push(format!("{row} beyond {} MB", case.limit));
            }
        }
    }
    eprintln!("\n{table}");
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// The table of readings, from files of a few KB and from hosts.
#[test]
#[ignore = "takes minutes"]
fn no_readings_take_more_memory_than_is_promised() {
    let only = std::env::var("PERFPIPE_MEMORY_CASE").unwrap_or_default();
    let mut beyond = Vec::new();
    let mut row = |name: &str, from: &str, run: Run| {
        let Run { code, megabytes, seconds, said, .. } = run;
        let row = format!("| {name} | {from} | {megabytes} | {seconds:.0} | {}", code.unwrap_or(-1));
        eprintln!("{row}");
        if megabytes > readings::LIMIT || !matches!(code, Some(0..=3)) || said.contains("panicked") {
            beyond.push(format!("{row}: {said}"));
        }
    };
    for text in readings::TEXTS.iter().filter(|text| text.name.contains(&only)) {
        let folder = tempfile_in_target();
        row(text.name, "file", text.ingest_as_file(folder.path()));
        if readings::is_of_server(text) {
            row(text.name, "host", text.ingest_from_server(folder.path()));
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// What each reader takes for an input that is made to take much.
#[test]
#[ignore = "takes minutes"]
fn no_input_takes_more_memory_than_is_promised() {
    let only = std::env::var("PERFPIPE_MEMORY_CASE").unwrap_or_default();
    let (mut table, mut beyond) =
        (String::from("| input | MB | s | code |\n|---|--:|--:|--:|\n"), Vec::new());
    for bomb in bombs::all().filter(|bomb| bomb.name.contains(&only)) {
        let folder = tempfile_in_target();
        (bomb.write)(folder.path());
        let run = measured(&[bomb.command, &["--store", "store"]].concat(), folder.path(), None);
        let code = run.code.filter(|code| bomb.codes.contains(code));
        let row = format!("| {} | {} | {:.1} | {:?} |", bomb.name, run.megabytes, run.seconds, run.code);
        eprintln!("{row}");
        writeln!(table, "{row}").unwrap();
        if run.megabytes > bombs::LIMIT || code.is_none() {
            beyond.push(format!("{row} {}", run.said.lines().next_back().unwrap_or_default()));
        }
    }
    eprintln!("\n{table}");
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// A folder on the disk of the build, where there is room.
fn tempfile_in_target() -> measured::Folder {
    measured::Folder::new(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

#[test]
fn counts_beyond_the_budget_are_written_to_a_file_and_read_back_the_same() {
    // Records of any time, so that no second is over before the end, and all counts wait for it.
    let log = Log::Sparse { days: 1, requests: 4_000_000 };
    let exports = ["1MB", "1GB"].map(|memory| {
        let folder = tempfile_in_target();
        let store = folder.path().join("store");
        let at = ["--store", store.to_str().unwrap()];
        let ingest = ["ingest", "-", "--framework", "f", "--test", "t", "--memory", memory];
        let run = measured(&[&ingest[..], &at].concat(), folder.path(), Some(&log));
        assert_eq!(run.code, Some(0), "{}", run.said);
        let out = folder.path().join("out.csv");
        let export = ["export", "--framework", "f", "--test", "t", "-o", out.to_str().unwrap()];
        let read = measured(&[&export[..], &at].concat(), folder.path(), None);
        assert_eq!(read.code, Some(0), "{}", read.said);
        (std::fs::read_to_string(out).unwrap(), run.written)
    });
    let [(small, more), (large, less)] = exports;
    assert!(small == large && small.lines().count() > 80_000);
    // The memory of a process varies by as much as these counts take; what it writes does not.
    assert!(less + 10 < more, "{more} MB written with a budget of 1 MB, {less} MB with one of 1 GB");
}

#[test]
fn rejects_that_are_not_allowed_are_not_kept() {
    let folder = tempfile_in_target();
    let store = folder.path().join("store");
    let ingest = ["ingest", "-", "--framework", "f", "--test", "t", "--workers", "16", "--store"];
    let log = Log::Rejects { lines: 8_000_000 };
    let run = measured(&[&ingest[..], &[store.to_str().unwrap()]].concat(), folder.path(), Some(&log));
    assert_eq!(run.code, Some(3), "{}", run.said);
    assert!(run.megabytes < 150, "{} MB", run.megabytes);
}

#[test]
fn long_texts_are_cut_and_told_of_and_read_back() {
    let folder = tempfile_in_target();
    let store = folder.path().join("store");
    let at = ["--store", store.to_str().unwrap()];
    let ingest = ["ingest", "-", "--framework", "f", "--test", "t", "--workers", "4"];
    let log = Log::Labels { labels: 150, length: 1_000_000 };
    let run = measured(&[&ingest[..], &at].concat(), folder.path(), Some(&log));
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(run.said.contains("150 records have a text that is too long to be kept whole"), "{}", run.said);
    assert!(run.megabytes < 150, "{} MB", run.megabytes);
    let out = folder.path().join("labels.csv");
    let export =
        ["export", "--framework", "f", "--test", "t", "--what", "labels", "-o", out.to_str().unwrap()];
    let read = measured(&[&export[..], &at].concat(), folder.path(), None);
    assert_eq!(read.code, Some(0), "{}", read.said);
    let labels = std::fs::read_to_string(out).unwrap();
    assert_eq!(labels.lines().count(), 151, "no two labels became one");
    assert!(labels.lines().all(|line| line.len() < 4400));
}
