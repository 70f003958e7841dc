//! What a reader of each tool's log of requests must get right, held against figures that another program computed from the
//! log, and against the counts of the server that answered.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::support::*;

/// The log of a tool.
struct Log {
    file: &'static str,
    /// Successes and failures of each second since the first start.
    seconds: &'static [(i64, i64)],
    /// p50, p95 and p99 of the successes, in ms.
    percentiles: [f64; 3],
    /// What the ingest has to say.
    told: &'static str,
}

const LOGS: [Log; 12] = [
    Log {
        file: "vegeta/results.csv.gz",
        seconds: &[(136, 15), (135, 15), (135, 15), (134, 15), (135, 16), (135, 15), (135, 15), (134, 15)],
        percentiles: [5.470_636, 9.951_474, 15.660_495],
        told: "",
    },
    Log {
        file: "vegeta/results.json.gz",
        seconds: &[(136, 15), (135, 15), (135, 15), (134, 15), (135, 16), (135, 15), (135, 15), (134, 15)],
        percentiles: [5.470_636, 9.951_474, 15.660_495],
        told: "",
    },
    Log {
        file: "h2load/clean.log",
        seconds: &[(1726, 0), (1274, 0)],
        percentiles: [9.112, 11.93, 14.528_13],
        told: "",
    },
    // 913 requests began: 14 on connections that were reset are in no row.
    Log {
        file: "h2load/failures.log",
        seconds: &[(812, 87)],
        percentiles: [5.452_5, 10.493_65, 11.561_92],
        told: "",
    },
    Log {
        file: "gatling/3.9.5.log",
        seconds: &[(36, 2), (88, 6), (125, 9), (122, 9), (132, 9), (120, 9), (82, 6), (36, 2), (1, 1)],
        percentiles: [6.0, 14.0, 26.18],
        told: "",
    },
    Log {
        file: "gatling/3.13.5.log",
        seconds: &[(36, 2), (90, 6), (126, 10), (129, 9), (131, 9), (119, 9), (80, 5), (35, 3), (3, 0)],
        percentiles: [6.0, 12.0, 24.52],
        told: "",
    },
    // 2,414 rows, with stamps in whole seconds: by the second of the end less the duration.
    Log {
        file: "k6/metrics.csv.gz",
        seconds: &[(10, 1), (19, 2), (31, 3), (40, 5), (37, 4), (40, 4), (2, 1), (1, 0)],
        percentiles: [5.217_104, 11.873_758, 20.671_455],
        told: "whole seconds",
    },
    Log {
        file: "k6/metrics.json.gz",
        seconds: &[(11, 1), (23, 2), (35, 4), (35, 4), (37, 4), (38, 5), (1, 0)],
        percentiles: [5.217_104, 11.873_758, 20.671_455],
        told: "",
    },
    Log {
        file: "hey/clean.csv",
        seconds: &[(1400, 0), (1592, 0)],
        percentiles: [9.3, 18.545, 31.336],
        told: "without an answer",
    },
    // 6 of 2000 timed out, and are in no row.
    Log {
        file: "hey/failures.csv",
        seconds: &[(1208, 131), (517, 55), (75, 8)],
        percentiles: [7.95, 19.425, 45.406],
        told: "without an answer",
    },
    // AIPerf reports 254 requests and 46 errors.
    Log {
        file: "aiperf/profile_export.jsonl.gz",
        seconds: &[(34, 8), (30, 7), (32, 7), (32, 5), (35, 6), (38, 7), (33, 4), (20, 2)],
        percentiles: [99.664_5, 170.999_05, 1_085.519_68],
        told: "warmed the server up",
    },
    // 31 of 2000 had no answer, and are in no row.
    Log {
        file: "oha/failures.csv",
        seconds: &[(1382, 148), (395, 44)],
        percentiles: [8.015, 15.232_8, 20.249_28],
        told: "without an answer",
    },
];

fn path(file: &str) -> String {
    fixture(&format!("other/{file}")).to_str().unwrap().to_owned()
}

/// That a figure is what was printed, to its last digit.
#[track_caller]
fn assert_figure(summary: &Value, name: &str, printed: &str) {
    let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    let (found, expected) = (summary[name].as_f64().unwrap(), printed.parse::<f64>().unwrap());
    assert!(
        (found - expected).abs() <= 0.501 * 0.1f64.powi(digits as i32),
        "{name} {found} is not {printed}"
    );
}

/// The numbers of successes and failures of each second since the first request, which a group of requests may begin before.
fn by_second(samples: &[HashMap<String, String>]) -> Vec<(i64, i64)> {
    let requests = || samples.iter().filter(|sample| sample["transaction"] == "false");
    let ms = |sample: &HashMap<String, String>| sample["t_ms"].parse::<i64>().unwrap();
    let first = requests().map(ms).min().unwrap();
    let mut seconds = BTreeMap::<i64, (i64, i64)>::new();
    for sample in requests() {
        let (successes, failures) = seconds.entry((ms(sample) - first) / 1000).or_default();
        *(if sample["success"] == "true" { successes } else { failures }) += 1;
    }
    seconds.into_values().collect()
}

#[test]
fn logs_have_the_figures_that_were_computed_elsewhere() {
    let store = Store::embedded();
    for log in LOGS {
        let said = store.run(&["ingest", &path(log.file), "--framework", log.file, "--test", "t"]).said();
        assert_told(&said, &[log.told]);
        let key = Key::new(log.file, "t");
        let found = by_second(&rows(&store.export(&key, "samples", "csv", &[])));
        assert_eq!(found, log.seconds, "{}", log.file);
        let summary = store.summary(&key, &["--percentiles", "50,95,99"]);
        for (name, ms) in ["p50", "p95", "p99"].into_iter().zip(log.percentiles) {
            // A time in ns is counted in whole µs.
            let found = summary[name].as_f64().unwrap();
            assert!((found - ms).abs() < 0.000_501, "{}: {name} {found} for {ms}", log.file);
        }
    }
}

/// 12 of the 1,200 requests timed out after 1,002 ms, so that the p99 of all stands at a cliff: vegeta's own report says 583.6 ms,
/// and over the successes alone it is 15.66 ms.
#[test]
fn percentiles_of_vegeta_are_exact_with_and_without_failures() {
    let store = Store::embedded();
    let key = Key::new("go", "t");
    store.run(&["ingest", &path("vegeta/results.csv.gz"), "--framework", "go", "--test", "t"]).said();
    let of = |flags: &[&str]| store.summary(&key, &[&["--percentiles", "99"], flags].concat());
    assert_figure(&of(&["--include-failures"]), "p99", "41.3");
    assert_figure(&of(&[]), "p99", "15.66");
    let report = ["--framework", "vegeta", "--test", "t"];
    store.run(&[&["ingest", &path("vegeta/report.json")], &report[..]].concat()).said();
    let points =
        rows(&store.run(&["export", "--test", "t", "--framework", "vegeta", "--what", "points"]).text());
    let estimated: f64 = points[0]["p99_ms"].parse().unwrap();
    assert!((estimated - 583.6).abs() < 0.05, "{estimated}");
}

/// One test of JMeter, as XML with few fields and with all, and as CSV. Its transactions are not requests.
#[test]
fn logs_of_jmeter_have_requests_and_transactions() {
    let store = Store::embedded();
    for file in ["jmeter/min.xml", "jmeter/full.xml.gz", "jmeter/same.csv"] {
        store.run(&["ingest", &path(file), "--framework", file, "--test", "t"]).said();
        let key = Key::new(file, "t");
        let with = |flags: &[&str]| store.summary(&key, &[&["--percentiles", "50,95,99"], flags].concat());
        let requests = with(&[]);
        assert_eq!((count(&requests, "successes"), count(&requests, "failures")), (461, 19), "{file}");
        let all = with(&["--transactions"]);
        assert_eq!((count(&all, "successes"), count(&all, "failures")), (461 + 221, 19 + 19), "{file}");
        let samples = rows(&store.export(&key, "samples", "csv", &[]));
        assert_eq!(by_second(&samples), [(29, 1), (59, 2), (102, 4), (170, 8), (76, 3), (25, 1)]);
        for (name, printed) in [("p50", "11"), ("p95", "137"), ("p99", "582.4")] {
            assert_figure(&requests, name, printed);
        }
    }
}

/// k6 writes a row for each metric: nine a request, and others.
#[test]
fn rows_of_k6_are_gathered_into_requests() {
    let packed = std::fs::read(fixture("other/k6/metrics.csv.gz")).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text).unwrap();
    assert_eq!(text.lines().count() - 1, 2414, "rows below the header");
    let store = Store::embedded();
    let log = store.file("metrics.csv", &text);
    store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    let summary = store.summary(&Key::new("go", "t"), &[]);
    let counts = ["successes", "failures", "rejects"].map(|name| count(&summary, name));
    assert_eq!(counts, [180, 20, 0], "of 200 requests");
}
