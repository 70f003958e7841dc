//! Servers and connections that go away in the middle of an ingest, or while it commits: what became of the run is
//! told truly, the run before stays, nothing else does, and the next ingest succeeds.

use std::io::Read;
use std::process::Child;

use crate::interruptions::kills::{FLOWING, clean_after_next, exports, ingest_that_waits};
use crate::interruptions::kills::{samples_are_stored, store_with_run};
use crate::postgres::{TestServer, psql, required::skip};
use crate::support::*;
use crate::tools::proxy::{Fault, Proxy, Then};

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// A server of one's own with a store that has a run, and what that exports.
fn own_server() -> Option<(TestServer, Store, Vec<String>)> {
    let server = TestServer::start(None)?;
    let flag = ["--database".into(), server.database()];
    let (store, before) = store_with_run(Store::at(flag));
    Some((server, store, before))
}

/// A store that has a run, what that exports, and a faulty way to the store.
fn faulty(fault: Fault, parameters: &str) -> Option<(Store, Vec<String>, Proxy, Store)> {
    let Some(socket) = TestServer::shared()?.socket() else {
        skip("POSTGRES", "the test needs the socket of a server that it has started itself");
        return None;
    };
    let (store, before) = store_with_run(Store::database()?);
    let (proxy, way) = way_to(&store, socket, fault, parameters);
    Some((store, before, proxy, way))
}

fn way_to(store: &Store, socket: std::path::PathBuf, fault: Fault, parameters: &str) -> (Proxy, Store) {
    let proxy = Proxy::new(socket, fault);
    let flag = ["--database".into(), proxy.url(store.place(), parameters)];
    (proxy, Store::at(flag))
}

/// Starts the ingest of a small log in the place of the run.
fn start(store: &Store) -> Child {
    let log = fixture("crlf.csv");
    store.spawn(&[&["ingest", log.to_str().unwrap()], &TOLD[..]].concat())
}

/// Starts the ingest of a log whose samples are some ten times what a faulty way lets through.
fn start_large(store: &Store) -> Child {
    let records = (0..300_000_i64).map(|at| format!("{},12,Get,true\n", 1_795_203_738_615 + at));
    let log = "timeStamp,elapsed,label,success\n".to_owned() + &records.collect::<String>();
    store.spawn(&[&["ingest", &store.file("large.csv", log)], &TOLD[..]].concat())
}

/// The ingest failed, says all this and a remedy; the run before is there and nothing else, and the next one succeeds.
fn assert_lost(child: Child, store: &Store, before: &[String], parts: &[&str]) {
    let complaint = finish(child).complaint(1);
    assert_told(&complaint, parts);
    assert!(complaint.lines().count() >= 2, "no remedy: {complaint}");
    assert_unchanged(store, before);
}

fn assert_unchanged(store: &Store, before: &[String]) {
    store.wait_for_killed_writers();
    assert_eq!(exports(store), before);
    assert_eq!(store.leftovers(), Vec::<String>::new());
    clean_after_next(store);
}

/// The new run is stored, whole, in the place of the old one.
fn assert_stored(child: Child, store: &Store) {
    let said = finish(child).said();
    assert!(said.contains("stored in"), "{said}");
    store.wait_for_killed_writers();
    assert_eq!(count(&store.list()[0], "requests"), 200);
    assert_eq!(store.leftovers(), Vec::<String>::new());
    clean_after_next(store);
}

/// What is told of an ingest whose server went away before the commit.
const IN_COPY: [&str; 2] = ["copying", "not stored"];

#[test]
fn server_that_stops_in_the_middle_of_a_copy() {
    let Some((server, store, before)) = own_server() else { return };
    let (child, stdin) = ingest_that_waits(&store, FLOWING);
    wait_for("samples flow", || samples_are_stored(&store));
    server.crash();
    drop(stdin);
    let complaint = finish(child).complaint(1);
    assert_told(&complaint, &IN_COPY);
    let gone = start(&store);
    let complaint = finish(gone).complaint(1);
    assert_told(&complaint, &["connecting"]);
    server.restart();
    assert_unchanged(&store, &before);
}

#[test]
fn backend_that_is_terminated_in_the_middle_of_a_copy() {
    let Some((store, before)) = Store::database().map(store_with_run) else { return };
    let (child, stdin) = ingest_that_waits(&store, FLOWING);
    wait_for("samples flow", || samples_are_stored(&store));
    let terminate = "select pg_terminate_backend(pid) from pg_stat_activity
                     where query like 'copy%' and datname = current_database()";
    assert_eq!(psql(store.place(), terminate), "t");
    drop(stdin);
    assert_lost(child, &store, &before, &["not stored", "the server"]);
}

#[test]
fn copy_that_is_cancelled() {
    let Some((store, before)) = Store::database().map(store_with_run) else { return };
    let (child, stdin) = ingest_that_waits(&store, FLOWING);
    wait_for("samples flow", || samples_are_stored(&store));
    let cancel = "select pg_cancel_backend(pid) from pg_stat_activity
                  where query like 'copy%' and datname = current_database()";
    assert_eq!(psql(store.place(), cancel), "t");
    drop(stdin);
    assert_lost(child, &store, &before, &["not stored", "statement_timeout"]);
}

#[test]
fn connection_that_is_cut_in_the_middle_of_a_copy() {
    let Some((store, before, _proxy, way)) = faulty(Fault::CutAfter(3 << 20), "") else { return };
    let child = start_large(&way);
    assert_lost(child, &store, &before, &IN_COPY);
}

#[test]
fn connection_that_falls_silent_is_given_up_where_tcp_user_timeout_says_so() {
    let fault = Fault::SilentAfter(3 << 20);
    let Some((store, before, proxy, way)) = faulty(fault, "&tcp_user_timeout=1500") else { return };
    let child = start_large(&way);
    proxy.wait();
    let complaint = finish(child).complaint(1);
    for part in IN_COPY.iter().chain(&["timed out"]) {
        assert!(complaint.contains(part), "{part} is not in: {complaint}");
    }
    proxy.then(Then::Cut);
    assert_unchanged(&store, &before);
}

#[test]
fn connection_that_falls_silent_does_not_keep_a_signal_from_ending_the_ingest() {
    let Some((store, before, proxy, way)) = faulty(Fault::SilentAfter(3 << 20), "") else { return };
    let child = start_large(&way);
    proxy.wait();
    signal("INT", child.id());
    let complaint = finish(child).complaint(130);
    assert!(complaint.contains("nothing was stored"), "{complaint}");
    proxy.then(Then::Cut);
    assert_unchanged(&store, &before);
}

/// What is told of a commit that did not come to the server.
const NOT_THERE: [&str; 2] = ["committing", "does not have the run"];

#[test]
fn commit_that_never_arrives_is_told() {
    let Some((store, before, proxy, way)) = faulty(Fault::HoldCommit, "") else { return };
    let child = start(&way);
    proxy.wait();
    proxy.then(Then::Cut);
    assert_lost(child, &store, &before, &NOT_THERE);
}

#[test]
fn commit_whose_answer_is_lost_is_a_commit() {
    let Some((store, _, proxy, way)) = faulty(Fault::HoldAnswer, "") else { return };
    let child = start(&way);
    proxy.wait();
    proxy.then(Then::Cut);
    assert_stored(child, &store);
}

#[test]
fn server_that_stops_at_the_commit() {
    let Some((server, store, before)) = own_server() else { return };
    let socket = server.socket().unwrap();
    for fault in [Fault::HoldCommit, Fault::HoldAnswer] {
        let (proxy, way) = way_to(&store, socket.clone(), fault, "");
        let child = start(&way);
        proxy.wait();
        server.crash();
        proxy.then(Then::Cut);
        server.restart();
        match fault {
            Fault::HoldAnswer => assert_stored(child, &store),
            _ => assert_lost(child, &store, &before, &NOT_THERE),
        }
    }
}

#[test]
fn doubt_about_a_commit_is_told_with_the_way_out_of_it() {
    let Some((store, _, proxy, way)) = faulty(Fault::HoldAnswer, "&connect_timeout=2") else { return };
    let child = start(&way);
    proxy.wait();
    proxy.then(Then::CutForGood);
    let complaint = finish(child).complaint(1);
    assert_told(&complaint, &["committing", "not known", "perfpipe list", "nio_2048"]);
    let at = text(&store.list()[0], "ingested_at").to_owned();
    assert!(complaint.contains(&at), "{at} is not in: {complaint}");
    clean_after_next(&store);
}

#[test]
fn doubt_about_a_drop_is_told() {
    let Some((store, _, proxy, way)) = faulty(Fault::HoldAnswer, "") else { return };
    let child = way.spawn(&["drop", "--framework", "nio", "--test", "2048"]);
    proxy.wait();
    proxy.then(Then::Cut);
    assert_told(&finish(child).complaint(1), &["nio_2048 may be dropped", "answer to the commit was lost"]);
    assert!(store.list().is_empty());
}

/// Reads what a command says up to the end of the line in which this stands.
fn hear(child: &mut Child, part: &str) -> String {
    let _watch = Watch::over(child);
    let stderr = child.stderr.as_mut().unwrap();
    let mut heard = String::new();
    let mut byte = [0];
    while !(heard.contains(part) && heard.ends_with('\n')) {
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{part} is not in: {heard}");
        heard.push(char::from(byte[0]));
    }
    heard
}

#[test]
fn signal_during_the_commit_waits_for_its_answer() {
    for (name, then) in [("INT", Then::Pass), ("TERM", Then::Cut)] {
        let Some((store, _, proxy, way)) = faulty(Fault::HoldAnswer, "") else { return };
        let mut child = start(&way);
        proxy.wait();
        signal(name, child.id());
        hear(&mut child, "waiting for the server's answer");
        proxy.then(then);
        assert_stored(child, &store);
    }
}

#[test]
fn second_signal_ends_the_wait_and_says_what_is_not_known() {
    let Some((store, before, proxy, way)) = faulty(Fault::HoldCommit, "") else { return };
    let mut child = start(&way);
    proxy.wait();
    signal("TERM", child.id());
    hear(&mut child, "waiting for the server's answer");
    signal("INT", child.id());
    let complaint = finish(child).complaint(130);
    assert_told(&complaint, &["SIGINT", "whether the run is stored", "perfpipe list"]);
    proxy.then(Then::Cut);
    assert_unchanged(&store, &before);
}
