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
        Self { offset: 0, lookback: 3 }
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
    fn an_offset_shifts_the_clock_of_the_readings() {
        let cpu = CpuSeries::new(vec![(5, 1.0)]);
        let join = CpuJoin { offset: 10, lookback: 0 };
        assert_eq!((cpu.at(15, join), cpu.at(5, join)), (Some(1.0), None));
    }
}
