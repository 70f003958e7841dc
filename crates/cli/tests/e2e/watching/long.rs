//! Trials that take minutes: 50,000 requests a second are followed with little of a core, in flat memory, while 200 readers
//! follow the page, and a page that is open does not grow.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::same::{NAMED, assert_same};
use super::served::{free, kept, until_it_shows};
use super::writer::{HEADER, T0, Watching, Writer, records};
use crate::support::*;
use crate::tools::chromium::Chromium;

/// The requests of a piece of 50 ms.
const REQUESTS: i64 = 2500;

/// The length of the test in seconds: a minute unless it is said.
fn seconds() -> i64 {
    std::env::var("PERFPIPE_TRIAL_SECONDS").map_or(60, |seconds| seconds.parse().unwrap())
}

/// Follows the events of a page until it ends, and asks for its newest state now and then. Returns the number of states that
/// it was shown.
fn read_on(address: &str) -> usize {
    let mut shown = 0;
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        std::io::Result::Ok(BufReader::new(stream))
    };
    while let Ok(events) = get("/events") {
        for line in events.lines().map_while(Result::ok) {
            shown += usize::from(line == "event: live");
            if line == "event: live" && shown % 10 == 0 {
                let mut list = String::new();
                if get("/runs.js").is_ok_and(|mut answer| answer.read_to_string(&mut list).is_ok()) {
                    assert!(list.ends_with("}});\n"), "{list}");
                }
            }
        }
    }
    shown
}

/// The requests of a piece.
fn piece(number: i64) -> String {
    let mut text = String::new();
    for request in 0..REQUESTS {
        let at = T0 + number * 50 + request / 50;
        let elapsed = 5 + (request * 7919 + number * 104_729) % 120;
        writeln!(text, "{at},{elapsed},Get,200,OK,Group 1-{request},true,120,{request},1500,{elapsed}")
            .unwrap();
    }
    text
}

/// A figure of a process that the system tells, in kB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The time that a process has computed so far, in hundredths of a second.
fn computed(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [11, 12].map(|at| fields[at].parse::<u64>().unwrap()).iter().sum()
}

#[test]
#[ignore = "long: .ci/long watch"]
fn fifty_thousand_requests_a_second_are_followed() {
    let store = Store::embedded();
    let mut writer = Writer::new(&store, "run.jtl");
    let address = free();
    let mut watching = Watching::begin(&store, &[&["run.jtl", "--serve", &address], &NAMED[..]].concat());
    let mut page = Chromium::start();
    if let Some(page) = &mut page {
        // It asks again each second until there is something to see.
        page.visit(&format!("http://{}/", waiting_at(&address)));
    }
    let process = watching.child.id();
    let readers: Vec<_> = (0..200 - page.iter().len())
        .map(|_| {
            std::thread::spawn({
                let address = address.clone();
                move || read_on(&address)
            })
        })
        .collect();
    writer.write(HEADER);
    let (begun, mut early) = (Instant::now(), 0);
    for number in 0..seconds() * 20 {
        writer.write(&piece(number));
        let until = Duration::from_millis(50) * (number + 1) as u32;
        std::thread::sleep(until.saturating_sub(begun.elapsed()));
        if number == 600 {
            early = memory(process);
        }
        if let Some(page) = page.as_mut().filter(|_| number % 200 == 0) {
            page.goes_on();
        }
    }
    let took = begun.elapsed();
    watching.until(u32::try_from(seconds()).unwrap() - 3);
    let (share, memory) = (computed(process) as f64 / 100.0 / took.as_secs_f64(), memory(process));
    if let Some(page) = &mut page {
        let shown = "((text) => Number(text[1]) * 60 + Number(text[2]))(/live, (\\d+):(\\d+)/.exec(document.querySelector('.pill').textContent))";
        let shown = page.number(shown);
        assert!(shown > seconds() as f64 - 10.0, "the page shows {shown} seconds");
    }
    eprintln!(
        "{:.1} % of a core, {} MB after 30 s, {} MB at the end",
        share * 100.0,
        early / 1024,
        memory / 1024
    );
    let late = took.saturating_sub(Duration::from_secs(seconds() as u64));
    assert!(late < Duration::from_secs(6), "the log was written in {took:?}");
    assert!(share < 1.0 / 3.0 && memory < 100 << 10, "{share} {memory}");
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    let shown: Vec<usize> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    eprintln!(
        "{:?} states were shown to the 200 readers, at least and at most",
        (shown.iter().min(), shown.iter().max())
    );
    // That the files are the same is seen of the samples, which are many.
    let exports = ["seconds", "errors", "labels", "cpu", "rejects", "summary"];
    assert_same(&store, &Store::embedded(), &[writer.path.to_str().unwrap()], &exports);
}

/// Waits until a page is served at an address.
fn waiting_at(address: &str) -> &str {
    while std::net::TcpStream::connect(address).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    address
}

#[test]
#[ignore = "long: .ci/long watch"]
fn page_that_is_open_for_five_minutes_does_not_grow() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let mut writer = Writer::new(&store, "run.jtl");
    let watching = Watching::begin(&store, &[&["run.jtl", "--serve", &address], &NAMED[..]].concat());
    writer.write(HEADER);
    browser.visit(&format!("http://{}/", waiting_at(&address)));
    let (begun, mut sizes) = (Instant::now(), Vec::new());
    for second in 0..300_u32 {
        writer.write(&records(i64::from(second)..i64::from(second) + 1, ""));
        std::thread::sleep(Duration::from_secs(u64::from(second) + 1).saturating_sub(begun.elapsed()));
        browser.goes_on();
        if [59, 299].contains(&second) {
            until_it_shows(&mut browser, second);
            let (elements, listeners) = kept(&mut browser);
            let heap = browser.call("Runtime.getHeapUsage", json!({}))["usedSize"].as_u64().unwrap();
            eprintln!("{second} s: {heap} bytes, {elements} nodes, {listeners} listeners");
            sizes.push((heap, elements, listeners));
        }
    }
    let grown = |of: fn(&(u64, u64, u64)) -> u64| of(&sizes[1]) as f64 / of(&sizes[0]) as f64;
    // The figures of four minutes more are in it.
    assert!(grown(|size| size.0) < 1.5, "{sizes:?}");
    assert!(grown(|size| size.1) < 1.25 && grown(|size| size.2) < 1.25, "{sizes:?}");
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
}
