//! The output of converters: requests and rejects, packed one after another.

pub mod decode;
pub mod form;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub mod oracle;

use self::frame::{LineFrame, PackedFrame, PackedRequest};
use super::rejects::{RejectCause, RejectedRecord};
use crate::histogram::Histogram;
use crate::jtl::blocks::{KEPT, RECORD_LIMIT};
use crate::work_count;
use perfpipe_model::sample::resolution::Resolution;

pub use self::frame::last_end;

/// A request, or a transaction. What its format does not report is empty or `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestRow<'a> {
    /// The start, epoch ms.
    pub start_ms: i64,
    /// How far the start is beyond that, in ns, less than a ms.
    pub beyond_ns: i64,
    /// The response time, in ns.
    pub elapsed_ns: i64,
    /// The time to the first byte, in ns.
    pub latency_ns: Option<i64>,
    /// The time to connect, in ns.
    pub connect_ns: Option<i64>,
    /// Its label.
    pub label: &'a [u8],
    /// Its response code.
    pub response_code: &'a [u8],
    /// The verdict of the tool.
    pub success: bool,
    /// Why it failed; empty if it did not.
    pub failure_message: &'a [u8],
    /// The active users.
    pub threads: Option<i64>,
    /// The bytes that were received.
    pub bytes: Option<i64>,
    /// The bytes that were sent.
    pub sent_bytes: Option<i64>,
    /// Its URL.
    pub url: &'a [u8],
    /// True for a record of several requests as a whole.
    pub is_transaction: bool,
    /// The requests of an interval, in a log without single ones. The row is then the interval, and its response
    /// time the length.
    pub histogram: Option<&'a Histogram>,
}

/// The number of ns in a ms.
pub const MS: i64 = 1_000_000;

/// Converted records, and the position in the log from which they come.
#[derive(Debug)]
pub struct ConvertedRows {
    /// The unit in which times are written.
    resolution: Resolution,
    /// True if lines that are complete records are passed on as they are.
    pub keeps_lines: bool,
    /// What is added to the starts, in ms.
    pub begin_ms: i64,
    /// How far the log's first start is beyond a whole ms, in ns: all starts are written too early by it. Thus whole
    /// ms since the first start are whole ms between the exact moments.
    early_ns: i64,
    /// The first start so far: epoch ms, and ns beyond it.
    first: Option<(i64, i64)>,
    /// The records that were not read yet.
    pub bytes: Vec<u8>,
    /// The number of bytes from which on no more records are wanted for now: a few bytes of a log may expand to many, as
    /// those that refer to a name do.
    pub enough: usize,
    /// The line of the log, from 1, and the byte, from 0, at which the next record begins.
    pub place: (u64, u64),
    /// The line that is written next, from 1. Each record has a line of its own.
    line: u64,
}

impl ConvertedRows {
    /// Creates rows of a log in this unit.
    pub fn new(resolution: Resolution) -> Self {
        Self {
            resolution,
            keeps_lines: false,
            begin_ms: 0,
            early_ns: 0,
            first: None,
            bytes: Vec::new(),
            enough: usize::MAX,
            place: (1, 0),
            line: 1,
        }
    }

    /// Returns true if no more records are wanted before these are read.
    #[inline]
    pub fn are_enough(&self) -> bool {
        self.bytes.len() >= self.enough
    }

    /// Copies how far the first start is beyond a whole ms from other rows of the same log.
    pub fn begin_with(&mut self, others: &Self) {
        self.early_ns = others.first.map_or(0, |(_, beyond_ns)| beyond_ns);
    }

    /// Writes a request. Inlined, so that what a format never reports costs nothing.
    #[inline(always)]
    pub fn push(&mut self, row: &RequestRow<'_>) {
        let texts = [row.label, row.response_code, row.failure_message, row.url];
        let length = texts.iter().map(|text| text.len()).fold(0, usize::saturating_add);
        work_count::count(length + 1);
        if length > RECORD_LIMIT / 2 {
            return self.reject(RejectCause::Long, None, row.label);
        }
        let start = (row.start_ms, row.beyond_ns);
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        let mut histogram = Vec::new();
        row.histogram.into_iter().for_each(|found| found.write(&mut histogram));
        let request = PackedRequest { histogram: &histogram, ..self.request(row) };
        let (skipped, byte) = self.next_line();
        request.write(skipped, byte, &mut self.bytes);
    }

    /// Returns a request as it is written, without its histogram.
    #[inline(always)]
    fn request<'a>(&self, row: &RequestRow<'a>) -> PackedRequest<'a> {
        let start_ms = row.start_ms.saturating_sub(i64::from(row.beyond_ns < self.early_ns));
        // A time that is too long for its column is written as it is, and rejected when it is decoded.
        let time = |ns: i64| self.resolution.of_ns(ns);
        PackedRequest {
            start_ms: start_ms.saturating_add(self.begin_ms),
            elapsed: time(row.elapsed_ns),
            latency: row.latency_ns.map(time),
            connect: row.connect_ns.map(time),
            label: row.label,
            response_code: row.response_code,
            success: row.success,
            failure_message: row.failure_message,
            threads: row.threads,
            bytes: row.bytes,
            sent_bytes: row.sent_bytes,
            url: row.url,
            histogram: b"",
            is_transaction: row.is_transaction,
        }
    }

    /// Writes whole lines of the log as they are, and continues after them.
    pub(super) fn keep(&mut self, lines: &[u8]) {
        let (skipped, byte) = self.next_line();
        LineFrame { lines, byte, early_ns: self.early_ns }.write(skipped, &mut self.bytes);
        let count = memchr::memchr_iter(b'\n', lines).count() as u64;
        // Only the last one of the log may lack its end, and nothing follows it.
        self.line += count.saturating_sub(1);
        self.place = (self.place.0 + count, self.place.1 + lines.len() as u64);
    }

    /// Returns a time in ns in the unit of the run, if it is not too long for it.
    pub fn in_unit(&self, ns: i64) -> Option<i32> {
        i32::try_from(self.resolution.of_ns(ns)).ok()
    }

    /// Rejects a record.
    #[cold]
    pub fn reject(&mut self, cause: RejectCause, value: Option<&[u8]>, record: &[u8]) {
        let rejected = self.rejected(cause, value, record);
        let (skipped, byte) = self.next_line();
        PackedFrame::write_reject(&rejected, skipped, byte, &mut self.bytes);
    }

    /// Returns the rejected record with its position.
    fn rejected(&self, cause: RejectCause, value: Option<&[u8]>, record: &[u8]) -> RejectedRecord {
        let (line, byte) = self.place;
        let kept = |text: &[u8]| text.get(..KEPT).unwrap_or(text).to_vec();
        work_count::count(record.len().min(KEPT));
        RejectedRecord { cause, line, byte, value: value.map(kept), record: kept(record) }
    }

    /// Goes to the line of the next record. Returns the number of lines before it that have none, and its byte.
    #[inline]
    fn next_line(&mut self) -> (u32, u64) {
        let (line, byte) = self.place;
        let skipped = line.saturating_sub(self.line);
        self.line += skipped + 1;
        (u32::try_from(skipped).unwrap_or(u32::MAX), byte)
    }
}
