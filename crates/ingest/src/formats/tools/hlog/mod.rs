//! Interval logs of HdrHistogram: for each interval, and each tag, a histogram of response times. A histogram becomes a
//! row, since the log has no single requests.

mod decode;
mod entry;
mod flaw;
mod group;
mod intervals;
mod unit;

pub(crate) use self::flaw::IntervalFlaw;

use self::entry::{HlogLine, LogStamps};
use self::intervals::IntervalLog;
use super::csv::LogColumn;
use super::format::{Format, TimeBase};
use super::lines::LineByLine;
use crate::sample::resolution::Resolution;

/// The log.
pub(super) const FORMAT: Format = Format {
    name: "an interval log of HdrHistogram",
    tool: Some("hdrhistogram"),
    finest: Resolution::MICROSECOND,
    clock,
    columns: &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::Label,
        LogColumn::Success,
        LogColumn::Histogram,
    ],
    recognises,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(IntervalLog::default())),
};

/// Returns true for a log of intervals, which may begin with comments of any text.
fn recognises(head: &[u8]) -> bool {
    let marks: [&[u8]; 2] = [b"#[Histogram log format version ", b"\"StartTimestamp\",\"Interval_Length\""];
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .take_while(|line| line.first().is_some_and(|byte| b"#\"".contains(byte)));
    lines.any(|line| marks.iter().any(|mark| line.starts_with(mark)))
}

/// A stamp before this, in ns, is no moment but a time since the log began.
const JANUARY_1970: i64 = 31 * 24 * 3_600 * 1_000_000_000;

/// Returns whether the log's first interval is at an epoch time, given the times above it, or since the begin.
fn clock(head: &[u8]) -> TimeBase {
    let mut stamps = LogStamps::default();
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.find_map(|line| match stamps.read(line) {
        Ok(HlogLine::Interval(interval)) => Some(interval.start_ns),
        _ => None,
    });
    if first.is_some_and(|start_ns| start_ns < JANUARY_1970) { TimeBase::SinceBegin } else { TimeBase::Epoch }
}
