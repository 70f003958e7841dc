//! Guesses what is wrong with the clock of CPU readings that miss their run.

use serde::Serialize;

use super::cpu::{CpuJoin, TimeSeries};

/// A shift of the readings' clock, by hours, half or quarter hours, with which they would cover the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClockGuess {
    /// The shift to add to the readings' clock, in seconds.
    pub shift: i64,
    /// The number of seconds that would then have a reading.
    pub covered: u64,
    /// The CPU offset that causes the shift, in seconds.
    pub cpu_offset: i64,
    /// The time zone that causes the shift. `None` unless exactly one of the logs and the export has dates that name no
    /// zone.
    pub time_zone: Option<String>,
}

/// The largest shift that time zones explain, in seconds.
const WIDEST: i64 = 14 * 3600;

/// The steps of shifts between time zones, in seconds, the most common first.
const SHIFTS: [i64; 3] = [3600, 1800, 900];

/// A range of epoch seconds, both ends inclusive.
#[derive(Debug, Clone, Copy)]
pub struct SecondRange {
    /// Its first second, epoch.
    pub first: i64,
    /// Its last second, epoch.
    pub last: i64,
}

impl SecondRange {
    /// The seconds from `t0_ms` to `last_ms` (epoch ms, both inclusive).
    pub fn of(t0_ms: i64, last_ms: i64) -> Self {
        Self { first: t0_ms.div_euclid(1000), last: last_ms.div_euclid(1000) }
    }

    /// The number of seconds.
    pub fn seconds(self) -> u64 {
        (self.last.abs_diff(self.first)).saturating_add(1)
    }
}

impl ClockGuess {
    /// Guesses the shift if the readings miss more than half of the run from `t0_ms` to `last_ms`. `None` if no shift
    /// would make them cover it, or several would. `time_zone` is always `None`.
    pub fn of(cpu: &TimeSeries, join: CpuJoin, t0_ms: i64, last_ms: i64) -> Option<Self> {
        guess(cpu, join, SecondRange::of(t0_ms, last_ms))
    }

    /// Adds the time zone that causes the shift, if the dates of exactly one side depend on the given zone, which is
    /// `east` seconds east of Greenwich.
    pub fn in_zone(mut self, east: i64, logs_assume: bool, cpu_assumes: bool) -> Self {
        // A log read in a zone too far west appears late; readings in a zone too far east appear early.
        let east = match (logs_assume, cpu_assumes) {
            (true, false) => east + self.shift,
            (false, true) => east - self.shift,
            _ => return self,
        };
        let sign = if east < 0 { '-' } else { '+' };
        let minutes = east.abs() / 60;
        self.time_zone =
            (east.abs() <= WIDEST).then(|| format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        self
    }
}

/// The number of seconds in a span that have a reading.
pub fn covered(series: &TimeSeries, join: CpuJoin, span: SecondRange) -> u64 {
    let readings = series.readings();
    let lookback = i64::from(join.lookback);
    let (first, last) = (span.first.saturating_sub(join.offset), span.last.saturating_sub(join.offset));
    let begin = readings.partition_point(|(clock, _)| clock.saturating_add(lookback) < first);
    let end = readings.partition_point(|(clock, _)| *clock <= last);
    let within = readings.get(begin..end).unwrap_or_default();
    let mut seconds = 0;
    for (at, (clock, _)) in within.iter().enumerate() {
        // A reading counts until the next one, or until the look-back or the span ends.
        let next = within.get(at + 1).map_or(i64::MAX, |(next, _)| *next);
        let until = next.min(clock.saturating_add(lookback).saturating_add(1)).min(last.saturating_add(1));
        seconds += u64::try_from(until.saturating_sub((*clock).max(first))).unwrap_or(0);
    }
    seconds
}

/// The only shift with which readings that miss more than half of a span would cover at least 80 % of it.
fn guess(series: &TimeSeries, join: CpuJoin, span: SecondRange) -> Option<ClockGuess> {
    if series.is_empty() || covered(series, join, span) * 2 >= span.seconds() {
        return None;
    }
    let shifted = |shift: i64| {
        let cpu_offset = join.offset.saturating_add(shift);
        let covered = covered(series, CpuJoin { offset: cpu_offset, ..join }, span);
        ClockGuess { shift, covered, cpu_offset, time_zone: None }
    };
    SHIFTS.into_iter().find_map(|step| {
        let shifts = (-WIDEST / step..=WIDEST / step).map(|steps| shifted(steps * step));
        let mut fitting = shifts.filter(|guess| guess.covered * 5 >= span.seconds() * 4);
        // If several fit, the export is much longer than the log, and none of them is likely.
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(clocks: impl IntoIterator<Item = i64>) -> TimeSeries {
        TimeSeries::new(clocks.into_iter().map(|clock| (clock, 1.0)).collect())
    }

    fn join(offset: i64, lookback: u32) -> CpuJoin {
        CpuJoin { offset, lookback }
    }

    proptest! {
        /// A second is covered if the join finds a reading for it.
        #[test]
        fn coverage_is_what_the_join_finds(
            clocks in prop::collection::vec(0i64..120, 0..40), first in 0i64..120, length in 0i64..60,
            offset in -20i64..20, lookback in 0u32..6,
        ) {
            let (series, join) = (series(clocks), join(offset, lookback));
            let span = SecondRange { first, last: first + length };
            let slow = (span.first..=span.last).filter(|second| series.at(*second, join).is_some()).count();
            prop_assert_eq!(covered(&series, join, span), slow as u64);
        }

        /// Readings that cover a log, shifted by a difference of time zones, are recognised; unshifted ones are not.
        #[test]
        fn shifted_clock_is_found(steps in -56i64..=56, length in 10i64..600, ahead in 5i64..35) {
            let span = SecondRange { first: 1_795_203_738, last: 1_795_203_738 + length };
            let shift = steps * 900;
            let series = series((span.first - ahead..=span.last + ahead).map(|clock| clock - shift));
            let guess = guess(&series, join(5, 3), span);
            match shift {
                0 => prop_assert_eq!(guess, None),
                // The given offset of 5 s is a small mistake that coverage tolerates.
                shift => {
                    let guess = guess.unwrap();
                    prop_assert_eq!((guess.shift, guess.cpu_offset), (shift, shift + 5));
                }
            }
        }
    }

    #[test]
    fn no_shift_is_guessed_where_many_would_do_or_none() {
        let span = SecondRange { first: 100_000, last: 100_100 };
        assert_eq!(guess(&series(50_000..90_000), join(0, 3), span), None, "many");
        assert_eq!(guess(&series(99_000..99_100), join(0, 3), span), None, "none");
        assert_eq!(guess(&series([]), join(0, 3), span), None);
    }

    #[test]
    fn zone_that_makes_a_shift_is_told() {
        let zone = |east: i64, shift: i64, logs, cpu| {
            let guess = ClockGuess { shift, covered: 0, cpu_offset: shift, time_zone: None };
            guess.in_zone(east, logs, cpu).time_zone
        };
        assert_eq!(zone(0, 3600, true, false).as_deref(), Some("+01:00"));
        assert_eq!(zone(0, 3600, false, true).as_deref(), Some("-01:00"));
        assert_eq!(zone(3600, 16_200, true, false).as_deref(), Some("+05:30"));
        assert_eq!(zone(0, 3600, true, true), None);
        assert_eq!(zone(0, 3600, false, false), None);
    }
}
