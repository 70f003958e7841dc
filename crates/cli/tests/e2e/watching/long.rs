//! A trial that takes a minute: 50,000 requests a second are followed with little of a core, in flat memory.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::same::{NAMED, assert_same_as_ingest};
use super::writer::{HEADER, T0, Watching, Writer};
use crate::support::*;

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
    let mut watching = Watching::begin(&store, &[&["run.jtl"], &NAMED[..]].concat());
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
    eprintln!("{:.1} % of a core, {} MB", share * 100.0, memory / 1024);
    assert!(took < Duration::from_secs(66), "the log was written in {took:?} instead of a minute");
    assert!(share < 1.0 / 3.0 && memory < 100 << 10, "{share} {memory}");
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_same_as_ingest(&store, &[("run.jtl", all)]);
}
