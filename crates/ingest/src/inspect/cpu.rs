//! Inspects the CPU export of a run: its readings, how much of the logs' time they cover, and whether its clock is off.

use serde::Serialize;

use super::log::{LogInspection, TimeForm};
use crate::formats::date::TimeZone;
use crate::operations::ingest::Prepared;
use crate::operations::options::IngestOptions;
use crate::series::cpu::{CpuJoin, CpuSeries};
use crate::source::cpu_export::CpuFacts;

/// The facts about a CPU export. Times include the given CPU offset.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CpuInspection {
    /// The file's name.
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// The format of the export, in words.
    pub form: &'static str,
    /// The pattern of its first time, in the notation of JMeter's `timestamp_format`; `None` if times are epoch
    /// seconds.
    pub date_pattern: Option<String>,
    /// True if its dates name no zone, so that the given time zone applies.
    pub zone_assumed: bool,
    /// The number of readings of each item, if the export names items.
    pub items: Vec<(String, u64)>,
    /// The number of seconds with a reading of the selected item.
    pub readings: u64,
    /// The epoch second of the first reading.
    pub first_second: Option<i64>,
    /// The epoch second of the last reading.
    pub last_second: Option<i64>,
    /// The smallest reading, in percent of one core.
    pub min: Option<f64>,
    /// The largest reading, in percent of one core.
    pub max: Option<f64>,
    /// The median time between readings, in seconds.
    pub step: Option<i64>,
    /// The look-back in seconds, as given or as derived from `step`.
    pub lookback: u32,
    /// The number of gaps: times between two readings that the look-back does not cover.
    pub gaps: u64,
    /// The longest gap.
    pub longest_gap: Option<Gap>,
    /// The number of epoch seconds from `t0_ms` to `last_ms` of the logs; `None` if no record was accepted.
    pub seconds: Option<u64>,
    /// The number of these seconds that have a reading, their own or one within the look-back.
    pub covered: u64,
    /// The time from t0 to the first reading, in seconds; negative if the reading is earlier.
    pub begins_after_t0: Option<i64>,
    /// The time from the last reading to the last known record, in seconds; negative if the reading is later.
    pub ends_before_last: Option<i64>,
    /// A guess at what is wrong with the clocks, if the readings miss the logs.
    pub clock: Option<ClockGuess>,
}

/// A gap in the readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Gap {
    /// The epoch second of the reading before the gap.
    pub after: i64,
    /// The number of seconds that have no reading, not even by look-back.
    pub seconds: i64,
}

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
struct Span {
    first: i64,
    last: i64,
}

impl Span {
    fn seconds(self) -> u64 {
        (self.last.abs_diff(self.first)).saturating_add(1)
    }
}

impl CpuInspection {
    /// Inspects the CPU export of a run. `times` is the known time span of the logs (epoch ms, both inclusive).
    pub(super) fn of(
        prepared: &Prepared,
        options: &IngestOptions,
        logs: &[LogInspection],
        times: Option<(i64, i64)>,
    ) -> Option<Self> {
        let (facts, file) = (prepared.cpu_facts.as_ref()?, prepared.cpu_file.as_ref()?);
        let (series, join) = (prepared.cpu.as_ref(), prepared.join);
        let readings = series.readings();
        let second = |reading: Option<&(i64, f64)>| Some(reading?.0.saturating_add(join.offset));
        let (first_second, last_second) = (second(readings.first()), second(readings.last()));
        let values = || readings.iter().map(|(_, value)| *value);
        let span = times.map(|(t0, last)| Span { first: t0.div_euclid(1000), last: last.div_euclid(1000) });
        let (gaps, longest_gap) = gaps(series, join);
        Some(Self {
            file: file.file.clone(),
            member: file.member.clone(),
            form: facts.form,
            date_pattern: facts.date.as_ref().map(|date| date.pattern.clone()),
            zone_assumed: assumes_zone(facts),
            items: facts.items.clone(),
            readings: readings.len() as u64,
            first_second,
            last_second,
            min: values().reduce(f64::min),
            max: values().reduce(f64::max),
            step: series.interval().map(i64::from),
            lookback: join.lookback,
            gaps,
            longest_gap,
            seconds: span.map(Span::seconds),
            covered: span.map_or(0, |span| covered(series, join, span)),
            begins_after_t0: first_second.zip(span).map(|(first, span)| first.saturating_sub(span.first)),
            ends_before_last: last_second.zip(span).map(|(last, span)| span.last.saturating_sub(last)),
            clock: span.and_then(|span| {
                let logs_assume = assume_zone(logs);
                let mut guess = guess(series, join, span)?;
                let zone = &options.source.time_zone;
                guess.time_zone = other_zone(&guess, zone, span, logs_assume, assumes_zone(facts));
                Some(guess)
            }),
        })
    }
}

impl ClockGuess {
    /// Guesses the shift if the readings miss more than half of the run from `t0_ms` to `last_ms`. `None` if no shift
    /// would make them cover it, or several would. `time_zone` is always `None`.
    pub fn of(cpu: &CpuSeries, join: CpuJoin, t0_ms: i64, last_ms: i64) -> Option<Self> {
        guess(cpu, join, Span { first: t0_ms.div_euclid(1000), last: last_ms.div_euclid(1000) })
    }
}

/// Returns true if the export's dates name no zone.
fn assumes_zone(facts: &CpuFacts) -> bool {
    facts.date.as_ref().is_some_and(|date| !date.names_zone)
}

/// Returns true if the dates of all logs name no zone.
fn assume_zone(logs: &[LogInspection]) -> bool {
    let mut forms = logs.iter().filter_map(|log| log.time_stamp.as_ref()).peekable();
    forms.peek().is_some() && forms.all(|form| matches!(form, TimeForm::Date { names_zone: false, .. }))
}

/// The number of gaps between readings, and the first one of the longest.
fn gaps(series: &CpuSeries, join: CpuJoin) -> (u64, Option<Gap>) {
    let (mut count, mut longest) = (0, None::<Gap>);
    for pair in series.readings().windows(2) {
        let [(one, _), (next, _)] = pair else { continue };
        let seconds = next - one - 1 - i64::from(join.lookback);
        if seconds <= 0 {
            continue;
        }
        count += 1;
        if longest.is_none_or(|longest| longest.seconds < seconds) {
            longest = Some(Gap { after: one.saturating_add(join.offset), seconds });
        }
    }
    (count, longest)
}

/// The number of seconds in a span that have a reading.
fn covered(series: &CpuSeries, join: CpuJoin, span: Span) -> u64 {
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
fn guess(series: &CpuSeries, join: CpuJoin, span: Span) -> Option<ClockGuess> {
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

/// The zone that causes a shift, if the dates of exactly one side depend on the given zone.
fn other_zone(
    guess: &ClockGuess,
    zone: &TimeZone,
    span: Span,
    logs_assume: bool,
    cpu_assumes: bool,
) -> Option<String> {
    let east = zone.seconds_east(span.first.saturating_mul(1000));
    // A log read in a zone too far west appears late; readings in a zone too far east appear early.
    let east = match (logs_assume, cpu_assumes) {
        (true, false) => east + guess.shift,
        (false, true) => east - guess.shift,
        _ => return None,
    };
    let sign = if east < 0 { '-' } else { '+' };
    let minutes = east.abs() / 60;
    (east.abs() <= WIDEST).then(|| format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(clocks: impl IntoIterator<Item = i64>) -> CpuSeries {
        CpuSeries::new(clocks.into_iter().map(|clock| (clock, 1.0)).collect())
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
            let span = Span { first, last: first + length };
            let slow = (span.first..=span.last).filter(|second| series.at(*second, join).is_some()).count();
            prop_assert_eq!(covered(&series, join, span), slow as u64);
        }

        /// Gaps are the seconds between the first and the last reading for which the join finds none.
        #[test]
        fn gaps_are_what_the_join_misses(
            clocks in prop::collection::vec(0i64..120, 1..40), lookback in 0u32..6,
        ) {
            let (series, join) = (series(clocks), join(7, lookback));
            let (first, last) = (series.readings()[0].0 + 7, series.readings().last().unwrap().0 + 7);
            let missed: Vec<i64> =
                (first..=last).filter(|second| series.at(*second, join).is_none()).collect();
            let runs: Vec<&[i64]> = missed.chunk_by(|one, next| one + 1 == *next).collect();
            let (count, longest) = gaps(&series, join);
            prop_assert_eq!(count, runs.len() as u64);
            let longest_run = runs.iter().map(|run| run.len() as i64).max();
            prop_assert_eq!(longest.map(|gap| gap.seconds), longest_run);
            if let Some(gap) = longest {
                prop_assert_eq!(series.at(gap.after, self::join(7, 0)), Some(1.0));
            }
        }

        /// Readings that cover a log, shifted by a difference of time zones, are recognised; unshifted ones are not.
        #[test]
        fn shifted_clock_is_found(steps in -56i64..=56, length in 10i64..600, ahead in 5i64..35) {
            let span = Span { first: 1_795_203_738, last: 1_795_203_738 + length };
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
        let span = Span { first: 100_000, last: 100_100 };
        assert_eq!(guess(&series(50_000..90_000), join(0, 3), span), None, "many");
        assert_eq!(guess(&series(99_000..99_100), join(0, 3), span), None, "none");
        assert_eq!(guess(&series([]), join(0, 3), span), None);
    }

    #[test]
    fn zone_that_makes_a_shift_is_told() {
        let zone = |name: &str, shift: i64, logs, cpu| {
            let guess = ClockGuess { shift, covered: 0, cpu_offset: shift, time_zone: None };
            let span = Span { first: 1_795_203_738, last: 1_795_203_740 };
            other_zone(&guess, &name.parse().unwrap(), span, logs, cpu)
        };
        assert_eq!(zone("UTC", 3600, true, false).as_deref(), Some("+01:00"));
        assert_eq!(zone("UTC", 3600, false, true).as_deref(), Some("-01:00"));
        assert_eq!(zone("Europe/Warsaw", 16_200, true, false).as_deref(), Some("+05:30"));
        assert_eq!(zone("UTC", 3600, true, true), None);
        assert_eq!(zone("UTC", 3600, false, false), None);
    }
}
