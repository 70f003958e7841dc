//! The worst shapes of summaries.

use super::{behind, check, numbered, repeated};
use crate::summaries::fixtures::{FORMS, path};
use crate::summaries::keys::{PointNames, named_points};
use crate::summaries::sections;
use crate::summaries::tools::ab::AbFile;
use perfpipe_model::points::Figures;

/// Reads summaries, and names their points.
fn read(text: &[u8]) {
    let found = sections(text);
    let names = PointNames { framework: Some("f".into()), test: Some("t".into()), ..PointNames::default() };
    let _ = named_points(&[("file".to_owned(), &found.sections)], &names);
}

fn output(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(path(name)).unwrap()).into_owned()
}

#[test]
fn every_output_may_begin_again_and_again() {
    for name in FORMS {
        let text = output(name);
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(3) {
            check(&format!("{name}, the line {line}"), |size| repeated(&format!("{line}\n"), size), read);
        }
        check(name, |size| repeated(&format!("{text}\n"), size), read);
    }
}

#[test]
fn every_output_may_be_followed_by_its_lines() {
    for name in FORMS {
        let text = output(name);
        let lines: Vec<&str> = text.lines().filter(|line| line.len() > 3).collect();
        // Each of them by itself is too much for each test run.
        let some = lines.iter().step_by(lines.len() / 4 + 1);
        for line in some {
            let make = behind(&text, |size| repeated(&format!("{line}\n"), size));
            check(&format!("{name} and the line {line}"), make, read);
        }
    }
}

#[test]
fn json_may_begin_on_every_line() {
    for line in [
        "[",
        "{",
        "[{",
        "{\"a\":",
        "{}",
        "[\n{}\n]",
        "{\"a\":[[[[",
        "{\"a\":\"",
        "[{\"num_reqs_per_sec\":{},",
        "{\"summary\":{},\n",
    ] {
        check(&format!("lines of {line}"), |size| repeated(&format!("{line}\n"), size), read);
        let shape =
            behind("{\"summary\":{\"requestsPerSec\":1},\n", |size| repeated(&format!("{line}\n"), size));
        check(&format!("oha's beginning and lines of {line}"), shape, read);
    }
    let nested = |size: usize| [repeated("[\n", 200), repeated("1,\n", size - 200)].concat();
    check("a long list within many", nested, read);
}

#[test]
fn json_may_be_long_in_every_place() {
    for name in FORMS.iter().filter(|name| output(name).contains('{')) {
        let text = output(name);
        let (before, after) = text.split_at(text.find('{').unwrap() + 1);
        for (what, other) in [("zeros", "0,"), ("objects", "{},"), ("brackets", "[")] {
            let make = |size: usize| {
                let others = repeated(other, size);
                [before.as_bytes(), b"\"other\":[", &others, b"0],", after.as_bytes()].concat()
            };
            check(&format!("{name} with {what}"), make, read);
        }
        let make = |size: usize| {
            let others = numbered(size, |number| format!("\"{number}\":{number},"));
            [before.as_bytes(), &others, after.as_bytes()].concat()
        };
        check(&format!("{name} with names that all differ"), make, read);
    }
}

#[test]
fn counts_of_wrk_may_all_differ() {
    let begin = "Running 1s test @ http://a/\n  1 threads and 1 connections\n  9 requests in 1.00s, 1KB read\n\
                 Requests/sec: 9\nWRKJSON {\"duration_us\":1,\"requests\":1,\"timeout\":0,\"counts\":[";
    // Each latency was added to all that are shorter.
    let counts = |size: usize| {
        let many = size as u64 / 16;
        numbered(size, |number| format!("[{},{}],", number + 2, many.saturating_sub(number).max(1)))
    };
    let make = behind(begin, |size| [counts(size), b"[9000000,1]]}\n".to_vec()].concat());
    check("wrk's dump", make, read);
}

#[test]
fn lines_may_be_endless_or_empty_or_commands() {
    for text in [
        "a",
        "\n",
        "wrk -c 64 http://a/\n",
        "wrk ",
        "a b ",
        ",",
        "\"",
        "1% 1\n",
        "[1]1\n",
        "\u{1}",
        "1 1 1\n",
    ] {
        check(text, |size| repeated(text, size), read);
        for begin in [
            "wrk -c 64 http://a/",
            "Running 1s test @ http://a/\n",
            "Bombarding ",
            "Summary:\n Total: 1 secs\n",
            "Value Percentile TotalCount\n",
            "Type,Name,Request Count\n",
            "Timestamp,User Count,Type,Name\n",
        ] {
            check(&format!("{text} behind {begin}"), behind(begin, |size| repeated(text, size)), read);
        }
    }
    check("bytes that are no text", |size| vec![0xff; size], read);
}

#[test]
fn files_of_ab_may_be_long() {
    let refine = |text: &[u8]| {
        let _ = AbFile::of(text).unwrap().refine(&mut &*text, &mut Figures::default()).unwrap();
    };
    for line in ["0,1\n", "\n", "x", "a\t1\t1\t1\t7\t1\n"] {
        for begin in ["Percentage served,Time in ms\n", "starttime\tseconds\tctime\tdtime\tttime\twait\n"] {
            check(&format!("{line} below {begin}"), behind(begin, |size| repeated(line, size)), refine);
        }
    }
    let all =
        behind("starttime\tseconds\tctime\n", |size| numbered(size, |n| format!("a\t1\t1\t1\t{n}\t1\n")));
    check("times that all differ", all, refine);
}
