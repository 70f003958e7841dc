//! A sorted run of packed cells, in chunks.

use bytes::Bytes;

use super::chunk::{Head, Packed, next};
use super::spill::Place;
use super::{Packer, Spill};
use crate::counts::pack::{CellPacker, Parts, unpack_parts, unpack_sums};
use crate::counts::packed_cell::PackedCell;
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
    /// The keys and the sums of its cells.
    heads: Place,
    /// The counts of its cells.
    counts: Place,
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

    /// Moves the chunks to where those of another collection are kept.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(super) fn kept_in(self, spill: &mut Spill) -> Result<Self> {
        let mut keep = |place: &Place| spill.keep(place.bytes()?);
        let moved = |chunk: Chunk| {
            Ok(Chunk { first: chunk.first, heads: keep(&chunk.heads)?, counts: keep(&chunk.counts)? })
        };
        Ok(Self { chunks: self.chunks.into_iter().map(moved).collect::<Result<_>>()?, cells: self.cells })
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
        parts: Parts<'_>,
    ) -> Result<()> {
        match packer.push(key, parts) {
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
        let (heads, counts) = (spill.keep(packed.heads)?, spill.keep(packed.counts)?);
        self.chunks.push(Chunk { first: packed.first, heads, counts });
        Ok(())
    }

    /// Creates a run of cells that ascend by key, all in memory.
    pub(crate) fn in_memory(cells: impl IntoIterator<Item = (CellKey, Cell)>) -> Self {
        let (mut run, mut packer, mut packing) = (Self::default(), Packer::default(), CellPacker::default());
        for (key, cell) in cells {
            packer.push(key, packing.pack(cell.as_ref())).into_iter().for_each(|full| run.hold(full));
        }
        packer.finish().into_iter().for_each(|rest| run.hold(rest));
        run
    }

    /// Creates a run of the cells that a packer still holds.
    pub(super) fn of_pending(packer: &Packer) -> Self {
        let mut run = Self::default();
        packer.pending().into_iter().for_each(|rest| run.hold(rest));
        run
    }

    /// Appends a chunk, which stays in memory.
    fn hold(&mut self, packed: Packed) {
        self.cells += packed.cells;
        let (heads, counts) = (Place::Memory(packed.heads), Place::Memory(packed.counts));
        self.chunks.push(Chunk { first: packed.first, heads, counts });
    }

    /// The cells of the seconds from `first` to `last`, both inclusive.
    pub(crate) fn between(&self, first: u32, last: u32) -> Cells<'_, Cell> {
        self.cells_of(first, last, true, |cell| unpack_parts(&cell.counts, cell.sums))
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, with their counts as they are packed.
    pub(crate) fn packed_between(&self, first: u32, last: u32) -> Cells<'_, PackedCell> {
        self.cells_of(first, last, true, |cell| {
            Some(PackedCell::new(cell.samples, cell.counts, unpack_sums(cell.sums)?))
        })
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, without their counts.
    pub(crate) fn sums_between(&self, first: u32, last: u32) -> Cells<'_, Cell> {
        self.cells_of(first, last, false, |cell| unpack_sums(cell.sums))
    }

    fn cells_of<T>(&self, first: u32, last: u32, with_counts: bool, open: Open<T>) -> Cells<'_, T> {
        // The previous chunk may end with cells of the first second.
        let from = self.chunks.partition_point(|chunk| chunk.first.second < first).saturating_sub(1);
        let chunks = self.chunks.get(from..).unwrap_or_default().iter();
        let (heads, counts) = (Bytes::new(), Bytes::new());
        Cells { chunks, heads, counts, at: 0, counts_at: 0, second: 0, first, last, with_counts, open }
    }
}

/// A cell that is still packed.
struct Closed<'a> {
    samples: u64,
    /// The counts; empty if they are not read.
    counts: Bytes,
    sums: &'a [u8],
}

/// Opens a cell. `None` if its bytes are invalid.
type Open<T> = fn(Closed<'_>) -> Option<T>;

/// Iterates over cells of a run and opens each. Ends after the first error.
pub(crate) struct Cells<'a, T> {
    chunks: std::slice::Iter<'a, Chunk>,
    heads: Bytes,
    counts: Bytes,
    /// The offsets of the next cell in `heads` and in `counts`.
    at: usize,
    counts_at: usize,
    /// The second of the previous cell.
    second: u32,
    /// The first and the last wanted second.
    first: u32,
    last: u32,
    /// True if counts are read.
    with_counts: bool,
    open: Open<T>,
}

impl<T> Cells<'_, T> {
    /// Reads the next wanted cell.
    fn read(&mut self) -> Result<Option<(CellKey, T)>> {
        loop {
            if self.at >= self.heads.len() {
                let Some(chunk) = self.chunks.next() else { return Ok(None) };
                (self.heads, self.at, self.second) = (chunk.heads.bytes()?, 0, chunk.first.second);
                if self.with_counts {
                    (self.counts, self.counts_at) = (chunk.counts.bytes()?, 0);
                }
            }
            let mut rest = self.heads.get(self.at..).unwrap_or_default();
            let Head { key, samples, counts, sums } = next(&mut rest, self.second).ok_or_else(broken)?;
            (self.at, self.second) = (self.heads.len() - rest.len(), key.second);
            let from = self.counts_at;
            if self.with_counts {
                self.counts_at =
                    from.checked_add(counts).filter(|end| *end <= self.counts.len()).ok_or_else(broken)?;
            }
            if self.second > self.last {
                return Ok(None);
            }
            if self.second >= self.first {
                let closed = Closed { samples, counts: self.counts.slice(from..self.counts_at), sums };
                return Ok(Some((key, (self.open)(closed).ok_or_else(broken)?)));
            }
        }
    }

    fn end(&mut self) {
        self.chunks = [].iter();
        (self.heads, self.at) = (Bytes::new(), 0);
    }
}

fn broken() -> Error {
    Error::stopped("opening packed counts")
}

impl<T> Iterator for Cells<'_, T> {
    type Item = Result<(CellKey, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.end();
        }
        read
    }
}
