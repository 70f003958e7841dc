//! The packed form of exact counts: mostly a byte for each value. Counts of earlier versions, and those of which few
//! differences are small, are pairs of numbers instead.

use super::pair_counts::{self, TakeCounts, read_pair};
use crate::sample::varint::{read_signed, read_unsigned, signed, unsigned};

/// What dense counts begin with: a zero of two bytes, which pairs never begin with. The number of values follows, the
/// first value and its count; then for each other value a byte with the difference to the previous one below the count, or
/// [`WIDE`].
pub(super) const MARK: [u8; 2] = [0x80, 0];

/// A byte in place of a difference and a count of which one is too large. Both follow as in pairs.
const WIDE: u8 = 0;

/// The number of bits of a byte for the difference.
pub(super) const BITS: u32 = 5;

/// The largest difference and count in a byte.
const LARGEST: (i64, u64) = ((1 << BITS) - 1, 7);

/// One in each of eight lanes of 8 bits.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Packs exact counts, ascending by value.
pub fn pack_counts(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
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
        pair_counts::pack(out, counts);
    }
}

/// Returns true if pairs take less space: a wide value takes a byte more in dense counts, any other one a byte less.
pub(super) fn is_too_wide(wide: usize, values: usize) -> bool {
    wide > values / 2
}

/// Appends a value. Returns false if it is a wide one.
pub(super) fn put(out: &mut Vec<u8>, difference: i64, samples: u64) -> bool {
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

/// Checks that bytes begin with dense counts after their mark, skips these and returns the number of samples.
pub(super) fn check(from: &mut &[u8]) -> Option<u64> {
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

/// What values that are not wide add up to.
#[derive(Default)]
pub(super) struct Small {
    pub(super) values: u64,
    /// The sum of the differences.
    pub(super) rise: i64,
    pub(super) samples: u64,
}

impl Small {
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

    pub(super) fn add(&mut self, values: usize, rise: u16, samples: u16) {
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
pub fn each_count(mut counts: &[u8], take: &mut impl TakeCounts) -> Option<()> {
    read(&mut counts, take)?;
    counts.is_empty().then_some(())
}

/// Reads packed counts from the front of the bytes, and passes them on. `None` if they are invalid or not ascending.
#[inline]
pub(super) fn read(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    match from.strip_prefix(&MARK) {
        None => return pair_counts::read(from, take),
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
