//! Servers that limit, that can only be read, that are full, or that hold another layout.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use crate::interruptions::kills::{clean_after_next, exports, ingest_that_waits, store_with_run};
use crate::postgres::{TestServer, psql, psql_command};
use crate::support::*;

const TOLD: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// The commands that write.
fn writing() -> [Vec<String>; 3] {
    let log = fixture("crlf.csv").to_str().unwrap().to_owned();
    let told = TOLD.map(String::from);
    let ingest = [&["ingest".to_owned(), log][..], &told].concat();
    let counts = [&ingest[..], &["--no-samples".to_owned()]].concat();
    [ingest, counts, [&["drop".to_owned()][..], &told].concat()]
}

/// Every command that writes is refused, says all this, and changes nothing.
fn assert_writers_refused(store: &Store, before: &[String], parts: &[&str]) {
    for arguments in writing() {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let complaint = store.run(&arguments).complaint(1);
        for part in parts {
            assert!(complaint.contains(part), "{arguments:?}: {part} is not in: {complaint}");
        }
        assert!(complaint.lines().count() >= 2, "no remedy: {complaint}");
    }
    assert_eq!(exports(store), before);
    assert_eq!(store.leftovers(), Vec::<String>::new());
}

/// Changes the database of a store, as in `set a = b`.
fn alter(store: &Store, change: &str) {
    let name = psql(store.place(), "select current_database()");
    psql(store.place(), &format!("alter database {name} {change}"));
}

#[test]
fn time_limits_for_people_do_not_end_a_load() {
    let Some((store, _)) = Store::database().map(store_with_run) else { return };
    let mut limits = vec!["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
    if psql(store.place(), "show server_version_num").parse::<u32>().unwrap() >= 140_000 {
        limits.push("idle_session_timeout");
    }
    limits.iter().for_each(|limit| alter(&store, &format!("set {limit} = '600ms'")));
    let (child, stdin) = ingest_that_waits(&store, 48 << 20);
    wait_for("samples flow", || crate::interruptions::kills::samples_are_stored(&store));
    std::thread::sleep(Duration::from_millis(1300));
    drop(stdin);
    let said = finish(child).said();
    assert!(said.contains("stored in"), "{said}");
    limits.iter().for_each(|limit| alter(&store, &format!("reset {limit}")));
    clean_after_next(&store);
}

#[test]
fn reader_that_a_time_limit_ends_is_told_which() {
    let Some((store, _)) = Store::database().map(store_with_run) else { return };
    alter(&store, "set statement_timeout = '300ms'");
    let lock = "begin; lock table perfpipe.runs in access exclusive mode; select pg_sleep(20)";
    let url = store.place().to_owned();
    // Statements of one text are one to the time limit, so it is taken off before.
    let holder = psql_command(&url).args(["-c", "set statement_timeout = 0", "-c", lock]).spawn();
    let mut holder = holder.unwrap();
    let held = "select count(*) from pg_locks where relation = 'perfpipe.runs'::regclass
                and mode = 'AccessExclusiveLock' and granted";
    wait_for("the table is locked", || psql(&url, held) == "1");
    let complaint = store.run(&["list"]).complaint(1);
    assert_told(&complaint, &["statement_timeout"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn database_that_can_only_be_read_says_so_and_is_read() {
    let Some((store, before)) = Store::database().map(store_with_run) else { return };
    alter(&store, "set default_transaction_read_only = on");
    assert_writers_refused(&store, &before, &["default_transaction_read_only"]);
    let Some(empty) = Store::database() else { return };
    alter(&empty, "set default_transaction_read_only = on");
    let log = fixture("crlf.csv");
    let complaint = empty.run(&["ingest", log.to_str().unwrap()]).complaint(1);
    assert_told(&complaint, &["default_transaction_read_only"]);
    assert!(empty.list().is_empty());
    let name = psql(store.place(), "select current_database()");
    let reset = format!("alter database {name} reset default_transaction_read_only");
    psql(store.place(), &format!("begin read write; {reset}; commit"));
    clean_after_next(&store);
}

#[test]
fn standby_says_so_and_is_read() {
    let Some(server) = TestServer::start(None) else { return };
    let flag = ["--database".into(), server.database()];
    let (store, before) = store_with_run(Store::at(flag));
    psql(store.place(), "checkpoint");
    server.crash();
    server.make_standby();
    server.restart();
    assert_writers_refused(&store, &before, &["standby", "target_session_attrs=primary"]);
}

#[test]
fn store_of_another_layout_is_refused_by_every_command() {
    let Some((store, before)) = Store::database().map(store_with_run) else { return };
    psql(store.place(), "update perfpipe.layout set version = 99");
    let report = [&["report"][..], &TOLD].concat();
    let export = [&["export"][..], &TOLD].concat();
    let reading =
        [vec!["list"], report, export].map(|arguments| arguments.into_iter().map(str::to_owned).collect());
    for arguments in reading.into_iter().chain(writing()) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let complaint = store.run(&arguments).complaint(1);
        assert_told(&complaint, &["layout 99", "3 and 4"]);
    }
    psql(store.place(), "update perfpipe.layout set version = 4");
    assert_eq!(exports(&store), before);
    clean_after_next(&store);
}

#[test]
fn server_whose_disk_is_full_says_so_and_keeps_the_earlier_run() {
    let Some(server) = TestServer::with_small_space(28 << 10) else { return };
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    psql(&server.url(), &format!("alter database {name} set tablespace small"));
    let flag = ["--database".into(), url.clone()];
    let (store, before) = store_with_run(Store::at(flag));
    let used = || psql(&url, "select pg_tablespace_size('small')").parse::<u64>().unwrap();
    let small = used();
    let records = (0..800_000_i64).map(|at| format!("{},12,Get,true\n", 1_795_203_738_615 + at));
    let log = "timeStamp,elapsed,label,success\n".to_owned() + &records.collect::<String>();
    let log = store.file("large.csv", log);
    for _ in 0..2 {
        let complaint = store.run(&[&["ingest", &log], &TOLD[..]].concat()).complaint(1);
        assert_told(&complaint, &["not stored", "No space left on device"]);
        store.wait_for_killed_writers();
        assert_eq!(exports(&store), before);
        assert_eq!(store.leftovers(), Vec::<String>::new());
        assert!(used() < small + (1 << 20), "the room is not given back");
    }
    clean_after_next(&store);
}

/// A server that refuses each client with this code and message.
fn refusing(code: &str, message: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut length = [0; 4];
            client.read_exact(&mut length).unwrap();
            client.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4]).unwrap();
            let size = u32::try_from(fields.len()).unwrap() + 4;
            client.write_all(&[&b"E"[..], &size.to_be_bytes(), fields.as_bytes()].concat()).unwrap();
        }
    });
    port
}

#[test]
fn server_whose_connections_are_all_in_use_is_told_from_one_that_is_not_there() {
    let slots = "remaining connection slots are reserved for roles with the SUPERUSER attribute";
    let (full, other) = (refusing("53300", slots), refusing("3D000", "database \"d\" does not exist"));
    let (in_use, check) =
        ("Every connection that the server allows is in use", "Check that a server listens");
    let of = |port: u16| format!("127.0.0.1:{port}");
    for (hosts, remedy) in [
        (of(full), in_use),
        (of(other), check),
        // Of several servers, not all are full.
        (format!("{},{}", of(full), of(other)), check),
    ] {
        let url = format!("postgres://u@{hosts}/d?sslmode=disable");
        let complaint = done(perfpipe().args(["list", "--database", &url])).complaint(1);
        assert_told(&complaint, &["[unreachable]", remedy]);
        assert_eq!(complaint.contains(slots), hosts.contains(&full.to_string()), "{complaint}");
    }
}
