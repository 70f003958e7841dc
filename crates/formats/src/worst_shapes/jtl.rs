//! The worst shapes of JMeter's CSV, of its dates, numbers and names of threads.

use std::sync::Arc;

use super::{behind, check, numbered, repeated};
use crate::date::DateParser;
use crate::injector::Injectors;
use crate::jtl::blocks::Cutter;
use crate::jtl::layout::{Layout, LayoutOptions};
use crate::jtl::parsed::{Clock, Parsed};
use crate::jtl::parser::Parser;
use perfpipe_model::error::Place;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::pool::NewBuffers;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

const HEADER: &str = "timeStamp,elapsed,label,responseCode,threadName,success,bytes\n";

fn read_by(log: &[u8], pattern: Option<&str>) {
    let Ok(layout) = Layout::detect(log, &LayoutOptions::default(), &Place::default()) else { return };
    let injectors = Injectors::new(pattern).unwrap();
    let (dates, cpu) = (DateParser::new(TimeZone::default()), Arc::new(TimeSeries::default()));
    let mut parser = Parser::new(dates, injectors, cpu, CpuJoin::default());
    let clock = Clock { origin: 1_795_348_000_000, head: None, max_span_ms: u64::MAX };
    let mut cutter = Cutter::new(log, Vec::new(), 0, layout.delimiter, 1 << 20);
    let mut parsed = Parsed::default();
    while let Some(block) = cutter.next(&mut NewBuffers).unwrap() {
        if block.oversized.is_none() {
            parser.parse_block(&block, Some("a.jtl"), &layout, &clock, &mut parsed);
        }
    }
}

fn read(log: &[u8]) {
    read_by(log, None);
}

const RECORD: &str = "1795348000000,12,Get,200,10.0.0.1-TG 1-1,true,100\n";

#[test]
fn quotes_may_stay_open_on_every_line() {
    let lines = [
        "a,\"1\n",
        "\"a\"a,\"\n",
        "\"\n",
        "\"\"\"\n",
        ",\"x\n",
        "\"a\"a,\"b\n",
        "\"",
        "a\"",
        "\"\",",
        "\r\n",
        "\n",
        ",",
        "x\n",
    ];
    for line in lines {
        for (name, make) in [
            ("alone", String::from(line)),
            ("before a record", format!("{line}{RECORD}")),
            ("behind a record", format!("{RECORD}{line}")),
            ("in a record", format!("1795348000000,12,{line}Get,200,t,true,100\n")),
        ] {
            check(&format!("{line:?} {name}"), behind(HEADER, |size| repeated(&make, size)), read);
        }
    }
    // Records with two kinds of line ends are not read in one batch.
    let mixed = RECORD.to_owned() + &RECORD.replace('\n', "\r\n");
    check("two line ends", behind(HEADER, |size| repeated(&mixed, size)), read);
}

#[test]
fn quotes_may_stay_open_beyond_the_longest_record() {
    let make = |size: usize| [HEADER.as_bytes(), &repeated("\"a\"a,\"\n", size * 4)].concat();
    let steps = |size: usize| super::work_count::of(|| read(&make(size)));
    let (four, eight) = (steps(1 << 20), steps(2 << 20));
    assert!(eight < four * 3, "{four} steps for 4 MiB, {eight} for 8 MiB");
}

#[test]
fn texts_may_be_long_and_all_differ() {
    let lines: [(&str, &dyn Fn(u64) -> String); 6] = [
        ("labels", &|n| RECORD.replace("Get", &n.to_string())),
        ("codes", &|n| RECORD.replace("200", &n.to_string())),
        ("hosts", &|n| RECORD.replace("10.0.0.1", &format!("h{n}:1099"))),
        ("threads", &|n| RECORD.replace("10.0.0.1-TG 1-1", &format!("thread {n}"))),
        ("times from the last to the first", &|n| {
            RECORD.replace("1795348000000", &(1_795_348_000_000 - n).to_string())
        }),
        ("dates", &|n| {
            RECORD.replace("1795348000000", &format!("2026/11/22 11:{:02}:{:02}.000", n / 60 % 60, n % 60))
        }),
    ];
    for (name, line) in lines {
        check(name, behind(HEADER, |size| numbered(size, line)), read);
    }
    for (name, before, piece, after) in [
        ("number", "1795348000000,", "1", ",Get,200,t,true,1\n"),
        ("time", "", "1", ",12,Get,200,t,true,1\n"),
        ("date", "2026/11/22 11:", "1", ",12,Get,200,t,true,1\n"),
        ("date of blanks", "2026-11-22", " ", ",12,Get,200,t,true,1\n"),
        ("label", "1795348000000,12,", "é", ",200,t,true,1\n"),
        ("thread of dashes", "1795348000000,12,Get,200,a:1x", "-", ",true,1\n"),
        ("thread of colons and dashes", "1795348000000,12,Get,200,", ":-", ",true,1\n"),
        ("thread of ports", "1795348000000,12,Get,200,a", ":1x-", ",true,1\n"),
        ("thread of digits", "1795348000000,12,Get,200,a:", "1", ",true,1\n"),
        ("success", "1795348000000,12,Get,200,t,", "t", ",1\n"),
        ("bytes", "1795348000000,12,Get,200,t,true,", "9", "\n"),
    ] {
        // As long as a record may be.
        let make = |size: usize| {
            let long = repeated(piece, size / 2);
            [HEADER.as_bytes(), before.as_bytes(), &long, after.as_bytes()].concat()
        };
        check(&format!("an endless {name}"), make, read);
        let make = behind(HEADER, |size| repeated(&[before, &piece.repeat(1000), after].concat(), size));
        check(&format!("long {name}s"), &make, read);
        check(&format!("long {name}s by a pattern"), &make, |log| read_by(log, Some("^(.*?)-.*?-(x|y)+$")));
    }
}
