//! Computes how many seconds of a run have a CPU reading, from the counts alone.

use super::spill::CellResult;
use super::stored_run::StoredRun;
use crate::error::Result;
use crate::series::cpu::{CpuJoin, TimeSeries};

/// Counts the seconds of a run that have a CPU reading, from cells as they pass.
///
/// A second has one if one of its successes has one; without successes, if the epoch second in which it begins has one.
pub struct Coverage<'a> {
    /// Epoch ms.
    t0_ms: i64,
    cpu: &'a TimeSeries,
    join: CpuJoin,
    /// The second whose cells pass.
    second: u32,
    /// Its successes before and after the boundary of epoch seconds.
    before: u64,
    after: u64,
    /// The number of seconds before it that have a reading.
    covered: u32,
}

impl<'a> Coverage<'a> {
    /// Begins before the first second.
    pub fn new(t0_ms: i64, cpu: &'a TimeSeries, join: CpuJoin) -> Self {
        Self { t0_ms, cpu, join, second: 0, before: 0, after: 0, covered: 0 }
    }

    /// Adds the successes of a cell. Cells must be ascending by key.
    pub fn see(&mut self, cell: &CellResult) {
        if let Ok((key, cell)) = cell
            && key.success
            && !key.transaction
            && !self.cpu.is_empty()
        {
            self.go_to(key.second);
            let before_boundary = cell.sums().before_boundary;
            self.before += before_boundary;
            self.after += cell.samples().saturating_sub(before_boundary);
        }
    }

    /// The number of seconds that have a reading, of so many that the run has.
    pub fn covered(mut self, seconds: u32) -> u32 {
        if !self.cpu.is_empty() {
            self.go_to(seconds);
        }
        self.covered
    }

    fn go_to(&mut self, second: u32) {
        while self.second < second {
            self.covered += u32::from(self.has_reading());
            (self.second, self.before, self.after) = (self.second + 1, 0, 0);
        }
    }

    fn has_reading(&self) -> bool {
        let begins = self.t0_ms.saturating_add(i64::from(self.second) * 1000).div_euclid(1000);
        let at = |epoch_second| self.cpu.at(epoch_second, self.join).is_some();
        match (self.before, self.after) {
            (0, 0) => at(begins),
            (before, after) => (before > 0 && at(begins)) || (after > 0 && at(begins.saturating_add(1))),
        }
    }
}

impl StoredRun {
    /// The number of the run's seconds that have a reading in `cpu`. A second has one if one of its successes has one;
    /// without successes, if the epoch second in which it begins has one.
    ///
    /// # Errors
    /// When the counts can't be read.
    pub fn seconds_with_cpu(&self, cpu: &TimeSeries, join: CpuJoin) -> Result<u32> {
        let mut coverage = Coverage::new(self.info.t0_ms, cpu, join);
        if !cpu.is_empty() {
            for cell in self.cells.packed_between(0, u32::MAX) {
                coverage.see(&Ok(cell?));
            }
        }
        Ok(coverage.covered(self.info.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, CellKey, PackedCell};
    use super::*;

    #[test]
    fn second_is_covered_by_its_successes_or_else_by_its_beginning() {
        // t0 is in the epoch second 100. Each second's samples lie before or after the boundary of epoch seconds.
        let cell = |second, success, before_boundary| {
            let key = CellKey { second, label: 0, success, transaction: false };
            (key, Cell { elapsed: vec![(5, 2)], before_boundary, ..Cell::default() })
        };
        let cells = [cell(0, true, 2), cell(1, true, 0), cell(2, false, 0), cell(3, true, 2)];
        let covered = |clocks: &[i64]| {
            let cpu = TimeSeries::new(clocks.iter().map(|clock| (*clock, 1.0)).collect());
            let join = CpuJoin { offset: 0, lookback: 0 };
            let mut coverage = Coverage::new(100_400, &cpu, join);
            cells.iter().for_each(|(key, cell)| coverage.see(&Ok((*key, PackedCell::of(cell.clone())))));
            coverage.covered(5)
        };
        assert_eq!(covered(&[]), 0);
        assert_eq!(covered(&[100]), 1, "second 0, whose samples are all before the border");
        assert_eq!(covered(&[101]), 0, "second 1 has none before it, second 0 none behind it");
        assert_eq!(covered(&[102]), 2, "second 1 behind the border, second 2 by its beginning");
        assert_eq!(covered(&[100, 101, 102, 103, 104]), 5);
    }
}
