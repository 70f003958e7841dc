//! An earliest record that stands beyond the look-ahead: exact from a file, an honest failure from a pipe.

use crate::support::*;

/// More than is looked ahead by default, bytes.
const BEYOND: usize = 33 << 20;

/// timeStamp of the first record, and of the last and earliest, ms.
const FIRST: i64 = 1_795_203_738_615;
const EARLIEST: i64 = FIRST - 4_321;

/// A log that is longer than the look-ahead, of few but long records, with its earliest record at its end.
fn late_log() -> String {
    let mut log = "timeStamp,elapsed,label,success,failureMessage\n".to_owned();
    let padding = "x".repeat(8_000);
    let mut at = FIRST;
    while log.len() < BEYOND {
        log.push_str(&format!("{at},12,Get,true,{padding}\n"));
        at += 1;
    }
    log.push_str(&format!("{EARLIEST},4321,Get,true,\n"));
    log
}

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "late"];

#[test]
fn late_time_zero_of_a_file_is_found_by_reading_again() {
    let log = late_log();
    for store in Store::each() {
        let path = store.file("nio_late.csv", &log);
        let said = store.run(&["ingest", &path]).said();
        assert!(said.contains("read twice"), "{said}");
        check(&store, &log);
    }
}

#[test]
fn late_time_zero_of_a_pipe_is_refused_with_the_exact_remedy() {
    let log = late_log();
    for store in Store::each() {
        let arguments = [&["ingest", "-"], &TOLD[..]].concat();
        let complaint = store.pipe(log.as_bytes(), &arguments).complaint(3);
        assert!(complaint.contains("standard input"), "{complaint}");
        assert!(complaint.contains(&format!("--origin {EARLIEST}")), "{complaint}");
        assert!(store.list().is_empty() && store.leftovers().is_empty());

        let origin = EARLIEST.to_string();
        store.pipe(log.as_bytes(), &[&arguments[..], &["--origin", &origin]].concat()).said();
        check(&store, &log);
        refuses_a_wrong_origin(&store, &log, &arguments);
    }
}

fn refuses_a_wrong_origin(store: &Store, log: &str, arguments: &[&str]) {
    let wrong = (EARLIEST + 1).to_string();
    let complaint = store.pipe(log.as_bytes(), &[arguments, &["--origin", &wrong]].concat()).complaint(3);
    assert!(complaint.contains(&format!("with --origin {EARLIEST}")), "{complaint}");
    check(store, log);
}

/// The one run has its time zero and all its records.
fn check(store: &Store, log: &str) {
    let run = &store.list()[0];
    let records = log.lines().count() as i64 - 1;
    assert_eq!((count(run, "t0_ms"), count(run, "requests")), (EARLIEST, records));
    let seconds = rows(&store.export(&store.only_key(), "seconds", "csv", &[]));
    assert_eq!((seconds[0]["successes"].as_str(), seconds[1]["successes"].as_str()), ("1", "0"));
    assert_eq!(seconds[0]["elapsed_mean"], "4321");
}
