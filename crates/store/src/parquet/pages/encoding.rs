//! The encodings of Parquet: bit packing (the lowest bits first), runs of equal numbers and packed ones in between (RLE),
//! differences between whole numbers (DELTA_BINARY_PACKED), and compression by LZ4 where that pays.

use lz4_flex::block::{compress_into, get_maximum_output_size};
use parquet::errors::ParquetError;

use perfpipe_model::sample::varint::unsigned;

/// The number of numbers that are packed at a time: at any width they fill whole bytes.
const GROUP: usize = 32;

/// Appends the lowest `width` bits of each number. Higher bits must be zero.
fn pack(values: &[u32; GROUP], width: u32, out: &mut Vec<u8>) {
    let mut bits = BitPacker::new(out);
    if width > 16 {
        values.iter().for_each(|value| bits.push(u64::from(*value), width));
    } else if width > 0 {
        for four in values.as_chunks::<4>().0 {
            let [a, b, c, d] = four.map(u64::from);
            bits.push(a | (b << width) | ((c | (d << width)) << (2 * width)), 4 * width);
        }
    }
    bits.end();
}

/// Appends the lowest `width` bits of each number, like [`pack`].
fn pack_wide(values: &[u64; GROUP], width: u32, out: &mut Vec<u8>) {
    let mut bits = BitPacker::new(out);
    if width > 0 {
        values.iter().for_each(|value| bits.push(*value, width));
    }
    bits.end();
}

/// Bits that are gathered until they fill eight bytes.
struct BitPacker<'a> {
    out: &'a mut Vec<u8>,
    bits: u64,
    filled: u32,
}

impl<'a> BitPacker<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, bits: 0, filled: 0 }
    }

    /// Appends a number of 1 to 64 bits.
    #[inline(always)]
    fn push(&mut self, value: u64, width: u32) {
        self.bits |= value << self.filled;
        let filled = self.filled.wrapping_add(width);
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.out.extend_from_slice(&self.bits.to_le_bytes());
        // What did not fit begins the next eight bytes; nothing, if all of it did.
        self.bits = value.checked_shr(64 - self.filled).unwrap_or_default();
        self.filled = filled.wrapping_sub(64);
    }

    fn end(self) {
        let bytes = self.bits.to_le_bytes();
        self.out.extend(bytes.iter().take(self.filled.div_ceil(8) as usize));
    }
}

/// The number of values that a run must have beyond those that fill up what comes before it.
const WORTH: usize = 16;

/// Packed values come in multiples of this.
const FILL: usize = 8;

/// Appends values of up to `width` bits.
pub(super) fn encode_hybrid<T: Copy + PartialEq + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    // The values from `packed` to `at` are not written yet.
    let (mut packed, mut at) = (0_usize, 0_usize);
    while let Some(value) = values.get(at) {
        let run = run_length(values.get(at..).unwrap_or_default());
        let missing = packed.wrapping_sub(at) % FILL;
        if run >= missing + WORTH {
            pack_all(values.get(packed..at + missing).unwrap_or_default(), width, out);
            repeat_hybrid((*value).into(), run - missing, width, out);
            packed = at + run;
        }
        at += run;
    }
    pack_all(values.get(packed..).unwrap_or_default(), width, out);
}

/// Appends a value `count` times.
pub(super) fn repeat_hybrid(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    if count > 0 {
        unsigned(out, (count as u64) << 1);
        out.extend(value.to_le_bytes().iter().take(width.div_ceil(8) as usize));
    }
}

/// Returns how many values at the beginning equal the first.
pub(super) fn run_length<T: Copy + PartialEq>(values: &[T]) -> usize {
    let first = match values {
        [] => return 0,
        [first, second, ..] if first != second => return 1,
        [first, ..] => first,
    };
    let (chunks, _) = values.as_chunks::<16>();
    let is_equal = |chunk: &&[T; 16]| chunk.iter().fold(true, |equal, value| equal & (value == first));
    let run = 16 * chunks.iter().take_while(is_equal).count();
    run + values.iter().skip(run).take_while(|value| *value == first).count()
}

fn pack_all<T: Copy + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let fills = values.len().div_ceil(FILL);
    unsigned(out, ((fills as u64) << 1) | 1);
    let end = out.len() + fills * width as usize;
    for values in values.chunks(GROUP) {
        let mut group = [0; GROUP];
        group.iter_mut().zip(values).for_each(|(place, value)| *place = (*value).into());
        pack(&group, width, out);
    }
    out.truncate(end);
}

/// The number of differences in a block, which share their smallest one, and how many groups of one width it has.
const BLOCK: usize = GROUPS * GROUP;
const GROUPS: usize = 4;

/// A type of whole numbers whose differences wrap around.
pub(crate) trait WholeNumber: Copy + Ord + Default {
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

/// The number of bytes at the beginning that are tried first.
const TRIED: usize = 1 << 10;

/// The number of bytes up to which nothing is worth the try, such as a page of equal rows.
const FEW: usize = 64;

/// Appends bytes, compressed if that takes at least an eighth off, and if `is_tried`, off their beginning too. Returns true
/// if they are compressed.
pub(super) fn append_lz4(bytes: &[u8], is_tried: bool, out: &mut Vec<u8>) -> Result<bool, ParquetError> {
    let start = out.len();
    let pays = |bytes: &[u8], out: &mut Vec<u8>| -> Result<bool, ParquetError> {
        compress_lz4(bytes, out)?;
        let pays = out.len() - start < bytes.len() - bytes.len() / 8;
        if !pays {
            out.truncate(start);
        }
        Ok(pays)
    };
    let mut is_compressed = bytes.len() > FEW;
    if let Some(beginning) = bytes.get(..TRIED).filter(|_| is_tried) {
        is_compressed = pays(beginning, out)?;
        out.truncate(start);
    }
    is_compressed = is_compressed && pays(bytes, out)?;
    if !is_compressed {
        out.extend_from_slice(bytes);
    }
    Ok(is_compressed)
}

/// Appends bytes, compressed.
pub(super) fn compress_lz4(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ParquetError> {
    let start = out.len();
    out.resize(start + get_maximum_output_size(bytes.len()), 0);
    let place = out.get_mut(start..).unwrap_or_default();
    let length = compress_into(bytes, place).map_err(|error| ParquetError::External(error.into()))?;
    out.truncate(start + length);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Sets one bit after another.
    fn plain(values: &[u64], width: u32) -> Vec<u8> {
        let mut bytes = vec![0; values.len() * width as usize / 8];
        for (at, value) in values.iter().enumerate() {
            for bit in (0..width as usize).filter(|bit| (value >> bit) & 1 == 1) {
                let place = at * width as usize + bit;
                bytes[place / 8] |= 1 << (place % 8);
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn numbers_are_packed_bit_by_bit(values: [u64; GROUP], width in 0u32..=64) {
            let of = |width: u32| values.map(|value| value & u64::MAX.checked_shr(64 - width).unwrap_or(0));
            let mut wide = vec![7];
            pack_wide(&of(width), width, &mut wide);
            prop_assert_eq!(&wide[1..], plain(&of(width), width));
            let (mut narrow, width) = (vec![7], width / 2);
            pack(&of(width).map(|value| value as u32), width, &mut narrow);
            prop_assert_eq!(&narrow[1..], plain(&of(width), width));
        }
    }

    proptest! {
        #[test]
        fn run_ends_at_the_first_other_value(values in vec(0..2u8, 0..3), equal in 0usize..60) {
            let values = [vec![1; equal], values].concat();
            let plain = values.iter().take_while(|value| **value == values[0]).count();
            prop_assert_eq!(run_length(&values), plain);
        }
    }
}
