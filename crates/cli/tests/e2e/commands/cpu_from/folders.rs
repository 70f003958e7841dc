//! Readings that are asked for the runs of a folder: of each its own time, and once.

use serde_json::Value;

use super::{SECRET, T0, around, zabbix_url};
use crate::support::*;

/// The begins of the runs in the folder.
const BEGINS: [i64; 3] = [T0 - 200, T0, T0 + 300];

/// A folder with a run of 60 s at each of the begins; the last one has an export of its own.
fn folder(store: &Store) {
    let folder = store.folder.path().join("night");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, begin) in BEGINS.iter().enumerate() {
        let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
        log.extend((0..=6).map(|at| format!("{},12,Get,true,1\n", (begin + at * 10) * 1000)));
        std::fs::write(folder.join(format!("go_t{number}.csv")), log).unwrap();
    }
    let own: String = (0..=60).map(|at| format!("{},50\n", BEGINS[2] + at)).collect();
    std::fs::write(folder.join("go_t2.cpu.csv"), format!("clock,value\n{own}")).unwrap();
}

/// The rows of the table of an ingest of the folder.
fn ingest(store: &Store, flags: &[&str]) -> Vec<Value> {
    let named = ["ingest", "night", "--framework", "go", "--format", "json"];
    let mut command = store.command(&[&named, flags].concat());
    command.env(SECRET.0, SECRET.1).env_remove("http_proxy");
    done(&mut command).rows()
}

fn column(rows: &[Value], name: &str) -> Vec<String> {
    rows.iter().map(|row| row[name].as_str().unwrap_or("-").to_owned()).collect()
}

fn monitor() -> Monitor {
    let zabbix = Zabbix { readings: around(), ..Zabbix::default() };
    let zabbix = zabbix.with("7", ("sut", "memory"), "3", 1000.0);
    Monitor::new(move |asked| zabbix.answer(asked))
}

/// The clocks of the readings of a stored run.
fn clocks(store: &Store, run: &str, what: &str) -> Vec<i64> {
    let text = store.run(&["export", run, "--what", what, "--format", "csv"]).text();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let clock = rows.headers().unwrap().iter().position(|name| name == "clock").unwrap();
    rows.records().map(|row| row.unwrap()[clock].parse().unwrap()).collect()
}

#[test]
fn each_run_of_a_folder_gets_the_readings_of_its_time_once() {
    for store in Store::each() {
        folder(&store);
        let monitor = monitor();
        let url = zabbix_url(&monitor);
        let planned = ingest(&store, &["--cpu-from", &url, "--dry-run"]);
        assert_eq!(column(&planned, "paired_by"), ["asked", "asked", "name"]);
        assert_eq!(monitor.asked().len(), 0, "a plan asks for nothing");
        assert_eq!(column(&ingest(&store, &["--cpu-from", &url]), "status"), ["new"; 3]);
        for (begin, run) in BEGINS.into_iter().zip(["go_t0", "go_t1", "go_t2"]) {
            let back = if run == "go_t2" { 0 } else { 60 };
            assert_eq!(clocks(&store, run, "cpu"), (begin - back..=begin + 60).collect::<Vec<_>>(), "{run}");
        }
        let asked = monitor.asked().len();
        assert_eq!(column(&ingest(&store, &["--cpu-from", &url]), "status"), ["unchanged"; 3]);
        assert_eq!(column(&ingest(&store, &[]), "status"), ["unchanged"; 3], "attached readings are kept");
        assert_eq!(monitor.asked().len(), asked, "nothing is asked for twice");
    }
}

#[test]
fn runs_that_lack_what_is_asked_for_are_taken_again() {
    let store = Store::embedded();
    folder(&store);
    let monitor = monitor();
    let url = zabbix_url(&monitor);
    assert_eq!(column(&ingest(&store, &[]), "status"), ["new"; 3]);
    assert_eq!(column(&ingest(&store, &["--cpu-from", &url]), "status"), ["changed", "changed", "unchanged"]);
    let memory = format!("memory=zabbix+http://{}/?host=sut&item=memory", monitor.host);
    let flags = ["--cpu-from", &url, "--series", &memory, "--unit", "bytes"];
    let rows = ingest(&store, &flags);
    assert_eq!(column(&rows, "status"), ["changed"; 3], "{rows:?}");
    assert!(column(&rows, "why").iter().all(|why| why.contains("a series that is asked for")), "{rows:?}");
    assert_eq!(clocks(&store, "go_t2", "series"), (BEGINS[2] - 60..=BEGINS[2] + 60).collect::<Vec<_>>());
    assert_eq!(column(&ingest(&store, &flags), "status"), ["unchanged"; 3]);
    let elsewhere = url.replace("?host=sut&", "?itemid=44518#").replace("#item=system.cpu.util", "");
    let rows = ingest(&store, &["--cpu-from", &elsewhere]);
    assert_eq!(column(&rows, "status"), ["changed", "changed", "unchanged"]);
    assert!(column(&rows, "why")[0].contains("from elsewhere"), "{rows:?}");
}

#[test]
fn run_without_readings_fails_and_the_others_do_not() {
    let store = Store::embedded();
    folder(&store);
    let readings = around().into_iter().filter(|(clock, _)| *clock >= T0 - 60).collect();
    let monitor = Monitor::new(move |asked| {
        Zabbix { readings: Vec::clone(&readings), ..Zabbix::default() }.answer(asked)
    });
    let url = zabbix_url(&monitor);
    let mut command = store.command(&["ingest", "night", "--framework", "go", "--cpu-from", &url]);
    let outcome = done(command.env(SECRET.0, SECRET.1));
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    assert!(
        outcome.err.contains("go_t0: failed") && outcome.err.contains("has no readings from"),
        "{}",
        outcome.err
    );
    assert_eq!(store.list().len(), 2);
}

#[test]
fn unit_that_an_export_tells_makes_no_run_changed() {
    let store = Store::embedded();
    let folder = store.folder.path().join("night");
    std::fs::create_dir_all(&folder).unwrap();
    let sadf: String = (0..=60)
        .map(|at| {
            let time =
                jiff::Timestamp::from_second(T0 + at).unwrap().strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
            let of = |cpu: i32| format!("vm;1;{time};{cpu};10.00;0.00;0.50;0.00;0.00;89.50\n");
            of(-1) + &of(0) + &of(1)
        })
        .collect();
    std::fs::write(
        folder.join("go_t.cpu.txt"),
        format!("# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n{sadf}"),
    )
    .unwrap();
    std::fs::write(folder.join("go_t.csv"), format!("timeStamp,elapsed,success\n{}000,12,true\n", T0 + 5))
        .unwrap();
    assert_eq!(column(&ingest(&store, &[]), "status"), ["new"]);
    assert_eq!(column(&ingest(&store, &[]), "status"), ["unchanged"]);
}
