//! A cell whose counts are still packed.

use bytes::Bytes;

use super::Cell;
use super::pack::each_piece;
use crate::error::{Error, Result};

/// A cell of a [`CellTable`](super::CellTable) whose counts are opened piece by piece, which takes no memory.
#[derive(Debug, Clone)]
pub struct PackedCell {
    samples: u64,
    counts: Bytes,
    sums: Cell,
}

impl PackedCell {
    /// Creates a cell from its packed counts, the number of samples in them, and all else.
    pub(crate) fn new(samples: u64, counts: Bytes, sums: Cell) -> Self {
        Self { samples, counts, sums }
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the cell without its counts: [`Cell::elapsed`] is empty.
    pub fn sums(&self) -> &Cell {
        &self.sums
    }

    /// Passes the counts, (elapsed time, samples) in ascending order, to `each` in pieces of any length.
    ///
    /// # Errors
    /// If the counts are damaged, which was excluded when the table was made.
    #[inline]
    pub fn each_piece(&self, each: impl FnMut(&[(i32, u64)])) -> Result<()> {
        each_piece(&self.counts, each).ok_or_else(|| Error::stopped("opening packed counts"))
    }
}
