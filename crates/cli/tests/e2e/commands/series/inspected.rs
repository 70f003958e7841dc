//! What `inspect` finds in files of the server's series.

use crate::support::*;

const T0: i64 = 1_795_203_720;

fn log(store: &Store) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..400).map(|at| format!("{},12,Get,true,1\n", T0 * 1000 + at * 100)));
    store.file("go_t.csv", log)
}

#[test]
fn series_are_told_as_an_ingest_would_take_them() {
    let store = Store::embedded();
    let log = log(&store);
    let rows = (0..20).step_by(2).map(|second| format!("2,{},{}\n9,{},1\n", T0 + second, 500 - second, T0));
    let items = store.file("items.csv", format!("itemid,clock,value\n{}", rows.collect::<String>()));
    let heat = store.file("heat.csv", format!("{},-3.5\n", T0 - 7200));
    let (memory, heat) = (format!("memory:2={items}"), format!("heat={heat}"));
    let series = ["--series", &memory, "--unit", "MiB", "--series", &heat, "--unit", "°C"];
    let inspect = |more: &[&str]| store.run(&[&["inspect", &log], &series[..], more].concat());
    let told = inspect(&[]).text();
    assert_told(
        &told,
        &[
            "items.csv",
            "series  memory in MiB: Zabbix's history, with item numbers",
            "2: 10 readings",
            "9: 10 readings",
            "readings  10, one every 2 s, from 482 to 500 MiB",
            "overlap  22 of 40 seconds of the logs have a reading (55.0 %)",
            "the readings end 21 s before the last record",
            "series  heat in °C: times and readings without a header",
            "overlap  0 of 40 seconds",
            "would take it",
        ],
    );
    let found = inspect(&["--format", "json"]).json();
    let [heat, memory] = found["series"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((text(heat, "name"), text(heat, "unit"), &heat["min"]), ("heat", "°C", &(-3.5).into()));
    assert_eq!(
        (text(memory, "name"), count(memory, "covered"), &memory["max"]),
        ("memory", 22, &500.0.into())
    );
    assert!(found["cpu"].is_null());
    // The ingest finds the same.
    let said = store.run(&[&["ingest", &log], &series[..]].concat()).said();
    assert_told(&said, &["memory  55.0 % of the seconds", "no reading of the series heat"]);
}

#[test]
fn series_that_an_ingest_refuses_are_refused() {
    let store = Store::embedded();
    let log = log(&store);
    let inspect =
        |series: &str, unit: &str| store.run(&["inspect", &log, "--series", series, "--unit", unit]);
    assert_told(&inspect(&format!("m={log}"), "x").complaint(3), &["is a log of requests"]);
    assert_told(&inspect("m=absent.csv", "x").complaint(1), &["absent.csv"]);
    assert_told(&inspect(&format!("cpu={log}"), "x").complaint(2), &["not a --series"]);
    let sweep = fixture("other/wrk/sweep");
    let summaries = ["inspect", sweep.to_str().unwrap(), "--series", "m=x.csv", "--unit", "B"];
    assert_told(&store.run(&summaries).complaint(2), &["--series is for runs"]);
}
