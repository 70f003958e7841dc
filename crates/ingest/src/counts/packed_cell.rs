//! A cell whose counts are still packed.

use bytes::Bytes;

use super::Cell;
use super::pack::{TakeCounts, each_count};
use crate::error::{Error, Result};

/// A cell of a [`CellTable`](super::CellTable) whose counts are opened one after the other, which takes no memory.
#[derive(Debug, Clone)]
pub struct PackedCell {
    samples: u64,
    counts: Bytes,
    sums: Cell,
}

impl PackedCell {
    /// Creates a cell from its kept counts, the number of samples in them, and all else.
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

    /// Passes the counts on: elapsed times with their numbers of samples.
    ///
    /// # Errors
    /// If the counts are damaged, which was excluded when the table was made.
    #[inline]
    pub fn each_count(&self, take: &mut impl TakeCounts) -> Result<()> {
        each_count(&self.counts, take).ok_or_else(|| Error::stopped("opening packed counts"))
    }
}
