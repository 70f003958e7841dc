//! A sorted run of packed cells, in chunks.

use std::borrow::Cow;

use super::chunk::{Entry, Packed, next};
use super::spill::Place;
use super::{Packer, Spill};
use crate::counts::pack::{unpack_parts, unpack_sums};
use crate::counts::{Cell, CellKey};
use crate::error::{Error, Result};

/// Packed cells, ascending by key, each key once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    chunks: Vec<Chunk>,
    cells: usize,
}

#[derive(Debug, Clone)]
struct Chunk {
    /// The key of its first cell.
    first: CellKey,
    place: Place,
}

impl Run {
    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.cells
    }

    /// The key of the first cell.
    pub(crate) fn first(&self) -> Option<CellKey> {
        self.chunks.first().map(|chunk| chunk.first)
    }

    /// Appends the cells of another run, all of whose keys must be greater than those before.
    pub(crate) fn append(&mut self, other: Self) {
        self.cells += other.cells;
        self.chunks.extend(other.chunks);
    }

    /// Appends a cell, packed in two parts. Its key must be greater than all before.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(crate) fn push(
        &mut self,
        packer: &mut Packer,
        spill: &mut Spill,
        key: CellKey,
        (counts, sums): (&[u8], &[u8]),
    ) -> Result<()> {
        match packer.push(key, counts, sums) {
            Some(full) => self.keep(full, spill),
            None => Ok(()),
        }
    }

    /// Appends what the packer still holds.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(crate) fn finish(&mut self, packer: &mut Packer, spill: &mut Spill) -> Result<()> {
        match packer.finish() {
            Some(rest) => self.keep(rest, spill),
            None => Ok(()),
        }
    }

    fn keep(&mut self, packed: Packed, spill: &mut Spill) -> Result<()> {
        self.cells += packed.cells;
        self.chunks.push(Chunk { first: packed.first, place: spill.keep(packed.bytes)? });
        Ok(())
    }

    /// Creates a run of cells that ascend by key, all in memory.
    pub(crate) fn in_memory<'a>(cells: impl Iterator<Item = (CellKey, &'a [u8], &'a [u8])>) -> Self {
        let (mut run, mut packer) = (Self::default(), Packer::default());
        let mut keep = |packed: Packed| {
            run.cells += packed.cells;
            run.chunks.push(Chunk { first: packed.first, place: Place::Memory(packed.bytes.into()) });
        };
        for (key, counts, sums) in cells {
            packer.push(key, counts, sums).into_iter().for_each(&mut keep);
        }
        packer.finish().into_iter().for_each(keep);
        run
    }

    /// The cells of the seconds from `first` to `last`, both inclusive.
    pub(crate) fn between(&self, first: u32, last: u32) -> Cells<'_> {
        self.cells_of(first, last, |entry| unpack_parts(entry.counts, entry.sums))
    }

    /// All cells, without their counts.
    pub(crate) fn sums(&self) -> Cells<'_> {
        self.cells_of(0, u32::MAX, |entry| unpack_sums(entry.sums))
    }

    fn cells_of(&self, first: u32, last: u32, open: fn(&Entry<'_>) -> Option<Cell>) -> Cells<'_> {
        // The previous chunk may end with cells of the first second.
        let from = self.chunks.partition_point(|chunk| chunk.first.second < first).saturating_sub(1);
        let chunks = self.chunks.get(from..).unwrap_or_default().iter();
        Cells { chunks, bytes: Cow::Borrowed(&[]), at: 0, second: 0, first, last, open }
    }
}

/// Iterates over cells of a run and unpacks each. Ends after the first error.
pub(crate) struct Cells<'a> {
    chunks: std::slice::Iter<'a, Chunk>,
    bytes: Cow<'a, [u8]>,
    /// The offset of the next cell in `bytes`.
    at: usize,
    /// The second of the previous cell.
    second: u32,
    /// The first and the last wanted second.
    first: u32,
    last: u32,
    open: fn(&Entry<'_>) -> Option<Cell>,
}

impl Cells<'_> {
    /// Reads the next wanted cell.
    fn read(&mut self) -> Result<Option<(CellKey, Cell)>> {
        loop {
            if self.at >= self.bytes.len() {
                let Some(chunk) = self.chunks.next() else { return Ok(None) };
                (self.bytes, self.at, self.second) = (chunk.place.bytes()?, 0, chunk.first.second);
            }
            let mut rest = self.bytes.get(self.at..).unwrap_or_default();
            let entry = next(&mut rest, self.second).ok_or_else(broken)?;
            (self.at, self.second) = (self.bytes.len() - rest.len(), entry.key.second);
            if self.second > self.last {
                return Ok(None);
            }
            if self.second >= self.first {
                return Ok(Some((entry.key, (self.open)(&entry).ok_or_else(broken)?)));
            }
        }
    }

    fn end(&mut self) {
        self.chunks = [].iter();
        (self.bytes, self.at) = (Cow::default(), 0);
    }
}

fn broken() -> Error {
    Error::stopped("opening packed counts")
}

impl Iterator for Cells<'_> {
    type Item = Result<(CellKey, Cell)>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.end();
        }
        read
    }
}
