//! k6's `--out csv` and `--out json`: a line for each metric of a request.
//!
//! A request is assembled from the lines of its metrics, which are consecutive and begin with `http_reqs`. A call of gRPC
//! has one line, `grpc_req_duration`.

use std::borrow::Cow;

use serde::Deserialize;

use super::fields::{LineFields, LogColumn};
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::RejectCause;
use super::rows::{ConvertedRows, RequestRow};
use crate::date::rfc3339_ns;
use crate::number::{decimal, parse_i64};
use perfpipe_model::sample::resolution::Resolution;

/// The columns that k6 reports.
const COLUMNS: &[LogColumn] = &[
    LogColumn::TimeStamp,
    LogColumn::Elapsed,
    LogColumn::Label,
    LogColumn::ResponseCode,
    LogColumn::Success,
    LogColumn::FailureMessage,
    LogColumn::AllThreads,
    LogColumn::Latency,
    LogColumn::Connect,
    LogColumn::Url,
];

/// The CSV, whose columns are named in the header, since some can be disabled.
pub(super) const CSV: Format = Format {
    name: "k6's CSV",
    tool: Some("k6"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"metric_name,timestamp,metric_value"),
    note,
    by_workers: false,
    converter: || Box::new(LineByLine::new(CsvMetrics::default())),
};

/// The digits of a present moment in seconds.
const SECONDS: usize = 10;

fn note(head: &[u8]) -> Option<&'static str> {
    let second = head.split(|byte| *byte == b'\n').nth(1)?;
    let stamp = second.split(|byte| *byte == b',').nth(1)?;
    // RFC 3339 has a fraction only if it is not 0.
    let is_whole = stamp.len() == SECONDS || stamp.contains(&b'T') && !stamp.contains(&b'.');
    is_whole.then_some(
        "its stamps are whole seconds, of the ends of requests: starts are known to a second only, and figures by \
         second are those of neighbouring seconds too; K6_CSV_TIME_FORMAT=unix_micro makes k6 write them exactly",
    )
}

#[derive(Debug, Default)]
struct CsvMetrics {
    positions: ColumnPositions,
    fields: LineFields,
    requests: RequestAssembler,
}

/// The number of columns, and the indexes of those that are read.
#[derive(Debug, Default)]
struct ColumnPositions {
    columns: usize,
    name: Option<usize>,
    status: Option<usize>,
    error: Option<usize>,
    error_code: Option<usize>,
    url: Option<usize>,
}

impl ColumnPositions {
    fn of(header: &LineFields) -> Self {
        let place = |name: &str| (0..header.len()).find(|at| header.get(*at) == name.as_bytes());
        Self {
            columns: header.len(),
            name: place("name"),
            status: place("status"),
            error: place("error"),
            error_code: place("error_code"),
            url: place("url"),
        }
    }
}

/// Returns true for a line that begins with a metric and a moment.
fn begins(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| *byte == b',');
    let metric = fields.next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_moment = |stamp: &[u8]| stamp.len() >= SECONDS && moment_of(stamp).is_some();
    !metric.is_empty() && metric.iter().all(is_name) && fields.next().is_some_and(is_moment)
}

impl ConvertLine for CsvMetrics {
    const BEGINS: Option<fn(&[u8]) -> bool> = Some(begins);

    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        self.fields.split_csv(line);
        // The first three columns are those by which the format is recognised.
        let [metric, stamp, value] = [0, 1, 2].map(|at| self.fields.get(at));
        if metric == b"metric_name" {
            self.positions = ColumnPositions::of(&self.fields);
            return;
        }
        if self.fields.len() != self.positions.columns {
            let cause = RejectCause::Fields {
                found: self.fields.len() as u64,
                expected: self.positions.columns as u64,
            };
            return rows.reject(cause, None, line);
        }
        let Some(end_ns) = moment_of(stamp) else {
            return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(stamp), line);
        };
        let Some(value) = decimal(value, 6) else {
            return rows.reject(RejectCause::Number(LogColumn::Elapsed), Some(value), line);
        };
        let field = |at: Option<usize>| at.map_or(&b""[..], |at| self.fields.get(at));
        let metric = MetricLine {
            name: metric,
            end_ns,
            value,
            label: field(self.positions.name),
            status: field(self.positions.status),
            error: field(self.positions.error),
            error_code: field(self.positions.error_code),
            url: field(self.positions.url),
        };
        self.requests.add(&metric, rows);
    }

    fn end(&mut self, rows: &mut ConvertedRows) {
        self.requests.end(rows);
    }
}

/// Reads a moment in any of k6's formats as ns since 1970.
fn moment_of(text: &[u8]) -> Option<i64> {
    let Some(number) = parse_i64(text) else { return rfc3339_ns(std::str::from_utf8(text).ok()?) };
    // Present moments have 10 digits in seconds, 13 in ms, 16 in µs and 19 in ns.
    let unit = match text.len() {
        ..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1000,
        _ => 1,
    };
    number.checked_mul(unit)
}

/// The lines of JSON.
pub(super) const JSON: Format = Format {
    name: "k6's JSON",
    tool: Some("k6"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
        line.starts_with(b"{")
            && has(b"\"data\":{")
            && (has(b"\"type\":\"Metric\"") || has(b"\"type\":\"Point\""))
    },
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(JsonMetrics::default())),
};

#[derive(Debug, Default)]
struct JsonMetrics {
    requests: RequestAssembler,
}

#[derive(Debug, Deserialize)]
struct JsonLine<'a> {
    #[serde(borrow)]
    metric: Cow<'a, str>,
    #[serde(borrow)]
    data: JsonPoint<'a>,
}

/// A value. A line that declares a metric has its declaration in that place.
#[derive(Debug, Deserialize)]
struct JsonPoint<'a> {
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(default)]
    value: f64,
    #[serde(borrow, default)]
    tags: Option<JsonTags<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct JsonTags<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    error_code: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

impl ConvertLine for JsonMetrics {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        let Ok(JsonLine { metric, data }) = serde_json::from_slice::<JsonLine<'_>>(line) else {
            return rows.reject(RejectCause::Unknown, None, line);
        };
        let Some(time) = data.time else { return };
        let Some(end_ns) = rfc3339_ns(&time) else {
            return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(time.as_bytes()), line);
        };
        let tags = data.tags.unwrap_or_default();
        let metric = MetricLine {
            name: metric.as_bytes(),
            end_ns,
            value: (data.value * 1e6).round() as i64,
            label: tags.name.as_bytes(),
            status: tags.status.as_bytes(),
            error: tags.error.as_bytes(),
            error_code: tags.error_code.as_bytes(),
            url: tags.url.as_bytes(),
        };
        self.requests.add(&metric, rows);
    }

    fn end(&mut self, rows: &mut ConvertedRows) {
        self.requests.end(rows);
    }
}

/// A line: a value of a metric, with the tags of its request.
#[derive(Debug, Default)]
struct MetricLine<'a> {
    name: &'a [u8],
    /// The end of the request, ns since 1970.
    end_ns: i64,
    /// The value in millionths: of a time in ms, it is in ns.
    value: i64,
    label: &'a [u8],
    status: &'a [u8],
    error: &'a [u8],
    error_code: &'a [u8],
    url: &'a [u8],
}

/// The millionths of a 1.
const ONE: i64 = 1_000_000;

/// Assembles requests, and keeps the load.
#[derive(Debug, Default)]
struct RequestAssembler {
    pending: Option<PendingRequest>,
    /// The number of virtual users that was reported last.
    users: Option<i64>,
}

#[derive(Debug, Default)]
struct PendingRequest {
    end_ns: i64,
    duration: Option<i64>,
    sending: i64,
    waiting: i64,
    connecting: i64,
    /// k6's verdict, if it reports one.
    failed: Option<bool>,
    /// True for a call of gRPC, whose status 0 is that of success.
    is_grpc: bool,
    label: Vec<u8>,
    status: Vec<u8>,
    error: Vec<u8>,
    url: Vec<u8>,
}

impl RequestAssembler {
    /// Adds a line. A request is written with the last of its lines, or when another one begins.
    fn add(&mut self, metric: &MetricLine<'_>, rows: &mut ConvertedRows) {
        match metric.name {
            b"http_reqs" => {
                self.end(rows);
                self.pending = Some(PendingRequest::new(metric));
            }
            b"http_req_duration" => {
                if let Some(pending) = &mut self.pending {
                    pending.duration = Some(metric.value);
                }
            }
            b"http_req_sending" => self.set(metric, |pending| &mut pending.sending),
            b"http_req_waiting" => self.set(metric, |pending| &mut pending.waiting),
            b"http_req_connecting" => self.set(metric, |pending| &mut pending.connecting),
            b"http_req_failed" => {
                if let Some(pending) = &mut self.pending {
                    pending.failed = Some(metric.value != 0);
                }
                self.end(rows);
            }
            b"grpc_req_duration" => {
                self.end(rows);
                let failed = Some(!matches!(metric.status, b"0" | b"") || !metric.error.is_empty());
                let pending = PendingRequest {
                    duration: Some(metric.value),
                    failed,
                    is_grpc: true,
                    ..PendingRequest::new(metric)
                };
                pending.write(self.users, rows);
            }
            b"vus" => self.users = Some(metric.value / ONE),
            _ => {}
        }
    }

    fn set(&mut self, metric: &MetricLine<'_>, place: fn(&mut PendingRequest) -> &mut i64) {
        if let Some(pending) = &mut self.pending {
            *place(pending) = metric.value;
        }
    }

    /// Writes the pending request.
    fn end(&mut self, rows: &mut ConvertedRows) {
        if let Some(pending) = self.pending.take() {
            pending.write(self.users, rows);
        }
    }
}

impl PendingRequest {
    fn new(metric: &MetricLine<'_>) -> Self {
        let error = if metric.error.is_empty() { metric.error_code } else { metric.error };
        Self {
            end_ns: metric.end_ns,
            label: metric.label.to_vec(),
            status: metric.status.to_vec(),
            error: error.to_vec(),
            url: metric.url.to_vec(),
            ..Self::default()
        }
    }

    fn write(&self, users: Option<i64>, rows: &mut ConvertedRows) {
        let Some(duration) = self.duration else {
            return rows.reject(RejectCause::Cut, None, &self.label);
        };
        let answered = self.is_grpc || !matches!(self.status.as_slice(), b"" | b"0");
        let usual = matches!(self.status.first(), Some(b'2' | b'3'));
        // Sending begins when the connection is there.
        let start_ns = self.end_ns.saturating_sub(duration);
        rows.push(&RequestRow {
            start_ms: start_ns.div_euclid(ONE),
            beyond_ns: start_ns.rem_euclid(ONE),
            elapsed_ns: duration,
            label: &self.label,
            response_code: if answered { &self.status } else { b"" },
            success: self.failed.map_or(usual, |failed| !failed),
            failure_message: &self.error,
            threads: users,
            latency_ns: (!self.is_grpc).then(|| self.sending.saturating_add(self.waiting)),
            connect_ns: (!self.is_grpc).then_some(self.connecting),
            url: &self.url,
            ..RequestRow::default()
        });
    }
}
