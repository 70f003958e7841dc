//! Rows that somebody deleted, hid or changed in a database: every command that reads them fails and says so, and
//! none gives other figures.

use crate::postgres::{TestServer, psql};
use crate::support::*;

/// A run with labels, failures, transactions and a reject.
fn ingest(store: &Store) {
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,success,URL\n";
    let line = |at: i64| {
        let (code, ok) = if at % 7 == 0 { (500, false) } else { (200, true) };
        let (label, message, url) = match at % 5 {
            0 => ("all", "Number of samples in transaction : 1, number of failing samples : 0", ""),
            1 => ("get", "", "http://x/"),
            _ => ("put", "", "http://x/"),
        };
        format!("{},{},{label},{code},\"{message}\",{ok},{url}\n", 1_795_203_738_615 + at * 90, 10 + at % 9)
    };
    let log =
        header.to_owned() + &(0..100).map(line).collect::<String>() + "1795203738615,x,get,200,,true,\n";
    let log = store.file("log.csv", log);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t", "--replace"]).said();
}

const TOLD: [&str; 4] = ["--framework", "go", "--test", "t"];

fn export(what: &str) -> Vec<&str> {
    [&["export", "--what", what], &TOLD[..]].concat()
}

/// The commands that read the counts of a run.
fn reading_counts() -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = ["seconds", "summary", "labels", "errors", "cpu"].map(export).into();
    all.push(vec!["report", "--test", "t", "--format", "svg"]);
    all.push(vec!["check", "--test", "t", "requests >= 1"]);
    all.push(vec!["compare", "go_t", "go_t"]);
    all.push([&["diagnose"], &TOLD[..]].concat());
    all
}

/// The commands that read all of a run; they name a folder to copy to, and CPU readings.
fn reading_all<'a>(folder: &'a str, cpu: &'a str) -> Vec<Vec<&'a str>> {
    vec![vec!["copy", "go_t", "--to", folder], vec!["attach-cpu", "go_t", cpu]]
}

#[test]
fn rows_that_are_gone_are_an_error_in_every_command_that_reads_them() {
    let Some(store) = Store::database() else { return };
    let cpu =
        store.file("cpu.csv", (0..9).map(|at| format!("{},50\n", 1_795_203_738 + at)).collect::<String>());
    let cpu = {
        let text = std::fs::read_to_string(&cpu).unwrap();
        store.file("cpu.csv", format!("clock,value\n{text}"))
    };
    let other = Store::embedded();
    let all = || reading_all(other.place(), &cpu);
    for (damage, mut commands) in [
        ("delete from perfpipe.seconds where second = 3", reading_counts()),
        ("delete from perfpipe.seconds where transaction", reading_counts()),
        ("insert into perfpipe.seconds select * from perfpipe.seconds limit 1", reading_counts()),
        ("delete from perfpipe.errors where not transaction", reading_counts()),
        ("delete from perfpipe.errors where transaction", reading_counts()),
        ("update perfpipe.errors set count = count + 1 where not transaction", reading_counts()),
        ("delete from perfpipe.labels where label = 'get'", reading_counts()),
        ("update perfpipe.runs set successes = successes + 1", reading_counts()),
        ("delete from perfpipe.go_t where ctid = '(0,3)'", vec![export("samples")]),
        ("update perfpipe.go_t set success = not success where ctid = '(0,3)'", vec![export("samples")]),
        ("delete from perfpipe.rejects", vec![export("rejects")]),
    ] {
        ingest(&store);
        psql(store.place(), damage);
        commands.extend(all());
        for arguments in commands {
            let done = store.run(&arguments);
            assert_eq!(done.code, Some(1), "{damage}: {arguments:?}: {}", done.err);
            for part in ["reading the run go_t: it", "perfpipe verify"] {
                assert!(done.err.contains(part), "{damage}: {arguments:?}: {part} is not in: {}", done.err);
            }
        }
        assert_eq!(store.keys(), ["go t"]);
    }
    ingest(&store);
    for arguments in reading_counts().into_iter().chain(all()) {
        let done = store.run(&arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn rows_that_row_security_hides_are_an_error_in_every_command() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    let store = Store::at(["--database".into(), url.clone()]);
    ingest(&store);
    psql(
        &url,
        "create role ann login; grant usage on schema perfpipe to ann; grant select on all tables in schema perfpipe to ann",
    );
    let as_ann = url.replacen("//postgres@", "//ann@", 1);
    let ann = Store::at(["--database".into(), as_ann]);
    let counts = reading_counts();
    for (table, commands) in [
        ("runs", [&counts[..], &[vec!["list"]]].concat()),
        ("seconds", counts.clone()),
        ("errors", counts.clone()),
        ("labels", counts.clone()),
        ("cpu", counts.clone()),
        ("rejects", vec![export("rejects")]),
        ("go_t", vec![export("samples")]),
    ] {
        let policy = if table == "go_t" { "elapsed > 12" } else { "run = ''" };
        psql(
            &url,
            &format!(
                "alter table perfpipe.{table} enable row level security; \
                 create policy hidden on perfpipe.{table} using ({policy})"
            ),
        );
        for arguments in commands {
            let done = ann.run(&arguments);
            assert_eq!(done.code, Some(1), "{table}: {arguments:?}: {}", done.err);
            let problem = format!("row security is active on perfpipe.{table}");
            assert!(done.err.contains(&problem), "{arguments:?}: {}", done.err);
        }
        // Its owner sees all of it.
        let done = store.run(&export("summary"));
        assert_eq!(done.code, Some(0), "{}", done.err);
        psql(
            &url,
            &format!(
                "drop policy hidden on perfpipe.{table}; alter table perfpipe.{table} disable row level security"
            ),
        );
    }
    for arguments in counts {
        let done = ann.run(&arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    }
}
