//! Whole numbers by the differences between them (DELTA_BINARY_PACKED).

use super::pack::{GROUP, pack, pack_wide};
use crate::sample::varint::unsigned;

/// The number of differences in a block, which share their smallest one, and how many groups of one width it has.
const BLOCK: usize = GROUPS * GROUP;
const GROUPS: usize = 4;

/// A type of whole numbers whose differences wrap around.
pub(in crate::store::parquet) trait WholeNumber: Copy + Ord + Default {
    fn minus(self, other: Self) -> Self;
    /// The distance from a smaller number, or one that is smaller if neither wraps.
    fn above(self, least: Self) -> u64;
    fn wide(self) -> i64;
}

impl WholeNumber for i32 {
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn above(self, least: Self) -> u64 {
        u64::from(self.wrapping_sub(least) as u32)
    }

    fn wide(self) -> i64 {
        self.into()
    }
}

impl WholeNumber for i64 {
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn above(self, least: Self) -> u64 {
        self.wrapping_sub(least) as u64
    }

    fn wide(self) -> i64 {
        self
    }
}

/// Encodes numbers. Equal ones take the same few bytes, however many they are.
pub(super) fn encode_delta<T: WholeNumber>(values: &[T]) -> Vec<u8> {
    let (first, rest) = values.split_first().map_or((T::default(), values), |(first, rest)| (*first, rest));
    let equal = rest.iter().fold(true, |equal, value| equal & (*value == first));
    let block = if equal { rest.len().next_multiple_of(BLOCK).max(BLOCK) } else { BLOCK };
    let mut out = Vec::with_capacity(if equal { 32 } else { values.len() * 2 });
    [block, GROUPS, values.len()].iter().for_each(|number| unsigned(&mut out, *number as u64));
    zigzag(&mut out, first.wide());
    if !equal {
        let before = values.chunks(BLOCK);
        before.zip(rest.chunks(BLOCK)).for_each(|(before, after)| differences(before, after, &mut out));
    } else if !rest.is_empty() {
        out.extend([0; 1 + GROUPS]);
    }
    out
}

/// Appends a block: the differences between each number and the one before.
fn differences<T: WholeNumber>(before: &[T], after: &[T], out: &mut Vec<u8>) {
    let mut differences = [T::default(); BLOCK];
    for ((difference, after), before) in differences.iter_mut().zip(after).zip(before) {
        *difference = after.minus(*before);
    }
    let least = differences.iter().take(after.len()).copied().min().unwrap_or_default();
    // A place beyond the last number costs no bits.
    differences.iter_mut().skip(after.len()).for_each(|difference| *difference = least);
    zigzag(out, least.wide());
    let widths = out.len();
    out.extend([0; GROUPS]);
    for (group, differences) in differences.as_chunks::<GROUP>().0.iter().enumerate() {
        let any = differences.iter().fold(0, |any, difference| any | difference.above(least));
        let width = u64::BITS - any.leading_zeros();
        match width {
            0..=32 => pack(&differences.map(|difference| difference.above(least) as u32), width, out),
            _ => pack_wide(&differences.map(|difference| difference.above(least)), width, out),
        }
        if let Some(place) = out.get_mut(widths + group) {
            *place = width as u8;
        }
    }
}

/// Appends a number that may be negative: 0, -1, 1, -2 and so on are 0, 1, 2, 3.
fn zigzag(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}
