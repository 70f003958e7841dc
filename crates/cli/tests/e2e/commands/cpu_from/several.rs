//! Readings of several hosts: added up, or kept apart.

use super::{SECRET, T0, around, ingest, log, readings};
use crate::support::*;

/// Zabbix with two hosts: `sut` with 4 cores, and `b 2` with 2, whose readings are half as large.
fn monitor() -> Monitor {
    let zabbix = Zabbix { readings: around(), ..Zabbix::default() };
    let zabbix = zabbix.with("9", ("b 2", "system.cpu.util"), "0", 0.5);
    Monitor::new(move |asked| zabbix.answer(asked))
}

fn url(monitor: &Monitor, several: &str) -> String {
    format!("zabbix+http://{}/?host=sut,b%202&item=system.cpu.util{several}", monitor.host)
}

/// The readings of the run's time, in percent of one core of so many cores.
fn expected(cores: f64) -> Vec<(i64, f64)> {
    let asked = around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock));
    asked.map(|(clock, value)| (clock, value * cores)).collect()
}

/// The readings of a stored series.
fn series(store: &Store, name: &str) -> Vec<(i64, f64)> {
    let text = store.export(&Key::new("go", "t"), "series", "csv", &[]);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let names = rows.headers().unwrap().clone();
    let column =
        |name: &str| names.iter().position(|other| other == name).unwrap_or_else(|| panic!("{names:?}"));
    let (of, clock, value) = (column("name"), column("clock"), column("value"));
    let rows = rows.records().map(Result::unwrap).filter(|row| &row[of] == name);
    rows.map(|row| (row[clock].parse().unwrap(), row[value].parse().unwrap())).collect()
}

#[test]
fn cpu_of_several_hosts_is_their_sum_in_percent_of_one_core() {
    for several in ["&several=sum", "&several=separate"] {
        let (store, monitor) = (Store::embedded(), monitor());
        done(ingest(&store, &url(&monitor, several), &[]).env(SECRET.0, SECRET.1)).said();
        // Each in percent of its own machine: 4 cores, and half of it on 2 cores.
        assert_eq!(readings(&store), expected(5.0), "{several}");
        let apart = several == "&several=separate";
        assert_eq!(series(&store, "cpu_sut"), if apart { expected(4.0) } else { Vec::new() });
        assert_eq!(series(&store, "cpu_b-2"), if apart { expected(1.0) } else { Vec::new() });
    }
}

#[test]
fn nothing_is_made_of_several_hosts_without_being_told() {
    let (store, monitor) = (Store::embedded(), monitor());
    let refused = done(ingest(&store, &url(&monitor, ""), &[]).env(SECRET.0, SECRET.1)).complaint(2);
    assert!(refused.contains("names 2 items") && refused.contains("several=sum"), "{refused}");
    assert_eq!(monitor.asked().len(), 0);
    let missing = url(&monitor, "&several=sum").replace("b%202", "c");
    let refused = done(ingest(&store, &missing, &[]).env(SECRET.0, SECRET.1)).complaint(3);
    assert!(refused.contains("c: there is no host \"c\""), "{refused}");
    let prometheus = Monitor::new(|asked| {
        Prometheus { instances: vec!["a:9100", "b:9100"], ..Prometheus::default() }.answer(asked)
    });
    let query = format!("prometheus+http://{}?query=rate(cpu[3s])", prometheus.host);
    let refused = done(ingest(&store, &query, &[]).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN)).complaint(3);
    assert!(refused.contains("answers 2 series: {instance=\"a:9100\",job=\"node\"}"), "{refused}");
    assert!(refused.contains("several=separate"), "{refused}");
    assert_eq!(store.list().len(), 0);
}

#[test]
fn several_series_of_prometheus_are_added_up_or_kept_apart() {
    let of = |number: i64| -> Vec<(i64, f64)> {
        (T0 - 60..=T0 + 60).map(|clock| (clock, (clock % 1000 * number) as f64)).collect()
    };
    let monitor = Monitor::new(|asked| {
        Prometheus { instances: vec!["a:9100", "b:9100"], ..Prometheus::default() }.answer(asked)
    });
    let url =
        |several: &str| format!("prometheus+http://{}?query=rate(cpu[3s])&several={several}", monitor.host);
    let store = Store::embedded();
    done(ingest(&store, &url("sum"), &[]).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN)).said();
    assert_eq!(readings(&store), of(3));
    let memory = format!("memory={}", url("separate"));
    let attach = ["attach-series", "go_t", "--series", &memory, "--unit", "bytes"];
    done(store.command(&attach).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN)).said();
    assert_eq!((series(&store, "memory_a-9100"), series(&store, "memory_b-9100")), (of(1), of(2)));
    let run = store.export(&Key::new("go", "t"), "run", "json", &[]);
    assert_eq!(run.matches("several=separate").count(), 1, "one answer is one source: {run}");
}

#[test]
fn cpu_of_a_stored_run_is_not_kept_apart() {
    let (store, monitor) = (Store::embedded(), monitor());
    let log = log(&store, 60);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let mut command =
        store.command(&["attach-cpu", "go_t", "--cpu-from", &url(&monitor, "&several=separate")]);
    let refused = done(command.env(SECRET.0, SECRET.1)).complaint(2);
    assert!(refused.contains("perfpipe attach-series RUN"), "{refused}");
}
