//! The packed form of exact counts: mostly a byte for each value. Counts of earlier versions, and those of which few
//! differences are small, are pairs of numbers instead.

use super::pairs::{self, read_pair};
use super::take::TakeCounts;
use crate::sample::varint::{read_signed, read_unsigned, signed, unsigned};

/// What dense counts begin with: a zero of two bytes, which pairs never begin with. The number of values follows, the
/// first value and its count; then for each other value a byte with the difference to the previous one below the count, or
/// [`WIDE`].
const MARK: [u8; 2] = [0x80, 0];

/// A byte in place of a difference and a count of which one is too large. Both follow as in pairs.
const WIDE: u8 = 0;

/// The number of bits of a byte that hold the difference.
const BITS: u32 = 5;

/// The largest difference and count that a byte holds.
const LARGEST: (i64, u64) = ((1 << BITS) - 1, 7);

/// One in each of eight lanes of 8 bits.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Packs exact counts, ascending by value.
pub(crate) fn pack_counts(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
    let (start, mut wide) = (out.len(), 0);
    out.extend(MARK);
    unsigned(out, counts.len() as u64);
    let mut others = counts.iter();
    if let Some((first, samples)) = others.next() {
        signed(out, i64::from(*first));
        unsigned(out, *samples);
        let mut previous = i64::from(*first);
        for (value, samples) in others {
            let value = i64::from(*value);
            wide += usize::from(!put(out, value - previous, *samples));
            previous = value;
        }
    }
    if is_too_wide(wide, counts.len()) {
        out.truncate(start);
        pairs::pack(out, counts);
    }
}

/// Returns true if pairs take less space: a wide value takes a byte more in dense counts, any other one a byte less.
fn is_too_wide(wide: usize, values: usize) -> bool {
    wide > values / 2
}

/// Appends a value. Returns false if it is a wide one.
fn put(out: &mut Vec<u8>, difference: i64, samples: u64) -> bool {
    let is_small = (1..=LARGEST.0).contains(&difference) && (1..=LARGEST.1).contains(&samples);
    if is_small {
        out.push((samples << BITS) as u8 | difference as u8);
    } else {
        out.push(WIDE);
        signed(out, difference);
        unsigned(out, samples);
    }
    is_small
}

/// Appends the packed counts at the front of the bytes, in the form of [`pack_counts`], skips these and returns the number
/// of samples. `None` if they are no packed counts; what was appended then has no meaning.
pub(crate) fn keep(out: &mut Vec<u8>, from: &mut &[u8]) -> Option<u64> {
    let packed = *from;
    match from.strip_prefix(&MARK) {
        None => keep_pairs(out, from),
        Some(dense) => {
            *from = dense;
            let samples = check(from)?;
            out.extend_from_slice(packed.get(..packed.len() - from.len())?);
            Some(samples)
        }
    }
}

/// Checks that bytes begin with dense counts behind their mark, skips these and returns the number of samples.
fn check(from: &mut &[u8]) -> Option<u64> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(0) };
    let mut value = i64::from(i32::try_from(read_signed(from)?).ok()?);
    let mut samples = read_unsigned(from)?;
    while others > 0 {
        let mut small = Small::default();
        small.skip::<32>(from, others);
        small.skip::<8>(from, others);
        (value, others) = (value.checked_add(small.rise)?, others - small.values);
        samples = samples.saturating_add(small.samples);
        // A block with a wide value, or fewer values than one has.
        for _ in 0..others.min(8) {
            let (difference, counted) = next(from)?;
            (value, others) = (value.checked_add(difference)?, others - 1);
            samples = samples.saturating_add(counted);
        }
    }
    // The values ascend, so that none is too large unless the last one is.
    i32::try_from(value).ok().map(|_| samples)
}

/// Does what [`keep`] does with pairs.
fn keep_pairs(out: &mut Vec<u8>, from: &mut &[u8]) -> Option<u64> {
    let (packed, start, mut wide) = (*from, out.len(), 0);
    let values = read_unsigned(from)?;
    out.extend(MARK);
    unsigned(out, values);
    let Some(mut others) = values.checked_sub(1) else { return Some(0) };
    let mut value = i64::from(i32::try_from(read_signed(from)?).ok()?);
    let mut samples = read_unsigned(from)?;
    signed(out, value);
    unsigned(out, samples);
    while others > 0 {
        let mut small = Small::default();
        small.keep::<32, 64>(out, from, others);
        small.keep::<8, 16>(out, from, others);
        (value, others) = (value.checked_add(small.rise)?, others - small.values);
        samples = samples.saturating_add(small.samples);
        // A block with a wide value, or fewer values than one has.
        for _ in 0..others.min(8) {
            let (difference, counted) = read_pair(from)?;
            if difference <= 0 {
                return None;
            }
            wide += usize::from(!put(out, difference, counted));
            (value, samples) = (value.checked_add(difference)?, samples.saturating_add(counted));
            others -= 1;
        }
    }
    if is_too_wide(wide, usize::try_from(values).unwrap_or(usize::MAX)) {
        out.truncate(start);
        out.extend_from_slice(packed.get(..packed.len() - from.len())?);
    }
    i32::try_from(value).ok().map(|_| samples)
}

/// What values that are not wide add up to.
#[derive(Default)]
struct Small {
    values: u64,
    /// The sum of the differences.
    rise: i64,
    samples: u64,
}

impl Small {
    /// Appends pairs, until there are `most` values, as long as blocks of so many have no wide one.
    #[inline]
    fn keep<const BLOCK: usize, const BYTES: usize>(
        &mut self,
        out: &mut Vec<u8>,
        from: &mut &[u8],
        most: u64,
    ) {
        while most - self.values >= BLOCK as u64
            && let Some((block, rest)) = from.split_first_chunk::<BYTES>()
            && let Some((dense, rise, samples)) = dense::<BLOCK>(block)
        {
            out.extend_from_slice(&dense);
            *from = rest;
            self.add(BLOCK, rise, samples);
        }
    }

    /// Skips dense counts, until there are `most` values, as long as blocks of so many have no wide one.
    #[inline]
    fn skip<const BLOCK: usize>(&mut self, from: &mut &[u8], most: u64) {
        while most - self.values >= BLOCK as u64
            && let Some((block, rest)) = from.split_first_chunk::<BLOCK>()
            && let Some((rise, samples)) = added_up(block)
        {
            *from = rest;
            self.add(BLOCK, rise, samples);
        }
    }

    fn add(&mut self, values: usize, rise: u16, samples: u16) {
        self.values += values as u64;
        self.rise += i64::from(rise);
        self.samples += u64::from(samples);
    }
}

/// Returns the sum of the differences and that of the counts of dense counts; `None` if one of them is a wide one.
#[inline]
fn added_up<const BLOCK: usize>(dense: &[u8; BLOCK]) -> Option<(u16, u16)> {
    const { assert!(BLOCK <= 256) };
    let (mut inside, mut rise, mut samples) = (u8::MAX, 0u16, 0u16);
    for byte in dense {
        let difference = byte & LARGEST.0 as u8;
        // What is added makes the eighth bit of every difference but zero.
        inside &= difference.wrapping_add(0x7f);
        rise = rise.wrapping_add(difference.into());
        samples = samples.wrapping_add((byte >> BITS).into());
    }
    (inside & 0x80 != 0).then_some((rise, samples))
}

/// Puts each pair in a byte. Returns these, the sum of the differences and that of the counts; `None` if one of the values
/// is wide or does not ascend.
#[inline]
fn dense<const BLOCK: usize>(packed: &[u8]) -> Option<([u8; BLOCK], u16, u16)> {
    /// What is zero in a pair whose difference, which zigzag doubles, is not negative and fits, as does its count.
    const TOO_LARGE: u16 = 0xf8c1;
    // No sum of so few differences or counts overflows 16 bits.
    const { assert!(BLOCK <= 256) };
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

/// Eight values of dense counts, none of which is a wide one. Each of eight lanes has a difference, or a count.
struct Eight {
    rises: u64,
    samples: u64,
}

impl Eight {
    #[inline]
    fn of(bytes: [u8; 8]) -> Option<Self> {
        let lanes = u64::from_le_bytes(bytes);
        let rises = lanes & (LARGEST.0 as u64 * ONES);
        // What is added makes a lane's eighth bit of every difference but zero.
        let ascend = rises.wrapping_add(0x7f * ONES) & (0x80 * ONES) == 0x80 * ONES;
        ascend.then_some(Self { rises, samples: lanes >> BITS & (LARGEST.1 * ONES) })
    }
}

/// Reads the difference and the count of the next value of dense counts.
#[inline]
fn next(from: &mut &[u8]) -> Option<(i64, u64)> {
    let (byte, rest) = from.split_first()?;
    *from = rest;
    let (difference, samples) = match *byte {
        WIDE => read_pair(from)?,
        pair => (i64::from(pair) & LARGEST.0, u64::from(pair >> BITS)),
    };
    (difference > 0).then_some((difference, samples))
}

/// Passes packed counts on, ascending. `None` if the bytes are not packed counts.
#[inline]
pub(crate) fn each_count(mut counts: &[u8], take: &mut impl TakeCounts) -> Option<()> {
    read(&mut counts, take)?;
    counts.is_empty().then_some(())
}

/// Reads packed counts from the front of the bytes, and passes them on. `None` if they are invalid or not ascending.
#[inline]
pub(super) fn read(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    match from.strip_prefix(&MARK) {
        None => return pairs::read(from, take),
        Some(dense) => *from = dense,
    }
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = i32::try_from(read_signed(from)?).ok()?;
    take.one(value, read_unsigned(from)?);
    while others > 0 {
        if others >= 8
            && let Some((next, rest)) = from.split_first_chunk()
            && let Some(eight) = Eight::of(*next)
        {
            // Each lane of the product is the sum of the lanes up to it, at most 8 * 31.
            let rises = eight.rises.wrapping_mul(ONES);
            let last = value.checked_add((rises >> 56) as i32)?;
            take.eight(value, rises.to_le_bytes(), eight.samples.to_le_bytes());
            (value, *from, others) = (last, rest, others - 8);
            continue;
        }
        let (difference, samples) = next(from)?;
        value = i32::try_from(i64::from(value).checked_add(difference)?).ok()?;
        take.one(value, samples);
        others -= 1;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::examples::{one_by_one, small_counts};
    use super::*;
    use proptest::prelude::*;

    fn packed(counts: &[(i32, u64)]) -> Vec<u8> {
        let mut packed = Vec::new();
        pack_counts(&mut packed, counts);
        packed
    }

    fn in_pairs(counts: &[(i32, u64)]) -> Vec<u8> {
        let mut packed = Vec::new();
        pairs::pack(&mut packed, counts);
        packed
    }

    fn kept(mut packed: &[u8]) -> Option<(Vec<u8>, u64, usize)> {
        let mut kept = Vec::new();
        let samples = keep(&mut kept, &mut packed)?;
        Some((kept, samples, packed.len()))
    }

    #[test]
    fn most_values_take_a_byte_and_none_takes_more_than_in_pairs() {
        let value = |value: i32| (value * 3, 1 + u64::from(value % 50 == 0));
        let counts: Vec<(i32, u64)> = (0..1000).map(value).collect();
        assert!(packed(&counts).len() < 1010);
        let wide: Vec<(i32, u64)> = counts.iter().map(|(value, count)| (value * 100, *count)).collect();
        assert_eq!(packed(&wide), in_pairs(&wide));
    }

    proptest! {
        #[test]
        fn counts_come_back_and_pairs_are_kept_as_what_is_packed_today(counts in small_counts()) {
            let packed = packed(&counts);
            let mut found = Vec::new();
            prop_assert_eq!(each_count(&packed, &mut found), Some(()));
            prop_assert_eq!(&found, &counts);
            let samples = counts.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
            let expected = Some((packed.clone(), samples, 0));
            prop_assert_eq!(kept(&in_pairs(&counts)), expected.clone());
            prop_assert_eq!(kept(&packed), expected);
        }

        #[test]
        fn what_is_kept_is_what_can_be_read(
            counts in small_counts(), more in any::<[u8; 3]>(), at in 0..1300usize, cut in 0..1300usize,
        ) {
            for packed in [packed(&counts), in_pairs(&counts)] {
                let mut changed = packed.clone();
                if let Some(byte) = changed.get_mut(at) {
                    *byte ^= more[0];
                }
                let longer = [packed.as_slice(), &more].concat();
                for mut bytes in [&changed[..], &longer, &packed[..cut.min(packed.len())]] {
                    let (kept, mut found) = (kept(bytes), Vec::new());
                    if !bytes.starts_with(&MARK) {
                        let mut slow = bytes;
                        let expected = one_by_one(&mut slow);
                        prop_assert_eq!(expected.as_ref().map(|_| slow.len()), kept.as_ref().map(|kept| kept.2));
                    }
                    let read = read(&mut bytes, &mut found);
                    let samples = found.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
                    let expected = read.map(|()| (samples, bytes.len()));
                    prop_assert_eq!(kept.as_ref().map(|(_, samples, rest)| (*samples, *rest)), expected);
                    if let Some((kept, ..)) = kept {
                        let mut again = Vec::new();
                        prop_assert_eq!(each_count(&kept, &mut again), Some(()));
                        prop_assert_eq!(again, found);
                    }
                }
            }
        }
    }
}
