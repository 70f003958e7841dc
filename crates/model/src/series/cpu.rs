//! The CPU readings of a run, the rule that finds the reading of a second, and doubts of their unit.

use serde::{Deserialize, Serialize};

use crate::run::info::RunInfo;
use crate::run::note::{Note, NoteKind};
use crate::run::options::CpuScale;

/// Readings of the server by epoch second, ascending, at most one per second: of its CPU, or of another series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeSeries {
    readings: Vec<(i64, f64)>,
}

/// How readings are joined to samples: the shift of their clock, and the look-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuJoin {
    /// Seconds added to the clock of every reading.
    pub offset: i64,
    /// The maximum age of a reading, in seconds before the sample's own second.
    pub lookback: u32,
}

impl Default for CpuJoin {
    fn default() -> Self {
        Self { offset: 0, lookback: LOOKBACK }
    }
}

impl CpuJoin {
    /// Returns how the samples of a stored run were joined.
    pub fn of(run: &RunInfo) -> Self {
        Self { offset: run.cpu_offset, lookback: run.cpu_lookback }
    }

    /// Sets the seconds added to the clock of every reading.
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the maximum age of a reading, in seconds.
    #[must_use]
    pub fn with_lookback(mut self, lookback: u32) -> Self {
        self.lookback = lookback;
        self
    }
}

/// The default look-back in seconds, for readings that come every few seconds.
const LOOKBACK: u32 = 3;

/// The maximum look-back in seconds that is derived from the readings' interval: an older reading says nothing.
const LONGEST: u32 = 3600;

/// The look-back in seconds for which readings are asked, while their interval is not known.
const ASKED: u32 = 60;

/// How readings should be joined, chosen before they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuChoice {
    /// Seconds added to the clock of every reading.
    pub offset: i64,
    /// The maximum age of a reading, in seconds before the sample's own second. `None` for 3 s or, if longer, the
    /// median interval of the readings, so that each counts until the next one is due, but at most an hour.
    pub lookback: Option<u32>,
}

impl CpuChoice {
    /// Sets the seconds added to the clock of every reading.
    #[must_use]
    pub fn with_offset(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the maximum age of a reading, in seconds.
    #[must_use]
    pub fn with_lookback(mut self, lookback: u32) -> Self {
        self.lookback = Some(lookback);
        self
    }

    /// Returns the epoch seconds by the readings' clock, first and last, whose readings can matter to a run from `t0_ms` to
    /// `last_ms` (epoch ms, both inclusive).
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::series::CpuChoice;
    /// let choice = CpuChoice::default().with_offset(10).with_lookback(5);
    /// assert_eq!(choice.window(100_000, 160_999), (85, 150));
    /// ```
    pub fn window(self, t0_ms: i64, last_ms: i64) -> (i64, i64) {
        let back = i64::from(self.lookback.unwrap_or(ASKED));
        let own = |ms: i64| ms.div_euclid(1000).saturating_sub(self.offset);
        (own(t0_ms).saturating_sub(back), own(last_ms))
    }

    /// Determines how the given readings are joined.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::series::{CpuChoice, TimeSeries};
    /// let minutely = TimeSeries::new(vec![(120, 7.5), (60, 5.0), (180, 6.0)]);
    /// assert_eq!(CpuChoice::default().join(&minutely).lookback, 60);
    /// assert_eq!(CpuChoice::default().with_lookback(5).join(&minutely).lookback, 5);
    /// assert_eq!(CpuChoice::default().join(&TimeSeries::default()).lookback, 3);
    /// ```
    pub fn join(self, cpu: &TimeSeries) -> CpuJoin {
        let own = || cpu.interval().unwrap_or_default().clamp(LOOKBACK, LONGEST);
        CpuJoin { offset: self.offset, lookback: self.lookback.unwrap_or_else(own) }
    }

    /// A note for the user, as a sentence, if the readings' interval makes the look-back longer than the default.
    pub fn note(self, cpu: &TimeSeries) -> Option<Note> {
        let lookback = self.join(cpu).lookback;
        let longer = self.lookback.is_none() && lookback > LOOKBACK;
        longer.then(|| {
            let text = format!(
                "the CPU readings come every {lookback} s, so each one is used for the {lookback} s that \
                 follow it"
            );
            Note::new(NoteKind::LongLookback, text)
        })
    }
}

impl TimeSeries {
    /// Creates a series from readings (epoch second, and for a CPU percent of one core) in any order. Of several in one second, the
    /// last counts.
    pub fn new(mut readings: Vec<(i64, f64)>) -> Self {
        readings.sort_by_key(|(clock, _)| *clock);
        readings.reverse();
        readings.dedup_by_key(|(clock, _)| *clock);
        readings.reverse();
        Self { readings }
    }

    /// The readings as (epoch second, and for a CPU percent of one core), ascending, at most one per second.
    pub fn readings(&self) -> &[(i64, f64)] {
        &self.readings
    }

    /// The median time between readings, in seconds. `None` for fewer than two readings.
    pub fn interval(&self) -> Option<u32> {
        let pairs = self.readings.iter().zip(self.readings.iter().skip(1));
        let mut steps: Vec<i64> = pairs.map(|((one, _), (next, _))| next.saturating_sub(*one)).collect();
        let middle = steps.len() / 2;
        let median = (middle < steps.len()).then(|| *steps.select_nth_unstable(middle).1)?;
        Some(u32::try_from(median).unwrap_or(u32::MAX))
    }

    /// The readings from an epoch second on.
    pub fn since(&self, epoch_second: i64) -> Self {
        let before = self.readings.partition_point(|(clock, _)| *clock < epoch_second);
        Self { readings: self.readings.get(before..).unwrap_or_default().to_vec() }
    }

    /// Returns true if there are no readings.
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }

    /// The reading of an epoch second, otherwise the latest one of up to `join.lookback` seconds before it.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::series::{CpuJoin, TimeSeries};
    /// let cpu = TimeSeries::new(vec![(102, 7.5), (100, 5.0)]);
    /// assert_eq!(cpu.at(102, CpuJoin::default()), Some(7.5));
    /// assert_eq!(cpu.at(101, CpuJoin::default()), Some(5.0));
    /// assert_eq!(cpu.at(106, CpuJoin::default()), None);
    /// ```
    pub fn at(&self, epoch_second: i64, join: CpuJoin) -> Option<f64> {
        let wanted = epoch_second.checked_sub(join.offset)?;
        let after = self.readings.partition_point(|(clock, _)| *clock <= wanted);
        let (clock, value) = *self.readings.get(after.checked_sub(1)?)?;
        (wanted.checked_sub(clock)? <= i64::from(join.lookback)).then_some(value)
    }
}

/// The tolerance factor: a busy machine may read slightly more than its maximum, since two clocks are involved.
const SLACK: f64 = 1.05;

/// The note that doubts the unit of the readings, if they do not fit it. `given` is the unit, if there is one, `largest` the
/// largest reading as exported, and `cores` the server's number of cores, if known.
pub fn doubt(given: Option<CpuScale>, cores: Option<u32>, largest: f64) -> Option<Note> {
    let beyond = |limit: f64| largest > limit * SLACK;
    let is_fraction = largest > 0.0 && largest <= 1.0;
    let (kind, text) = match (given, cores) {
        (None | Some(CpuScale::PercentOfMachine { .. }), _) if is_fraction => (
            NoteKind::PerhapsFraction { cores },
            "no CPU reading is above 1: 1 may mean the whole machine".to_owned(),
        ),
        (None, Some(cores)) if cores > 1 && largest > 0.0 && !beyond(100.0) => (
            NoteKind::PerhapsOfMachine { cores },
            format!(
                "no CPU reading is above 100 %, which is read as one of the {cores} cores: 100 % may mean \
                 the whole machine"
            ),
        ),
        (None | Some(CpuScale::PercentOfCore), Some(cores)) if beyond(100.0 * f64::from(cores)) => (
            NoteKind::MoreThanCores,
            format!("a CPU reading is {largest} %, more than {cores} cores can have"),
        ),
        (Some(CpuScale::PercentOfMachine { .. }), _) if beyond(100.0) => (
            NoteKind::PerhapsOfCore,
            format!(
                "a CPU reading is {largest}, although the given scale ends at 100 for the whole machine: 100 \
                 may mean one core"
            ),
        ),
        (Some(CpuScale::Fraction { .. }), _) if beyond(1.0) => (
            NoteKind::PerhapsPercent,
            format!(
                "a CPU reading is {largest}, although the given scale ends at 1 for the whole machine: the \
                 readings may be in percent"
            ),
        ),
        _ => return None,
    };
    Some(Note::new(kind, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_reading_of_a_second_wins() {
        let cpu = TimeSeries::new(vec![(5, 1.0), (4, 9.0), (5, 2.0)]);
        assert_eq!(cpu.readings(), [(4, 9.0), (5, 2.0)]);
    }

    #[test]
    fn interval_is_the_usual_one() {
        let every = |clocks: &[i64]| TimeSeries::new(clocks.iter().map(|at| (*at, 1.0)).collect()).interval();
        assert_eq!(every(&[0, 10, 20, 20, 30, 300]), Some(10));
        assert_eq!((every(&[5]), every(&[])), (None, None));
    }

    #[test]
    fn offset_shifts_the_clock_of_the_readings() {
        let cpu = TimeSeries::new(vec![(5, 1.0)]);
        let join = CpuJoin { offset: 10, lookback: 0 };
        assert_eq!((cpu.at(15, join), cpu.at(5, join)), (Some(1.0), None));
    }

    #[test]
    fn readings_that_fit_another_scale_better_are_doubted() {
        let (core, cores) = (CpuScale::PercentOfCore, 4);
        let (machine, fraction) = (CpuScale::PercentOfMachine { cores }, CpuScale::Fraction { cores });
        let (one, four) =
            (NoteKind::PerhapsFraction { cores: None }, NoteKind::PerhapsFraction { cores: Some(4) });
        for (given, cores, largest, kind) in [
            (None, None, 0.9, one),
            (None, Some(4), 0.9, four),
            (Some(machine), Some(4), 0.9, four),
            (None, Some(4), 100.0, NoteKind::PerhapsOfMachine { cores: 4 }),
            (None, Some(4), 500.0, NoteKind::MoreThanCores),
            (Some(core), Some(4), 500.0, NoteKind::MoreThanCores),
            (Some(machine), Some(4), 180.0, NoteKind::PerhapsOfCore),
            (Some(fraction), Some(4), 73.0, NoteKind::PerhapsPercent),
        ] {
            assert_eq!(doubt(given, cores, largest).unwrap().kind(), kind, "{given:?} {cores:?} {largest}");
        }
        for (given, cores, largest) in [
            (None, None, 0.0),
            (None, None, 73.0),
            (None, Some(1), 73.0),
            (None, Some(4), 101.0 * 4.0),
            (Some(core), None, 0.9),
            (Some(core), Some(4), 73.0),
            (Some(machine), Some(4), 100.3),
            (Some(fraction), Some(4), 1.003),
        ] {
            assert_eq!(doubt(given, cores, largest), None, "{given:?} {cores:?} {largest}");
        }
    }
}
