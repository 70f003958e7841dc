//! Reads the numbers of a column in parallel.

use std::ops::RangeInclusive;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u16x32, u32x16, u64x8};

use super::fields::RecordRows;
use crate::clock_steps::span_of;
use crate::number::Digits;

/// The number of numbers that are converted at once.
const LANES: usize = 8;

/// The first number of more than 8 digits.
const BEYOND: u64 = 100_000_000;

/// Reads columns of numbers. Each parser has one, and reuses its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberReader {
    low: DigitColumn,
    high: DigitColumn,
}

impl NumberReader {
    /// Reads a column of numbers of up to 8 digits each. Returns the number of each row, below 10^8, and the one that all
    /// rows have, if they do. `None` if a field is something else.
    #[inline]
    pub(crate) fn read(&mut self, rows: RecordRows<'_>, column: usize) -> Option<(&[u64], Option<u64>)> {
        self.low.fill(rows, column, |start, end| Digits::of(rows.text(), start, end));
        let (least, greatest) = self.low.convert()?.ends;
        let numbers = self.low.numbers(rows.count());
        Some((numbers, numbers.first().copied().filter(|_| least == greatest)))
    }

    /// Reads a column of numbers of 9 to 16 digits each, and replaces the content of `into` by them. Returns the smallest and
    /// the largest of them, and `None` if a field is something else.
    #[inline]
    pub(crate) fn read_long(
        &mut self,
        rows: RecordRows<'_>,
        column: usize,
        into: &mut Vec<i64>,
    ) -> Option<RangeInclusive<i64>> {
        let is_long = |start: usize, end: usize| (9..=16).contains(&end.wrapping_sub(start));
        let high = |start, end: usize| Digits::of(rows.text(), start, end.wrapping_sub(8));
        let (start, end) = rows.bounds(column).next()?;
        let first = high(start, end)?;
        let mut is_same = true;
        self.low.fill(rows, column, |start, end| match is_long(start, end) {
            true => {
                is_same &= high(start, end) == Some(first);
                Digits::of(rows.text(), end - 8, end)
            }
            false => None,
        });
        let (least, greatest) = self.low.convert()?.ends;
        let low = self.low.numbers(rows.count());
        into.clear();
        // Neighbouring times have the same first digits.
        if is_same {
            let high = first.number()? * BEYOND as i64;
            into.extend(low.iter().map(|low| high + *low as i64));
            return Some(high + i64::from(least)..=high + i64::from(greatest));
        }
        self.high.fill(rows, column, high);
        self.high.convert()?;
        let pairs = self.high.numbers(rows.count()).iter().zip(low);
        into.extend(pairs.map(|(high, low)| (high * BEYOND + low) as i64));
        span_of(into)
    }
}

/// A column of numbers of up to 8 digits.
#[derive(Debug, Clone, Default)]
struct DigitColumn {
    /// The digits of each row as [`Digits::bits`], and the last ones again until there are [`LANES`].
    digits: Vec<u64>,
    numbers: Vec<u64>,
}

impl DigitColumn {
    /// Replaces the digits by those that `digits` finds between the start and the end of each field.
    #[inline(always)]
    fn fill(
        &mut self,
        rows: RecordRows<'_>,
        column: usize,
        mut digits: impl FnMut(usize, usize) -> Option<Digits>,
    ) {
        self.digits.resize(rows.count().next_multiple_of(LANES), 0);
        let (mut bounds, mut last) = (rows.bounds(column), 0);
        for into in &mut self.digits {
            if let Some((start, end)) = bounds.next() {
                last = digits(start, end).unwrap_or(Digits::NONE).bits();
            }
            *into = last;
        }
    }

    /// Converts the digits to numbers. Returns `None` if some are no digits.
    #[inline]
    fn convert(&mut self) -> Option<ConvertedDigits> {
        self.numbers.resize(self.digits.len(), 0);
        let (digits, numbers) = (self.digits.as_slice(), self.numbers.as_mut_slice());
        let converted = dispatch!(Level::new(), simd => convert(simd, digits, numbers));
        (converted.others == 0).then_some(converted)
    }

    /// The numbers of the first rows.
    fn numbers(&self, rows: usize) -> &[u64] {
        self.numbers.get(..rows).unwrap_or_default()
    }
}

/// What was found in numbers.
struct ConvertedDigits {
    /// Bits of what is no digit; 0 if there is none.
    others: u64,
    /// The smallest and the largest number.
    ends: (u32, u32),
}

/// Converts digits to numbers.
///
/// Neighbours are combined: digits to numbers below 100, these to numbers below 10,000, and these to the whole.
#[inline(always)]
fn convert<S: Simd>(simd: S, mut digits: &[u64], mut numbers: &mut [u64]) -> ConvertedDigits {
    let splat = |bits: u64| u64x8::splat(simd, bits);
    let (mut others, mut least, mut greatest) =
        (splat(0), u32x16::splat(simd, u32::MAX), u32x16::splat(simd, 0));
    while let (Some((from, other_digits)), Some((into, other_numbers))) =
        (digits.split_first_chunk::<LANES>(), numbers.split_first_chunk_mut::<LANES>())
    {
        let eight = u64x8::from_slice(simd, from);
        others |= eight | (eight + splat(0x7676_7676_7676_7676));
        // Short factors take less time, and what they cut off is not needed.
        let pairs = (times(eight, 10) + (eight >> 8)) & splat(0x00FF_00FF_00FF_00FF);
        let fours = (times(pairs, 100) + (pairs >> 16)) & splat(0x0000_FFFF_0000_FFFF);
        let whole = (fours & splat(0xFFFF)) * 10_000 + (fours >> 32);
        whole.store_slice(into);
        // The upper halves are 0, and those of `least` are not looked at.
        let halves = whole.bitcast::<u32x16<S>>();
        (least, greatest) = (least.min(halves), greatest.max(halves));
        (digits, numbers) = (other_digits, other_numbers);
    }
    let others = others & splat(0x8080_8080_8080_8080);
    let others = others.as_slice().iter().fold(0, |all, bits| all | bits);
    let low = |halves: u32x16<S>| halves.bitcast::<u64x8<S>>();
    let least = low(least).as_slice().iter().map(|number| *number as u32).min().unwrap_or_default();
    let greatest = low(greatest).as_slice().iter().map(|number| *number as u32).max().unwrap_or_default();
    ConvertedDigits { others, ends: (least, greatest) }
}

/// Multiplies each two bytes as a number of their own.
#[inline(always)]
fn times<S: Simd>(numbers: u64x8<S>, factor: u16) -> u64x8<S> {
    (numbers.bitcast::<u16x32<S>>() * factor).bitcast()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::Records;
    use super::*;
    use crate::jtl::records::plain::PlainRecords;
    use crate::number::parse_i64;

    proptest! {
        #[test]
        fn digits_are_numbers_with_any_instructions(
            eights in proptest::collection::vec("[0-9]{8}|[0-9x]{8}", 1..4), repeated: bool,
        ) {
            let digits = |text: &String| Digits::of(text.as_bytes(), 0, 8).unwrap_or(Digits::NONE);
            let mut all: Vec<Digits> = eights.iter().flat_map(|text| vec![digits(text); 8]).collect();
            all.truncate(if repeated { 8 } else { all.len() });
            let bits: Vec<u64> = all.iter().map(|digits| digits.bits()).collect();
            let expected: Option<Vec<_>> = all.iter().map(|digits| digits.number()).collect();
            for level in [Level::new(), Level::baseline()] {
                let mut numbers = vec![0; bits.len()];
                let ConvertedDigits { others, ends } = dispatch!(level, simd => convert(simd, &bits, &mut numbers));
                prop_assert_eq!(others != 0, expected.is_none());
                if let Some(expected) = &expected {
                    let least_and_greatest = expected.iter().min().zip(expected.iter().max());
                    prop_assert_eq!(Some((&i64::from(ends.0), &i64::from(ends.1))), least_and_greatest);
                    prop_assert!(expected.iter().map(|number| *number as u64).eq(numbers));
                }
            }
        }

        #[test]
        fn columns_have_the_numbers_of_their_fields(
            fields in prop_oneof![
                proptest::collection::vec("[0-9]{1,8}", 1..70),
                proptest::collection::vec("17[0-9]{7,14}", 1..70),
                proptest::collection::vec("17[0-9]{11}|-?[0-9]{0,20}|[0-9a]{13}", 1..9),
                ("[0-9]{1,16}", 1..70_usize).prop_map(|(field, n)| vec![field; n]),
            ],
        ) {
            let log: String = fields.iter().map(|field| format!("{field},x\n")).collect();
            let (mut records, mut plain) = (Records::new(log.as_bytes(), b','), PlainRecords::default());
            plain.read(&mut records, 2);
            let rows = plain.rows(log.as_bytes());
            prop_assert_eq!(rows.count(), fields.len().min(64));
            let read = fields.iter().take(rows.count());
            let number = |field: &String| parse_i64(field.as_bytes());
            let of_length = |least: usize, most: usize| {
                let fits = |field: &&String| (least..=most).contains(&field.len()) && !field.starts_with('-');
                read.clone().map(|field| Some(field).filter(fits).and_then(number)).collect::<Option<Vec<_>>>()
            };
            let mut numbers = NumberReader::default();
            let short = of_length(1, 8);
            let same = short.as_ref().map(|all| all[0]).filter(|first| short.iter().flatten().all(|n| n == first));
            match numbers.read(rows, 0) {
                Some((each, found)) => {
                    prop_assert_eq!(Some(each.iter().map(|n| *n as i64).collect()), short);
                    prop_assert_eq!(found.map(|n| n as i64), same);
                }
                None => prop_assert_eq!(short, None),
            }
            let mut long = Vec::new();
            let span = numbers.read_long(rows, 0, &mut long);
            prop_assert_eq!(span.clone(), span.as_ref().and_then(|_| span_of(&long)));
            let found = span.map(|_| long);
            prop_assert_eq!(found, of_length(9, 16));
        }
    }
}
