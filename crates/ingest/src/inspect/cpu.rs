//! Inspects the readings of the server given beside a run, of its CPU and of other series: their number and range, how much of the logs' time they cover, and whether its clock is off.

use serde::Serialize;

use super::log::{LogInspection, TimeForm};
use crate::operations::ingest::Prepared;
use crate::operations::options::IngestOptions;
use crate::source::cpu_export::CpuFacts;
use crate::source::cpu_export::series::SeriesExport;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::series::clock_guess::{ClockGuess, SecondRange, covered};
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// The facts about a series of the server other than its CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeriesInspection {
    /// Its name.
    pub name: String,
    /// The unit of its readings.
    pub unit: String,
    /// The facts about its file and its readings, which are in the series' unit.
    #[serde(flatten)]
    pub readings: CpuInspection,
}

impl SeriesInspection {
    /// Inspects the other series of a run, ascending by name. `times` is the known time span of the logs (epoch ms, both
    /// inclusive).
    pub(super) fn all(
        prepared: &Prepared,
        options: &IngestOptions,
        logs: &[LogInspection],
        times: Option<(i64, i64)>,
    ) -> Vec<Self> {
        let of = |export: &SeriesExport| {
            let SeriesExport { series, file, facts, .. } = export;
            let (join, readings) = (series.join(options.cpu.offset), &series.readings);
            let (name, unit) = (series.name.clone(), series.unit.clone());
            let export = ExportedReadings { facts, file, series: readings, join };
            Self { name, unit, readings: export.inspect(options, logs, times) }
        };
        prepared.series.iter().map(of).collect()
    }
}

/// Readings as they were exported.
struct ExportedReadings<'a> {
    facts: &'a CpuFacts,
    file: &'a SourceFile,
    series: &'a TimeSeries,
    join: CpuJoin,
}

/// The facts about an export of readings. Times include the given CPU offset.
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
    /// The smallest reading, for a CPU in percent of one core.
    pub min: Option<f64>,
    /// The largest reading, for a CPU in percent of one core.
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

impl CpuInspection {
    /// Inspects the CPU export of a run. `times` is the known time span of the logs (epoch ms, both inclusive).
    pub(super) fn of(
        prepared: &Prepared,
        options: &IngestOptions,
        logs: &[LogInspection],
        times: Option<(i64, i64)>,
    ) -> Option<Self> {
        let (facts, file) = (prepared.cpu_facts.as_ref()?, prepared.cpu_file.as_ref()?);
        let export = ExportedReadings { facts, file, series: prepared.cpu.as_ref(), join: prepared.join };
        Some(export.inspect(options, logs, times))
    }
}

impl ExportedReadings<'_> {
    fn inspect(
        &self,
        options: &IngestOptions,
        logs: &[LogInspection],
        times: Option<(i64, i64)>,
    ) -> CpuInspection {
        let Self { facts, file, series, join } = *self;
        let readings = series.readings();
        let second = |reading: Option<&(i64, f64)>| Some(reading?.0.saturating_add(join.offset));
        let (first_second, last_second) = (second(readings.first()), second(readings.last()));
        let values = || readings.iter().map(|(_, value)| *value);
        let span = times.map(|(t0, last)| SecondRange::of(t0, last));
        let (gaps, longest_gap) = gaps(series, join);
        CpuInspection {
            file: file.file.clone(),
            member: file.member.clone(),
            form: facts.form,
            date_pattern: facts.date.as_ref().map(|date| date.pattern.clone()),
            zone_assumed: facts.assumes_zone(),
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
            seconds: span.map(SecondRange::seconds),
            covered: span.map_or(0, |span| covered(series, join, span)),
            begins_after_t0: first_second.zip(span).map(|(first, span)| first.saturating_sub(span.first)),
            ends_before_last: last_second.zip(span).map(|(last, span)| span.last.saturating_sub(last)),
            clock: times.and_then(|(t0, last)| {
                let east = options.source.time_zone.seconds_east(t0);
                let guess = ClockGuess::of(series, join, t0, last)?;
                Some(guess.in_zone(east, assume_zone(logs), facts.assumes_zone()))
            }),
        }
    }
}

/// Returns true if the dates of all logs name no zone.
fn assume_zone(logs: &[LogInspection]) -> bool {
    let mut forms = logs.iter().filter_map(|log| log.time_stamp.as_ref()).peekable();
    forms.peek().is_some() && forms.all(|form| matches!(form, TimeForm::Date { names_zone: false, .. }))
}

/// The number of gaps between readings, and the first one of the longest.
fn gaps(series: &TimeSeries, join: CpuJoin) -> (u64, Option<Gap>) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Gaps are the seconds between the first and the last reading for which the join finds none.
        #[test]
        fn gaps_are_what_the_join_misses(
            clocks in prop::collection::vec(0i64..120, 1..40), lookback in 0u32..6,
        ) {
            let series = TimeSeries::new(clocks.into_iter().map(|clock| (clock, 1.0)).collect());
            let join = CpuJoin { offset: 7, lookback };
            let (first, last) = (series.readings()[0].0 + 7, series.readings().last().unwrap().0 + 7);
            let missed: Vec<i64> =
                (first..=last).filter(|second| series.at(*second, join).is_none()).collect();
            let runs: Vec<&[i64]> = missed.chunk_by(|one, next| one + 1 == *next).collect();
            let (count, longest) = gaps(&series, join);
            prop_assert_eq!(count, runs.len() as u64);
            let longest_run = runs.iter().map(|run| run.len() as i64).max();
            prop_assert_eq!(longest.map(|gap| gap.seconds), longest_run);
            if let Some(gap) = longest {
                prop_assert_eq!(series.at(gap.after, CpuJoin { offset: 7, lookback: 0 }), Some(1.0));
            }
        }
    }
}
