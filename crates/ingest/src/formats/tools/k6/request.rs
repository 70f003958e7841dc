//! Assembles a request from the lines of its metrics, which are consecutive and begin with `http_reqs`. A call of gRPC has
//! one line, `grpc_req_duration`.

use crate::formats::tools::rejects::RejectCause;
use crate::formats::tools::rows::{ConvertedRows, RequestRow};

/// A line: a value of a metric, with the tags of its request.
#[derive(Debug, Default)]
pub(super) struct MetricLine<'a> {
    pub(super) name: &'a [u8],
    /// The end of the request, ns since 1970.
    pub(super) end_ns: i64,
    /// The value in millionths: of a time in ms, it is in ns.
    pub(super) value: i64,
    pub(super) label: &'a [u8],
    pub(super) status: &'a [u8],
    pub(super) error: &'a [u8],
    pub(super) error_code: &'a [u8],
    pub(super) url: &'a [u8],
}

/// The millionths of a 1.
const ONE: i64 = 1_000_000;

/// Assembles requests, and keeps the load.
#[derive(Debug, Default)]
pub(super) struct RequestAssembler {
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
    pub(super) fn add(&mut self, metric: &MetricLine<'_>, rows: &mut ConvertedRows) {
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
    pub(super) fn end(&mut self, rows: &mut ConvertedRows) {
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
