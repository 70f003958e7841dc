//! CSV of hey and oha, which log each request that was answered by the time since the tool began: they have no clock.

use super::fields::LogColumn;
use super::format::{Format, TimeBase};
use super::lines::{ConvertLine, LineByLine};
use super::rejects::{RejectCause, RejectedField};
use super::rows::{ConvertedRows, MS, RequestRow};
use crate::number::{decimal, parse_i64};
use perfpipe_model::sample::resolution::Resolution;

/// hey's `-o csv`, with times in seconds of four decimals.
pub(super) const HEY: Format = Format {
    name: "hey's CSV",
    tool: Some("hey"),
    finest: Resolution::HUNDRED_MICROSECONDS,
    clock: |_| TimeBase::SinceBegin,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::ResponseCode,
        LogColumn::Success,
        LogColumn::Latency,
        LogColumn::Connect,
    ],
    recognises: |head| begins(head, HEY_HEADER),
    note: |_| {
        Some(
            "hey writes only requests that were answered, and at most 1,000,000 of them: those that ended without \
             an answer, as by a time-out, are missing, so that the rate of failures is that of the answers",
        )
    },
    by_workers: false,
    converter: || Box::new(LineByLine::new(AnswerRows::new(HEY_HEADER, hey_row))),
};

const HEY_HEADER: &[u8] =
    b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

fn hey_row<'a>(fields: [&'a [u8]; 8]) -> Result<RequestRow<'a>, RejectedField<'a>> {
    let [response_time, connect, _, _, _, response_read, status, offset] = fields;
    let elapsed_ns = ns(response_time, LogColumn::Elapsed)?;
    let reading = ns(response_read, LogColumn::Latency)?;
    Ok(RequestRow {
        start_ms: start_ms(offset)?,
        elapsed_ns,
        // What is before the reading ends with the first byte.
        latency_ns: Some(elapsed_ns.saturating_sub(reading).max(0)),
        connect_ns: Some(ns(connect, LogColumn::Connect)?),
        response_code: status,
        success: is_success(whole(status, LogColumn::ResponseCode)?),
        ..RequestRow::default()
    })
}

/// oha's `--output-format csv`, with times in seconds of nine decimals.
pub(super) const OHA: Format = Format {
    name: "oha's CSV",
    tool: Some("oha"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::SinceBegin,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::ResponseCode,
        LogColumn::Success,
        LogColumn::Latency,
        LogColumn::Connect,
        LogColumn::Bytes,
    ],
    recognises: |head| begins(head, OHA_HEADER),
    note: |_| {
        Some(
            "oha writes only requests that were answered: those that ended without an answer, as by a time-out or \
             a reset, are missing, so that the rate of failures is that of the answers",
        )
    },
    by_workers: false,
    converter: || Box::new(LineByLine::new(AnswerRows::new(OHA_HEADER, oha_row))),
};

const OHA_HEADER: &[u8] = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";

fn oha_row<'a>(fields: [&'a [u8]; 7]) -> Result<RequestRow<'a>, RejectedField<'a>> {
    let [start, _, connect, delay, duration, bytes, status] = fields;
    Ok(RequestRow {
        start_ms: start_ms(start)?,
        elapsed_ns: ns(duration, LogColumn::Elapsed)?,
        latency_ns: Some(ns(delay, LogColumn::Latency)?),
        connect_ns: Some(ns(connect, LogColumn::Connect)?),
        response_code: status,
        success: is_success(whole(status, LogColumn::ResponseCode)?),
        bytes: Some(whole(bytes, LogColumn::Bytes)?),
        ..RequestRow::default()
    })
}

/// Reads the fields of a row.
type ReadRow<const N: usize> = for<'a> fn([&'a [u8]; N]) -> Result<RequestRow<'a>, RejectedField<'a>>;

/// The rows of one log, each with `N` fields.
struct AnswerRows<const N: usize> {
    header: &'static [u8],
    read: ReadRow<N>,
    /// The number of headers so far. Rows below a second one are of another run, whose times begin again at 0.
    headers: usize,
}

/// Returns true if a log begins with this header.
fn begins(head: &[u8], header: &[u8]) -> bool {
    let rest = head.strip_prefix(header);
    rest.is_some_and(|rest| rest.trim_ascii_start().len() < rest.len() || rest.is_empty())
}

impl<const N: usize> AnswerRows<N> {
    fn new(header: &'static [u8], read: ReadRow<N>) -> Self {
        Self { header, read, headers: 0 }
    }
}

impl<const N: usize> ConvertLine for AnswerRows<N> {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        let is_header = line == self.header;
        self.headers += usize::from(is_header);
        if line.is_empty() || (is_header && self.headers == 1) {
            return;
        }
        if self.headers > 1 {
            return rows.reject(RejectCause::SecondRun, None, line);
        }
        match split(line).and_then(self.read) {
            Ok(row) => rows.push(&row),
            Err((cause, value)) => rows.reject(cause, value, line),
        }
    }
}

/// Splits a row at its commas.
fn split<const N: usize>(line: &[u8]) -> Result<[&[u8]; N], RejectedField<'_>> {
    let mut fields = [&b""[..]; N];
    let mut found = 0;
    for field in line.split(|byte| *byte == b',') {
        if let Some(place) = fields.get_mut(found) {
            *place = field;
        }
        found += 1;
    }
    if found == N {
        return Ok(fields);
    }
    Err((RejectCause::Fields { found: found as u64, expected: N as u64 }, None))
}

/// Reads the time since the begin, in seconds, as whole ms.
fn start_ms(text: &[u8]) -> Result<i64, RejectedField<'_>> {
    let ns = decimal(text, NANOSECONDS).filter(|ns| *ns >= 0);
    ns.map(|ns| ns.div_euclid(MS)).ok_or((RejectCause::Time(LogColumn::TimeStamp), Some(text)))
}

/// The decimals of seconds that are nanoseconds.
const NANOSECONDS: usize = 9;

/// Reads a time in seconds as ns, for this column.
fn ns(text: &[u8], column: LogColumn) -> Result<i64, RejectedField<'_>> {
    decimal(text, NANOSECONDS).filter(|ns| *ns >= 0).ok_or((RejectCause::Number(column), Some(text)))
}

/// Reads a whole number for this column.
fn whole(text: &[u8], column: LogColumn) -> Result<i64, RejectedField<'_>> {
    parse_i64(text).filter(|number| *number >= 0).ok_or((RejectCause::Number(column), Some(text)))
}

/// Returns true for the status of an answer that is no error.
fn is_success(status: i64) -> bool {
    (200..400).contains(&status)
}
