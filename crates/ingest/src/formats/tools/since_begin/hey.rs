//! hey's `-o csv`, with times in seconds of four decimals.

use super::answers::{Answers, RejectedField, begins, is_success, ns, start_ms, whole};
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::format::{Format, TimeBase};
use crate::formats::tools::lines::LineByLine;
use crate::formats::tools::rows::RequestRow;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
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
    recognises: |head| begins(head, HEADER),
    note: |_| {
        Some(
            "hey writes only requests that were answered, and at most 1,000,000 of them: those that ended without \
             an answer, as by a time-out, are missing, so that the rate of failures is that of the answers",
        )
    },
    by_workers: false,
    converter: || Box::new(LineByLine::new(Answers::new(HEADER, read))),
};

const HEADER: &[u8] =
    b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

fn read<'a>(fields: [&'a [u8]; 8]) -> Result<RequestRow<'a>, RejectedField<'a>> {
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
