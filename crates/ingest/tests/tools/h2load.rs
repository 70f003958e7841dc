//! h2load's log.

use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::run::Resolution;

use crate::support::*;

#[test]
fn log_has_the_counts_of_the_server() {
    let log = read(&fixture("h2load/clean.log"));
    assert_eq!((log.outcomes(), log.done.info.resolution), ((3000, 0), Resolution::MICROSECOND));
    for (percent, ms) in [(50.0, 9.112), (90.0, 10.6652), (95.0, 11.93), (99.0, 14.52813), (99.9, 24.844_003)]
    {
        assert!((log.percentile(percent) - ms).abs() < 1e-6, "{percent}: {}", log.percentile(percent));
    }
    assert!((log.mean() - 9.280_324).abs() < 1e-6);
    let failing = read(&fixture("h2load/failures.log"));
    assert_eq!((failing.outcomes(), failing.by_second()), ((812, 87), vec![(812, 87)]));
    assert!((failing.percentile(50.0) - 5.4525).abs() < 1e-6);
}

#[test]
fn failed_stream_is_a_failure_and_bad_lines_are_rejected() {
    let text = "1795347889514196\t200\t8154\n1795347889514200\t-1\t90\n1795347889514300\t404\t10\textra\nsoon\t200\t5\n1795347889514400\t200\n";
    let (_folder, file) = written("h2load.log", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 2), 2));
    assert_eq!(log.samples[0].elapsed, 8154);
}

/// What the log does not tell is told as missing, and nothing of it as not kept.
#[test]
fn inspection_names_the_columns_of_the_format() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let files = [fixture("h2load/failures.log")];
    let found = runtime.block_on(perfpipe_ingest::inspect(&files, &IngestOptions::default())).unwrap();
    let log = &found.logs[0];
    assert_eq!(log.ignored_columns, [""; 0]);
    assert!(log.missing_columns.iter().any(|column| column.name == "label"));
    assert!(!log.missing_columns.iter().any(|column| column.name == "responseCode"));
}
