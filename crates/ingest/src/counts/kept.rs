//! The form in which exact counts are kept in memory: mostly a byte for each value, half of what their packed form takes.

use super::Cell;
use super::pack::{pack_counts, read_counts, read_pair, read_signed, signed, unpack_sums};
use crate::sample::varint::{read_unsigned, unsigned};

/// The first byte of counts that are kept as they are packed, since few differences are small.
const AS_PACKED: u8 = 0;

/// The first byte of all others. The number of values follows, the first value and its count; then for each other value
/// a byte with the difference to the previous one below the count, or [`WIDE`].
const DENSE: u8 = 1;

/// A byte in place of a difference and a count of which one is too large. Both follow as they are packed.
const WIDE: u8 = 0;

/// The number of bits of a byte that hold the difference.
const BITS: u32 = 5;

/// The largest difference and count that a byte holds.
const LARGEST: (i64, u64) = ((1 << BITS) - 1, 7);

/// The number of values that are looked at together. No sum of their differences or counts overflows 16 bits.
const BLOCK: usize = 32;

/// One in each of eight lanes of 8 bits.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// A cell in the form in which it is kept, without its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The number of samples in the counts.
    pub(crate) samples: u64,
    pub(crate) counts: &'a [u8],
    /// The packed sums.
    pub(crate) sums: &'a [u8],
}

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

/// Appends exact counts, ascending by value.
pub(crate) fn keep_counts(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
    let mut packed = Vec::with_capacity(8 + counts.len() * 3);
    pack_counts(&mut packed, counts);
    keep_packed(out, &mut packed.as_slice());
}

/// Appends the packed counts at the front of the bytes, skips these and returns the number of samples. `None` if they
/// are no packed counts; what was appended then has no meaning.
pub(crate) fn keep_packed(out: &mut Vec<u8>, from: &mut &[u8]) -> Option<u64> {
    let (packed, start) = (*from, out.len());
    out.push(DENSE);
    let values = read_unsigned(from)?;
    unsigned(out, values);
    let Some(mut others) = values.checked_sub(1) else { return Some(0) };
    let mut value = i64::from(i32::try_from(read_signed(from)?).ok()?);
    let mut samples = read_unsigned(from)?;
    signed(out, value);
    unsigned(out, samples);
    let mut wide = 0;
    while others > 0 {
        let small = keep_small(out, from, others);
        (value, others) = (value.checked_add(small.rise)?, others - small.values);
        samples = samples.saturating_add(small.samples);
        // A block with a large pair, or fewer pairs than one has.
        for _ in 0..others.min(BLOCK as u64) {
            let (difference, count) = read_pair(from)?;
            (value, others) = (value.checked_add(difference)?, others - 1);
            samples = samples.saturating_add(count);
            wide += u64::from(!keep_pair(out, difference, count)?);
        }
    }
    // A wide pair takes a byte more than a packed one, and every other pair a byte less.
    if wide > values / 2 {
        out.truncate(start);
        out.push(AS_PACKED);
        out.extend_from_slice(packed.get(..packed.len() - from.len())?);
    }
    // The values ascend, so that none is too large unless the last one is.
    i32::try_from(value).ok().map(|_| samples)
}

/// Appends a pair. Returns false if it is a wide one; `None` if the values do not ascend.
fn keep_pair(out: &mut Vec<u8>, difference: i64, count: u64) -> Option<bool> {
    if difference <= 0 {
        return None;
    }
    let is_small = difference <= LARGEST.0 && (1..=LARGEST.1).contains(&count);
    if is_small {
        out.push((count << BITS) as u8 | difference as u8);
    } else {
        out.push(WIDE);
        signed(out, difference);
        unsigned(out, count);
    }
    Some(is_small)
}

/// What values whose differences and counts take a byte each add up to.
#[derive(Default)]
struct Small {
    values: u64,
    /// The sum of the differences.
    rise: i64,
    samples: u64,
}

/// Appends packed counts, at most `most`, as long as blocks of them have no large pair.
fn keep_small(out: &mut Vec<u8>, from: &mut &[u8], most: u64) -> Small {
    let mut small = Small::default();
    while most - small.values >= BLOCK as u64
        && let Some((block, rest)) = from.split_first_chunk::<{ 2 * BLOCK }>()
        && let Some((dense, rise, samples)) = block_of(block)
    {
        out.extend_from_slice(&dense);
        *from = rest;
        small.values += BLOCK as u64;
        small.rise += i64::from(rise);
        small.samples += u64::from(samples);
    }
    small
}

/// Puts each packed difference and count in a byte. Returns these, the sum of the differences and that of the counts;
/// `None` if one of the pairs is too large or invalid.
#[inline]
fn block_of(packed: &[u8; 2 * BLOCK]) -> Option<([u8; BLOCK], u16, u16)> {
    /// What is zero in a pair whose difference, which zigzag doubles, is not negative and fits, as does its count.
    const TOO_LARGE: u16 = 0xf8c1;
    let (mut dense, mut outside, mut inside) = ([0; BLOCK], 0, u16::MAX);
    let (mut rise, mut samples) = (0u16, 0u16);
    // Without a branch or a check, so that the compiler takes many pairs at a time.
    for (pair, packed) in dense.iter_mut().zip(packed.as_chunks().0) {
        let lane = u16::from_le_bytes(*packed);
        let (difference, count) = ((lane & 0xff) >> 1, lane >> 8);
        outside |= lane & TOO_LARGE;
        // What is added makes the eighth bit of every number but zero, if it is none of the large ones.
        inside &= difference.wrapping_add(0x7f) & count.wrapping_add(0x7f);
        rise = rise.wrapping_add(difference);
        samples = samples.wrapping_add(count);
        *pair = (difference | count << BITS) as u8;
    }
    (outside == 0 && inside & 0x80 != 0).then_some((dense, rise, samples))
}

/// Passes kept counts on, ascending. `None` if the bytes are not kept counts.
#[inline]
pub(crate) fn each_count(kept: &[u8], take: &mut impl TakeCounts) -> Option<()> {
    let (form, mut counts) = kept.split_first()?;
    match *form {
        DENSE => read_dense(&mut counts, take)?,
        _ => read_counts(&mut counts, take)?,
    }
    counts.is_empty().then_some(())
}

#[inline]
fn read_dense(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = i32::try_from(read_signed(from)?).ok()?;
    take.one(value, read_unsigned(from)?);
    let mut bytes = *from;
    while others > 0 {
        if others >= 8
            && let Some((next, rest)) = bytes.split_first_chunk()
            && let Some(last) = take_eight(value, *next, take)
        {
            (value, bytes, others) = (last, rest, others - 8);
            continue;
        }
        let (byte, rest) = bytes.split_first()?;
        bytes = rest;
        let (difference, count) = match *byte {
            WIDE => read_pair(&mut bytes)?,
            pair => (i64::from(pair) & LARGEST.0, u64::from(pair >> BITS)),
        };
        value = i32::try_from(i64::from(value).checked_add(difference)?).ok()?;
        take.one(value, count);
        others -= 1;
    }
    *from = bytes;
    Some(())
}

/// Passes the eight values after `value` on if none of them is wide, and returns the last one.
#[inline]
fn take_eight(value: i32, bytes: [u8; 8], take: &mut impl TakeCounts) -> Option<i32> {
    let lanes = u64::from_le_bytes(bytes);
    let differences = lanes & (LARGEST.0 as u64 * BYTES);
    // What is added makes a lane's eighth bit of every difference but zero, which only a wide one has.
    if differences.wrapping_add(0x7f * BYTES) & (0x80 * BYTES) != 0x80 * BYTES {
        return None;
    }
    // Each lane of the product is the sum of the lanes up to it, at most 8 * 31.
    let sums = differences.wrapping_mul(BYTES);
    let counts = lanes >> BITS & (LARGEST.1 * BYTES);
    let last = value.checked_add((sums >> 56) as i32)?;
    let at = |lane: u32| value.wrapping_add((sums >> (8 * lane) & 0xff) as i32);
    let count = |lane: u32| counts >> (8 * lane) & 0xff;
    take.four([at(0), at(1), at(2), at(3)], [count(0), count(1), count(2), count(3)]);
    take.four([at(4), at(5), at(6), at(7)], [count(4), count(5), count(6), count(7)]);
    Some(last)
}

/// Opens a cell. `None` if the bytes are not those of one.
pub(crate) fn open(counts: &[u8], sums: &[u8]) -> Option<Cell> {
    let mut elapsed = Vec::with_capacity(counts.len());
    each_count(counts, &mut elapsed)?;
    Some(Cell { elapsed, ..unpack_sums(sums)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::pack::tests::{one_by_one, small_counts};
    use proptest::prelude::*;

    fn kept(counts: &[(i32, u64)]) -> Vec<u8> {
        let mut kept = Vec::new();
        keep_counts(&mut kept, counts);
        kept
    }

    #[test]
    fn most_values_take_a_byte_and_none_takes_more_than_packed() {
        let counts: Vec<(i32, u64)> =
            (0..1000).map(|value| (value * 3, 1 + u64::from(value % 50 == 0))).collect();
        assert!(kept(&counts).len() < 1010);
        let wide: Vec<(i32, u64)> = counts.iter().map(|(value, count)| (value * 100, *count)).collect();
        let mut packed = Vec::new();
        pack_counts(&mut packed, &wide);
        assert_eq!(kept(&wide), [&[AS_PACKED], packed.as_slice()].concat());
    }

    proptest! {
        #[test]
        fn kept_counts_are_those_that_are_read_one_by_one(
            counts in small_counts(), more in any::<[u8; 3]>(), at in 0..1300usize, cut in 0..1300usize,
        ) {
            let mut packed = Vec::new();
            pack_counts(&mut packed, &counts);
            let mut changed = packed.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= more[0];
            }
            let longer = [packed.as_slice(), &more].concat();
            for mut bytes in [&packed[..], &changed, &longer, &packed[..cut.min(packed.len())]] {
                let (mut slow, mut kept, mut found) = (bytes, Vec::new(), Vec::new());
                match (keep_packed(&mut kept, &mut bytes), one_by_one(&mut slow)) {
                    (Some(samples), Some(expected)) => {
                        let counted = expected.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
                        prop_assert_eq!((samples, bytes), (counted, slow));
                        prop_assert_eq!(each_count(&kept, &mut found), Some(()));
                        prop_assert_eq!(found, expected);
                    }
                    (kept, expected) => prop_assert_eq!((kept, expected), (None, None)),
                }
            }
        }

        #[test]
        fn other_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            _ = each_count(&bytes, &mut Vec::new());
        }
    }
}
