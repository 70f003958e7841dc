//! A cell whose counts are still packed.

use bytes::Bytes;

use super::Cell;
use super::pack::each_count;
use crate::error::{Error, Result};

/// Takes the counts of a cell, which come in ascending order of the values.
pub trait TakeCounts {
    /// Takes four values, each with its number of samples, which is less than 128.
    fn four(&mut self, values: [i32; 4], samples: [u64; 4]);

    /// Takes a value and its number of samples.
    fn one(&mut self, value: i32, samples: u64);
}

/// Appends the counts as they are in [`Cell::elapsed`].
impl TakeCounts for Vec<(i32, u64)> {
    #[inline]
    fn four(&mut self, values: [i32; 4], samples: [u64; 4]) {
        let ([a, b, c, d], [m, n, o, p]) = (values, samples);
        self.extend_from_slice(&[(a, m), (b, n), (c, o), (d, p)]);
    }

    #[inline]
    fn one(&mut self, value: i32, samples: u64) {
        self.push((value, samples));
    }
}

/// A cell of a [`CellTable`](super::CellTable) whose counts are opened one after the other, which takes no memory.
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

    /// Passes the counts on: elapsed times with their numbers of samples.
    ///
    /// # Errors
    /// If the counts are damaged, which was excluded when the table was made.
    #[inline]
    pub fn each_count(&self, take: &mut impl TakeCounts) -> Result<()> {
        each_count(&self.counts, take).ok_or_else(|| Error::stopped("opening packed counts"))
    }
}
