//! The packed form of a cell, in which stores keep it, and an ingest its past seconds.

mod dense_counts;
#[cfg(test)]
mod examples;
mod keep;
mod pair_counts;

pub use self::dense_counts::{each_count, pack_counts};
pub use self::keep::keep;
pub use self::pair_counts::TakeCounts;
use super::{Cell, CellRef, InjectorLoad, Spread};
use crate::sample::varint::{read_signed, read_unsigned, signed, unsigned};

/// A packed cell without its key.
#[derive(Debug, Clone, Copy)]
pub struct CellParts<'a> {
    /// The number of samples in the counts.
    pub samples: u64,
    /// The packed counts of elapsed times.
    pub counts: &'a [u8],
    /// All else, packed.
    pub sums: &'a [u8],
}

/// Packs cells in two parts, and keeps its memory.
#[derive(Debug, Default)]
pub struct CellPacker {
    counts: Vec<u8>,
    sums: Vec<u8>,
}

impl CellPacker {
    /// Packs a cell.
    pub fn pack(&mut self, cell: CellRef<'_>) -> CellParts<'_> {
        self.counts.clear();
        self.sums.clear();
        pack_counts(&mut self.counts, cell.elapsed);
        pack_sums(&mut self.sums, cell);
        CellParts { samples: cell.samples(), counts: &self.counts, sums: &self.sums }
    }
}

/// Packs a cell: first its counts, then its sums. All numbers are LEB128.
pub fn pack(cell: &Cell) -> Box<[u8]> {
    let mut out = Vec::with_capacity(32 + cell.elapsed.len() * 3);
    pack_counts(&mut out, &cell.elapsed);
    pack_sums(&mut out, cell.as_ref());
    out.into()
}

/// Packs all of a cell except its counts of elapsed times.
pub fn pack_sums(out: &mut Vec<u8>, CellRef { sums, injectors, .. }: CellRef<'_>) {
    let Spread { n, sum, min, max } = sums.latency;
    unsigned(out, n);
    for number in [sum, i64::from(min), i64::from(max), sums.connect, sums.bytes, sums.sent_bytes] {
        signed(out, number);
    }
    unsigned(out, sums.before_boundary);
    unsigned(out, injectors.len() as u64);
    for load in injectors {
        unsigned(out, u64::from(load.injector));
        unsigned(out, load.samples);
        signed(out, load.threads);
    }
}

/// Unpacks a cell. `None` if the bytes are not a packed cell.
pub fn unpack(mut bytes: &[u8]) -> Option<Cell> {
    // Each count takes at least a byte.
    let mut elapsed = Vec::with_capacity(bytes.len());
    dense_counts::read(&mut bytes, &mut elapsed)?;
    let cell = Cell { elapsed, ..read_sums(&mut bytes)? };
    bytes.is_empty().then_some(cell)
}

/// Unpacks a cell that was packed in two parts. `None` if the bytes are not such parts.
pub fn unpack_parts(counts: &[u8], sums: &[u8]) -> Option<Cell> {
    // Each count takes at least a byte.
    let mut elapsed = Vec::with_capacity(counts.len());
    each_count(counts, &mut elapsed)?;
    Some(Cell { elapsed, ..unpack_sums(sums)? })
}

/// Unpacks what [`pack_sums`] packed: a cell without counts. `None` if the bytes are not packed sums.
pub fn unpack_sums(mut bytes: &[u8]) -> Option<Cell> {
    let cell = read_sums(&mut bytes)?;
    bytes.is_empty().then_some(cell)
}

/// Reads what [`pack_sums`] wrote from the front of the bytes: a cell without its counts.
fn read_sums(from: &mut &[u8]) -> Option<Cell> {
    let mut cell = Cell::default();
    cell.latency.n = read_unsigned(from)?;
    cell.latency.sum = read_signed(from)?;
    cell.latency.min = i32::try_from(read_signed(from)?).ok()?;
    cell.latency.max = i32::try_from(read_signed(from)?).ok()?;
    cell.connect = read_signed(from)?;
    cell.bytes = read_signed(from)?;
    cell.sent_bytes = read_signed(from)?;
    cell.before_boundary = read_unsigned(from)?;
    let injectors = read_unsigned(from)?;
    // Each takes at least three bytes. A vector that grows by itself begins with room for four.
    cell.injectors.reserve_exact(injectors.min(from.len() as u64 / 3) as usize);
    for _ in 0..injectors {
        cell.injectors.push(InjectorLoad {
            injector: u32::try_from(read_unsigned(from)?).ok()?,
            samples: read_unsigned(from)?,
            threads: read_signed(from)?,
        });
    }
    Some(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_cell() -> impl Strategy<Value = Cell> {
        let loads = proptest::collection::btree_map(any::<u32>(), (any::<u64>(), any::<i64>()), 0..4);
        let elapsed = proptest::collection::btree_map(any::<i32>(), any::<u64>(), 0..20);
        (elapsed, any::<[i64; 4]>(), any::<[i32; 2]>(), any::<[u64; 2]>(), loads).prop_map(
            |(elapsed, [sum, connect, bytes, sent_bytes], [min, max], [n, before_boundary], loads)| Cell {
                elapsed: elapsed.into_iter().collect(),
                latency: Spread { n, sum, min, max },
                connect,
                bytes,
                sent_bytes,
                before_boundary,
                injectors: loads
                    .into_iter()
                    .map(|(injector, (samples, threads))| InjectorLoad { injector, samples, threads })
                    .collect(),
            },
        )
    }

    proptest! {
        #[test]
        fn packed_counts_come_back(cell in any_cell()) {
            prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
        }

        #[test]
        fn other_bytes_are_told_from_a_cell(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            // There is no panic, and whatever is accepted survives packing and unpacking.
            if let Some(cell) = unpack(&bytes) {
                prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
            }
        }
    }
}
