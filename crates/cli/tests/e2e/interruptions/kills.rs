//! An ingest that is killed in its middle: the run before stays whole, and the next ingest cleans up.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin};

use crate::postgres::psql;
use crate::support::*;

const TOLD: [&str; 6] = ["ingest", "-", "--framework", "nio", "--test", "2048"];

/// More than is looked ahead and buffered, bytes, so that samples have reached the store.
pub(crate) const FLOWING: usize = 48 << 20;

/// A store with one run, and its exports.
pub(crate) fn store_with_run(store: Store) -> (Store, Vec<String>) {
    let log = fixture("distributed.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    let exports = exports(&store);
    (store, exports)
}

pub(crate) fn exports(store: &Store) -> Vec<String> {
    let key = store.only_key();
    ["seconds", "samples", "errors", "summary"].map(|what| store.export(&key, what, "csv", &[])).into()
}

/// An ingest of the same key that has read so many bytes and waits for more.
pub(crate) fn ingest_that_waits(store: &Store, bytes: usize) -> (Child, ChildStdin) {
    let mut child = store.spawn(&TOLD);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"timeStamp,elapsed,label,success,failureMessage\n").unwrap();
    let padding = "x".repeat(4000);
    let mut written = 0;
    let mut at = 1_795_203_738_615_i64;
    while written < bytes {
        let block: String = (at..at + 10).map(|at| format!("{at},12,Get,true,{padding}\n")).collect();
        if let Err(error) = stdin.write_all(block.as_bytes()) {
            panic!("it ended early ({error}): {}", finish(child).complaint(1));
        }
        (written, at) = (written + block.len(), at + 10);
    }
    (child, stdin)
}

/// Samples have reached the store.
pub(crate) fn samples_are_stored(store: &Store) -> bool {
    if store.is_database() {
        let sql = "select coalesce(sum(tuples_processed), 0) > 0 from pg_stat_progress_copy
                   where datname = current_database()";
        psql(store.place(), sql) == "t"
    } else {
        store.writers() > 0
    }
}

#[test]
fn killed_ingest_leaves_the_earlier_run_whole() {
    for (store, before) in Store::each().into_iter().map(store_with_run) {
        let (mut child, stdin) = ingest_that_waits(&store, FLOWING);
        wait_for("samples flow", || samples_are_stored(&store));
        assert_eq!(exports(&store), before, "readers see the old run meanwhile");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
        assert_eq!(exports(&store), before);
        clean_after_next(&store);
    }
}

#[test]
fn ingest_killed_at_its_start_leaves_the_earlier_run_whole() {
    for (store, before) in Store::each().into_iter().map(store_with_run) {
        let (mut child, stdin) = ingest_that_waits(&store, 100_000);
        wait_for("a writer is at work", || store.writers() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
        assert_eq!(exports(&store), before);
        clean_after_next(&store);
    }
}

/// The next ingest takes the run's place, and nothing of the killed one stays.
pub(crate) fn clean_after_next(store: &Store) {
    store.wait_for_killed_writers();
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    assert_eq!(count(&store.list()[0], "requests"), 200);
    assert_eq!(store.leftovers(), Vec::<String>::new());
}

#[test]
fn signal_ends_an_ingest_with_its_code_and_nothing_left() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for (store, before) in Store::each().into_iter().map(store_with_run) {
            let (mut child, stdin) = ingest_that_waits(&store, FLOWING);
            wait_for("samples flow", || samples_are_stored(&store));
            crate::support::signal(signal, child.id());
            assert_ended(&mut child, signal, code);
            drop(stdin);
            store.wait_for_killed_writers();
            assert_eq!(store.leftovers(), Vec::<String>::new(), "{signal}");
            assert_eq!(exports(&store), before);
        }
    }
}

/// A command ends, says by which signal, and with the code that is usual for it.
fn assert_ended(child: &mut Child, signal: &str, code: i32) {
    let _watch = Watch::over(child);
    let status = child.wait().unwrap();
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!(status.code(), Some(code), "{complaint}");
    assert_told(&complaint, &[&format!("SIG{signal}"), "nothing was stored"]);
}

/// An ingest of a file that it is in the middle of.
fn ingest_of_a_file(store: &Store) -> Child {
    let path = endless_log(store, "endless.csv");
    let child = store.spawn(&[&["ingest", &path], &TOLD[2..]].concat());
    wait_for("a writer is at work", || store.writers() > 0);
    wait_for("it reads the file", || read_by(child.id()) > FLOWING as u64);
    child
}

#[test]
fn signal_or_a_kill_in_the_middle_of_a_file_leaves_what_was_there() {
    let empty = || Store::each().into_iter().map(|store| (store, None));
    let with_run = || Store::each().into_iter().map(store_with_run).map(|(store, run)| (store, Some(run)));
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        for (store, before) in empty().chain(with_run()) {
            let mut child = ingest_of_a_file(&store);
            crate::support::signal(signal, child.id());
            match code {
                Some(code) => assert_ended(&mut child, signal, code),
                None => assert_eq!(child.wait().unwrap().code(), None),
            }
            store.wait_for_killed_writers();
            assert!(code.is_none() || store.leftovers().is_empty(), "{signal}: {:?}", store.leftovers());
            match before {
                Some(before) => assert_eq!(exports(&store), before),
                None => assert!(store.list().is_empty()),
            }
            clean_after_next(&store);
        }
    }
}

#[test]
fn exports_are_the_same_at_any_number_of_connections_and_from_a_folder() {
    let log = fixture("Results-2048-9000.csv.zip");
    let mut found: Vec<Vec<String>> = Vec::new();
    for store in Store::each() {
        for connections in ["1", "2", "4"] {
            let flags = ["--connections", connections, "--replace"];
            let ingest = [&["ingest", log.to_str().unwrap()], &flags[..], &TOLD[2..]].concat();
            store.run(&ingest).said();
            found.push(exports(&store));
        }
    }
    assert!(found.iter().all(|exports| *exports == found[0]));
}

/// The old run or the new one is there, whole, whenever an ingest on several connections is killed, and the next command
/// that writes drops what it left. `PERFPIPE_KILLS` sets the number of kills.
#[test]
fn kill_of_an_ingest_on_several_connections_leaves_one_whole_run() {
    let kills: u32 = std::env::var("PERFPIPE_KILLS").map_or(8, |kills| kills.parse().unwrap());
    for store in Store::each().into_iter().filter(Store::is_database) {
        let (store, old) = store_with_run(store);
        let log = fixture("Results-2048-9000.csv.zip");
        let ingest =
            [&["ingest", log.to_str().unwrap(), "--connections", "3", "--replace"], &TOLD[2..]].concat();
        let started = std::time::Instant::now();
        store.run(&ingest).said();
        let (whole, new) = (started.elapsed(), exports(&store));
        let striped = "select table_name, jsonb_array_length(stripes -> 'tables') from perfpipe.runs where table_name is not null";
        // A cluster takes all of them in one table.
        let others = if store.is_cluster() { "" } else { "2" };
        assert_eq!(psql(store.place(), striped), format!("nio_2048|{others}"));
        let other = fixture("distributed.csv");
        let replace = [&["ingest", other.to_str().unwrap(), "--replace"], &TOLD[2..]].concat();
        store.run(&replace).said();
        for kill in 0..kills {
            let mut child = store.spawn(&ingest);
            // Later and later, up to a little after the usual end.
            std::thread::sleep(whole * (kill + 1) / kills * 11 / 10);
            child.kill().unwrap();
            child.wait().unwrap();
            store.wait_for_killed_writers();
            let found = exports(&store);
            assert!(found == old || found == new, "kill {kill}");
            store.run(&replace).said();
            assert_eq!(store.leftovers(), [""; 0], "kill {kill}");
        }
    }
}

#[test]
fn second_writer_of_the_same_key_is_told_so() {
    for (store, before) in Store::each().into_iter().map(store_with_run) {
        let (child, stdin) = ingest_that_waits(&store, FLOWING);
        // A writer that is only connected does not hold the key yet.
        wait_for("samples flow", || samples_are_stored(&store));
        let log = fixture("crlf.csv");
        let second = ["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"];
        let complaint = store.run(&second).complaint(1);
        assert_told(&complaint, &["nio_2048"]);
        assert_eq!(exports(&store), before);
        // The first one goes on, and its end is the run.
        drop(stdin);
        finish(child).said();
        assert_ne!(exports(&store), before);
    }
}
