//! A sorted run of packed cells, in chunks of about 64 KiB.

use bytes::Bytes;

use super::file::{SpillFile, SpillPlace};
use crate::counts::pack::{CellPacker, CellParts, unpack_parts, unpack_sums};
use crate::counts::packed_cell::PackedCell;
use crate::counts::{Cell, CellKey};
use crate::error::{Error, Result};
use crate::sample::varint::{read_unsigned, unsigned};

/// Packed cells, ascending by key, each key once.
#[derive(Debug, Clone, Default)]
pub struct CellRun {
    chunks: Vec<StoredChunk>,
    cells: usize,
}

#[derive(Debug, Clone)]
struct StoredChunk {
    /// The key of its first cell.
    first: CellKey,
    /// The keys and the sums of its cells.
    heads: SpillPlace,
    /// The counts of its cells.
    counts: SpillPlace,
}

impl CellRun {
    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.cells
    }

    /// The key of the first cell.
    pub fn first(&self) -> Option<CellKey> {
        self.chunks.first().map(|chunk| chunk.first)
    }

    /// Appends the cells of another run, all of whose keys must be greater than those before.
    pub fn append(&mut self, other: Self) {
        self.cells += other.cells;
        self.chunks.extend(other.chunks);
    }

    /// Moves the chunks to where those of another collection are kept.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(super) fn kept_in(self, spill: &mut SpillFile) -> Result<Self> {
        let mut keep = |place: &SpillPlace| spill.keep(place.bytes()?);
        let moved = |chunk: StoredChunk| {
            Ok(StoredChunk { first: chunk.first, heads: keep(&chunk.heads)?, counts: keep(&chunk.counts)? })
        };
        Ok(Self { chunks: self.chunks.into_iter().map(moved).collect::<Result<_>>()?, cells: self.cells })
    }

    /// Appends a cell, packed in two parts. Its key must be greater than all before.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub fn push(
        &mut self,
        packer: &mut ChunkPacker,
        spill: &mut SpillFile,
        key: CellKey,
        parts: CellParts<'_>,
    ) -> Result<()> {
        match packer.push(key, parts) {
            Some(full) => self.keep(full, spill),
            None => Ok(()),
        }
    }

    /// Appends what the packer still has.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub fn finish(&mut self, packer: &mut ChunkPacker, spill: &mut SpillFile) -> Result<()> {
        match packer.finish() {
            Some(rest) => self.keep(rest, spill),
            None => Ok(()),
        }
    }

    fn keep(&mut self, packed: PackedChunk, spill: &mut SpillFile) -> Result<()> {
        self.cells += packed.cells;
        let (heads, counts) = (spill.keep(packed.heads)?, spill.keep(packed.counts)?);
        self.chunks.push(StoredChunk { first: packed.first, heads, counts });
        Ok(())
    }

    /// Creates a run of cells that ascend by key, all in memory.
    pub fn in_memory(cells: impl IntoIterator<Item = (CellKey, Cell)>) -> Self {
        let (mut run, mut packer, mut packing) =
            (Self::default(), ChunkPacker::default(), CellPacker::default());
        for (key, cell) in cells {
            packer.push(key, packing.pack(cell.as_ref())).into_iter().for_each(|full| run.hold(full));
        }
        packer.finish().into_iter().for_each(|rest| run.hold(rest));
        run
    }

    /// Creates a run of the cells that a packer still has.
    pub(super) fn of_pending(packer: &ChunkPacker) -> Self {
        let mut run = Self::default();
        packer.pending().into_iter().for_each(|rest| run.hold(rest));
        run
    }

    /// Appends a chunk, which stays in memory.
    fn hold(&mut self, packed: PackedChunk) {
        self.cells += packed.cells;
        let (heads, counts) = (SpillPlace::Memory(packed.heads), SpillPlace::Memory(packed.counts));
        self.chunks.push(StoredChunk { first: packed.first, heads, counts });
    }

    /// The cells of the seconds from `first` to `last`, both inclusive.
    pub fn between(&self, first: u32, last: u32) -> RunCells<'_, Cell> {
        self.cells_of(first, last, true, |cell| unpack_parts(&cell.counts, cell.sums))
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, with their counts as they are packed.
    pub fn packed_between(&self, first: u32, last: u32) -> RunCells<'_, PackedCell> {
        self.cells_of(first, last, true, |cell| {
            Some(PackedCell::new(cell.samples, cell.counts, unpack_sums(cell.sums)?))
        })
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, without their counts.
    pub fn sums_between(&self, first: u32, last: u32) -> RunCells<'_, Cell> {
        self.cells_of(first, last, false, |cell| unpack_sums(cell.sums))
    }

    fn cells_of<T>(&self, first: u32, last: u32, with_counts: bool, open: CellOpener<T>) -> RunCells<'_, T> {
        // The previous chunk may end with cells of the first second.
        let from = self.chunks.partition_point(|chunk| chunk.first.second < first).saturating_sub(1);
        let chunks = self.chunks.get(from..).unwrap_or_default().iter();
        let (heads, counts) = (Bytes::new(), Bytes::new());
        RunCells { chunks, heads, counts, at: 0, counts_at: 0, second: 0, first, last, with_counts, open }
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
type CellOpener<T> = fn(Closed<'_>) -> Option<T>;

/// Iterates over cells of a run and opens each. Ends after the first error.
pub struct RunCells<'a, T> {
    chunks: std::slice::Iter<'a, StoredChunk>,
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
    open: CellOpener<T>,
}

impl<T> RunCells<'_, T> {
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
            let CellHead { key, samples, counts, sums } = next(&mut rest, self.second).ok_or_else(broken)?;
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

impl<T> Iterator for RunCells<'_, T> {
    type Item = Result<(CellKey, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.end();
        }
        read
    }
}

/// The approximate size of a chunk, in bytes.
const CHUNK: usize = 64 << 10;

/// A full chunk.
struct PackedChunk {
    /// The key of its first cell.
    first: CellKey,
    cells: usize,
    /// The keys and the sums of its cells.
    heads: Bytes,
    /// The counts of its cells.
    counts: Bytes,
}

/// Packs cells into chunks.
#[derive(Debug, Default)]
pub struct ChunkPacker {
    heads: Vec<u8>,
    counts: Vec<u8>,
    first: Option<CellKey>,
    /// The second of the previous cell.
    second: u32,
    cells: usize,
}

impl ChunkPacker {
    /// Adds a cell, whose key must be greater than all before. Returns the previous chunk if it was full.
    fn push(&mut self, key: CellKey, parts: CellParts<'_>) -> Option<PackedChunk> {
        let full = if self.heads.len() + self.counts.len() >= CHUNK { self.finish() } else { None };
        if let Some(full) = &full {
            // The next one becomes about as large: it need not grow step by step.
            self.heads.reserve(full.heads.len() + full.heads.len() / 8);
            self.counts.reserve(full.counts.len() + full.counts.len() / 8);
        }
        let CellParts { samples, counts, sums } = parts;
        let first = *self.first.get_or_insert(key);
        let before = if self.cells == 0 { first.second } else { self.second };
        let flags = u64::from(key.success) << 1 | u64::from(key.transaction);
        unsigned(&mut self.heads, u64::from(key.second.wrapping_sub(before)));
        unsigned(&mut self.heads, u64::from(key.label) << 2 | flags);
        unsigned(&mut self.heads, samples);
        unsigned(&mut self.heads, counts.len() as u64);
        unsigned(&mut self.heads, sums.len() as u64);
        self.heads.extend_from_slice(sums);
        self.counts.extend_from_slice(counts);
        self.second = key.second;
        self.cells += 1;
        full
    }

    /// Returns a copy of the cells since the last chunk, if there are any.
    fn pending(&self) -> Option<PackedChunk> {
        let (heads, counts) = (self.heads.clone().into(), self.counts.clone().into());
        Some(PackedChunk { first: self.first?, cells: self.cells, heads, counts })
    }

    /// Returns the cells since the last chunk, if there are any.
    fn finish(&mut self) -> Option<PackedChunk> {
        let Self { heads, counts, first, cells, .. } = std::mem::take(self);
        // A chunk may stay in memory for long: without what it has no need of.
        let [heads, counts] = [heads, counts].map(|bytes| bytes.into_boxed_slice().into());
        Some(PackedChunk { first: first?, cells, heads, counts })
    }
}

/// A packed cell without its counts.
struct CellHead<'a> {
    key: CellKey,
    samples: u64,
    /// The length of its counts, in bytes.
    counts: usize,
    sums: &'a [u8],
}

/// Reads the next cell of a chunk. `second` is that of the previous cell, or of the chunk's first cell. `None` if the
/// bytes are invalid.
fn next<'a>(bytes: &mut &'a [u8], second: u32) -> Option<CellHead<'a>> {
    let second = second.checked_add(u32::try_from(read_unsigned(bytes)?).ok()?)?;
    let flags = read_unsigned(bytes)?;
    let label = u32::try_from(flags >> 2).ok()?;
    let key = CellKey { second, label, success: flags & 2 != 0, transaction: flags & 1 != 0 };
    let samples = read_unsigned(bytes)?;
    let (counts, sums) = (read_unsigned(bytes)?, read_unsigned(bytes)?);
    let (sums, rest) = bytes.split_at_checked(usize::try_from(sums).ok()?)?;
    *bytes = rest;
    Some(CellHead { key, samples, counts: usize::try_from(counts).ok()?, sums })
}
