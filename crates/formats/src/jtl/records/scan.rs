//! Finds the structural bytes of a CSV log: delimiters, quotes and line feeds, 64 bytes at a time as bits of masks, and
//! counts the whole records among them.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, mask8x64, u8x64, u16x16};

use crate::work_count;

/// The number of bytes in one step.
pub(super) const STEP: usize = 64;

/// The structural bytes of one step. Bit `i` of each mask is for byte `i`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) delimiters: u64,
    pub(super) quotes: u64,
    pub(super) feeds: u64,
}

/// A search that processes one step after the other.
pub(super) trait StepScan {
    /// Processes the step that begins at a position. Returns false to end the search.
    fn visit<S: Simd>(&mut self, simd: S, step: (&[u8; STEP], usize), marks: Marks) -> bool;
}

/// Processes the steps from a position on. The last one is padded with zeros.
#[inline(always)]
pub(super) fn go_through<S: Simd>(
    simd: S,
    (bytes, delimiter): (&[u8], u8),
    start: usize,
    scan: &mut impl StepScan,
) {
    let (whole, rest) = bytes.get(start..).unwrap_or_default().as_chunks();
    let mut at = start;
    for step in whole {
        if !scan.visit(simd, (step, at), Marks::of(simd, step, delimiter)) {
            work_count::count(at + STEP - start);
            return;
        }
        at += STEP;
    }
    work_count::count(bytes.len().saturating_sub(start));
    if !rest.is_empty() {
        scan.visit(simd, (&step(bytes, at), at), Marks::find(simd, bytes, at, delimiter));
    }
}

impl Marks {
    /// Finds those of the step that begins at `base`. There are none beyond the end of the bytes.
    #[inline(always)]
    pub(super) fn find<S: Simd>(simd: S, bytes: &[u8], base: usize, delimiter: u8) -> Self {
        let marks = Self::of(simd, &step(bytes, base), delimiter);
        match bytes.len().saturating_sub(base) {
            STEP.. => marks,
            // The delimiter may be the zero byte, so mask out the padding.
            length => Self { delimiters: marks.delimiters & !(u64::MAX << length), ..marks },
        }
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn all(self) -> u64 {
        self.delimiters | self.quotes | self.feeds
    }

    #[inline(always)]
    fn of<S: Simd>(simd: S, step: &[u8; STEP], delimiter: u8) -> Self {
        let bytes = u8x64::from_slice(simd, step);
        let found = |wanted: u8| bytes.simd_eq(u8x64::splat(simd, wanted)).to_bitmask();
        Self { delimiters: found(delimiter), quotes: found(b'"'), feeds: found(b'\n') }
    }
}

/// The bits of a mask up to its lowest one, inclusive; all bits if there is none.
#[inline(always)]
pub(super) fn up_to_lowest(mask: u64) -> u64 {
    mask ^ mask.wrapping_sub(1)
}

/// The bits of a mask below its lowest one; all bits if there is none.
#[inline(always)]
pub(super) fn below_lowest(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// The position of each bit of a mask whose lowest bit is for `base`, one by one.
#[inline(always)]
pub(super) fn positions(mut mask: u64, base: usize) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = (mask != 0).then(|| (base as u32).wrapping_add(mask.trailing_zeros()));
        mask &= mask.wrapping_sub(1);
        at
    })
}

/// The bytes of a step that are kept, and those of them that end fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptBytes {
    pub(super) bytes: u64,
    pub(super) ends: u64,
}

/// Packs the kept bytes of the step that begins at `base`, and returns which of them end fields. The bytes after them in
/// `into` are overwritten too.
#[inline(always)]
pub(super) fn keep<S: Simd>(simd: S, step: &[u8; STEP], kept: KeptBytes, into: &mut [u8; 2 * STEP]) -> u64 {
    match compresses(simd) {
        true => keep_compressed(simd, step, kept, into),
        false => keep_each(step, kept, into),
    }
}

/// Packs the bytes that a mask chooses by one instruction.
#[inline(always)]
fn keep_compressed<S: Simd>(simd: S, step: &[u8; STEP], kept: KeptBytes, into: &mut [u8; 2 * STEP]) -> u64 {
    let chosen = mask8x64::from_bitmask(simd, kept.bytes);
    let (first, _) = into.split_at_mut(STEP);
    u8x64::from_slice(simd, step).compress(chosen).store_slice(first);
    chosen_of(simd, kept.ends, kept.bytes)
}

/// Packs bytes run by run.
#[inline(always)]
fn keep_each(step: &[u8; STEP], kept: KeptBytes, into: &mut [u8; 2 * STEP]) -> u64 {
    if kept.bytes == u64::MAX {
        into.split_at_mut(STEP).0.copy_from_slice(step);
        return kept.ends;
    }
    // Padded, so that each run can be copied as a whole step.
    let mut padded = [0; 2 * STEP];
    padded.split_at_mut(STEP).0.copy_from_slice(step);
    let (mut rest, mut to, mut ends) = (kept.bytes, 0, 0);
    while rest != 0 {
        let from = rest.trailing_zeros();
        let length = (rest >> from).trailing_ones();
        let run = u64::MAX >> (u64::BITS - length) << from;
        let source = padded.get(from as usize..).and_then(|rest| rest.first_chunk::<STEP>());
        let target = into.get_mut(to as usize..).and_then(|into| into.first_chunk_mut());
        if let (Some(source), Some(target)) = (source, target) {
            *target = *source;
        }
        ends |= (kept.ends & run) >> (from - to);
        to += length;
        rest &= !run;
    }
    ends
}

/// The bytes of the step that begins at `base`; zeros after the last one.
#[inline(always)]
fn step(bytes: &[u8], base: usize) -> [u8; STEP] {
    let rest = bytes.get(base..).unwrap_or_default();
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut step = [0; STEP];
        step.iter_mut().zip(rest).for_each(|(into, from)| *into = *from);
        step
    })
}

/// The numbers of the bytes of a step.
#[rustfmt::skip]
const NUMBERS: [u8; STEP] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
];

/// Writes the position of each bit of a mask whose lowest bit is for `base`. The positions after them are overwritten too.
#[inline(always)]
pub(super) fn write<S: Simd>(simd: S, mask: u64, base: usize, into: &mut [u32; STEP]) {
    match compresses(simd) {
        true => write_compressed(simd, mask, base, into),
        false => write_each(mask, base, into),
    }
}

/// Returns true if the processor packs the bytes that a mask chooses in one instruction.
#[inline(always)]
fn compresses<S: Simd>(simd: S) -> bool {
    #[cfg(target_arch = "x86_64")]
    let compresses = simd.level().as_avx512().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    let compresses = {
        _ = simd;
        false
    };
    compresses
}

/// Writes positions as the numbers of a step's bytes that a mask chooses.
#[inline(always)]
fn write_compressed<S: Simd>(simd: S, mask: u64, base: usize, into: &mut [u32; STEP]) {
    let numbers = u8x64::from_slice(simd, &NUMBERS).compress(mask8x64::from_bitmask(simd, mask));
    let (low, high) = numbers.split();
    let ((first, second), (third, fourth)) = (low.widen(), high.widen());
    let (most, others) = into.split_at_mut(STEP / 4);
    write_quarter(first, base, most);
    // Few steps have more ends.
    if mask.count_ones() as usize > STEP / 4 {
        for (distances, into) in [second, third, fourth].into_iter().zip(others.chunks_exact_mut(STEP / 4)) {
            write_quarter(distances, base, into);
        }
    }
}

/// Writes positions from their distances to `base`.
#[inline(always)]
fn write_quarter<S: Simd>(distances: u16x16<S>, base: usize, into: &mut [u32]) {
    let (low, high) = distances.widen();
    for (eight, into) in [low, high].into_iter().zip(into.chunks_exact_mut(8)) {
        (eight + base as u32).store_slice(into);
    }
}

/// Writes positions one by one.
#[inline(always)]
fn write_each(mut mask: u64, base: usize, into: &mut [u32; STEP]) {
    let mut rest = into.as_mut_slice();
    // Most steps have up to 8 or 16 ends, so the processor predicts the number of turns.
    while let Some((eight, others)) = rest.split_first_chunk_mut::<8>() {
        for end in eight {
            *end = (base as u32).wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        if mask == 0 {
            return;
        }
        rest = others;
    }
}

/// The fields that a search found.
#[derive(Clone, Copy)]
pub(super) struct FoundFields<'a> {
    /// The text that they are in.
    pub(super) text: &'a [u8],
    /// The position before the first one, then the delimiter or line feed after each.
    pub(super) ends: &'a [u32],
    /// Their number.
    pub(super) fields: usize,
    /// How many of them a line feed ends.
    pub(super) feeds: usize,
}

/// Returns true if one of the records that were found, or the unfinished one, has fewer or more fields than `width`.
/// Surplus fields are noticed only once they add up to `width`.
#[inline(always)]
pub(super) fn differ(fields: usize, records: usize, width: usize) -> bool {
    fields.wrapping_sub(records.wrapping_mul(width)) >= width
}

impl FoundFields<'_> {
    /// Counts the records of `width` fields up to the first one that has another number of them, or that is not
    /// `fits`, but at most `most`.
    #[inline(always)]
    pub(super) fn count_rows(self, width: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
        let most = self.fields.checked_div(width).unwrap_or_default().min(most);
        let is_feed = |index: &usize| {
            let end = self.ends.get(*index).copied().unwrap_or_default();
            self.text.get(end as usize) == Some(&b'\n')
        };
        let ends_and_fits = |row: &usize| is_feed(&((row + 1) * width)) && fits(*row);
        let rows = (0..most).take_while(ends_and_fits).count();
        let later = (most * width + 1..=self.fields).filter(is_feed).count();
        if self.feeds == rows + later {
            return rows;
        }
        // A line feed within a record ends another one.
        let feeds_of = |row: usize| (row * width + 1..=(row + 1) * width).filter(is_feed).count();
        (0..most).take_while(|row| ends_and_fits(row) && feeds_of(*row) == 1).count()
    }
}

/// The parity of the mask's bits up to and including each bit.
#[inline(always)]
pub(super) fn up_to_each<S: Simd>(simd: S, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512() {
        return x86_64::up_to_each(avx512, mask);
    }
    _ = simd;
    up_to_each_by_steps(mask)
}

#[inline(always)]
fn up_to_each_by_steps(mut mask: u64) -> u64 {
    let mut distance = 1;
    while distance < u64::BITS {
        mask ^= mask << distance;
        distance *= 2;
    }
    mask
}

/// The chosen bits of a mask, packed into its lowest bits.
#[inline(always)]
pub(super) fn chosen_of<S: Simd>(simd: S, mask: u64, chosen: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512() {
        return x86_64::chosen_of(avx512, mask, chosen);
    }
    _ = simd;
    chosen_one_by_one(mask, chosen)
}

#[inline(always)]
fn chosen_one_by_one(mask: u64, mut chosen: u64) -> u64 {
    let (mut packed, mut to) = (0, 0);
    while chosen != 0 {
        packed |= (mask >> chosen.trailing_zeros() & 1) << to;
        chosen &= chosen.wrapping_sub(1);
        to += 1;
    }
    packed
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{_mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _pext_u64};

    // A product without carries adds up, without carries, the mask shifted by each distance.
    fearless_simd::kernel!(
        #[inline]
        pub(super) fn up_to_each(avx512: Avx512, mask: u64) -> u64 {
            _ = avx512;
            let (mask, ones) = (_mm_cvtsi64_si128(mask as i64), _mm_cvtsi64_si128(-1));
            _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(mask, ones)) as u64
        }
    );

    fearless_simd::kernel!(
        #[inline]
        pub(super) fn chosen_of(avx512: Avx512, mask: u64, chosen: u64) -> u64 {
            _ = avx512;
            _pext_u64(mask, chosen)
        }
    );
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_loop_finds(
            bytes in proptest::collection::vec(prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), any::<u8>()], 0..300),
            base in 0usize..320, delimiter in prop_oneof![Just(b','), Just(0)],
        ) {
            let marks = dispatch!(Level::new(), simd => Marks::find(simd, &bytes, base, delimiter));
            let step = bytes.iter().skip(base).take(STEP);
            let plain = |wanted: u8| {
                let found = step.clone().enumerate().filter(|(_, byte)| **byte == wanted);
                found.fold(0, |mask, (at, _)| mask | 1_u64 << at)
            };
            prop_assert_eq!((marks.delimiters, marks.quotes, marks.feeds), (plain(delimiter), plain(b'"'), plain(b'\n')));
        }

        #[test]
        fn positions_are_those_of_the_bits(bits: u64, others: u64, base: u32) {
            // With fewer bits as with many.
            for mask in [bits & others & others.rotate_left(9) & others.rotate_left(21), bits, bits & others, bits | others, bits & others & others.rotate_left(9)] {
                let positions = (0..64_u32).filter(|at| mask >> at & 1 == 1);
                let positions: Vec<u32> = positions.map(|at| base.wrapping_add(at)).collect();
                let (mut written, mut each) = ([0; STEP], [0; STEP]);
                dispatch!(Level::new(), simd => write(simd, mask, base as usize, &mut written));
                write_each(mask, base as usize, &mut each);
                prop_assert_eq!(&written[..positions.len()], positions.as_slice());
                prop_assert_eq!(&each[..positions.len()], positions.as_slice());
            }
        }

        #[test]
        fn kept_bytes_move_together(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), base in 0..150_usize, bits: u64, others: u64, ends: u64,
        ) {
            for mask in [bits, bits | others | others.rotate_left(9), u64::MAX] {
                let kept = KeptBytes { bytes: mask, ends: ends & mask };
                let chosen: Vec<usize> = (0..STEP).filter(|at| mask >> at & 1 == 1).collect();
                let expected: Vec<u8> =
                    chosen.iter().map(|at| bytes.get(base + at).copied().unwrap_or_default()).collect();
                let expected_ends =
                    chosen.iter().enumerate().fold(0, |all, (to, at)| all | (kept.ends >> at & 1) << to);
                let (mut text, mut each) = ([0; 2 * STEP], [0; 2 * STEP]);
                let found = dispatch!(Level::new(), simd => keep(simd, &step(&bytes, base), kept, &mut text));
                let found_each = keep_each(&step(&bytes, base), kept, &mut each);
                prop_assert_eq!((&text[..chosen.len()], found), (&expected[..], expected_ends));
                prop_assert_eq!((&each[..chosen.len()], found_each), (&expected[..], expected_ends));
            }
        }

        #[test]
        fn masks_end_at_the_lowest_bit(mask: u64) {
            let lowest = (0..64).find(|at| mask >> at & 1 == 1).unwrap_or(64);
            let ones = |number: u32| if number > 63 { u64::MAX } else { (1 << number) - 1 };
            prop_assert_eq!(below_lowest(mask), ones(lowest));
            prop_assert_eq!(up_to_lowest(mask), ones(lowest.saturating_add(1)));
        }
    }

    proptest! {
        #[test]
        fn bits_are_those_of_single_ones(mask: u64, chosen: u64) {
            let bit = |mask: u64, at: u32| mask >> at & 1;
            let odd = (0..64).fold(0, |all, at| all | u64::from((mask << (63 - at)).count_ones() & 1) << at);
            prop_assert_eq!(dispatch!(Level::new(), simd => up_to_each(simd, mask)), odd);
            prop_assert_eq!(up_to_each_by_steps(mask), odd);
            let bits = (0..64).filter(|at| bit(chosen, *at) == 1).zip(0..);
            let packed = bits.fold(0, |all, (from, to)| all | bit(mask, from) << to);
            prop_assert_eq!(dispatch!(Level::new(), simd => chosen_of(simd, mask, chosen)), packed);
            prop_assert_eq!(chosen_one_by_one(mask, chosen), packed);
        }
    }
}
