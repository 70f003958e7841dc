//! The elapsed times of all successful requests of a run, from the counts alone.

use std::collections::BTreeMap;

use super::spill::CellResult;

/// The largest number of different times that are collected: no run of a server has more, and they need 16 bytes each.
const MOST: usize = 1 << 20;

/// Times below this are counted in an array, which takes 8 MiB.
const DENSE: usize = 1 << 20;

/// Numbers of successful requests by their times, collected from cells as they pass.
#[derive(Default)]
pub struct SuccessTimes {
    /// By the time, up to the largest one below [`DENSE`].
    dense: Vec<u64>,
    others: BTreeMap<i32, u64>,
    /// The counts of a cell, opened.
    counts: Vec<(i32, u64)>,
    /// The number of different times.
    different: usize,
}

impl SuccessTimes {
    /// Adds the requests of a cell, unless there are too many different times already.
    pub fn see(&mut self, cell: &CellResult) {
        if let Ok((key, cell)) = cell
            && key.success
            && !key.transaction
            && self.different <= MOST
        {
            let mut counts = std::mem::take(&mut self.counts);
            counts.clear();
            // Who stores the cell finds damage too.
            if cell.each_count(&mut counts).is_ok() {
                self.add(&counts);
            }
            self.counts = counts;
        }
    }

    /// Adds the counts of a cell, which ascend by time.
    fn add(&mut self, counts: &[(i32, u64)]) {
        let index = |time: i32| usize::try_from(time).ok().filter(|time| *time < DENSE);
        let largest = counts.iter().rev().find_map(|(time, _)| index(*time));
        if let Some(largest) = largest.filter(|largest| *largest >= self.dense.len()) {
            self.dense.resize(largest + 1, 0);
        }
        for (time, requests) in counts {
            let counter = match index(*time).and_then(|time| self.dense.get_mut(time)) {
                Some(counter) => counter,
                None => self.others.entry(*time).or_default(),
            };
            self.different += usize::from(*counter == 0 && *requests > 0);
            *counter = counter.saturating_add(*requests);
        }
    }

    /// Returns the number of requests of each time: (time in the unit of the run, requests), ascending. Empty if there are
    /// too many different times to be kept.
    pub fn ascending(self) -> Vec<(i32, u64)> {
        if self.different > MOST {
            return Vec::new();
        }
        let dense = self.dense.into_iter().zip(0..).map(|(requests, time)| (time, requests));
        let mut times: Vec<(i32, u64)> = Vec::with_capacity(self.different);
        times.extend(self.others.range(..0).map(|(time, requests)| (*time, *requests)));
        times.extend(dense.filter(|(_, requests)| *requests > 0));
        times.extend(self.others.range(0..).map(|(time, requests)| (*time, *requests)));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, CellKey, PackedCell};
    use super::*;

    fn success_times(cells: impl IntoIterator<Item = CellResult>) -> Vec<(i32, u64)> {
        let mut times = SuccessTimes::default();
        cells.into_iter().for_each(|cell| times.see(&cell));
        times.ascending()
    }

    #[test]
    fn failures_and_transactions_have_no_part_in_the_times() {
        let cell = |second, success, transaction, elapsed: &[(i32, u64)]| {
            let key = CellKey { second, label: 0, success, transaction };
            Ok((key, PackedCell::of(Cell { elapsed: elapsed.to_vec(), ..Cell::default() })))
        };
        let cells = [
            cell(0, true, false, &[(3, 2), (7, 1)]),
            cell(0, false, false, &[(900, 1)]),
            cell(1, true, true, &[(800, 1)]),
            cell(2, true, false, &[(7, 4)]),
        ];
        assert_eq!(success_times(cells), [(3, 2), (7, 5)]);
    }

    #[test]
    fn times_of_any_size_ascend() {
        let dense = DENSE as i32;
        let cell = |elapsed: &[i32]| {
            let key = CellKey { second: 0, label: 0, success: true, transaction: false };
            let elapsed = elapsed.iter().map(|time| (*time, 1)).collect();
            Ok((key, PackedCell::of(Cell { elapsed, ..Cell::default() })))
        };
        let cells =
            [cell(&[-5, 0, dense - 1, dense, i32::MAX]), cell(&[-7, 2, dense + 9]), cell(&[2, i32::MAX])];
        let expected =
            [(-7, 1), (-5, 1), (0, 1), (2, 2), (dense - 1, 1), (dense, 1), (dense + 9, 1), (i32::MAX, 2)];
        assert_eq!(success_times(cells), expected);
    }

    #[test]
    fn times_that_would_take_much_memory_are_not_gathered() {
        let cells = |most: i32| {
            (0..most).step_by(1 << 16).map(move |from| {
                let key = CellKey { second: from as u32, label: 0, success: true, transaction: false };
                let elapsed = (from..most.min(from + (1 << 16))).map(|ms| (ms, 1)).collect();
                Ok((key, PackedCell::of(Cell { elapsed, ..Cell::default() })))
            })
        };
        assert_eq!(success_times(cells(MOST as i32)).len(), MOST);
        assert!(success_times(cells(MOST as i32 + 1)).is_empty());
    }
}
