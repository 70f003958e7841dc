//! The lines of a log, with moments in epoch ns.

use std::time::Duration;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::rejects::RejectCause;

use super::flaw::IntervalFlaw;

/// A line.
pub(super) enum HlogLine {
    /// A comment, a header, or nothing.
    Other,
    /// An interval.
    Interval(LogInterval),
}

/// An interval, whose histogram is not read yet.
pub(super) struct LogInterval {
    pub(super) tag: Option<String>,
    /// Its begin, in epoch ns, or since the begin of the log if that has no clock.
    pub(super) start_ns: i64,
    pub(super) length_ns: i64,
    /// The largest value, as logged.
    pub(super) max: f64,
    /// The histogram, in base64.
    pub(super) encoded: String,
}

/// The times that the lines above define for the stamps below.
#[derive(Default)]
pub(super) struct LogStamps {
    start: Option<i64>,
    base: Option<i64>,
    is_unknown: bool,
}

/// The versions of the log that are known.
const VERSIONS: [&[u8]; 2] = [b"1.2", b"1.3"];

/// Stamps that are as far as this before the log's StartTime are meant as times since then, as HdrHistogram's own reader
/// has it.
const YEAR_NS: i64 = 365 * 24 * 3_600 * 1_000_000_000;

impl LogStamps {
    /// Reads a line without its line end.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<HlogLine, RejectCause> {
        if let Some(version) = line.strip_prefix(b"#[Histogram log format version ") {
            let version = version.split(|byte| *byte == b']').next().unwrap_or_default();
            self.is_unknown = !VERSIONS.iter().any(|known| known.starts_with(version) && *known == version);
            return Ok(HlogLine::Other);
        }
        let text = [line, b"\n"].concat();
        match IntervalLogIterator::new(&text).next() {
            Some(Ok(LogEntry::StartTime(time))) => self.start = Some(ns(time)?),
            Some(Ok(LogEntry::BaseTime(time))) => self.base = Some(ns(time)?),
            Some(Ok(LogEntry::Interval(_))) if self.is_unknown => {
                return Err(RejectCause::Interval(IntervalFlaw::Version));
            }
            Some(Ok(LogEntry::Interval(found))) if found.encoded_histogram().contains(',') => {
                return Err(cause_of(line));
            }
            Some(Ok(LogEntry::Interval(found))) => {
                return Ok(HlogLine::Interval(LogInterval {
                    tag: found.tag().map(|tag| tag.as_str().to_owned()),
                    start_ns: self.moment(ns(found.start_timestamp())?)?,
                    length_ns: ns(found.duration())?,
                    max: found.max(),
                    encoded: found.encoded_histogram().to_owned(),
                }));
            }
            None if is_stamp(line) => return Err(RejectCause::Time(LogColumn::TimeStamp)),
            None => {}
            Some(Err(_)) if line.trim_ascii().is_empty() => {}
            Some(Err(_)) => return Err(cause_of(line)),
        }
        Ok(HlogLine::Other)
    }

    /// Returns the moment of a stamp.
    fn moment(&mut self, stamp: i64) -> Result<i64, RejectCause> {
        let start = *self.start.get_or_insert(stamp);
        let is_relative = stamp < start.saturating_sub(YEAR_NS);
        let base = *self.base.get_or_insert(if is_relative { start } else { 0 });
        stamp.checked_add(base).ok_or(RejectCause::Time(LogColumn::TimeStamp))
    }
}

/// Returns true for a comment that defines what the stamps count from.
fn is_stamp(line: &[u8]) -> bool {
    line.starts_with(b"#[StartTime:") || line.starts_with(b"#[BaseTime:")
}

fn ns(time: Duration) -> Result<i64, RejectCause> {
    i64::try_from(time.as_nanos()).map_err(|_| RejectCause::Time(LogColumn::TimeStamp))
}

/// Says what is wrong with a line that is none of a log's.
fn cause_of(line: &[u8]) -> RejectCause {
    let tag = if line.starts_with(b"Tag=") { 1 } else { 0 };
    let fields = || line.split(|byte| *byte == b',').skip(tag);
    let is_time = |field: &[u8]| !field.is_empty() && field.iter().all(|byte| b"0123456789.".contains(byte));
    match fields().count() {
        4 if fields().take(2).all(is_time) => RejectCause::Unknown,
        4 => RejectCause::Time(LogColumn::TimeStamp),
        found => RejectCause::Fields { found: found as u64, expected: 4 },
    }
}
