//! Trials that take minutes: 50,000 requests a second are followed with little of a core, in flat memory, and a page that
//! is open does not grow.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::same::{NAMED, assert_same_as_ingest};
use super::served::{free, kept, until_it_shows};
use super::writer::{HEADER, T0, Watching, Writer, records};
use crate::support::*;
use crate::tools::chromium::Chromium;

/// The length of the test, in pieces of 50 ms, and the requests of each.
const PIECES: i64 = 1200;
const REQUESTS: i64 = 2500;

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
    let mut all = HEADER.to_owned();
    writer.write(HEADER);
    let begun = Instant::now();
    for number in 0..PIECES {
        let text = piece(number);
        writer.write(&text);
        all.push_str(&text);
        let until = Duration::from_millis(50) * (number + 1) as u32;
        std::thread::sleep(until.saturating_sub(begun.elapsed()));
    }
    let took = begun.elapsed();
    watching.until(57);
    let (share, memory) = (computed(process) as f64 / 100.0 / took.as_secs_f64(), memory(process));
    if let Some(page) = &mut page {
        let shown =
            page.number("Number(/live, 0:(\\d+)/.exec(document.querySelector('.pill').textContent)?.[1])");
        assert!(shown > 50.0, "the page shows {shown} seconds");
    }
    eprintln!("{:.1} % of a core, {} MB", share * 100.0, memory / 1024);
    assert!(took < Duration::from_secs(66), "the log was written in {took:?} instead of a minute");
    assert!(share < 1.0 / 3.0 && memory < 100 << 10, "{share} {memory}");
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_same_as_ingest(&store, &[("run.jtl", all)]);
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
