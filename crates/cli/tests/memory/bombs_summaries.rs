//! Summaries of load tools that are made to take much.

use std::path::Path;

use crate::bombs::{Bomb, number, packed, repeat};

const SWEEP: &[&str] = &["sweep", "bomb.gz", "--framework", "f", "--test", "t", "--format", "csv"];
const INGEST: &[&str] = &["ingest", "bomb.gz", "--framework", "f", "--test", "t"];

const fn bomb(name: &'static str, write: fn(&Path)) -> Bomb {
    Bomb { name, write, command: SWEEP, codes: &[0, 1, 2, 3] }
}

/// The bytes of the longest summaries that are read.
const LONGEST: usize = (16 << 20) - (64 << 10);

/// An output among the fixtures.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/other").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The first line of an output again and again.
fn first_line(folder: &Path, name: &str) {
    let line = fixture(name).lines().next().unwrap_or_default().to_owned() + "\n";
    packed(folder, "bomb.gz", |out| repeat(out, &line, LONGEST - (64 << 10)));
}

/// The first line of an output, so often as there may be outputs.
fn some_lines(folder: &Path, name: &str) {
    let line = fixture(name).lines().next().unwrap_or_default().to_owned() + "\n";
    packed(folder, "bomb.gz", |out| out.write_all(line.repeat(19_000).as_bytes()).unwrap());
}

/// A whole output again and again.
fn outputs(folder: &Path, name: &str) {
    packed(folder, "bomb.gz", |out| {
        let text = fixture(name) + "\n";
        (0..LONGEST / text.len()).for_each(|_| out.write_all(text.as_bytes()).unwrap());
    });
}

/// A JSON object with so many bytes of something else at its end.
fn json(folder: &Path, name: &str, other: &str, bytes: usize) {
    packed(folder, "bomb.gz", |out| {
        let text = fixture(name);
        let (before, behind) = text.split_at(text.rfind('}').unwrap());
        write!(out, "{before},\"other\":[").unwrap();
        repeat(out, other, bytes);
        write!(out, "{}]{behind}", other.trim_end_matches(',')).unwrap();
    });
}

/// A text below a first line.
fn below(folder: &Path, first: &str, text: &str, bytes: usize) {
    packed(folder, "bomb.gz", |out| {
        writeln!(out, "{first}").unwrap();
        repeat(out, text, bytes);
    });
}

pub(crate) const BOMBS: &[Bomb] = &[
    bomb("ab: its first line", |folder| first_line(folder, "ab/http500.txt")),
    Bomb {
        command: INGEST,
        ..bomb("ab: its first line, stored", |folder| first_line(folder, "ab/http500.txt"))
    },
    bomb("ab: 19,000 first lines", |folder| some_lines(folder, "ab/http500.txt")),
    Bomb {
        command: INGEST,
        ..bomb("ab: 19,000 first lines, stored", |folder| some_lines(folder, "ab/http500.txt"))
    },
    bomb("ab: outputs", |folder| outputs(folder, "ab/http500.txt")),
    bomb("ab: percentiles", |folder| {
        packed(folder, "bomb.gz", |out| {
            out.write_all(fixture("ab/http500.txt").as_bytes()).unwrap();
            repeat(out, "1% 1\n", LONGEST - (128 << 10));
        });
    }),
    bomb("vegeta's text: its first line", |folder| first_line(folder, "vegeta/report.text")),
    bomb("vegeta's text: outputs", |folder| outputs(folder, "vegeta/report.text")),
    bomb("wrk: its first line", |folder| first_line(folder, "wrk/drop.txt")),
    bomb("wrk: outputs", |folder| outputs(folder, "wrk/drop.txt")),
    bomb("wrk2: outputs", |folder| outputs(folder, "wrk2/clean.out")),
    bomb("wrk's dump: latencies that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            write!(out, "Running 1s test @ http://a/\n  1 threads and 1 connections\n  9 requests in 1.00s, 1KB read\nRequests/sec: 9\nWRKJSON {{\"duration_us\":1,\"requests\":1,\"timeout\":0,\"counts\":[").unwrap();
            number(out, 0..1_200_000, |n| format!("[{n},{}],", 1_200_000 - n));
            writeln!(out, "[1200001,1]]}}").unwrap();
        });
    }),
    bomb("weighttp: outputs", |folder| outputs(folder, "weighttp/failures.out")),
    bomb("hey: outputs", |folder| outputs(folder, "hey/failures-summary.out")),
    bomb("hey: statuses", |folder| {
        below(folder, "Summary:\n Total: 1 secs\nRequests/sec: 1", "[1]1\n", LONGEST - (1 << 17))
    }),
    bomb("oha's text: outputs", |folder| outputs(folder, "oha/failures-text.out")),
    bomb("h2load: outputs", |folder| outputs(folder, "h2load/failures.out")),
    bomb("bombardier's text: outputs", |folder| outputs(folder, "bombardier/plain.out")),
    bomb("bombardier: its first line", |folder| first_line(folder, "bombardier/plain.out")),
    bomb("hgrm: rows", |folder| below(folder, "Value Percentile TotalCount", "1 1 1\n", LONGEST - (1 << 17))),
    bomb("Locust's table: rows", |folder| {
        below(folder, "Type,Name,Request Count", ",\n", LONGEST - (1 << 17))
    }),
    bomb("Locust's table: a row of many cells", |folder| {
        below(folder, "Type,Name,Request Count", ",", LONGEST - (1 << 17))
    }),
    bomb("Locust's history: rows", |folder| {
        below(folder, "Timestamp,User Count,Type,Name", "1,1,,Aggregated\n", LONGEST - (1 << 17))
    }),
    bomb("siege's log: 19,000 rows", |folder| {
        let row = "2026-11-22 11:44:53, 240, 0.19, 0, 0.01, 1263.16, 0.00, 11.95, 240, 0\n";
        packed(folder, "bomb.gz", |out| out.write_all(row.repeat(19_000).as_bytes()).unwrap());
    }),
    bomb("siege's log: rows", |folder| {
        let row = "2026-11-22 11:44:53, 240, 0.19, 0, 0.01, 1263.16, 0.00, 11.95, 240, 0\n";
        packed(folder, "bomb.gz", |out| repeat(out, row, LONGEST - (64 << 10)));
    }),
    bomb("commands", |folder| {
        packed(folder, "bomb.gz", |out| repeat(out, "wrk -c 64 http://a/\n", LONGEST - (64 << 10)));
    }),
    bomb("lines of nothing", |folder| {
        below(folder, "wrk -c 64 http://a/\nRunning 1s test @ http://a/\n", "\n", 200 << 20)
    }),
    bomb("lines of nothing, not too many", |folder| {
        below(folder, "wrk -c 64 http://a/\nRunning 1s test @ http://a/\n", "\n", LONGEST - (1 << 17));
    }),
    bomb("bytes that are no text", |folder| {
        packed(folder, "bomb.gz", |out| {
            writeln!(out, "Running 1s test @ http://a/").unwrap();
            (0..LONGEST >> 16).for_each(|_| out.write_all(&[0xff; 1 << 16]).unwrap());
        });
    }),
    bomb("ab -g beside its summary", |folder| {
        std::fs::write(folder.join("bomb.txt"), fixture("ab/http500.txt")).unwrap();
        packed(folder, "bomb.gz", |out| {
            writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait").unwrap();
            number(out, 0..12_000_000, |n| format!("a\t1\t1\t1\t{n}\t1\n"));
        });
    }),
    bomb("oha's JSON: zeros", |folder| json(folder, "oha/failures-json.out", "0,", 64 << 20)),
    bomb("oha's JSON: zeros, not too many", |folder| {
        json(folder, "oha/failures-json.out", "0,", LONGEST - (1 << 20))
    }),
    bomb("k6's JSON: zeros", |folder| json(folder, "k6/handleSummary.json", "0,", LONGEST - (1 << 20))),
    bomb("k6's JSON: objects", |folder| json(folder, "k6/summary-export.json", "{},", LONGEST - (1 << 20))),
    bomb("k6's JSON: names that all differ", |folder| {
        packed(folder, "bomb.gz", |out| {
            let text = fixture("k6/summary-export.json");
            let (before, behind) = text.split_at(text.rfind('}').unwrap());
            out.write_all(before.as_bytes()).unwrap();
            number(out, 0..1_400_000, |n| format!(",\"{n}\":1"));
            out.write_all(behind.as_bytes()).unwrap();
        });
    }),
    bomb("autocannon's JSON: zeros", |folder| {
        json(folder, "autocannon/failures.out", "0,", LONGEST - (1 << 20))
    }),
    bomb("bombardier's JSON: zeros", |folder| {
        json(folder, "bombardier/clean.out", "0,", LONGEST - (1 << 20))
    }),
    bomb("artillery's JSON: zeros", |folder| {
        json(folder, "artillery/report.json", "0,", LONGEST - (1 << 20))
    }),
    bomb("vegeta's JSON: zeros", |folder| json(folder, "vegeta/report.json", "0,", LONGEST - (1 << 20))),
    bomb("siege's JSON: zeros", |folder| json(folder, "siege/failures.out", "0,", LONGEST - (1 << 20))),
    bomb("Locust's JSON: zeros", |folder| json(folder, "locust/run.json", "0,", LONGEST - (1 << 20))),
    bomb("Locust's JSON: many seconds", |folder| {
        packed(folder, "bomb.gz", |out| {
            write!(out, "[{{\"num_reqs_per_sec\":{{").unwrap();
            number(out, 0..1_200_000, |n| format!("\"{n}\":1,"));
            write!(out, "\"1\":1}},\"num_fail_per_sec\":{{}},\"response_times\":{{}},\"num_requests\":1,\"num_failures\":0}}]").unwrap();
        });
    }),
];
