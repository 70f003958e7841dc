//! CPU readings that are asked for where they live, and hosts that do not give them.

mod database;
mod folders;
mod hostile;
mod recorded;
mod series;
mod several;
mod steps;
mod tls;

use std::process::Command;

use serde_json::json;

use crate::support::*;

const T0: i64 = 1_795_203_720;
const SECRET: (&str, &str) = ("PERFPIPE_ZABBIX_TOKEN", TOKEN);

/// A log of so many seconds with a request in each tenth one.
fn log(store: &Store, seconds: i64) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..=seconds / 10).map(|at| format!("{},12,Get,true,1\n", (T0 + at * 10) * 1000)));
    store.file("log.csv", log)
}

fn ingest(store: &Store, url: &str, flags: &[&str]) -> Command {
    let log = log(store, 60);
    let named = ["ingest", &log, "--framework", "go", "--test", "t", "--cpu-from", url];
    let mut command = store.command(&[&named, flags].concat());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command
}

/// The stored readings.
fn readings(store: &Store) -> Vec<(i64, f64)> {
    let text = store.export(&Key::new("go", "t"), "cpu", "csv", &[]);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let names = rows.headers().unwrap().clone();
    let column =
        |name: &str| names.iter().position(|other| other == name).unwrap_or_else(|| panic!("{names:?}"));
    let (clock, value) = (column("clock"), column("value"));
    let reading = |row: csv::StringRecord| (row[clock].parse().unwrap(), row[value].parse().unwrap());
    rows.records().map(|row| reading(row.unwrap())).collect()
}

fn zabbix_url(monitor: &Monitor) -> String {
    format!("zabbix+http://{}/api_jsonrpc.php?host=sut&item=system.cpu.util", monitor.host)
}

/// Readings of the minutes around the run: of each its own.
fn around() -> Vec<(i64, f64)> {
    (T0 - 600..T0 + 600).map(|clock| (clock, (clock % 100) as f64)).collect()
}

#[test]
fn readings_of_zabbix_are_stored_in_percent_of_one_core_and_only_those_of_the_run() {
    for (version, store) in ["6.0.14", "7.2.0"].into_iter().zip(Store::each()) {
        let zabbix = Zabbix { version, readings: around(), ..Zabbix::default() };
        let monitor = Monitor::new(move |asked| zabbix.answer(asked));
        let said =
            done(ingest(&store, &zabbix_url(&monitor), &["--cpu-offset", "2"]).env(SECRET.0, SECRET.1))
                .said();
        assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
        let expected: Vec<_> =
            around().into_iter().filter(|(clock, _)| (T0 - 62..=T0 + 58).contains(clock)).collect();
        let expected: Vec<_> = expected.into_iter().map(|(clock, value)| (clock, value * 4.0)).collect();
        assert_eq!(readings(&store), expected);
        let stored = store.export(&Key::new("go", "t"), "run", "json", &[]);
        assert!(!stored.contains(TOKEN) && stored.contains("zabbix+http"), "{stored}");
    }
}

#[test]
fn readings_of_a_watched_run_are_asked_for_at_its_end() {
    for from in ["file", "pipe"] {
        let store = Store::embedded();
        let monitor = Monitor::new(|asked| Zabbix { readings: around(), ..Zabbix::default() }.answer(asked));
        let log = log(&store, 60);
        let given = if from == "pipe" { "-" } else { &log };
        let url = zabbix_url(&monitor);
        let named = ["watch", given, "--framework", "go", "--test", "t", "--cpu-from", &url];
        let mut command = store.command(&[&named[..], &["--idle-end", "1s"]].concat());
        command.stdin(std::fs::File::open(&log).unwrap()).env(SECRET.0, SECRET.1).env_remove("http_proxy");
        done(&mut command);
        let expected: Vec<_> =
            around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock)).collect();
        let expected: Vec<_> = expected.into_iter().map(|(clock, value)| (clock, value * 4.0)).collect();
        assert_eq!(readings(&store), expected, "{from}");
    }
}

#[test]
fn what_is_asked_for_is_stored_as_a_file_of_it_would_be() {
    let (asked, given) = (Store::embedded(), Store::embedded());
    let zabbix = Zabbix { readings: around(), ..Zabbix::default() };
    let monitor = Monitor::new(move |asked| zabbix.answer(asked));
    done(ingest(&asked, &zabbix_url(&monitor), &["--cores", "4"]).env(SECRET.0, SECRET.1)).said();
    let rows = around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock));
    let rows: String = rows.map(|(clock, value)| format!("{clock},{value}\n")).collect();
    let (log, cpu) = (log(&given, 60), given.file("cpu.csv", format!("clock,value\n{rows}")));
    let flags = ["--framework", "go", "--test", "t", "--cpu-scale", "percent-of-machine", "--cores", "4"];
    given.run(&[&["ingest", &log, &cpu], &flags[..]].concat()).said();
    for what in ["cpu", "samples", "seconds", "summary"] {
        let of = |store: &Store| store.export(&Key::new("go", "t"), what, "csv", &[]);
        assert_eq!(of(&asked), of(&given), "{what}");
    }
}

#[test]
fn readings_of_prometheus_are_asked_for_in_windows_and_attached() {
    let store = Store::embedded();
    let log = log(&store, 25_000);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let monitor = Monitor::new(prometheus);
    let url = format!("prometheus+http://{}?query=sum(rate(cpu{{mode!=\"idle\"}}[3s]))", monitor.host);
    let attach = ["attach-cpu", "go_t", "--cpu-from", &url];
    let said = done(store.command(&attach).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN)).said();
    assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
    let expected: Vec<_> = (T0 - 60..=T0 + 25_000).map(|clock| (clock, (clock % 1000) as f64)).collect();
    assert_eq!(readings(&store), expected);
    let lines: Vec<String> = monitor.asked().into_iter().map(|asked| asked.line).collect();
    let (told, windows) = lines.split_first().unwrap();
    assert!(told.contains("/query?query=cpu%7Bmode%21%3D%22idle%22%7D%5B5m%5D&time="), "{told}");
    assert_eq!(windows.len(), 3, "{windows:?}");
    assert!(windows.iter().all(|line| line.contains("/query_range?query=sum%28rate%28")), "{windows:?}");
}

#[test]
fn inspection_asks_too() {
    let store = Store::embedded();
    let zabbix = Zabbix { readings: around(), ..Zabbix::default() };
    let monitor = Monitor::new(move |asked| zabbix.answer(asked));
    let log = log(&store, 60);
    let mut command = store.command(&["inspect", &log, "--cpu-from", &zabbix_url(&monitor)]);
    let text =
        done(command.env("PERFPIPE_ZABBIX_USER", "Admin").env("PERFPIPE_ZABBIX_PASSWORD", "zabbix")).text();
    assert!(text.contains("history of Zabbix"), "{text}");
    assert!(monitor.asked().iter().any(|asked| asked.body.contains("user.logout")), "the session is ended");
}

/// What a host does, and what is said of it.
struct Fault {
    name: &'static str,
    answer: Box<dyn Fn(&Asked) -> Reply + Send + Sync>,
    told: &'static str,
}

fn fault(
    name: &'static str,
    told: &'static str,
    answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> Fault {
    Fault { name, answer: Box::new(answer), told }
}

fn with(change: impl Fn(&mut Zabbix)) -> impl Fn(&Asked) -> Reply + Send + Sync {
    let mut zabbix = Zabbix { readings: around(), ..Zabbix::default() };
    change(&mut zabbix);
    move |asked| zabbix.answer(asked)
}

fn faults() -> Vec<Fault> {
    let redirect = "Location: http://127.0.0.1:1/\r\n";
    let item = |kind: &str, id: &str| json!({"itemid": id, "key_": "system.cpu.util", "value_type": kind, "lastclock": "0"});
    vec![
        fault(
            "no readings",
            "the latest before it is of 2026-11-20 19:30:00 UTC",
            with(|zabbix| zabbix.readings.clear()),
        ),
        fault(
            "a log an hour ahead",
            "if the log's clock is 1 h ahead, add 3600 to the CPU offset",
            with(|zabbix| {
                zabbix.readings.clear();
                zabbix.items[0]["lastclock"] = json!((T0 + 60 - 3600 + 300).to_string());
            }),
        ),
        fault(
            "trends only",
            "only trends",
            with(|zabbix| (zabbix.readings, zabbix.trends) = (Vec::new(), true)),
        ),
        fault("several items", "44518 (system.cpu.util), 44519", {
            let items = json!([item("0", "44518"), item("0", "44519")]);
            with(move |zabbix| zabbix.items = items.clone())
        }),
        fault("texts", "has texts, not numbers", {
            let items = json!([item("4", "44518")]);
            with(move |zabbix| zabbix.items = items.clone())
        }),
        fault("no item", "has no item with the key", with(|zabbix| zabbix.items = json!([]))),
        fault("broken server", "answers 500", |_| Reply::Text(500, String::new(), String::new())),
        fault("redirect", "redirect to another address", move |_| {
            Reply::Text(302, redirect.to_owned(), String::new())
        }),
        fault("slow server", "no whole answer within 1 s", |_| Reply::Nothing),
        fault("server without end", "no whole answer within 1 s", |_| Reply::Endless),
        fault("another server", "not as the API of Zabbix does", |_| {
            Reply::Text(200, String::new(), "<html>".into())
        }),
    ]
}

#[test]
fn each_fault_of_a_host_is_told_and_the_earlier_run_stays() {
    let store = Store::embedded();
    let log = log(&store, 60);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let before = store.list();
    let refused = |name: &str, told: &str, command: &mut Command| {
        let outcome = done(command);
        assert!(matches!(outcome.code, Some(1..=3)), "{name}: {}", outcome.err);
        let (err, remedies) =
            (&outcome.err, outcome.err.lines().filter(|line| line.starts_with("  ")).count());
        // What may come on the way is larger than what is waited for.
        assert!(
            err.contains(told) || name == "server without end" && err.contains("larger than 1 MiB"),
            "{name}: {err}"
        );
        assert!(remedies >= 1 && !err.contains(TOKEN) && !err.contains("panicked"), "{name}: {err}");
        assert_eq!(store.list(), before, "{name}");
    };
    for Fault { name, answer, told } in faults() {
        let monitor = Monitor::new(answer);
        refused(
            name,
            told,
            ingest(&store, &zabbix_url(&monitor), &["--cpu-timeout", "1"]).env(SECRET.0, SECRET.1),
        );
    }
    let zabbix = || Monitor::new(|asked| Zabbix::default().answer(asked));
    let elsewhere = zabbix_url(&zabbix()).replace("host=sut", "host=other");
    refused(
        "no such host in Zabbix",
        "no host \"other\"",
        ingest(&store, &elsewhere, &[]).env(SECRET.0, SECRET.1),
    );
    refused(
        "wrong token",
        "does not accept",
        ingest(&store, &zabbix_url(&zabbix()), &[]).env(SECRET.0, "wrong-token"),
    );
    for (version, told) in [("6.0.14", "API token expired"), ("7.2.0", "API token expired")] {
        let monitor = Monitor::new(move |asked| Zabbix { version, ..Zabbix::default() }.answer(asked));
        refused("expired token", told, ingest(&store, &zabbix_url(&monitor), &[]).env(SECRET.0, EXPIRED));
        assert_eq!(monitor.asked().len(), 2, "what is refused is not asked for again");
    }
    refused("no token", "needs a token", &mut ingest(&store, &zabbix_url(&zabbix()), &[]));
    let plain = zabbix_url(&zabbix()).replace("http:", "https:");
    refused("no TLS", "it can't be asked", ingest(&store, &plain, &[]).env(SECRET.0, SECRET.1));
    let nowhere = "zabbix+http://no-such-host.invalid/?itemid=1";
    refused(
        "no such host",
        "no-such-host.invalid",
        ingest(&store, nowhere, &["--cpu-timeout", "2"]).env(SECRET.0, SECRET.1),
    );
    let unauthorised = format!("prometheus+http://{}?query=up", Monitor::new(prometheus).host);
    refused("Prometheus without a token", "answers 401", &mut ingest(&store, &unauthorised, &[]));
    let expired = done(ingest(&store, &unauthorised, &[]).env("PERFPIPE_PROMETHEUS_TOKEN", EXPIRED));
    assert!(expired.err.contains("answers 401") && !expired.err.contains(EXPIRED), "{}", expired.err);
    let bad = Monitor::new(|_| {
        let error = "1:5: parse error: unclosed left parenthesis";
        let body = json!({"status": "error", "errorType": "bad_data", "error": error});
        Reply::Text(400, String::new(), body.to_string())
    });
    let query = format!("prometheus+http://{}?query=sum(", bad.host);
    refused("query that is none", "unclosed left parenthesis", &mut ingest(&store, &query, &[]));
    refused(
        "password in the URL",
        "contains a user or a password",
        &mut ingest(&store, "zabbix+http://a:b@mon?itemid=1", &[]),
    );
}

#[test]
fn clock_that_is_an_hour_off_and_missing_readings_are_told() {
    let store = Store::embedded();
    let zabbix = Zabbix {
        readings: around().into_iter().filter(|(clock, _)| clock / 20 % 2 == 0).collect(),
        ..Zabbix::default()
    };
    let monitor = Monitor::new(move |asked| match zabbix.answer(asked) {
        Reply::Text(status, _, body) => {
            Reply::Text(status, "Date: Fri, 20 Nov 2020 19:00:00 GMT\r\n".into(), body)
        }
        other => other,
    });
    let said = done(ingest(&store, &zabbix_url(&monitor), &[]).env(SECRET.0, SECRET.1)).said();
    assert!(said.contains("its clock is") && said.contains("behind that of this machine"), "{said}");
    // The last reading of each 20 s holds for 3 s of those 20 s that have none.
    let has = |second: &i64| (0..=3).any(|back| (second - back) / 20 % 2 == 0);
    let covered = (T0..=T0 + 60).filter(has).count();
    assert!((20..50).contains(&covered), "{covered}");
    let share = format!("{:.1} % of the seconds have a reading", covered as f64 / 61.0 * 100.0);
    assert!(said.contains(&share), "{share}: {said}");
    let expected: Vec<_> = around().into_iter().filter(|(clock, _)| clock / 20 % 2 == 0).collect();
    let expected = expected.into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock));
    assert_eq!(readings(&store), expected.map(|(clock, value)| (clock, value * 4.0)).collect::<Vec<_>>());
}

#[test]
fn log_that_was_written_whole_hours_from_its_last_record_is_told() {
    let monitor = Monitor::new(|asked| Zabbix { readings: around(), ..Zabbix::default() }.answer(asked));
    let end = T0 + 60;
    for (written, told) in [
        (
            end + 3600,
            Some("written 1 h after its last record: if the log's clock is 1 h behind, add -3600 to"),
        ),
        (
            end - 7200,
            Some("written 2 h before its last record: if the log's clock is 2 h ahead, add 7200 to"),
        ),
        (end, None),
        (end + 1800, None),
    ] {
        let store = Store::embedded();
        let mut command = ingest(&store, &zabbix_url(&monitor), &[]);
        let log = std::fs::File::options().append(true).open(store.folder.path().join("log.csv")).unwrap();
        log.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(written as u64)).unwrap();
        let said = done(command.env(SECRET.0, SECRET.1)).said();
        match told {
            Some(told) => assert!(said.contains(told), "{said}"),
            None => assert!(!said.contains("last written"), "{said}"),
        }
    }
}

#[test]
fn pipes_are_refused() {
    let store = Store::embedded();
    let log = log(&store, 60);
    let url = "prometheus+http://127.0.0.1:1?query=up";
    let refused = store.pipe(&std::fs::read(&log).unwrap(), &["ingest", "-", "--cpu-from", url]);
    assert!(refused.err.contains("`perfpipe attach-cpu` RUN --cpu-from"), "{}", refused.err);
    assert_eq!(store.list().len(), 0);
}
