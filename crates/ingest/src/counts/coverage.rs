//! Computes how many seconds of a run have a CPU reading, from the counts alone.

use super::packed::CellResult;
use super::stored_run::StoredRun;
use crate::error::Result;
use crate::series::cpu::{CpuJoin, TimeSeries};

/// The number of seconds that have a CPU reading, out of `seconds` from `t0_ms` (epoch ms) on. A second has one if one
/// of its successes has one; without successes, if the epoch second in which it begins has one. The cells must be
/// ascending by key.
///
/// # Errors
/// Returns the first error among the cells.
pub(crate) fn seconds_with_reading(
    cells: impl Iterator<Item = CellResult>,
    t0_ms: i64,
    seconds: u32,
    cpu: &TimeSeries,
    join: CpuJoin,
) -> Result<u32> {
    if cpu.is_empty() {
        return Ok(0);
    }
    let mut failed = None;
    let cells = cells.map_while(|cell| cell.map_err(|error| failed = Some(error)).ok());
    let mut cells = cells.filter(|(key, _)| key.success && !key.transaction).peekable();
    let mut covered = 0;
    for second in 0..seconds {
        let (mut before, mut after) = (0, 0);
        while let Some((_, cell)) = cells.next_if(|(key, _)| key.second == second) {
            let before_boundary = cell.sums().before_boundary;
            before += before_boundary;
            after += cell.samples().saturating_sub(before_boundary);
        }
        let begins = t0_ms.saturating_add(i64::from(second) * 1000).div_euclid(1000);
        let (here, next) = (cpu.at(begins, join).is_some(), cpu.at(begins.saturating_add(1), join).is_some());
        let has = if before + after == 0 { here } else { (before > 0 && here) || (after > 0 && next) };
        covered += u32::from(has);
    }
    drop(cells);
    failed.map_or(Ok(covered), Err)
}

impl StoredRun {
    /// The number of the run's seconds that have a reading in `cpu`. A second has one if one of its successes has one;
    /// without successes, if the epoch second in which it begins has one.
    ///
    /// # Errors
    /// When the counts can't be read.
    pub fn seconds_with_cpu(&self, cpu: &TimeSeries, join: CpuJoin) -> Result<u32> {
        seconds_with_reading(
            self.cells.packed_between(0, u32::MAX),
            self.info.t0_ms,
            self.info.seconds,
            cpu,
            join,
        )
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
            let cells = cells.iter().cloned().map(|(key, cell)| Ok((key, PackedCell::of(cell))));
            seconds_with_reading(cells, 100_400, 5, &cpu, join).unwrap()
        };
        assert_eq!(covered(&[]), 0);
        assert_eq!(covered(&[100]), 1, "second 0, whose samples are all before the border");
        assert_eq!(covered(&[101]), 0, "second 1 has none before it, second 0 none behind it");
        assert_eq!(covered(&[102]), 2, "second 1 behind the border, second 2 by its beginning");
        assert_eq!(covered(&[100, 101, 102, 103, 104]), 5);
    }
}
