//! Logs that grow, shrink or disappear while they are read: what was there at the start, or an error.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::Child;

use crate::support::*;
use crate::zips::deflated;

/// More than is looked ahead and buffered, bytes, so that the reader is in the middle of the file.
const LONG: usize = 100 << 20;

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// A log of so many bytes, about, of few but long records, and how many records it has.
fn long_log(bytes: usize) -> (String, i64) {
    let mut log = "timeStamp,elapsed,label,success,failureMessage\n".to_owned();
    let padding = "x".repeat(60_000);
    let mut records = 0;
    while log.len() < bytes {
        log.push_str(&format!("{},12,Get,true,{padding}\n", 1_795_203_738_615 + records));
        records += 1;
    }
    (log, records)
}

/// Starts an ingest of a file beside a pipe: what comes by the pipe is read first, so that the file, recognised
/// already, waits until the pipe ends.
fn ingest_that_waits(store: &Store, path: &str) -> Child {
    let mut child = store.spawn(&[&["ingest", "-", path], &TOLD[..]].concat());
    let (log, _) = long_log(40 << 20);
    child.stdin.as_mut().unwrap().write_all(log.as_bytes()).unwrap();
    wait_for("a writer is at work", || store.writers() > 0);
    child
}

fn piped() -> i64 {
    long_log(40 << 20).1
}

#[test]
fn log_that_grows_is_read_as_it_was_and_a_note_says_so() {
    let store = Store::embedded();
    let path = store.file("growing.csv", std::fs::read(fixture("crlf.csv")).unwrap());
    let child = ingest_that_waits(&store, &path);
    let mut log = OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(b"1795203738615,12,Get,tr").unwrap();
    let said = finish(child).said();
    assert_told(&said, &["growing.csv", "23 bytes"]);
    let run = &store.list()[0];
    assert_eq!((count(run, "requests"), count(run, "rejects")), (200 + piped(), 0));
    // Nothing is said of a log that stays as it is.
    let said = store.run(&[&["ingest", fixture("crlf.csv").to_str().unwrap()], &TOLD[..]].concat()).said();
    assert!(!said.contains("grown"), "{said}");
}

/// An ingest of a changed file failed: the message says what changed, and nothing is stored.
fn assert_refused(store: &Store, done: Done, parts: &[&str]) {
    let complaint = done.complaint(3);
    assert_told(&complaint, parts);
    assert_told(&complaint, &["changed", "nothing was stored"]);
    assert!(store.list().is_empty() && store.leftovers().is_empty());
}

#[test]
fn log_that_was_cut_before_it_was_read_is_refused() {
    let store = Store::embedded();
    let path = store.file("cut.csv", std::fs::read(fixture("crlf.csv")).unwrap());
    let child = ingest_that_waits(&store, &path);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(5000).unwrap();
    assert_refused(&store, finish(child), &["cut.csv", "5000", "30158"]);
}

#[test]
fn log_that_is_cut_while_it_is_read_is_refused() {
    let store = Store::embedded();
    let path = endless_log(&store, "cut.csv");
    let mut child = store.spawn(&[&["ingest", &path], &TOLD[..]].concat());
    wait_for("a writer is at work", || store.writers() > 0);
    wait_for("it reads the file", || read_by(child.id()) > LONG as u64);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(LONG as u64).unwrap();
    drop(child.stdin.take());
    assert_refused(&store, finish(child), &["cut.csv", "bytes"]);
}

#[test]
fn packed_log_that_changed_is_refused() {
    let log = std::fs::read(fixture("crlf.csv")).unwrap();
    let zip = deflated(&[("run.csv", &log)]);
    let mut gzip = Vec::new();
    flate2::read::GzEncoder::new(&log[..], flate2::Compression::fast()).read_to_end(&mut gzip).unwrap();
    for (name, bytes) in
        [("run.zip", zip), ("run.csv.gz", gzip), ("run.csv.zst", zstd::encode_all(&log[..], 1).unwrap())]
    {
        for change in [-9_i64, 1] {
            let store = Store::embedded();
            let path = store.file(name, &bytes);
            let child = ingest_that_waits(&store, &path);
            let length = bytes.len().checked_add_signed(change as isize).unwrap();
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length as u64).unwrap();
            assert_refused(&store, finish(child), &[name, &length.to_string()]);
        }
    }
}

#[test]
fn log_that_another_file_took_the_place_of_is_refused() {
    let store = Store::embedded();
    let log = std::fs::read(fixture("crlf.csv")).unwrap();
    let path = store.file("run.csv", &log);
    let child = ingest_that_waits(&store, &path);
    std::fs::rename(store.file("other.csv", &log), &path).unwrap();
    assert_refused(&store, finish(child), &["run.csv", "another file"]);
}

#[test]
fn log_that_is_gone_before_it_is_read_is_named() {
    let store = Store::embedded();
    let path = store.file("gone.csv", std::fs::read(fixture("crlf.csv")).unwrap());
    let child = ingest_that_waits(&store, &path);
    std::fs::remove_file(&path).unwrap();
    let complaint = finish(child).complaint(1);
    assert_told(&complaint, &["gone.csv"]);
    assert!(store.list().is_empty() && store.leftovers().is_empty());
}

#[test]
fn log_that_loses_its_name_while_it_is_read_is_read_whole() {
    let store = Store::embedded();
    let (log, records) = long_log(LONG);
    let path = store.file("unlinked.csv", log);
    let mut command = store.command(&[&["ingest", &path], &TOLD[..]].concat());
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // The look-ahead was a reading of its own; from here on the file is open.
    wait_for("the file is being read", || read_by(child.id()) > 50 << 20);
    let _ = std::fs::remove_file(&path);
    finish(child).said();
    assert_eq!(count(&store.list()[0], "requests"), records);
}
