//! hey's and oha's CSV, which have no clock.

use std::path::PathBuf;

use perfpipe_ingest::{ErrorKind, IngestOptions};

use crate::support::*;

/// When the tools began, in epoch ms.
const BEGIN: i64 = 1_795_347_884_603;

fn since(begin: i64) -> IngestOptions {
    IngestOptions::default().with_origin(begin)
}

/// CPU readings of ten seconds from this epoch second on.
fn cpu(folder: &tempfile::TempDir, from: i64) -> PathBuf {
    let rows: String = (from..from + 10).map(|clock| format!("{clock},{}\n", 50 + clock % 10)).collect();
    let path = folder.path().join("cpu.csv");
    std::fs::write(&path, format!("clock,value\n{rows}")).unwrap();
    path
}

#[test]
fn logs_have_the_counts_of_the_answers() {
    for (name, outcomes, seconds, percentiles, mean) in [
        ("hey/clean.csv", (2992, 0), vec![(1400, 0), (1592, 0)], [9.3, 18.545, 31.336], 10.311_898),
        (
            "hey/failures.csv",
            (1800, 194),
            vec![(1208, 131), (517, 55), (75, 8)],
            [7.95, 19.425, 45.406],
            9.198_833,
        ),
        ("oha/clean.csv", (3000, 0), vec![(1766, 0), (1234, 0)], [9.1065, 14.9741, 24.32899], 9.768_699),
        (
            "oha/failures.csv",
            (1777, 192),
            vec![(1382, 148), (395, 44)],
            [8.015, 15.2328, 20.24928],
            8.538_272,
        ),
    ] {
        let log = read(&fixture(name));
        assert_eq!((log.outcomes(), log.by_second()), (outcomes, seconds), "{name}");
        for (percent, ms) in [50.0, 95.0, 99.0].into_iter().zip(percentiles) {
            let found = log.percentile(percent);
            assert!((found - ms).abs() < 1e-6, "{name}, {percent}: {found}");
        }
        assert!((log.mean() - mean).abs() < 1e-6, "{name}: {}", log.mean());
        let unit = if name.starts_with("hey") { "100us" } else { "1us" };
        assert_eq!((log.done.info.resolution.to_string().as_str(), log.done.info.rejects), (unit, 0));
        assert!(log.samples.iter().all(|sample| sample.threads.is_none()), "the load is not in the log");
    }
}

#[test]
fn missing_failures_and_the_missing_clock_are_told() {
    for name in ["hey/failures.csv", "oha/failures.csv"] {
        let notes = |options| -> Vec<String> {
            let done = read_with(&fixture(name), options).unwrap().done;
            done.notes.iter().map(ToString::to_string).collect()
        };
        let told = notes(IngestOptions::default());
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("without an answer") && told[1].contains("has no clock"), "{told:?}");
        let told = notes(since(BEGIN));
        assert_eq!(told.len(), 1, "{told:?}");
    }
}

#[test]
fn origin_is_the_moment_of_the_begin() {
    let file = fixture("oha/clean.csv");
    let (without, with) = (read(&file), read_with(&file, since(BEGIN)).unwrap());
    assert_eq!((without.done.info.t0_ms, with.done.info.t0_ms), (5, BEGIN + 5));
    assert_eq!(without.samples, with.samples);
    assert_eq!(with.done.info.last_ms - with.done.info.t0_ms, without.done.info.last_ms - 5);
}

#[test]
fn samples_are_the_same_in_blocks_of_any_size() {
    for name in ["hey/failures.csv", "oha/failures.csv"] {
        let whole = read(&fixture(name)).samples;
        for block_size in [1, 1000] {
            assert_eq!(read_by(&fixture(name), block_size).samples, whole, "{name} by {block_size}");
        }
    }
}

#[test]
fn readings_of_the_cpu_need_the_moment_of_the_begin() {
    let folder = tempfile::tempdir().unwrap();
    let files = [fixture("hey/clean.csv"), cpu(&folder, BEGIN / 1000)];
    let error = read_files(&files, IngestOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoClock);
    assert!(error.to_string().contains("hey/clean.csv") && error.to_string().contains("cpu.csv"), "{error}");
    assert!(error.remedy().unwrap().contains("origin"), "{error:?}");
    let log = read_files(&files, since(BEGIN)).unwrap();
    assert_eq!((log.done.cpu_seconds, log.done.info.seconds), (2, 2));
}

#[test]
fn log_with_a_clock_needs_the_moment_too() {
    let jtl = format!("timeStamp,elapsed,label,success\n{},5,Get,true\n", BEGIN + 1000);
    let (_folder, jtl) = written("run.csv", jtl.as_bytes());
    let files = [fixture("hey/clean.csv"), jtl];
    let coarse = |mut options: IngestOptions| {
        options.source.layout.resolution = Some("1ms".parse().unwrap());
        options
    };
    let error = read_files(&files, coarse(IngestOptions::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoClock);
    let log = read_files(&files, coarse(since(BEGIN))).unwrap();
    assert_eq!((log.outcomes(), log.done.info.t0_ms), ((2993, 0), BEGIN));
}

#[test]
fn origin_in_another_unit_is_refused() {
    let error = read_with(&fixture("hey/clean.csv"), since(BEGIN / 1000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoClock);
    assert!(error.to_string().contains("only in seconds"), "{error}");
}

const HEY: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";
const OHA: &str = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n";

#[test]
fn bad_rows_are_rejected_with_their_lines() {
    let good = "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,200,0.0158";
    let bad = [
        "NaN,0.0006,0.0000,0.0004,0.0059,0.0002,200,0.0158",
        "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,200",
        "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,200,0.0158,1",
        "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,200,92233720368547758070",
        "-0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,200,0.0158",
        "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,OK,0.0158",
        "0.0070,0.0006,0.0000,0.0004,0.0059,0.0002,99999999999999999999,0.0158",
        "0.0070,x,0.0000,0.0004,0.0059,0.0002,200,0.0158",
        "0.0070,0.0006,0.0",
    ];
    let text = format!("{HEY}{good}\r\n{}\n", bad.join("\n"));
    let (_folder, file) = written("hey.csv", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 0), 9));
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("NaN"), "{error}");
    let rows = "0.5,0,0,0.006,0.007,12,200\n0.6,0,0,0.006,inf,12,200\n0.7,0,0,0.006,0.007,,200\n1e300,0,0,1,2,3,200\n";
    let (_folder, file) = written("oha.csv", format!("{OHA}{rows}").as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 0), 3));
}

#[test]
fn second_run_in_a_log_is_not_laid_over_the_first() {
    let row = "0.5,0,0,0.006,0.007,12,200\n";
    let (_folder, file) = written("oha.csv", [OHA, row, row, OHA, row].concat().as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((2, 0), 2));
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err().to_string();
    assert!(error.contains("line 4") && error.contains("second run"), "{error}");
}

#[test]
fn header_alone_is_no_run() {
    for header in [HEY, OHA.trim_end()] {
        let (_folder, file) = written("log.csv", header.as_bytes());
        let error = read_with(&file, IngestOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoRecords, "{error}");
    }
}
