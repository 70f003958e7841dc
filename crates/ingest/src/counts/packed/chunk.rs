//! A chunk: about 64 KiB of packed cells, ascending by key, whose counts are apart from all else.

use bytes::Bytes;

use crate::counts::CellKey;
use crate::counts::pack::Parts;
use crate::sample::varint::{read_unsigned, unsigned};

/// The approximate size of a chunk, in bytes.
const CHUNK: usize = 64 << 10;

/// A full chunk.
pub(super) struct Packed {
    /// The key of its first cell.
    pub(super) first: CellKey,
    pub(super) cells: usize,
    /// The keys and the sums of its cells.
    pub(super) heads: Bytes,
    /// The counts of its cells.
    pub(super) counts: Bytes,
}

/// Packs cells into chunks.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    heads: Vec<u8>,
    counts: Vec<u8>,
    first: Option<CellKey>,
    /// The second of the previous cell.
    second: u32,
    cells: usize,
}

impl Packer {
    /// Adds a cell, whose key must be greater than all before. Returns the previous chunk if it was full.
    pub(super) fn push(&mut self, key: CellKey, parts: Parts<'_>) -> Option<Packed> {
        let full = if self.heads.len() + self.counts.len() >= CHUNK { self.finish() } else { None };
        if let Some(full) = &full {
            // The next one becomes about as large: it need not grow step by step.
            self.heads.reserve(full.heads.len() + full.heads.len() / 8);
            self.counts.reserve(full.counts.len() + full.counts.len() / 8);
        }
        let Parts { samples, counts, sums } = parts;
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
    pub(super) fn pending(&self) -> Option<Packed> {
        let (heads, counts) = (self.heads.clone().into(), self.counts.clone().into());
        Some(Packed { first: self.first?, cells: self.cells, heads, counts })
    }

    /// Returns the cells since the last chunk, if there are any.
    pub(super) fn finish(&mut self) -> Option<Packed> {
        let Self { heads, counts, first, cells, .. } = std::mem::take(self);
        // A chunk may stay in memory for long: without what it has no need of.
        let [heads, counts] = [heads, counts].map(|bytes| bytes.into_boxed_slice().into());
        Some(Packed { first: first?, cells, heads, counts })
    }
}

/// A packed cell without its counts.
pub(super) struct Head<'a> {
    pub(super) key: CellKey,
    pub(super) samples: u64,
    /// The length of its counts, in bytes.
    pub(super) counts: usize,
    pub(super) sums: &'a [u8],
}

/// Reads the next cell of a chunk. `second` is that of the previous cell, or of the chunk's first cell. `None` if the
/// bytes are invalid.
pub(super) fn next<'a>(bytes: &mut &'a [u8], second: u32) -> Option<Head<'a>> {
    let second = second.checked_add(u32::try_from(read_unsigned(bytes)?).ok()?)?;
    let flags = read_unsigned(bytes)?;
    let label = u32::try_from(flags >> 2).ok()?;
    let key = CellKey { second, label, success: flags & 2 != 0, transaction: flags & 1 != 0 };
    let samples = read_unsigned(bytes)?;
    let (counts, sums) = (read_unsigned(bytes)?, read_unsigned(bytes)?);
    let (sums, rest) = bytes.split_at_checked(usize::try_from(sums).ok()?)?;
    *bytes = rest;
    Some(Head { key, samples, counts: usize::try_from(counts).ok()?, sums })
}
