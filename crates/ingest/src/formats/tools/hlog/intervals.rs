//! Converts the intervals of a log to rows: one an interval and tag.

use super::decode::{Decoded, decode};
use super::entry::{Entry, Interval, Stamps};
use super::flaw::Flaw;
use super::group::{Group, Held, What};
use super::unit::per_ms;
use crate::formats::histogram::Histogram;
use crate::formats::tools::lines::ConvertLine;
use crate::formats::tools::rows::{MS, Row, Rows};
use crate::formats::tools::told::Wrong;

/// The longest interval that a log may begin with, in ns. Timers that are due each second are late at times.
const LONGEST_NS: i64 = 1500 * MS;

/// Converts one log.
#[derive(Default)]
pub(super) struct IntervalLog {
    stamps: Stamps,
    /// The number of values in a ms, once a histogram shows it.
    per_ms: Option<u32>,
    /// True once an interval of about a second was read. Later ones may be longer, as in a stall.
    is_by_second: bool,
    /// The begin of the latest interval, in ns.
    latest_ns: Option<i64>,
    group: Group,
    /// True if the line before was rejected: it may be of the interval that comes next.
    follows_reject: bool,
}

impl ConvertLine for IntervalLog {
    fn line(&mut self, line: &[u8], rows: &mut Rows) {
        let added = match self.stamps.read(line) {
            Ok(Entry::Interval(interval)) => self.interval(interval, rows).map_err(Wrong::Interval),
            Ok(Entry::Other) => Ok(()),
            Err(wrong) => Err(wrong),
        };
        let Err(wrong) = added else { return };
        self.follows_reject = true;
        if !self.group.reject(rows.place, wrong, line) {
            self.release(rows);
        }
    }

    fn release(&mut self, rows: &mut Rows) {
        self.group.leave_out_sums();
        let (start_ns, length_ns) = (self.group.start_ns, self.group.length_ns);
        let here = rows.place;
        for Held { place, what } in std::mem::take(&mut self.group).held {
            rows.place = place;
            match what {
                What::Reject { wrong, record } => rows.reject(wrong, None, &record),
                What::Histogram { histogram: Some(histogram), tag } if !histogram.counts.is_empty() => {
                    rows.push(&Row {
                        start_ms: start_ns.div_euclid(MS),
                        beyond_ns: start_ns.rem_euclid(MS),
                        elapsed_ns: length_ns,
                        label: tag.as_deref().unwrap_or_default().as_bytes(),
                        success: true,
                        histogram: Some(&histogram),
                        ..Row::default()
                    });
                }
                What::Histogram { .. } => {}
            }
        }
        rows.place = here;
    }
}

impl IntervalLog {
    /// Takes the histogram of an interval into the group of those of the same interval.
    fn interval(&mut self, interval: Interval, rows: &mut Rows) -> Result<(), Flaw> {
        let histogram = self.histogram(&interval, rows)?;
        let lacks = std::mem::take(&mut self.follows_reject);
        if (interval.start_ns, interval.length_ns) != (self.group.start_ns, self.group.length_ns) {
            self.release(rows);
            self.group = Group::of(interval.start_ns, interval.length_ns, lacks);
        }
        let added = self.group.add(rows.place, interval.tag, histogram);
        if added.is_err() {
            self.release(rows);
        }
        added
    }

    /// Reads the histogram of an interval; `None` if it has no requests.
    fn histogram(&mut self, interval: &Interval, rows: &Rows) -> Result<Option<Histogram>, Flaw> {
        if self.latest_ns.is_some_and(|latest_ns| interval.start_ns < latest_ns) {
            return Err(Flaw::Backwards);
        }
        if !self.is_by_second && interval.length_ns > LONGEST_NS {
            return Err(Flaw::LongInterval);
        }
        let Decoded { digits, counts } = decode(&interval.encoded)?;
        let Some((largest, _)) = counts.last() else { return Ok(None) };
        let unit = per_ms(*largest, interval.max, digits)?;
        if self.per_ms.is_some() && unit.is_some() && self.per_ms != unit {
            return Err(Flaw::Unit);
        }
        let per_ms = unit.or(self.per_ms).unwrap_or_default();
        let counts = in_unit(&counts, per_ms, rows).ok_or(Flaw::LongTime)?;
        rows.in_unit(interval.length_ns).ok_or(Flaw::LongTime)?;
        self.per_ms = unit.or(self.per_ms);
        self.is_by_second = true;
        self.latest_ns = Some(interval.start_ns);
        Ok(Some(Histogram { digits, per_ms, sums: 0, counts }))
    }
}

/// Converts values to times in the unit of the run. Values that are equal in it are counted together.
fn in_unit(counts: &[(u64, u64)], per_ms: u32, rows: &Rows) -> Option<Vec<(i32, u64)>> {
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
