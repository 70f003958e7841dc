//! What is shown of a watched run, and how its end is told.

use super::same::NAMED;
use super::writer::{T0, Watching, Writer, log, records};
use crate::support::*;

/// The words of the last line of a second.
pub(super) fn last_line<'a>(told: &'a [String], second: &str) -> Vec<&'a str> {
    let mut words = told.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.rfind(|words| words.first() == Some(&second)).unwrap_or_default()
}

#[test]
fn seconds_are_shown_as_they_are_exported() {
    let store = Store::embedded();
    let mut writer = Writer::new(&store, "run.jtl");
    let watching = Watching::begin(&store, &[&["run.jtl", "--idle-end", "1s"], &NAMED[..]].concat());
    writer.write(&log(0..9));
    let (done, told) = watching.ended();
    assert_eq!(done.code, Some(0), "{}", done.err);
    let key = Key::new("go", "live");
    let seconds = rows(&store.export(&key, "seconds", "csv", &["--percentiles", "50,95,99"]));
    assert_eq!(seconds.len(), 9);
    for row in seconds {
        let shown = last_line(&told, &row["second"]);
        let whole = |name: &str| format!("{:.0}", row[name].parse::<f64>().unwrap());
        let expected = ["second", "successes", "load", "p50", "p95", "p99", "failures"].map(whole);
        assert_eq!(shown[..7], expected, "{told:?}");
    }
}

#[test]
fn late_record_corrects_the_line_of_its_second() {
    let store = Store::embedded();
    let mut writer = Writer::new(&store, "run.jtl");
    let mut watching = Watching::begin(&store, &[&["run.jtl"], &NAMED[..]].concat());
    writer.write(&log(0..6));
    watching.until(4);
    writer.write(&format!("{},4000,Get,200,OK,Group 1-51,true,120,1,10,7\n", T0 + 1_500));
    writer.write(&records(6..9, ""));
    watching.until(7);
    let (_, told) = watching.end("INT");
    let of_second = last_line(&told, "1");
    assert_eq!((of_second[1], of_second[7]), ("48", "corrected"), "{told:?}");
    assert_eq!(last_line(&told, "0").len(), 7, "{told:?}");
}

#[test]
fn what_is_no_log_is_refused() {
    let store = Store::embedded();
    let folder = store.folder.path().to_str().unwrap();
    assert_told(&store.run(&["watch", folder]).complaint(3), &["is a folder"]);
    let zip = fixture("Results-2048-9000.csv.zip");
    assert_told(&store.run(&["watch", zip.to_str().unwrap()]).complaint(3), &["zip", "Ingest it"]);
    let text = store.file("notes.txt", "it went well\nall in all\n");
    assert_told(&store.run(&["watch", &text]).complaint(3), &["notes.txt"]);
    assert_told(&store.run(&["watch", "a.jtl", "--idle-end", "5"]).complaint(2), &["--idle-end"]);
    assert!(store.list().is_empty());
}

#[test]
fn log_that_never_begins_stores_nothing() {
    let store = Store::embedded();
    let complaint = store.run(&["watch", "never.jtl", "--idle-end", "1s"]).complaint(2);
    assert_told(&complaint, &["never.jtl", "nothing was written to"]);
    assert!(!complaint.contains("CPU export"), "{complaint}");
    assert!(store.list().is_empty());
}
