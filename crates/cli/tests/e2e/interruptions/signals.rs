//! Signals in the middle of long commands: each ends at once, with the code that is usual for the signal, and leaves no
//! file behind.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::time::{Duration, Instant};

use crate::support::*;

const SIGNALS: [(&str, i32); 2] = [("INT", 130), ("TERM", 143)];

/// Records of the run: to read or to write them all takes long enough to be stopped meanwhile.
const RECORDS: i64 = 600_000;

/// A label that has no counts of its own.
const SHARED: &str = "Label 250";

/// A store with a run of many samples and labels.
fn store_with_long_run() -> Store {
    let store = Store::embedded();
    let mut log = "timeStamp,elapsed,label,success,bytes\n".to_owned();
    for at in 0..RECORDS {
        writeln!(log, "{},{},Label {},true,{}", 1_795_203_738_000 + at / 8, at % 977, at % 300, at % 5_003)
            .unwrap();
    }
    let log = store.file("log.csv", log);
    store.run(&["ingest", &log, "--framework", "nio", "--test", "long"]).said();
    store
}

/// The names of what lies in the test's folder, of what is hidden too.
fn names(store: &Store) -> Vec<String> {
    let entries = std::fs::read_dir(store.folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Sends the signal to a command that is in its middle, and waits for its end.
fn assert_stops(mut child: Child, of: &[&str], (name, code): (&str, i32)) {
    // Who reads what it has written is still there, and does not read.
    let _held = child.stdout.take();
    signal(name, child.id());
    let done = finish(child);
    assert_eq!(done.code, Some(code), "SIG{name} to {of:?}: {}", done.err);
    assert!(done.err.contains(&format!("stopped by SIG{name}")), "{of:?}: {}", done.err);
}

#[test]
fn export_of_samples_ends_at_a_signal() {
    let store = store_with_long_run();
    let before = names(&store);
    let export = ["export", "--framework", "nio", "--test", "long", "--what", "samples"];
    for format in ["csv", "json", "parquet"] {
        for signal in SIGNALS {
            let to_file = [&export[..], &["--format", format, "-o", "samples"]].concat();
            let child = store.spawn(&to_file);
            wait_for("the export is being written", || names(&store).len() > before.len());
            assert_stops(child, &to_file, signal);
            assert_eq!(names(&store), before, "{signal:?} to {to_file:?}");
        }
    }
    for signal in SIGNALS {
        let mut child = store.spawn(&export);
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("t_ms,"), "{line}");
        assert_stops(child, &export, signal);
    }
}

#[test]
fn count_of_a_label_anew_ends_at_a_signal() {
    let store = store_with_long_run();
    let before = names(&store);
    let run = ["--framework", "nio", "--test", "long", "--label", SHARED];
    let export = [&["export", "-o", "seconds.csv"], &run[..]].concat();
    let diagnose = [&["diagnose"], &run[..]].concat();
    let check = ["check", "--test", "long", "--junit", "check.xml", "p95 of \"Label 250\" < 5s"];
    for arguments in [&export[..], &diagnose, &check] {
        for signal in SIGNALS {
            let child = recounting(&store, arguments);
            assert_stops(child, arguments, signal);
            assert_eq!(names(&store), before, "{signal:?} to {arguments:?}");
        }
    }
    let report = ["report", "--test", "long", "--label", SHARED, "--format", "html,svg", "--out", "pages"];
    for signal in SIGNALS {
        let child = recounting(&store, &report);
        assert_stops(child, &report, signal);
        assert_eq!(std::fs::read_dir(store.folder.path().join("pages")).unwrap().count(), 0);
    }
}

/// A command that has said that it reads the samples.
fn recounting(store: &Store, arguments: &[&str]) -> Child {
    let mut child = store.spawn(arguments);
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("reading the samples"), "{line}");
    child
}

#[test]
fn look_at_all_that_is_stored_ends_at_a_signal() {
    let store = store_with_long_run();
    let before = names(&store);
    for signal in SIGNALS {
        let child = store.spawn(&["verify"]);
        wait_for("it reads the samples", || read_by(child.id()) > 300_000);
        assert_stops(child, &["verify"], signal);
        assert_eq!(names(&store), before, "{signal:?}");
    }
}

#[test]
fn writers_end_at_a_signal_and_leave_nothing() {
    let store = store_with_long_run();
    let cpu = store.file("cpu.csv", "clock,value\n1795203738,10\n1795203790,20\n");
    let seconds = store.export(&Key::new("nio", "long"), "seconds", "csv", &[]);
    let attach = ["attach-cpu", "nio_long", &cpu];
    for signal in SIGNALS {
        let child = store.spawn(&attach);
        wait_for("it writes", || store.writers() > 0);
        assert_stops(child, &attach, signal);
        assert_eq!(store.leftovers(), [""; 0], "{signal:?}");
        assert_eq!(store.export(&Key::new("nio", "long"), "seconds", "csv", &[]), seconds);
    }
    for there in Store::each() {
        for signal in SIGNALS {
            let flag = if there.is_database() { "--to-database" } else { "--to" };
            let copy = ["copy", flag, there.place()];
            let child = store.spawn(&copy);
            wait_for("it writes", || there.writers() > 0);
            assert_stops(child, &copy, signal);
            there.wait_for_killed_writers();
            assert_eq!(there.leftovers(), [""; 0], "{signal:?}");
            assert!(there.list().is_empty());
        }
    }
}

/// What reads summaries has begun nothing that it would have to undo.
#[test]
fn reading_of_a_summary_ends_at_a_signal() {
    let store = Store::embedded();
    for command in ["sweep", "ingest", "inspect"] {
        for (name, code) in SIGNALS {
            let mut child = store.spawn(&[command, "-"]);
            let mut input = child.stdin.take().unwrap();
            // Less than is looked at to recognise a file.
            input.write_all("Running 10s test @ http://h/\n".repeat(2000).as_bytes()).unwrap();
            wait_for("it reads", || read_by(child.id()) > 58_000);
            signal(name, child.id());
            let done = finish(child);
            assert_eq!(done.code, Some(code), "SIG{name} to {command}: {}", done.err);
            assert!(!done.err.contains("undoing"), "SIG{name} to {command}: {}", done.err);
        }
    }
}

/// A page that is a pipe waits for its reader, and what is stored is stored: there is nothing to undo.
#[test]
fn page_that_nobody_reads_ends_at_a_signal() {
    let log = fixture("crlf.csv");
    for signal in SIGNALS {
        let store = Store::embedded();
        let pages = store.folder.path().join("pages");
        std::fs::create_dir(&pages).unwrap();
        let pipe = pages.join("go_t.svg");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pages = pages.to_str().unwrap();
        let ingest = ["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t", "--out", pages];
        let child = store.spawn(&ingest);
        wait_for("the run is stored", || {
            String::from_utf8_lossy(&store.run(&["list", "--format", "csv"]).out).contains("go,t,1")
        });
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        assert_stops(child, &ingest, signal);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!(store.keys(), ["go t"]);
    }
}
