//! The elapsed times of all successful requests of a run, from the counts alone.

use std::collections::HashMap;

use super::packed::CellResult;
use crate::error::Result;

/// The largest number of different times that are gathered: no run of a server has more, and they take 16 bytes each.
const MOST: usize = 1 << 20;

/// Returns the number of successful requests of each elapsed time: (ms, requests), ascending. Empty if there are too many
/// different times to be held.
///
/// # Errors
/// Returns the first error among the cells.
pub(crate) fn success_times(cells: impl Iterator<Item = CellResult>) -> Result<Vec<(i32, u64)>> {
    let mut times: HashMap<i32, u64> = HashMap::new();
    for cell in cells {
        let (key, cell) = cell?;
        if !key.success || key.transaction {
            continue;
        }
        for (ms, requests) in cell.elapsed {
            let counter = times.entry(ms).or_default();
            *counter = counter.saturating_add(requests);
        }
        if times.len() > MOST {
            return Ok(Vec::new());
        }
    }
    let mut times: Vec<(i32, u64)> = times.into_iter().collect();
    times.sort_unstable();
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, CellKey};
    use super::*;

    #[test]
    fn failures_and_transactions_have_no_part_in_the_times() {
        let cell = |second, success, transaction, elapsed: &[(i32, u64)]| {
            let key = CellKey { second, label: 0, success, transaction };
            Ok((key, Cell { elapsed: elapsed.to_vec(), ..Cell::default() }))
        };
        let cells = [
            cell(0, true, false, &[(3, 2), (7, 1)]),
            cell(0, false, false, &[(900, 1)]),
            cell(1, true, true, &[(800, 1)]),
            cell(2, true, false, &[(7, 4)]),
        ];
        assert_eq!(success_times(cells.into_iter()).unwrap(), [(3, 2), (7, 5)]);
    }

    #[test]
    fn times_that_would_take_much_memory_are_not_gathered() {
        let cells = |most: i32| {
            (0..most).step_by(1 << 16).map(move |from| {
                let key = CellKey { second: from as u32, label: 0, success: true, transaction: false };
                let elapsed = (from..most.min(from + (1 << 16))).map(|ms| (ms, 1)).collect();
                Ok((key, Cell { elapsed, ..Cell::default() }))
            })
        };
        assert_eq!(success_times(cells(MOST as i32)).unwrap().len(), MOST);
        assert!(success_times(cells(MOST as i32 + 1)).unwrap().is_empty());
    }
}
