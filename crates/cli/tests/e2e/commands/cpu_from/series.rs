//! Readings other than those of the CPU that are asked for where they live.

use std::process::Command;

use super::{SECRET, T0, around, ingest, log, zabbix_url};
use crate::support::*;

const KEY: &str = "vm.memory.size[available]";

/// Zabbix with the use of the CPU, and the memory in whole numbers.
fn zabbix() -> Zabbix {
    Zabbix { readings: around(), ..Zabbix::default() }.with("7", ("sut", KEY), "3", 1000.0)
}

fn monitor() -> Monitor {
    Monitor::new(|asked| zabbix().answer(asked))
}

/// The memory, by name and URL.
fn memory(monitor: &Monitor) -> String {
    format!("memory=zabbix+http://{}/?host=sut&item={KEY}", monitor.host)
}

/// The flags by which the memory is asked for.
fn asked(memory: &str) -> [&str; 4] {
    ["--series", memory, "--unit", "bytes"]
}

fn with_secrets(command: &mut Command) -> &mut Command {
    command.env(SECRET.0, SECRET.1).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN).env_remove("http_proxy")
}

/// All that is stored of the server beside its CPU.
fn stored(store: &Store) -> String {
    store.export(&Key::new("go", "t"), "series", "csv", &[])
}

/// A store into which the same readings were read from a file.
fn of_file(flags: &[&str]) -> Store {
    let store = Store::embedded();
    let rows = around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock));
    let rows: String = rows.map(|(clock, value)| format!("{clock},{}\n", value * 1000.0)).collect();
    let (log, file) = (log(&store, 60), store.file("m.csv", format!("clock,value\n{rows}")));
    let named = format!("memory={file}");
    let named = ["ingest", &log, "--framework", "go", "--test", "t", "--series", &named, "--unit", "bytes"];
    store.run(&[&named, flags].concat()).said();
    store
}

#[test]
fn series_that_is_asked_for_is_stored_as_that_of_a_file_is() {
    let expected = stored(&of_file(&[]));
    assert_eq!(expected.lines().count(), 122);
    for store in Store::each() {
        let (monitor, log) = (monitor(), log(&store, 60));
        let url = memory(&monitor);
        let named = ["ingest", &log, "--framework", "go", "--test", "t"];
        let said = done(with_secrets(&mut store.command(&[&named[..], &asked(&url)].concat()))).said();
        assert!(said.contains("memory  100.0 % of the seconds have a reading"), "{said}");
        assert_eq!(stored(&store), expected);
        let run = store.export(&Key::new("go", "t"), "run", "json", &[]);
        assert!(run.contains(KEY) && !run.contains(TOKEN), "{run}");
    }
}

#[test]
fn several_series_and_the_cpu_are_asked_for_at_once() {
    let (store, monitor, prometheus) = (Store::embedded(), monitor(), Monitor::new(prometheus));
    let file = store.file("io.csv", format!("clock,value\n{T0},7\n"));
    let (cpu, memory, io) = (zabbix_url(&monitor), memory(&monitor), format!("io={file}"));
    let load = format!("load=prometheus+http://{}?query=node_load1", prometheus.host);
    let flags = [
        "--series",
        &memory,
        "--series",
        &io,
        "--series",
        &load,
        "--unit",
        "bytes",
        "--unit",
        "MB/s",
        "--unit",
        "1",
        "--cpu-offset",
        "2",
    ];
    done(with_secrets(&mut ingest(&store, &cpu, &flags))).said();
    let text = stored(&store);
    for (name, unit, clock, value) in [
        ("io", "MB/s", T0, 7),
        ("load", "1", T0 + 9, (T0 + 9) % 1000),
        ("memory", "bytes", T0 + 9, (T0 + 9) % 100 * 1000),
    ] {
        let row = |row: &&str| {
            row.contains(name)
                && row.contains(unit)
                && row.contains(&format!("{clock}"))
                && row.ends_with(&format!(",{value}"))
        };
        assert!(text.lines().any(|line| row(&line)), "{name}: {text}");
    }
    let first = text
        .lines()
        .filter(|line| line.contains("memory"))
        .filter(|line| line.contains(&(T0 - 62).to_string()));
    assert_eq!(first.count(), 1, "the clock of the readings is shifted: {text}");
    assert_eq!(super::readings(&store).len(), 121);
}

#[test]
fn series_are_asked_for_and_attached_to_a_stored_run() {
    let (store, monitor) = (Store::embedded(), monitor());
    let log = log(&store, 60);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let url = memory(&monitor);
    let attach = [&["attach-series", "go_t"][..], &asked(&url)].concat();
    let said = done(with_secrets(&mut store.command(&attach))).said();
    assert!(said.contains("attached memory to go_t: 100.0 % of the seconds have a reading"), "{said}");
    assert_eq!(stored(&store), stored(&of_file(&[])));
    let again = done(with_secrets(&mut store.command(&attach))).complaint(1);
    assert!(again.contains("has a series memory already"), "{again}");
    let inspected = [&["inspect", &log][..], &asked(&url)].concat();
    let text = done(with_secrets(&mut store.command(&inspected))).text();
    assert!(text.contains("memory") && text.contains("history of Zabbix"), "{text}");
}

#[test]
fn series_that_can_not_be_asked_for_are_refused_and_the_earlier_run_stays() {
    let (store, monitor) = (Store::embedded(), monitor());
    let log = log(&store, 60);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let (before, url) = (store.list(), memory(&monitor));
    let missing = url.replace("vm.memory", "vm.other");
    let (of_item, of_cpu) = (url.replace("memory=", "memory:7="), url.replace("memory=", "cpu="));
    for (told, flags) in [
        ("--series memory is not a name and a file", vec!["--series", "memory", "--unit", "b"]),
        ("its URL names the item", vec!["--series", &of_item, "--unit", "b"]),
        ("two series are named memory", vec!["--series", &url, "--series", &url, "--unit", "b"]),
        ("the CPU is a series of its own", vec!["--series", &of_cpu, "--unit", "b"]),
        ("the URL names no system", vec!["--series", "memory=http://mon", "--unit", "b"]),
        ("has no item with the key", vec!["--series", &missing, "--unit", "b"]),
        (
            "--cpu-timeout has no effect",
            vec!["--series", "memory=m.csv", "--unit", "b", "--cpu-timeout", "9"],
        ),
    ] {
        for named in [vec!["ingest", &log, "--framework", "go", "--test", "t"], vec!["attach-series", "go_t"]]
        {
            let outcome = done(with_secrets(&mut store.command(&[named, flags.clone()].concat())));
            assert!(
                matches!(outcome.code, Some(1..=3)) && outcome.err.contains(told),
                "{told}: {}",
                outcome.err
            );
            assert!(outcome.err.lines().any(|line| line.starts_with("  ")), "no remedy: {}", outcome.err);
            assert_eq!(store.list(), before, "{told}");
        }
    }
    let piped = store.pipe(&std::fs::read(&log).unwrap(), &[&["ingest", "-"][..], &asked(&url)].concat());
    assert!(piped.err.contains("`perfpipe attach-series` RUN --series NAME"), "{}", piped.err);
}
