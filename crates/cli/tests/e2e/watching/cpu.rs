//! The CPU readings of a watched run: shown while it runs, stored as an ingest of the finished log stores them.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::same::{NAMED, assert_same_as_ingest};
use super::served::{free, until_it_shows};
use super::writer::{T0, Watching, Writer, log, records};
use crate::support::*;
use crate::tools::chromium::Chromium;

/// The epoch second of the first record.
const BEGIN: i64 = T0 / 1000;

/// The rows of a CPU export, of which each second has its own reading.
fn readings(seconds: std::ops::Range<i64>) -> String {
    seconds.map(|second| format!("{},{}\n", BEGIN + second, 40 + second)).collect()
}

/// What a command shows on a terminal of 80 columns, which grows.
fn on_terminal(store: &Store, arguments: &str) -> (std::process::Child, Arc<Mutex<String>>) {
    let perfpipe = env!("CARGO_BIN_EXE_perfpipe");
    let line = format!("stty cols 80 rows 40; exec {perfpipe} watch {arguments} --store '{}'", store.place());
    let mut command = Command::new("script");
    command.args(["-qefc", &line, "/dev/null"]).current_dir(store.folder.path());
    command.env("TERM", "xterm").env_remove("PERFPIPE_DATABASE_URL");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut out, shown) = (child.stdout.take().unwrap(), Arc::new(Mutex::new(String::new())));
    let seen = Arc::clone(&shown);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = out.read(&mut buffer) {
            seen.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    });
    (child, shown)
}

/// Waits until a row is shown.
fn until(shown: &Mutex<String>, row: &str) {
    let begun = Instant::now();
    while !shown.lock().unwrap().split("\x1b[K").any(|line| line.contains(row)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{row} is not in {}", shown.lock().unwrap());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn growing_export_is_shown_and_stored_as_an_ingest_stores_it() {
    let store = Store::embedded();
    let (mut writer, mut cpu) = (Writer::new(&store, "run.jtl"), Writer::new(&store, "cpu.csv"));
    cpu.write(&format!("clock,value\n{}", readings(0..5)));
    writer.write(&log(0..6));
    let (mut child, shown) = on_terminal(&store, "run.jtl cpu.csv --framework go --test live --idle-end 10s");
    until(&shown, "CPU               44 %  ");
    // A row that is not written to its end is no reading yet.
    cpu.write(&format!("{}{},7", readings(5..8), BEGIN + 8));
    writer.write(&records(6..9, ""));
    until(&shown, "CPU               47 %  ");
    assert!(!shown.lock().unwrap().contains("CPU                7 %"));
    cpu.write("8\n");
    until(&shown, "CPU               47 %  ");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let export = format!("clock,value\n{}{},78\n", readings(0..8), BEGIN + 8);
    assert_same_as_ingest(&store, &[("run.jtl", log(0..9)), ("cpu.csv", export)]);
}

#[test]
fn readings_that_are_asked_for_come_to_the_page_and_what_fails_is_told() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let known = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&known);
    let monitor = Monitor::new(move |asked| {
        let readings = own.lock().unwrap().clone();
        Zabbix { readings, ..Zabbix::default() }.answer(asked)
    });
    let url = format!("zabbix+http://{}/?host=sut&item=system.cpu.util", monitor.host);
    let mut writer = Writer::new(&store, "run.jtl");
    writer.write(&log(0..6));
    let arguments = [&["run.jtl", "--serve", &address, "--cpu-from", &url], &NAMED[..]].concat();
    let mut watching = Watching::begin_with(&store, &arguments, &[("PERFPIPE_ZABBIX_TOKEN", TOKEN)]);
    watching.until(4);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    let reading = |second: i64| (BEGIN + second, (second + 10) as f64);
    known.lock().unwrap().extend((0..5).map(reading));
    browser.evaluate(
        "new Promise((done, fail) => {
            setTimeout(() => fail(new Error(document.body.innerText)), 50000);
            const look = () => {
                const headings = [...document.querySelectorAll('main h3')].map(({ textContent }) => textContent);
                const is_drawn = headings.some((heading) => heading.startsWith('CPU'));
                is_drawn && /CPU\\s+\\d+ %/.test(document.querySelector('.tiles').innerText) ? done(true) : setTimeout(look, 20);
            };
            look();
        })",
    );
    let doubt = browser.evaluate("document.body.innerText.includes('may mean the whole machine')");
    assert_eq!(doubt, false, "Zabbix tells the unit");
    known.lock().unwrap().extend((5..9).map(reading));
    writer.write(&records(6..9, ""));
    until_it_shows(&mut browser, 8);
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let rows = rows(&store.export(&Key::new("go", "live"), "cpu", "csv", &[]));
    let stored: Vec<_> = rows.iter().map(|row| row["value"].parse::<f64>().unwrap()).collect();
    assert_eq!(stored, (0..9).map(|second| (second + 10) as f64 * 4.0).collect::<Vec<_>>());
}

#[test]
fn readings_that_can_not_be_had_do_not_stop_the_watching() {
    let store = Store::embedded();
    let mut writer = Writer::new(&store, "run.jtl");
    writer.write(&log(0..6));
    let monitor = Monitor::new(|asked| Zabbix::default().answer(asked));
    let url = format!("zabbix+http://{}/?host=sut&item=system.cpu.util", monitor.host);
    let (mut child, shown) =
        on_terminal(&store, &format!("run.jtl --cpu-from '{url}' --framework go --test live --idle-end 8s"));
    until(&shown, "no CPU readings: ");
    until(&shown, "successes");
    writer.write(&records(6..9, ""));
    until(&shown, "so far: 400 requests");
    child.wait().unwrap();
}
