//! Converts the intervals of a log to rows: one an interval and tag.

use super::decode::{DecodedHistogram, decode};
use super::entry::{HlogLine, LogInterval, LogStamps};
use super::flaw::IntervalFlaw;
use super::group::{IntervalGroup, LineContent, PendingLine};
use super::unit::per_ms;
use crate::formats::histogram::Histogram;
use crate::formats::tools::lines::ConvertLine;
use crate::formats::tools::rejects::RejectCause;
use crate::formats::tools::rows::{ConvertedRows, MS, RequestRow};

/// The longest interval that a log may begin with, in ns. Timers that are due each second are late at times.
const LONGEST_NS: i64 = 1500 * MS;

/// Converts one log.
#[derive(Default)]
pub(super) struct IntervalLog {
    stamps: LogStamps,
    /// The number of values in a ms, once a histogram shows it.
    per_ms: Option<u32>,
    /// True once an interval of about a second was read. Later ones may be longer, as in a stall.
    is_by_second: bool,
    /// The begin of the latest interval, in ns.
    latest_ns: Option<i64>,
    group: IntervalGroup,
    /// True if the line before was rejected: it may be of the interval that comes next.
    follows_reject: bool,
}

impl ConvertLine for IntervalLog {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        let added = match self.stamps.read(line) {
            Ok(HlogLine::Interval(interval)) => self.interval(interval, rows).map_err(RejectCause::Interval),
            Ok(HlogLine::Other) => Ok(()),
            Err(cause) => Err(cause),
        };
        let Err(cause) = added else { return };
        self.follows_reject = true;
        if !self.group.reject(rows.place, cause, line) {
            self.release(rows);
        }
    }

    fn release(&mut self, rows: &mut ConvertedRows) {
        self.group.leave_out_sums();
        let (start_ns, length_ns) = (self.group.start_ns, self.group.length_ns);
        let here = rows.place;
        for PendingLine { place, what } in std::mem::take(&mut self.group).pending {
            rows.place = place;
            match what {
                LineContent::Reject { cause, record } => rows.reject(cause, None, &record),
                LineContent::Histogram { histogram: Some(histogram), tag }
                    if !histogram.counts.is_empty() =>
                {
                    rows.push(&RequestRow {
                        start_ms: start_ns.div_euclid(MS),
                        beyond_ns: start_ns.rem_euclid(MS),
                        elapsed_ns: length_ns,
                        label: tag.as_deref().unwrap_or_default().as_bytes(),
                        success: true,
                        histogram: Some(&histogram),
                        ..RequestRow::default()
                    });
                }
                LineContent::Histogram { .. } => {}
            }
        }
        rows.place = here;
    }
}

impl IntervalLog {
    /// Adds the histogram of an interval to the group of that interval.
    fn interval(&mut self, interval: LogInterval, rows: &mut ConvertedRows) -> Result<(), IntervalFlaw> {
        let histogram = self.histogram(&interval, rows)?;
        let lacks = std::mem::take(&mut self.follows_reject);
        if (interval.start_ns, interval.length_ns) != (self.group.start_ns, self.group.length_ns) {
            self.release(rows);
            self.group = IntervalGroup::of(interval.start_ns, interval.length_ns, lacks);
        }
        let added = self.group.add(rows.place, interval.tag, histogram);
        if added.is_err() {
            self.release(rows);
        }
        added
    }

    /// Reads the histogram of an interval; `None` if it has no requests.
    fn histogram(
        &mut self,
        interval: &LogInterval,
        rows: &ConvertedRows,
    ) -> Result<Option<Histogram>, IntervalFlaw> {
        if self.latest_ns.is_some_and(|latest_ns| interval.start_ns < latest_ns) {
            return Err(IntervalFlaw::Backwards);
        }
        if !self.is_by_second && interval.length_ns > LONGEST_NS {
            return Err(IntervalFlaw::LongInterval);
        }
        let DecodedHistogram { digits, counts } = decode(&interval.encoded)?;
        let Some((largest, _)) = counts.last() else { return Ok(None) };
        let unit = per_ms(*largest, interval.max, digits)?;
        if self.per_ms.is_some() && unit.is_some() && self.per_ms != unit {
            return Err(IntervalFlaw::Unit);
        }
        let per_ms = unit.or(self.per_ms).unwrap_or_default();
        let counts = in_unit(&counts, per_ms, rows).ok_or(IntervalFlaw::LongTime)?;
        rows.in_unit(interval.length_ns).ok_or(IntervalFlaw::LongTime)?;
        self.per_ms = unit.or(self.per_ms);
        self.is_by_second = true;
        self.latest_ns = Some(interval.start_ns);
        Ok(Some(Histogram { digits, per_ms, sums: 0, counts }))
    }
}

/// Converts values to times in the unit of the run. Values that are equal in it are counted together.
fn in_unit(counts: &[(u64, u64)], per_ms: u32, rows: &ConvertedRows) -> Option<Vec<(i32, u64)>> {
    let value_ns = MS.checked_div(per_ms.into()).unwrap_or(MS);
    let mut times: Vec<(i32, u64)> = Vec::with_capacity(counts.len());
    for (value, requests) in counts {
        let time = rows.in_unit(i64::try_from(*value).ok()?.checked_mul(value_ns)?)?;
        match times.last_mut().filter(|(last, _)| *last == time) {
            Some((_, all)) => *all = all.saturating_add(*requests),
            None => times.push((time, *requests)),
        }
    }
    Some(times)
}
