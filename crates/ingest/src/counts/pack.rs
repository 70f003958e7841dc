//! The packed form of a cell, in which stores keep it, and an ingest its past seconds.

use super::kept::TakeCounts;
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
    read_counts(&mut bytes, &mut elapsed)?;
    let cell = Cell { elapsed, ..read_sums(&mut bytes)? };
    bytes.is_empty().then_some(cell)
}

/// Unpacks what [`pack_sums`] packed: a cell without counts. `None` if the bytes are not packed sums.
pub(crate) fn unpack_sums(mut bytes: &[u8]) -> Option<Cell> {
    let cell = read_sums(&mut bytes)?;
    bytes.is_empty().then_some(cell)
}

/// Reads packed counts from the front of the bytes, and passes them on. `None` if they are invalid or not ascending.
#[inline]
pub(super) fn read_counts(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = i32::try_from(read_signed(from)?).ok()?;
    take.one(value, read_unsigned(from)?);
    while others > 0 {
        if others >= 4
            && let Some((next, rest)) = from.split_first_chunk()
            && let Some((values, samples)) = four_small(value, *next)
        {
            take.four(values, samples);
            (value, *from, others) = (values[3], rest, others - 4);
            continue;
        }
        let (difference, samples) = read_pair(from)?;
        if difference <= 0 {
            return None;
        }
        value = i32::try_from(i64::from(value).checked_add(difference)?).ok()?;
        take.one(value, samples);
        others -= 1;
    }
    Some(())
}

/// One in each of four lanes of 16 bits.
const ONES: u64 = 0x0001_0001_0001_0001;

/// The lower byte of each lane.
const LOW: u64 = 0xff * ONES;

/// Returns true if four differences and counts take one byte each, and the differences are greater than zero. Each lane
/// has the difference, which zigzag doubles, below the count.
#[inline]
fn are_small(lanes: u64) -> bool {
    let small = lanes & (0x8080 * ONES) == 0;
    // Odd numbers are negative ones. What is added makes a lane's eighth bit of every other number than zero.
    small && lanes & ONES == 0 && ((lanes & LOW) + 0x7f * ONES) & (0x80 * ONES) == 0x80 * ONES
}

/// The next four values and counts after `value`, if their differences and counts take one byte each, as nearly all do.
/// `None` if not, or if they are invalid.
#[inline]
fn four_small(value: i32, bytes: [u8; 8]) -> Option<([i32; 4], [u64; 4])> {
    let lanes = u64::from_le_bytes(bytes);
    if !are_small(lanes) {
        return None;
    }
    // Each lane of the product is the sum of the lanes up to it, at most 4 * 63.
    let sums = ((lanes & LOW) >> 1).wrapping_mul(ONES);
    let counts = lanes >> 8;
    value.checked_add((sums >> 48) as i32)?;
    let at = |lane: u32| value.wrapping_add((sums >> (16 * lane) & 0xffff) as i32);
    let count = |lane: u32| counts >> (16 * lane) & 0xff;
    Some(([at(0), at(1), at(2), at(3)], [count(0), count(1), count(2), count(3)]))
}

/// Reads a difference and a count.
#[inline]
pub(super) fn read_pair(bytes: &mut &[u8]) -> Option<(i64, u64)> {
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
pub(super) fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

pub(super) fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    read_unsigned(bytes).map(unfolded)
}

/// Reverses the zigzag encoding of [`signed`].
fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
pub(super) mod tests {
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

    /// Counts whose differences are small, but for some.
    pub(in crate::counts) fn small_counts() -> impl Strategy<Value = Vec<(i32, u64)>> {
        let difference = prop_oneof![8 => 1..64i64, 1 => 1..200i64, 1 => Just(1i64 << 31)];
        let count = prop_oneof![8 => 1..128u64, 1 => any::<u64>()];
        let first = prop_oneof![-3..3i64, Just(i64::from(i32::MAX) - 200), Just(i64::from(i32::MIN))];
        (first, proptest::collection::vec((difference, count), 0..600)).prop_map(|(first, steps)| {
            let mut value = first;
            let values = steps.into_iter().map(|(difference, count)| {
                value += difference;
                Some((i32::try_from(value).ok()?, count))
            });
            values.map_while(|pair| pair).collect()
        })
    }

    /// Follows the definition of the packed form.
    pub(in crate::counts) fn one_by_one(from: &mut &[u8]) -> Option<Vec<(i32, u64)>> {
        let (mut counts, mut value) = (Vec::new(), 0i64);
        for at in 0..read_unsigned(from)? {
            let (difference, count) = (read_signed(from)?, read_unsigned(from)?);
            if at > 0 && difference <= 0 {
                return None;
            }
            value = value.checked_add(difference)?;
            counts.push((i32::try_from(value).ok()?, count));
        }
        Some(counts)
    }

    proptest! {
        #[test]
        fn packed_counts_come_back(cell in any_cell()) {
            prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
        }

        #[test]
        fn counts_are_those_that_are_read_one_by_one(
            counts in small_counts(), more in any::<[u8; 3]>(), at in 0..1300usize, cut in 0..1300usize,
        ) {
            let mut bytes = Vec::new();
            pack_counts(&mut bytes, &counts);
            let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
                let mut bytes = bytes.clone();
                change(&mut bytes);
                bytes
            };
            let changed = damaged(&|bytes| if let Some(byte) = bytes.get_mut(at) { *byte ^= more[0] });
            let longer = damaged(&|bytes| bytes.extend(more));
            for mut bytes in [&bytes[..], &changed, &longer, &bytes[..cut.min(bytes.len())]] {
                let (mut slow, mut found) = (bytes, Vec::new());
                let read = read_counts(&mut bytes, &mut found);
                match (read, one_by_one(&mut slow)) {
                    (Some(()), Some(expected)) => {
                        prop_assert_eq!((found, bytes), (expected, slow));
                    }
                    (read, expected) => prop_assert_eq!((read, expected), (None, None)),
                }
            }
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
