//! oha's `--output-format csv`, with times in seconds of nine decimals.

use super::answers::{Answers, RejectedField, begins, is_success, ns, start_ms, whole};
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::format::{Format, TimeBase};
use crate::formats::tools::lines::LineByLine;
use crate::formats::tools::rows::RequestRow;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
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

fn read<'a>(fields: [&'a [u8]; 7]) -> Result<RequestRow<'a>, RejectedField<'a>> {
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
