//! The packed form of a cell, in which past seconds are kept during an ingest and after a run is read back.

use super::{Cell, InjectorLoad, Spread};
use crate::sample::varint::{read_unsigned, unsigned};

/// Packs a cell: first its counts, then its sums. All numbers are LEB128.
pub(crate) fn pack(cell: &Cell) -> Box<[u8]> {
    let mut out = Vec::with_capacity(32 + cell.elapsed.len() * 3);
    pack_counts(&mut out, &cell.elapsed);
    pack_sums(&mut out, cell);
    out.into()
}

/// Packs exact counts, ascending by value: their number, then for each the difference to the previous value and the
/// count.
pub(crate) fn pack_counts(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
    unsigned(out, counts.len() as u64);
    let mut previous = 0;
    for (value, count) in counts {
        signed(out, i64::from(*value) - previous);
        unsigned(out, *count);
        previous = i64::from(*value);
    }
}

/// Packs all of a cell except its counts of elapsed times.
pub(crate) fn pack_sums(out: &mut Vec<u8>, cell: &Cell) {
    let Spread { n, sum, min, max } = cell.latency;
    unsigned(out, n);
    for number in [sum, i64::from(min), i64::from(max), cell.connect, cell.bytes, cell.sent_bytes] {
        signed(out, number);
    }
    unsigned(out, cell.before_boundary);
    unsigned(out, cell.injectors.len() as u64);
    for load in &cell.injectors {
        unsigned(out, u64::from(load.injector));
        unsigned(out, load.samples);
        signed(out, load.threads);
    }
}

/// Unpacks a cell. `None` if the bytes are not a packed cell.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Cell> {
    // Each count takes at least two bytes.
    let mut elapsed = Vec::with_capacity(bytes.len() / 2);
    read_counts(&mut bytes, |value, count| elapsed.push((value, count)))?;
    let cell = Cell { elapsed, ..read_sums(&mut bytes)? };
    bytes.is_empty().then_some(cell)
}

/// Unpacks a cell that was packed in two parts. `None` if the bytes are not such parts.
pub(crate) fn unpack_parts(mut counts: &[u8], sums: &[u8]) -> Option<Cell> {
    // Each count takes at least two bytes.
    let mut elapsed = Vec::with_capacity(counts.len() / 2);
    read_counts(&mut counts, |value, count| elapsed.push((value, count)))?;
    let cell = Cell { elapsed, ..unpack_sums(sums)? };
    counts.is_empty().then_some(cell)
}

/// The length of the counts at the beginning of a packed cell, in bytes. `None` if it does not begin with counts.
pub(crate) fn counts_length(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    read_counts(&mut rest, |_, _| {})?;
    Some(bytes.len() - rest.len())
}

/// Unpacks what [`pack_sums`] packed: a cell without counts. `None` if the bytes are not packed sums.
pub(crate) fn unpack_sums(mut bytes: &[u8]) -> Option<Cell> {
    let cell = read_sums(&mut bytes)?;
    bytes.is_empty().then_some(cell)
}

/// A packed cell that was checked.
pub(crate) struct Checked<'a> {
    /// The packed counts.
    pub(crate) counts: &'a [u8],
    /// The number of samples in the counts.
    pub(crate) samples: u64,
    /// The cell without its counts.
    pub(crate) sums: Cell,
}

/// Checks that bytes are a packed cell. `None` if not.
pub(crate) fn check(bytes: &[u8]) -> Option<Checked<'_>> {
    let mut rest = bytes;
    let samples = check_counts(&mut rest)?;
    let counts = bytes.get(..bytes.len() - rest.len())?;
    let sums = read_sums(&mut rest)?;
    rest.is_empty().then_some(Checked { counts, samples, sums })
}

/// Checks that bytes begin with packed counts, skips these and returns the number of samples. `None` if they do not.
pub(crate) fn check_counts(from: &mut &[u8]) -> Option<u64> {
    let mut samples = 0u64;
    read_counts(from, |_, count| samples = samples.saturating_add(count))?;
    Some(samples)
}

/// Reads packed counts from the front of the bytes. `None` if they are invalid or not ascending.
fn read_counts(from: &mut &[u8], mut each: impl FnMut(i32, u64)) -> Option<()> {
    let Some(others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = read_signed(from)?;
    each(i32::try_from(value).ok()?, read_unsigned(from)?);
    for _ in 0..others {
        let (difference, count) = read_pair(from)?;
        if difference <= 0 {
            return None;
        }
        value = value.checked_add(difference)?;
        each(i32::try_from(value).ok()?, count);
    }
    Some(())
}

/// Reads a difference and a count.
#[inline]
fn read_pair(bytes: &mut &[u8]) -> Option<(i64, u64)> {
    // The fast path: nearly all pairs are two small numbers.
    if let [difference @ 0..0x80, count @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some((unfolded(u64::from(*difference)), u64::from(*count)));
    }
    Some((read_signed(bytes)?, read_unsigned(bytes)?))
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
    for _ in 0..read_unsigned(from)? {
        cell.injectors.push(InjectorLoad {
            injector: u32::try_from(read_unsigned(from)?).ok()?,
            samples: read_unsigned(from)?,
            threads: read_signed(from)?,
        });
    }
    Some(cell)
}

/// Appends a number with zigzag encoding, so that small numbers of either sign stay short.
fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    read_unsigned(bytes).map(unfolded)
}

/// Reverses the zigzag encoding of [`signed`].
fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
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
