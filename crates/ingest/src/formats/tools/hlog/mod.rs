//! Interval logs of HdrHistogram: for each interval, and each tag, a histogram of response times. A histogram becomes a
//! row, since the log has no single requests.

mod decode;
mod entry;
mod flaw;
mod group;
mod intervals;
mod unit;

pub(crate) use self::flaw::Flaw;

use self::entry::{Entry, Stamps};
use self::intervals::IntervalLog;
use super::csv::Column;
use super::format::{Clock, Format};
use super::lines::LineByLine;
use crate::sample::resolution::Resolution;

/// The log.
pub(super) const FORMAT: Format = Format {
    name: "an interval log of HdrHistogram",
    tool: Some("hdrhistogram"),
    finest: Resolution::MICROSECOND,
    clock,
    columns: &[Column::TimeStamp, Column::Elapsed, Column::Label, Column::Success, Column::Histogram],
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

/// Tells whether the log's first interval has a moment of its own, or one by the times above it.
fn clock(head: &[u8]) -> Clock {
    let mut stamps = Stamps::default();
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.find_map(|line| match stamps.read(line) {
        Ok(Entry::Interval(interval)) => Some(interval.start_ns),
        _ => None,
    });
    if first.is_some_and(|start_ns| start_ns < JANUARY_1970) { Clock::SinceBegin } else { Clock::Epoch }
}
