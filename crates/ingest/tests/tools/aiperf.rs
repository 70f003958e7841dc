//! AIPerf's records of requests.

use perfpipe_ingest::SampleBatch;
use perfpipe_ingest::run::{RejectReason, Resolution};
use perfpipe_ingest::{IngestOptions, stream};

use crate::support::*;

const LOG: &str = "aiperf/profile_export.jsonl.gz";

/// AIPerf reports 254 requests and 46 errors, beside the 20 requests that warmed the server up.
#[test]
fn log_has_the_counts_of_the_server_without_the_warm_up() {
    let log = read(&fixture(LOG));
    assert_eq!((log.outcomes(), log.done.info.resolution), ((254, 46), Resolution::MICROSECOND));
    for (percent, ms) in [(50.0, 99.6645), (95.0, 170.999_05), (99.0, 1_085.519_68)] {
        assert!((log.percentile(percent) - ms).abs() < 1e-6, "{percent}: {}", log.percentile(percent));
    }
    assert!((log.mean() - 123.417_583).abs() < 1e-6, "{}", log.mean());
    let seconds = [(34, 8), (30, 7), (32, 7), (32, 5), (35, 6), (38, 7), (33, 4), (20, 2)];
    assert_eq!(log.by_second(), seconds);
    assert_eq!((log.done.info.t0_ms, log.done.info.rejects), (1_796_055_007_587, 0));
    // Neither a worker nor a session is a label.
    assert_eq!(log.labels(), [(String::new(), 300)]);
    assert!(log.samples.iter().all(|sample| sample.threads.is_none()), "the load is not in the log");
}

/// The batches of a log.
fn batches(file: &std::path::Path) -> Vec<SampleBatch> {
    let (send, received) = std::sync::mpsc::channel();
    let sink = move |batch: SampleBatch| {
        send.send(batch).unwrap();
        Ok(())
    };
    let options = IngestOptions::default().with_framework("f").with_test("t");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (_, _done) = runtime.block_on(stream(sink, &[file.to_owned()], &options)).unwrap();
    received.into_iter().collect()
}

/// The sum of the values of a column, and how many there are.
fn sum<T: Copy + Into<i64>>(
    batches: &[SampleBatch],
    value: impl Fn(&SampleBatch, usize) -> Option<T>,
) -> (i64, usize) {
    let values = || batches.iter().flat_map(|batch| (0..batch.len()).filter_map(|at| value(batch, at)));
    (values().map(Into::into).sum(), values().count())
}

#[test]
fn first_token_is_the_latency_and_failures_have_neither_times_nor_bytes() {
    let batches = batches(&fixture(LOG));
    assert_eq!(sum(&batches, |batch, at| batch.latency.get(at)), (18_029_060, 254));
    assert_eq!(sum(&batches, |batch, at| batch.connect.get(at)), (600_751, 254));
    assert_eq!(sum(&batches, |batch, at| batch.bytes.get(at)), (512_612, 254));
    assert_eq!(sum(&batches, |batch, at| batch.sent_bytes.get(at)), (45_466, 254));
    let codes = |code: &str| {
        let is_code = |batch: &SampleBatch, at: usize| {
            (!batch.success[at] && batch.response_code.get(at).unwrap_or_default() == code).then_some(1)
        };
        sum(&batches, is_code).1
    };
    // A connection that was reset has no code.
    assert_eq!(["500", "499", ""].map(codes), [24, 10, 12]);
}

#[test]
fn blocks_of_any_size_have_the_same_samples() {
    let whole = read(&fixture(LOG)).samples;
    for block_size in [1, 1000, 40_000] {
        assert_eq!(read_by(&fixture(LOG), block_size).samples, whole, "by {block_size}");
    }
}

#[test]
fn warm_up_and_missing_ends_are_noted() {
    let notes = |log: &Log| log.done.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let log = read(&fixture(LOG));
    assert!(notes(&log).contains("warmed the server up are left out"), "{}", notes(&log));
    let (_folder, file) = written("profile_export.jsonl", record(METADATA, "{}", "").as_bytes());
    let log = read(&file);
    assert!(notes(&log).contains("wrote its start as its end"), "{}", notes(&log));
    assert!(!notes(&log).contains("warmed"), "{}", notes(&log));
}

/// What the metadata of a record has at least.
const METADATA: &str = "\"session_num\":1,\"request_start_ns\":1759813207532900363,\"request_end_ns\":1759813207838764604,\
                        \"worker_id\":\"w\",\"benchmark_phase\":\"profiling\"";

fn record(metadata: &str, metrics: &str, more: &str) -> String {
    format!("{{\"metadata\":{{{metadata}}},\"metrics\":{metrics}{more}}}\n")
}

/// 0.1 writes what is absent as null, and other versions have other fields. This text has its names, but no tool wrote it.
#[test]
fn earlier_and_later_versions_are_read() {
    let times = "{\"request_latency\":{\"value\":297.525,\"unit\":\"ms\"},\"time_to_first_token\":{\"value\":255886,\"unit\":\"us\"},\
                 \"inter_chunk_latency\":{\"value\":[4.8,5.3],\"unit\":\"ms\"}}";
    let nulls = format!("{METADATA},\"was_cancelled\":false,\"cancellation_time_ns\":null");
    let cancelled = METADATA.to_owned() + ",\"was_cancelled\":true,\"later\":{\"a\":[1]}";
    let text = [
        record(&nulls, times, ",\"error\":null"),
        record(METADATA, "null", ",\"error\":{\"code\":null,\"type\":null,\"message\":\"m\"}"),
        record(&cancelled, "{}", ",\"trace_data\":{}"),
        record(METADATA, "{\"request_latency\":{\"value\":0.5,\"unit\":\"sec\"}}", ""),
    ];
    let (_folder, file) = written("profile_export.jsonl", text.concat().as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((2, 2), 0));
    // Without the metric, a request lasts until its end.
    let elapsed: Vec<i32> = log.samples.iter().map(|sample| sample.elapsed).collect();
    assert_eq!(elapsed, [297_525, 305_864, 305_864, 500_000]);
    assert_eq!(sum(&batches(&file), |batch, at| batch.latency.get(at)), (255_886, 1));
}

#[test]
fn bad_records_are_rejected_and_other_files_are_not_recognised() {
    let good = record(METADATA, "{}", "");
    let unit = record(METADATA, "{\"request_latency\":{\"value\":1,\"unit\":\"fortnights\"}}", "");
    let backwards = METADATA.replace("\"request_end_ns\":1759813207838764604", "\"request_end_ns\":1");
    let text = [&good, &unit, &record(&backwards, "{}", ""), "{\"metadata\":{}}\n", "{\"meta", "\n", &good];
    let (_folder, file) = written("profile_export.jsonl", text.concat().as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((2, 0), 4));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let files = [file];
    let found = runtime.block_on(perfpipe_ingest::inspect(&files, &IngestOptions::default())).unwrap();
    let codes: Vec<_> = found.first_rejects.iter().map(|reject| (reject.line, reject.code.clone())).collect();
    let (number, unknown) = (RejectReason::NotANumber { column: "elapsed" }, RejectReason::UnknownRecord);
    let expected = [(2, &number), (3, &number), (4, &unknown), (5, &unknown)];
    assert_eq!(codes, expected.map(|(line, reason)| (line, Some(reason.code().to_owned()))));
    // Raw records have the same metadata, and no metrics.
    let raw = good.replace("\"metrics\":{}", "\"responses\":[]");
    let (_folder, file) = written("profile_export_raw.jsonl", raw.as_bytes());
    assert!(read_with(&file, IngestOptions::default()).is_err());
}
