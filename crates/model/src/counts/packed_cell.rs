//! A cell whose counts are still packed.

use bytes::Bytes;

use super::pack::{TakeCounts, each_count, pack_counts};
use super::{Cell, InjectorLoad};
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
    pub fn new(samples: u64, counts: Bytes, sums: Cell) -> Self {
        Self { samples, counts, sums }
    }

    /// Packs the counts of a cell.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::counts::{Cell, PackedCell};
    ///
    /// let cell = Cell { elapsed: vec![(10, 1), (12, 4)], bytes: 900, ..Cell::default() };
    /// let packed = PackedCell::of(cell.clone());
    /// assert_eq!((packed.samples(), packed.sums().bytes), (5, 900));
    /// assert_eq!(packed.open()?, cell);
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    pub fn of(cell: Cell) -> Self {
        let mut cell = cell.ordered();
        let elapsed = std::mem::take(&mut cell.elapsed);
        Self::of_parts(cell, &elapsed)
    }

    /// Packs counts, which ascend by time, beside all else of a cell.
    pub fn of_parts(sums: Cell, elapsed: &[(i32, u64)]) -> Self {
        let samples = elapsed.iter().fold(0, |sum: u64, (_, samples)| sum.saturating_add(*samples));
        let mut counts = Vec::new();
        pack_counts(&mut counts, elapsed);
        Self::new(samples, counts.into(), sums)
    }

    /// Opens the counts.
    ///
    /// # Errors
    /// As for [`each_count`](Self::each_count).
    pub fn open(self) -> Result<Cell> {
        // Each count takes at least a byte.
        let mut elapsed = Vec::with_capacity(self.counts.len());
        self.each_count(&mut elapsed)?;
        Ok(Cell { elapsed, ..self.sums })
    }

    /// The load by injector, which must stay ascending by injector.
    pub fn loads_mut(&mut self) -> &mut Vec<InjectorLoad> {
        &mut self.sums.injectors
    }

    /// The packed counts.
    pub fn counts(&self) -> &[u8] {
        &self.counts
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the cell without its counts, after they were added to a list.
    ///
    /// # Errors
    /// As for [`each_count`](Self::each_count).
    pub fn into_sums(self, counts: &mut Vec<(i32, u64)>) -> Result<Cell> {
        self.each_count(counts)?;
        Ok(self.sums)
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
