//! AIPerf's `profile_export.jsonl`: a line of JSON for each request to a model.
//!
//! ```text
//! {"metadata":{"session_num":0,…,"request_start_ns":1759813207532900363,…,"request_end_ns":1759813207838764604,
//! …,"benchmark_phase":"profiling","was_cancelled":false,…},"metrics":{…,"request_latency":{"value":297.5,"unit":"ms"},
//! "time_to_first_token":{"value":255.9,"unit":"ms"},…},"error":null}
//! ```
//!
//! A request that failed has an error, and none of these metrics.

use std::borrow::Cow;

use serde::Deserialize;

use super::fields::LogColumn;
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::RejectCause;
use super::rows::{ConvertedRows, MS, RequestRow};
use perfpipe_model::sample::resolution::Resolution;

/// The records.
pub(super) const FORMAT: Format = Format {
    name: "AIPerf's records",
    tool: Some("aiperf"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::ResponseCode,
        LogColumn::Success,
        LogColumn::FailureMessage,
        LogColumn::Latency,
        LogColumn::Connect,
        LogColumn::Bytes,
        LogColumn::SentBytes,
    ],
    recognises,
    note,
    by_workers: false,
    converter: || Box::new(LineByLine::new(RequestRecords::default())),
};

/// What a line has that no other file of AIPerf has: its raw records have the same metadata, but no metrics.
const PARTS: [&[u8]; 3] = [b"\"request_start_ns\":", b"\"benchmark_phase\":", b"\"metrics\":"];

fn recognises(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    line.starts_with(b"{\"metadata\":{") && PARTS.into_iter().all(has)
}

/// The phase of requests that warm the server up.
const WARM_UP: &str = "warmup";

fn note(head: &[u8]) -> Option<&'static str> {
    let warms_up = memchr::memmem::find(head, b"\"benchmark_phase\":\"warmup\"").is_some();
    Some(if warms_up { FAILURES_AND_WARM_UP } else { FAILURES })
}

const FAILURES: &str = "a request that was answered with an error has a response time of 0 where AIPerf wrote \
                        its start as its end";
const FAILURES_AND_WARM_UP: &str = "a request that was answered with an error has a response time of 0 where \
                                    AIPerf wrote its start as its end; the requests that warmed the server up are \
                                    left out, as in AIPerf's own figures";

/// The record of a request. More fields may be added later.
#[derive(Debug, Deserialize)]
struct RequestRecord<'a> {
    #[serde(borrow)]
    metadata: RecordMetadata<'a>,
    #[serde(borrow, default)]
    metrics: Option<RecordMetrics<'a>>,
    #[serde(borrow, default)]
    error: Option<RecordError<'a>>,
}

#[derive(Debug, Deserialize)]
struct RecordMetadata<'a> {
    request_start_ns: i64,
    request_end_ns: i64,
    #[serde(borrow)]
    benchmark_phase: Cow<'a, str>,
    #[serde(default)]
    was_cancelled: bool,
}

#[derive(Debug, Default, Deserialize)]
struct RecordMetrics<'a> {
    #[serde(borrow, default)]
    request_latency: Option<MetricValue<'a>>,
    #[serde(borrow, default)]
    time_to_first_token: Option<MetricValue<'a>>,
    #[serde(borrow, default)]
    http_req_connecting: Option<MetricValue<'a>>,
    #[serde(borrow, default)]
    http_req_data_received: Option<MetricValue<'a>>,
    #[serde(borrow, default)]
    http_req_data_sent: Option<MetricValue<'a>>,
}

#[derive(Debug, Deserialize)]
struct MetricValue<'a> {
    value: f64,
    #[serde(borrow)]
    unit: Cow<'a, str>,
}

/// The units that a metric may have, with the ns of each.
const TIMES: [(&str, f64); 4] = [("ms", 1e6), ("ns", 1.0), ("us", 1e3), ("sec", 1e9)];

/// The same with the bytes of each.
const SIZES: [(&str, f64); 4] = [("KB", 1024.0), ("B", 1.0), ("MB", 1_048_576.0), ("GB", 1_073_741_824.0)];

impl MetricValue<'_> {
    /// Returns the value by the unit that it has; `None` for an unknown one, and for what is no time or size.
    fn of(&self, units: &[(&str, f64)]) -> Option<i64> {
        let (_, unit) = units.iter().find(|(name, _)| *name == self.unit)?;
        let value = (self.value * unit).round();
        // What is below has an exact integer.
        (0.0..9e18).contains(&value).then_some(value as i64)
    }
}

#[derive(Debug, Deserialize)]
struct RecordError<'a> {
    #[serde(default)]
    code: Option<i64>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
}

/// The reason of a request that was cancelled without an error.
const CANCELLED: &str = "cancelled";

/// The records of one log.
#[derive(Debug, Default)]
struct RequestRecords {
    failure: String,
}

impl ConvertLine for RequestRecords {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        let Ok(record) = serde_json::from_slice::<RequestRecord<'_>>(line) else {
            return rows.reject(RejectCause::Unknown, None, line);
        };
        if record.metadata.benchmark_phase != WARM_UP {
            self.push(&record, line, rows);
        }
    }
}

impl RequestRecords {
    fn push(&mut self, record: &RequestRecord<'_>, line: &[u8], rows: &mut ConvertedRows) {
        let RecordMetadata { request_start_ns: start, request_end_ns: end, was_cancelled, .. } =
            record.metadata;
        let none = RecordMetrics::default();
        let metrics = record.metrics.as_ref().unwrap_or(&none);
        let time = |metric: &Option<MetricValue<'_>>| metric.as_ref()?.of(&TIMES);
        let size = |metric: &Option<MetricValue<'_>>| metric.as_ref()?.of(&SIZES);
        // The metric ends with the last token, the record with the end of the answer, or with the failure.
        let elapsed = match &metrics.request_latency {
            Some(latency) => latency.of(&TIMES),
            None => end.checked_sub(start).filter(|ns| *ns >= 0),
        };
        let Some(elapsed_ns) = elapsed else {
            return rows.reject(RejectCause::Number(LogColumn::Elapsed), None, line);
        };
        self.failure.clear();
        self.describe(record.error.as_ref(), was_cancelled);
        let mut code = itoa::Buffer::new();
        let status = record.error.as_ref().and_then(|error| error.code);
        rows.push(&RequestRow {
            start_ms: start.div_euclid(MS),
            beyond_ns: start.rem_euclid(MS),
            elapsed_ns,
            latency_ns: time(&metrics.time_to_first_token),
            connect_ns: time(&metrics.http_req_connecting),
            response_code: status.map_or(b"", |status| code.format(status).as_bytes()),
            success: record.error.is_none() && !was_cancelled,
            failure_message: self.failure.as_bytes(),
            bytes: size(&metrics.http_req_data_received),
            sent_bytes: size(&metrics.http_req_data_sent),
            ..RequestRow::default()
        });
    }

    /// Writes why a request failed: the kind of its error and the message.
    fn describe(&mut self, error: Option<&RecordError<'_>>, was_cancelled: bool) {
        let texts = error.map(|error| [error.kind.as_deref(), error.message.as_deref()]);
        for text in texts.into_iter().flatten().flatten().filter(|text| !text.is_empty()) {
            if !self.failure.is_empty() {
                self.failure.push_str(": ");
            }
            self.failure.push_str(text);
        }
        if self.failure.is_empty() && was_cancelled {
            self.failure.push_str(CANCELLED);
        }
    }
}
