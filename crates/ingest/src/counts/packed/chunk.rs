//! A chunk: about 64 KiB of packed cells, ascending by key.

use crate::counts::CellKey;
use crate::sample::varint::{read_unsigned, unsigned};

/// The approximate size of a chunk, in bytes.
const CHUNK: usize = 64 << 10;

/// A full chunk.
pub(super) struct Packed {
    /// The key of its first cell.
    pub(super) first: CellKey,
    pub(super) cells: usize,
    pub(super) bytes: Vec<u8>,
}

/// Packs cells into chunks.
#[derive(Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
    first: Option<CellKey>,
    /// The second of the previous cell.
    second: u32,
    cells: usize,
}

impl Packer {
    /// Adds a cell, whose key must be greater than all before. Returns the previous chunk if it was full.
    pub(super) fn push(&mut self, key: CellKey, counts: &[u8], sums: &[u8]) -> Option<Packed> {
        let full = if self.bytes.len() >= CHUNK { self.finish() } else { None };
        let first = *self.first.get_or_insert(key);
        let before = if self.cells == 0 { first.second } else { self.second };
        let flags = u64::from(key.success) << 1 | u64::from(key.transaction);
        unsigned(&mut self.bytes, u64::from(key.second.wrapping_sub(before)));
        unsigned(&mut self.bytes, u64::from(key.label) << 2 | flags);
        unsigned(&mut self.bytes, counts.len() as u64);
        unsigned(&mut self.bytes, sums.len() as u64);
        self.bytes.extend_from_slice(counts);
        self.bytes.extend_from_slice(sums);
        self.second = key.second;
        self.cells += 1;
        full
    }

    /// Returns the cells since the last chunk, if there are any.
    pub(super) fn finish(&mut self) -> Option<Packed> {
        let Self { bytes, first, cells, .. } = std::mem::take(self);
        Some(Packed { first: first?, cells, bytes })
    }
}

/// A packed cell.
pub(super) struct Entry<'a> {
    pub(super) key: CellKey,
    pub(super) counts: &'a [u8],
    pub(super) sums: &'a [u8],
}

/// Reads the next cell of a chunk. `second` is that of the previous cell, or of the chunk's first cell. `None` if the
/// bytes are invalid.
pub(super) fn next<'a>(bytes: &mut &'a [u8], second: u32) -> Option<Entry<'a>> {
    let second = second.checked_add(u32::try_from(read_unsigned(bytes)?).ok()?)?;
    let flags = read_unsigned(bytes)?;
    let label = u32::try_from(flags >> 2).ok()?;
    let key = CellKey { second, label, success: flags & 2 != 0, transaction: flags & 1 != 0 };
    let (counts, sums) = (read_unsigned(bytes)?, read_unsigned(bytes)?);
    let (counts, rest) = bytes.split_at_checked(usize::try_from(counts).ok()?)?;
    let (sums, rest) = rest.split_at_checked(usize::try_from(sums).ok()?)?;
    *bytes = rest;
    Some(Entry { key, counts, sums })
}
