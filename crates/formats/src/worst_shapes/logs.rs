//! The worst shapes of logs of other load tools, which are converted and parsed as an ingest does.

use std::io::{self, Read};

use super::{behind, check, numbered, repeated};
use crate::date::DateParser;
use crate::injector::Injectors;
use crate::jtl::blocks::{Cutter, LogBytes};
use crate::jtl::parsed::{Clock, Parsed};
use crate::jtl::parser::Parser;
use crate::tools::FORMATS;
use crate::tools::format::Converter;
use crate::tools::format::Format;
use crate::tools::format::{LogToConvert, NextBytes};
use crate::tools::rows::form::Form;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::pool::NewBuffers;

/// A log that is converted while it is read.
struct ConvertedLog<'a> {
    converter: Converter,
    log: LogSlice<'a>,
}

struct LogSlice<'a>(&'a [u8]);

impl LogToConvert for LogSlice<'_> {
    fn read_log(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }

    fn follows(&self) -> NextBytes {
        NextBytes::Nothing
    }
}

impl Read for ConvertedLog<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.converter.read(out, &mut self.log)
    }
}

impl LogBytes for ConvertedLog<'_> {}

/// The size of blocks in bytes.
const BLOCK: usize = 1 << 20;

/// Reads a log of a format as an ingest does.
fn read(format: &'static Format, log: &[u8]) {
    let _ = (format.note)(log.get(..64 << 10).unwrap_or(log));
    let _ = (format.clock)(log.get(..64 << 10).unwrap_or(log));
    let converter = Converter::new(format, format.finest, None, Vec::new());
    let converted = ConvertedLog { converter, log: LogSlice(log) };
    let mut cutter = match format.form() {
        Form::Packed(_) => Cutter::of_packed(converted, BLOCK),
        _ => Cutter::new(converted, Vec::new(), 0, b',', BLOCK),
    };
    let layout = format.layout(format.finest);
    let clock = Clock { origin: 1_795_348_000_000, head: None, max_span_ms: u64::MAX };
    let (dates, injectors) = (DateParser::new(TimeZone::default()), Injectors::default());
    let mut parser =
        Parser::new(dates, injectors, Default::default(), perfpipe_model::series::cpu::CpuJoin::default());
    let mut parsed = Parsed::default();
    // A log may be refused.
    while let Ok(Some(block)) = cutter.next(&mut NewBuffers) {
        if block.oversized.is_none() {
            parser.parse_block(&block, None, &layout, &clock, &mut parsed);
        }
    }
}

/// What a log of each format begins with, and one of its records.
const BEGINNINGS: [(&str, &str, &str); 12] = [
    (
        "JMeter's XML log",
        "<testResults version=\"1.2\">\n",
        "<httpSample t=\"12\" lt=\"9\" ts=\"1795348785951\" s=\"true\" lb=\"a\"/>\n",
    ),
    (
        "Gatling's log",
        "RUN\tSim\tsim\t1795348622935\tdescription\t3.9.5\n",
        "REQUEST\tshop,b\thello\t1795348425532\t1795348425847\tOK\tmessage\n",
    ),
    (
        "Gatling's log",
        GATLING,
        "\u{1}\0\0\0\0\0\0\0\u{1}\0\0\0\u{1}n\0\0\0\0\u{1}\0\0\0\u{5}\u{1}\0\0\0\u{2}\0\0\0\0",
    ),
    ("h2load's log", "1795347889514196\t200\t8154\n", "1795347889514197\t200\t8154\n"),
    (
        "k6's CSV",
        "metric_name,timestamp,metric_value,error,name,status,url\n",
        "http_reqs,1795348034,1,\"e\",n,200,http://a/\nhttp_req_duration,1795348034,1,,n,200,http://a/\n",
    ),
    (
        "k6's JSON",
        "{\"type\":\"Metric\",\"data\":{},\"metric\":\"http_reqs\"}\n",
        "{\"metric\":\"http_reqs\",\"type\":\"Point\",\"data\":{\"time\":\"2026-11-22T11:47:14Z\",\"value\":1,\"tags\":{\"name\":\"n\"}}}\n",
    ),
    (
        "vegeta's CSV",
        "1795348034787926537,200,6604590,0,12,,aGVsbG8=,alpha,0,GET,http://a/hello,Q29u\n",
        "1795348034787926538,200,6604590,0,12,\"e\",aGVsbG8=,alpha,1,GET,http://a/hello,Q29u\n",
    ),
    (
        "vegeta's JSON",
        "{\"attack\":\"a\"}\n",
        "{\"attack\":\"a\",\"seq\":1,\"code\":200,\"timestamp\":\"2026-11-22T11:47:14.787926537Z\",\"latency\":6604590,\"bytes_out\":0,\"bytes_in\":12,\"error\":\"\"}\n",
    ),
    (
        "hey's CSV",
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n",
        "0.1,0,0,0,0,0,200,0.1\n",
    ),
    (
        "oha's CSV",
        "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n",
        "0.1,0,0,0,0.1,5,200\n",
    ),
    (
        "an interval log of HdrHistogram",
        "#[Histogram log format version 1.3]\n",
        "0.127,1.007,2.769,HISTFAAAAC14nJNpmSzMwMDAzAABMJoRTM2Y1mD/ASLwnwkAT3MFRA==\n",
    ),
    (
        "AIPerf's records",
        "{\"metadata\":{\"request_start_ns\":1759813207532900363,\"request_end_ns\":1759813207838764604,\"benchmark_phase\":\"warmup\"},\"metrics\":{}}\n",
        "{\"metadata\":{\"request_start_ns\":1759813207532900363,\"request_end_ns\":1759813207838764604,\"benchmark_phase\":\"profiling\",\"was_cancelled\":true},\"metrics\":{\"inter_chunk_latency\":{\"value\":[1.5,2],\"unit\":\"ms\"}},\"error\":{\"code\":499,\"type\":\"t\",\"message\":\"\\\"m\\\"\"}}\n",
    ),
];

const GATLING: &str = "\0\0\0\0\u{6}3.13.5\0\0\0\0\u{3}Sim\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Each format with what its logs begin with, and one of its records.
fn formats() -> impl Iterator<Item = (&'static Format, &'static str, &'static str)> {
    FORMATS.into_iter().zip(BEGINNINGS).map(|(format, (name, beginning, record))| {
        assert_eq!(format.name, name, "each format is in the list");
        assert!((format.recognises)(beginning.as_bytes()), "{name}");
        (format, beginning, record)
    })
}

#[test]
fn records_of_every_format_take_linear_time() {
    for (format, beginning, record) in formats() {
        let name = format.name;
        check(&format!("{name}: records"), behind(beginning, |size| repeated(record, size)), |log| {
            read(format, log)
        });
        check(&format!("{name}: beginnings"), |size| repeated(beginning, size), |log| read(format, log));
        // One that is cut at each place, so that quotes and brackets are never closed.
        for cut in record.char_indices().map(|(at, _)| at).step_by(7).skip(1) {
            let line = format!("{}\n", &record[..cut]);
            let make = behind(beginning, |size| repeated(&line, size / 4));
            check(&format!("{name}: records cut at {cut}"), make, |log| read(format, log));
        }
    }
}

#[test]
fn any_bytes_as_any_format_take_linear_time() {
    let pieces = [
        "\n",
        "x",
        "x\n",
        ",",
        "\t",
        "\"",
        "a,\"\n",
        "\"a\"a,\"\n",
        "[",
        "{\"a\":",
        "{}\n",
        "<",
        "\0",
        "1",
        "\u{ff}",
    ];
    for (format, beginning, record) in formats() {
        for piece in pieces {
            let name = format!("{}: {piece:?}", format.name);
            let make =
                |size: usize| [beginning.as_bytes(), record.as_bytes(), &repeated(piece, size / 2)].concat();
            check(&name, make, |log| read(format, log));
        }
    }
}

#[test]
fn samples_of_xml_may_be_broken_in_every_way() {
    let begin = BEGINNINGS[0].1;
    let sample = "<sample t=\"1\" ts=\"1795348785951\" s=\"true\" lb=\"a\">";
    let lines = [
        "<httpSample t=\"1\" ts=\"1795000001000\" s=\"true\" lb=\"a\n",
        "<sample>",
        "<sample/>",
        "<sample><![CDATA[",
        "<sample><!--",
        "<![CDATA[",
        "<!--",
        "<?",
        "<?xml ?><sample>",
        "<testResults><sample>",
        "<sample a='",
        "<sample><failureMessage>&",
        "<sample><java.net.URL>&amp;",
        "<a>",
        "</a>",
        "<sample lb=\"&\"",
        "&",
        "\u{feff}",
        "<sample a=\"\" a=\"\"/>",
    ];
    for line in lines {
        let read = |log: &[u8]| read(FORMATS[0], log);
        check(&format!("lines of {line}"), behind(begin, |size| repeated(line, size)), read);
        let within = format!("{begin}{sample}");
        check(
            &format!("lines of {line} within a sample"),
            behind(&within, |size| repeated(line, size)),
            read,
        );
        let attributes = format!("{begin}<sample t=\"1\" ");
        check(&format!("{line} in a tag"), behind(&attributes, |size| repeated(line, size)), read);
        let message = format!("{begin}{sample}<assertionResult><failureMessage>");
        check(&format!("{line} in a message"), behind(&message, |size| repeated(line, size)), read);
    }
    let read = |log: &[u8]| read(FORMATS[0], log);
    let whole = |size: usize| [repeated("<sample>", size / 2), repeated("</sample>", size / 2)].concat();
    check("samples within each other that end", behind(begin, whole), read);
    check(
        "attributes",
        behind(begin, |size| [b"<sample ", &*repeated("a=\"b\" ", size), b"/>"].concat()),
        read,
    );
}

#[test]
fn names_of_gatling_may_be_long_and_named_often() {
    let binary = FORMATS[2];
    let number = |number: i32| number.to_be_bytes().to_vec();
    let name =
        |at: i32, length: usize| [number(at), number(length as i32), vec![b'n'; length], vec![0]].concat();
    let end = |message: Vec<u8>| [number(5), number(9), vec![1], message].concat();
    let begin = |length: usize| {
        let first = [vec![1], number(0), name(1, length), end([number(2), number(0)].concat())].concat();
        [GATLING.as_bytes().to_vec(), first].concat()
    };
    let known = [vec![1], number(0), number(-1), end(number(-2))].concat();
    let requests = |size: usize| [begin(5_000), known.repeat(size / known.len())].concat();
    check("requests of a long name", requests, |log| read(binary, log));
    let deep = |size: usize| {
        let groups = size / 64;
        let request =
            [vec![1], number(groups as i32), number(-1).repeat(groups), number(-1), end(number(-2))].concat();
        [begin(5_000), request.repeat(size / request.len())].concat()
    };
    check("requests in many groups", deep, |log| read(binary, log));
    let errors = |size: usize| {
        let error = |at: i32| [vec![4], number(at), number(0), number(7)].concat();
        [begin(1), (3..size as i32 / 13).flat_map(error).collect()].concat()
    };
    check("errors that all differ", errors, |log| read(binary, log));
    let late = |size: usize| {
        let error = |at: i32| [vec![4], number(i32::MAX - at), number(0), number(7)].concat();
        [begin(1), (3..size as i32 / 13).flat_map(error).collect()].concat()
    };
    check("errors in no order", late, |log| read(binary, log));
}

#[test]
fn results_of_vegeta_may_come_in_any_order() {
    let result = |attack: u64, number: u64, start: u64, took: u64| {
        format!("{},200,{took},0,12,,,{attack},{number},GET,http://a/,\n", 1_795_348_034_787_926_537 + start)
    };
    let read = |log: &[u8]| read(FORMATS[6], log);
    let check_all = |name: &str, line: &dyn Fn(u64) -> String| check(name, |size| numbered(size, line), read);
    check_all("in the order of their ends", &|n| result(0, n, n * 1000, 5000));
    check_all("in the order of their starts", &|n| result(0, n, n, 1_000_000_000 - n * 1000));
    check_all("from the last to the first", &|n| result(0, 100_000 - n, 1_000_000_000 - n * 1000, 5000));
    check_all("in no order", &|n| {
        result(0, n, n.wrapping_mul(7919) % 100_003, n.wrapping_mul(104_729) % 1_000_003)
    });
    check_all("attacks that all differ", &|n| result(n, n, n, 5000));
    check_all("many attacks", &|n| result(n % 1000, n, n, 1_000_000_000 - n * 1000));
}

#[test]
fn values_of_aiperf_may_be_deep_and_texts_long() {
    let (_, begin, record) = BEGINNINGS[11];
    let read = |log: &[u8]| read(FORMATS[11], log);
    let (before, after) = record.split_once("[1.5,2]").unwrap();
    for piece in ["[", "[],", "1,", "{\"value\":"] {
        let make = |size: usize| {
            [begin.as_bytes(), before.as_bytes(), b"[", &repeated(piece, size), b"0]", after.as_bytes()]
                .concat()
        };
        check(&format!("chunks of {piece}"), make, read);
    }
    let (before, after) = record.split_once("\\\"m\\\"").unwrap();
    for piece in ["\\\"", "\\u0041", "x"] {
        let make = |size: usize| {
            [begin.as_bytes(), before.as_bytes(), &repeated(piece, size), after.as_bytes()].concat()
        };
        check(&format!("a message of {piece}"), make, read);
        let messages = |n: u64| format!("{before}{n}{piece}{after}");
        check(
            &format!("messages of {piece} that all differ"),
            behind(begin, |size| numbered(size, messages)),
            read,
        );
    }
}

#[test]
fn intervals_may_be_of_one_moment_and_hold_little_or_much() {
    let begin = format!("{}#[StartTime: 1795348000.000 (seconds since epoch)]\n", BEGINNINGS[10].1);
    let read = |log: &[u8]| read(FORMATS[10], log);
    let histogram = BEGINNINGS[10].2.trim_end().rsplit_once(',').unwrap().1;
    let lines: [(&str, &dyn Fn(u64) -> String); 5] = [
        ("tags", &|n| format!("Tag=t{n},0.127,1.007,2.769,{histogram}\n")),
        ("moments", &|n| format!("{n}.127,1.007,2.769,{histogram}\n")),
        ("moments backwards", &|n| format!("{}.127,1.007,2.769,{histogram}\n", 10_000_000 - n)),
        ("times", &|n| format!("#[StartTime: {n}.000 (seconds since epoch)]\n")),
        ("comments", &|n| format!("#{n}\n")),
    ];
    for (name, line) in lines {
        check(name, behind(&begin, |size| numbered(size, line)), read);
    }
}
