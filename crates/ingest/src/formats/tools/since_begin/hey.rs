//! hey's `-o csv`, with times in seconds of four decimals.

use super::answers::{Answers, Refused, begins, is_success, ns, start_ms, whole};
use crate::formats::tools::csv::Column;
use crate::formats::tools::format::{Clock, Format};
use crate::formats::tools::lines::LineByLine;
use crate::formats::tools::rows::Row;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "hey's CSV",
    tool: Some("hey"),
    finest: Resolution::HUNDRED_MICROSECONDS,
    clock: |_| Clock::SinceBegin,
    columns: &[
        Column::TimeStamp,
        Column::Elapsed,
        Column::ResponseCode,
        Column::Success,
        Column::Latency,
        Column::Connect,
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

fn read<'a>(fields: [&'a [u8]; 8]) -> Result<Row<'a>, Refused<'a>> {
    let [response_time, connect, _, _, _, response_read, status, offset] = fields;
    let elapsed_ns = ns(response_time, Column::Elapsed)?;
    let reading = ns(response_read, Column::Latency)?;
    Ok(Row {
        start_ms: start_ms(offset)?,
        elapsed_ns,
        // What is before the reading ends with the first byte.
        latency_ns: Some(elapsed_ns.saturating_sub(reading).max(0)),
        connect_ns: Some(ns(connect, Column::Connect)?),
        response_code: status,
        success: is_success(whole(status, Column::ResponseCode)?),
        ..Row::default()
    })
}
