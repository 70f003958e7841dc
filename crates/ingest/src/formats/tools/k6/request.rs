//! Gathers a request from the lines of its metrics, which stand together and begin with `http_reqs`. A call of gRPC has one
//! line, `grpc_req_duration`.

use crate::formats::tools::rows::{Row, Rows};
use crate::formats::tools::told::Wrong;

/// A line: a value of a metric, with the tags of its request.
#[derive(Debug, Default)]
pub(super) struct Metric<'a> {
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

/// The request that is gathered, and the load.
#[derive(Debug, Default)]
pub(super) struct Requests {
    gathered: Option<Gathered>,
    /// The number of virtual users that was told last.
    users: Option<i64>,
}

#[derive(Debug, Default)]
struct Gathered {
    end_ns: i64,
    duration: Option<i64>,
    sending: i64,
    waiting: i64,
    connecting: i64,
    /// k6's verdict, if it tells one.
    failed: Option<bool>,
    /// True for a call of gRPC, whose status 0 is that of success.
    is_grpc: bool,
    label: Vec<u8>,
    status: Vec<u8>,
    error: Vec<u8>,
    url: Vec<u8>,
}

impl Requests {
    /// Takes a line. A request is written with the last of its lines, or when another one begins.
    pub(super) fn take(&mut self, metric: &Metric<'_>, rows: &mut Rows) {
        match metric.name {
            b"http_reqs" => {
                self.end(rows);
                self.gathered = Some(Gathered::new(metric));
            }
            b"http_req_duration" => {
                if let Some(gathered) = &mut self.gathered {
                    gathered.duration = Some(metric.value);
                }
            }
            b"http_req_sending" => self.set(metric, |gathered| &mut gathered.sending),
            b"http_req_waiting" => self.set(metric, |gathered| &mut gathered.waiting),
            b"http_req_connecting" => self.set(metric, |gathered| &mut gathered.connecting),
            b"http_req_failed" => {
                if let Some(gathered) = &mut self.gathered {
                    gathered.failed = Some(metric.value != 0);
                }
                self.end(rows);
            }
            b"grpc_req_duration" => {
                self.end(rows);
                let failed = Some(!matches!(metric.status, b"0" | b"") || !metric.error.is_empty());
                let gathered =
                    Gathered { duration: Some(metric.value), failed, is_grpc: true, ..Gathered::new(metric) };
                gathered.write(self.users, rows);
            }
            b"vus" => self.users = Some(metric.value / ONE),
            _ => {}
        }
    }

    fn set(&mut self, metric: &Metric<'_>, place: fn(&mut Gathered) -> &mut i64) {
        if let Some(gathered) = &mut self.gathered {
            *place(gathered) = metric.value;
        }
    }

    /// Writes the request that was gathered.
    pub(super) fn end(&mut self, rows: &mut Rows) {
        if let Some(gathered) = self.gathered.take() {
            gathered.write(self.users, rows);
        }
    }
}

impl Gathered {
    fn new(metric: &Metric<'_>) -> Self {
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

    fn write(&self, users: Option<i64>, rows: &mut Rows) {
        let Some(duration) = self.duration else {
            return rows.reject(Wrong::Cut, None, &self.label);
        };
        let answered = self.is_grpc || !matches!(self.status.as_slice(), b"" | b"0");
        let usual = matches!(self.status.first(), Some(b'2' | b'3'));
        // Sending begins when the connection is there.
        let start_ns = self.end_ns.saturating_sub(duration);
        rows.push(&Row {
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
            ..Row::default()
        });
    }
}
