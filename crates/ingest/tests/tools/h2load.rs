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
    // By exact starts since the first one, which is 0.994 ms beyond a whole ms.
    assert_eq!(log.by_second(), [(1726, 0), (1274, 0)]);
    let failing = read(&fixture("h2load/failures.log"));
    assert_eq!((failing.outcomes(), failing.by_second()), ((812, 87), vec![(812, 87)]));
    assert!((failing.percentile(50.0) - 5.4525).abs() < 1e-6);
}

/// Whole ms since the first start are those between the exact moments, wherever the first start stands.
#[test]
fn moments_count_from_the_exact_first_start() {
    let starts =
        [1_795_347_889_514_700_i64, 1_795_347_889_514_196, 1_795_347_889_515_195, 1_795_347_889_515_196];
    let text: String = starts.iter().map(|start| format!("{start}\t200\t8154\n")).collect();
    let (_folder, file) = written("h2load.log", text.as_bytes());
    for log in [read(&file), read_by(&file, 1)] {
        let ms: Vec<i64> = log.samples.iter().map(|sample| sample.t_ms).collect();
        assert_eq!(ms, starts.map(|start| (start - starts[1]) / 1000));
        assert_eq!(log.done.info.t0_ms, starts[1] / 1000);
    }
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
