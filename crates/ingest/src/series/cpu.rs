//! The CPU series of a run: readings by epoch second, and the rule by which a second finds its reading.

/// CPU readings by epoch second, ascending, one a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CpuSeries {
    readings: Vec<(i64, f64)>,
}

/// How readings are joined: the clock's shift and how far back a reading may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuJoin {
    /// Seconds added to the clock of every reading.
    pub offset: i64,
    /// How many seconds before the sample's own a reading may be.
    pub lookback: u32,
}

impl Default for CpuJoin {
    fn default() -> Self {
        Self { offset: 0, lookback: LOOKBACK }
    }
}

/// The look-back of readings that come as often as every few seconds.
const LOOKBACK: u32 = 3;

/// The most seconds that the readings' own interval makes of it: what is older tells nothing of now.
const LONGEST: u32 = 3600;

/// How readings are to be joined that were not read yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuChoice {
    /// Seconds added to the clock of every reading.
    pub offset: i64,
    /// How many seconds before the sample's own a reading may be; `None` for 3, or the readings' own interval where
    /// that is longer, so that one counts until the next is due, but for an hour at most.
    pub lookback: Option<u32>,
}

impl CpuChoice {
    /// How these readings are joined.
    ///
    /// ```
    /// use perfpipe_ingest::{CpuChoice, CpuSeries};
    /// let minutely = CpuSeries::new(vec![(120, 7.5), (60, 5.0), (180, 6.0)]);
    /// assert_eq!(CpuChoice::default().join(&minutely).lookback, 60);
    /// assert_eq!(CpuChoice { lookback: Some(5), ..CpuChoice::default() }.join(&minutely).lookback, 5);
    /// assert_eq!(CpuChoice::default().join(&CpuSeries::default()).lookback, 3);
    /// ```
    pub fn join(self, cpu: &CpuSeries) -> CpuJoin {
        let own = || cpu.interval().unwrap_or_default().clamp(LOOKBACK, LONGEST);
        CpuJoin { offset: self.offset, lookback: self.lookback.unwrap_or_else(own) }
    }

    /// What the user should know of it, as a sentence: a look-back that the readings' interval made longer than usual.
    pub fn note(self, cpu: &CpuSeries) -> Option<String> {
        let lookback = self.join(cpu).lookback;
        let longer = self.lookback.is_none() && lookback > LOOKBACK;
        longer.then(|| {
            format!(
                "the CPU readings come every {lookback} s, so one counts for the {lookback} s behind it \
                 (--cpu-lookback says otherwise)"
            )
        })
    }
}

impl CpuSeries {
    /// A series of readings (epoch second, percent) in any order; of one second's readings the last wins.
    pub fn new(mut readings: Vec<(i64, f64)>) -> Self {
        readings.sort_by_key(|(clock, _)| *clock);
        readings.reverse();
        readings.dedup_by_key(|(clock, _)| *clock);
        readings.reverse();
        Self { readings }
    }

    /// The readings, (epoch second, percent), ascending, one a second.
    pub fn readings(&self) -> &[(i64, f64)] {
        &self.readings
    }

    /// Seconds from one reading to the next: the median; `None` of fewer than two.
    pub fn interval(&self) -> Option<u32> {
        let pairs = self.readings.iter().zip(self.readings.iter().skip(1));
        let mut steps: Vec<i64> = pairs.map(|((one, _), (next, _))| next.saturating_sub(*one)).collect();
        let middle = steps.len() / 2;
        let median = (middle < steps.len()).then(|| *steps.select_nth_unstable(middle).1)?;
        Some(u32::try_from(median).unwrap_or(u32::MAX))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }

    /// The reading of an epoch second, else the latest of up to `join.lookback` seconds before it.
    ///
    /// ```
    /// use perfpipe_ingest::{CpuJoin, CpuSeries};
    /// let cpu = CpuSeries::new(vec![(102, 7.5), (100, 5.0)]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reading_of_a_second_wins() {
        let cpu = CpuSeries::new(vec![(5, 1.0), (4, 9.0), (5, 2.0)]);
        assert_eq!(cpu.readings(), [(4, 9.0), (5, 2.0)]);
    }

    #[test]
    fn the_interval_is_the_usual_one() {
        let every = |clocks: &[i64]| CpuSeries::new(clocks.iter().map(|at| (*at, 1.0)).collect()).interval();
        assert_eq!(every(&[0, 10, 20, 20, 30, 300]), Some(10));
        assert_eq!((every(&[5]), every(&[])), (None, None));
    }

    #[test]
    fn an_offset_shifts_the_clock_of_the_readings() {
        let cpu = CpuSeries::new(vec![(5, 1.0)]);
        let join = CpuJoin { offset: 10, lookback: 0 };
        assert_eq!((cpu.at(15, join), cpu.at(5, join)), (Some(1.0), None));
    }
}
