//! oha's `--output-format csv`, with times in seconds of nine decimals.

use super::answers::{Answers, Refused, begins, is_success, ns, start_ms, whole};
use crate::formats::tools::csv::Column;
use crate::formats::tools::format::{Clock, Format};
use crate::formats::tools::lines::LineByLine;
use crate::formats::tools::rows::Row;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "oha's CSV",
    tool: Some("oha"),
    finest: Resolution::MICROSECOND,
    clock: |_| Clock::SinceBegin,
    columns: &[
        Column::TimeStamp,
        Column::Elapsed,
        Column::ResponseCode,
        Column::Success,
        Column::Latency,
        Column::Connect,
        Column::Bytes,
    ],
    recognises: |head| begins(head, HEADER),
    note: |_| {
        Some(
            "oha writes only requests that were answered: those that ended without an answer, as by a time-out or \
             a reset, are missing, so that the rate of failures is that of the answers",
        )
    },
    by_workers: false,
    converter: || Box::new(LineByLine::new(Answers::new(HEADER, read))),
};

const HEADER: &[u8] = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status";

fn read<'a>(fields: [&'a [u8]; 7]) -> Result<Row<'a>, Refused<'a>> {
    let [start, _, connect, delay, duration, bytes, status] = fields;
    Ok(Row {
        start_ms: start_ms(start)?,
        elapsed_ns: ns(duration, Column::Elapsed)?,
        latency_ns: Some(ns(delay, Column::Latency)?),
        connect_ns: Some(ns(connect, Column::Connect)?),
        response_code: status,
        success: is_success(whole(status, Column::ResponseCode)?),
        bytes: Some(whole(bytes, Column::Bytes)?),
        ..Row::default()
    })
}
