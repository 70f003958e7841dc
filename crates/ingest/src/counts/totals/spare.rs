//! Memory of cells that are packed, for the next ones.

use crate::counts::Cell;

/// The number of cells whose memory is kept for others.
const SPARE: usize = 64;

/// Cells that are packed, whose memory others take.
#[derive(Debug, Default)]
pub(super) struct Spare(Vec<Cell>);

impl Spare {
    /// Keeps the memory of a cell.
    pub(super) fn put(&mut self, Cell { mut elapsed, mut injectors, .. }: Cell) {
        if self.0.len() < SPARE {
            elapsed.clear();
            injectors.clear();
            self.0.push(Cell { elapsed, injectors, ..Cell::default() });
        }
    }

    /// Returns an empty cell, with memory that is not far too large for so many elapsed times.
    pub(super) fn take(&mut self, times: usize) -> Cell {
        self.0.pop().filter(|spare| spare.elapsed.capacity() <= 2 * times + 8).unwrap_or_default()
    }
}
