//! Decodes the histograms of a log, and finds the unit of their values.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use crate::jtl::blocks::RECORD_LIMIT;
use crate::tools::rejects::IntervalFlaw;
use crate::work_count;

/// A decoded histogram.
pub(super) struct DecodedHistogram {
    /// The significant digits of its values.
    pub(super) digits: u8,
    /// The number of requests of each value, ascending by value. A value is the largest of those that count as equal.
    pub(super) counts: Vec<(u64, u64)>,
}

/// The cookies of the encoding V2, plain and compressed.
const PLAIN: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];
const COMPRESSED: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];

/// The number of bytes before the counts: cookie, length, offset, digits, lowest and highest value, and ratio.
const HEADER: usize = 40;

/// The most different values of a histogram.
const MOST_VALUES: usize = 100_000;

/// The most counts that a histogram may have room for, as one of 4 digits from 1 ns to an hour has.
const MOST_PLACES: u64 = 1 << 20;

/// A number of the counts has fewer bytes than this. So no sum of them overflows: 2^41 requests of a value are the most.
const LONGEST_NUMBER: usize = 7;

/// Decodes a histogram in time linear in its encoding, whatever number of values that skips.
pub(super) fn decode(encoded: &str) -> Result<DecodedHistogram, IntervalFlaw> {
    let packed = STANDARD.decode(encoded.trim_end()).map_err(|_| IntervalFlaw::Base64)?;
    let plain = unpacked(&packed)?;
    work_count::count(packed.len() + plain.len());
    let (scale, mut encoded) = check(&plain)?;
    let (mut place, mut counts) = (0_u64, Vec::new());
    while !encoded.is_empty() {
        match count(&mut encoded).ok_or(IntervalFlaw::Damaged)? {
            // The number of values that none has.
            skipped @ ..0 => place = place.saturating_add(skipped.unsigned_abs()),
            requests => {
                if requests > 0 {
                    counts.push((
                        scale.largest_at(place).ok_or(IntervalFlaw::Damaged)?,
                        requests.unsigned_abs(),
                    ));
                }
                place = place.saturating_add(1);
            }
        }
        if counts.len() > MOST_VALUES {
            return Err(IntervalFlaw::Large);
        }
    }
    Ok(DecodedHistogram { digits: scale.digits, counts })
}

/// Reads the next of the counts: seven bits a byte, the lowest ones first, of which the lowest is the sign.
fn count(encoded: &mut &[u8]) -> Option<i64> {
    let length = encoded.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (bytes, rest) = encoded.split_at_checked(length)?;
    *encoded = rest;
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 7 | u64::from(byte & 0x7f));
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Returns the encoding without its compression.
fn unpacked(packed: &[u8]) -> Result<Vec<u8>, IntervalFlaw> {
    let Some(cookie) = packed.first_chunk::<4>() else { return Err(IntervalFlaw::Damaged) };
    if *cookie == PLAIN {
        return Ok(packed.to_vec());
    }
    if *cookie != COMPRESSED {
        return Err(IntervalFlaw::Encoding);
    }
    let mut plain = Vec::new();
    // What a few bytes can be unpacked to has no limit of its own.
    let packed = packed.get(8..).ok_or(IntervalFlaw::Damaged)?;
    let mut input = ZlibDecoder::new(packed).take(RECORD_LIMIT as u64 + 1);
    input.read_to_end(&mut plain).map_err(|_| IntervalFlaw::Damaged)?;
    match plain.first_chunk::<4>() {
        _ if plain.len() > RECORD_LIMIT => Err(IntervalFlaw::Large),
        Some(cookie) if *cookie == PLAIN => Ok(plain),
        Some(_) => Err(IntervalFlaw::Encoding),
        None => Err(IntervalFlaw::Damaged),
    }
}

/// Checks what decoding relies on: that the counts are there, and that none is beyond reason. Returns the values that they
/// are of, and the counts.
fn check(plain: &[u8]) -> Result<(HistogramScale, &[u8]), IntervalFlaw> {
    let length = plain.get(4..8).and_then(|bytes| bytes.first_chunk::<4>()).ok_or(IntervalFlaw::Damaged)?;
    let number = |at: usize| {
        let bytes = plain.get(at..).and_then(|bytes| bytes.first_chunk::<8>());
        bytes.map(|bytes| u64::from_be_bytes(*bytes)).ok_or(IntervalFlaw::Damaged)
    };
    let offset_and_digits = number(8)?;
    let scale = HistogramScale::new(offset_and_digits & 0xffff_ffff, number(16)?, number(24)?)
        .ok_or(IntervalFlaw::Damaged)?;
    if scale.places > MOST_PLACES {
        return Err(IntervalFlaw::Large);
    }
    let counts = plain.get(HEADER..).ok_or(IntervalFlaw::Damaged)?;
    let counts = counts.get(..u32::from_be_bytes(*length) as usize).ok_or(IntervalFlaw::Damaged)?;
    let is_long = |bytes: &[u8]| bytes.iter().all(|byte| byte & 0x80 != 0);
    if counts.windows(LONGEST_NUMBER - 1).any(is_long) {
        return Err(IntervalFlaw::Large);
    }
    // An offset, or a ratio other than 1, is of a histogram of decimals.
    let is_whole = offset_and_digits >> 32 == 0 && f64::from_bits(number(32)?) == 1.0;
    if is_whole { Ok((scale, counts)) } else { Err(IntervalFlaw::Decimals) }
}

/// The values that the counts of a histogram are of.
struct HistogramScale {
    digits: u8,
    /// The binary digits of the lowest value below its highest one, and of half as many values as are between doublings.
    unit: u32,
    half: u32,
    /// The number of counts that there is room for.
    places: u64,
}

impl HistogramScale {
    /// The scale of these digits, from a lowest to a highest value; `None` if there is no such histogram.
    fn new(digits: u64, low: u64, high: u64) -> Option<Self> {
        let places = places(digits, low, high)?;
        let each = (2 * 10_u64.pow(u32::try_from(digits).ok()?)).next_power_of_two();
        let (unit, half) = (low.checked_ilog2()?, each.checked_ilog2()? - 1);
        let is_possible = high / 2 >= low && unit + half < u64::BITS - 1;
        is_possible.then_some(Self { digits: u8::try_from(digits).ok()?, unit, half, places })
    }

    /// The largest value that counts at a place; `None` beyond the last one.
    fn largest_at(&self, place: u64) -> Option<u64> {
        if place >= self.places {
            return None;
        }
        let doubling = (place >> self.half).saturating_sub(1);
        let within = place - (doubling << self.half);
        let shift = self.unit + u32::try_from(doubling).ok()?;
        Some((within << shift).saturating_add(1 << shift) - 1)
    }
}

/// The number of counts that a histogram of these digits has room for, from the lowest value to the highest: for each
/// doubling enough to distinguish the values within it to these digits. `None` if there is no such histogram.
fn places(digits: u64, low: u64, high: u64) -> Option<u64> {
    let digits = u32::try_from(digits).ok().filter(|digits| *digits <= 5)?;
    let each = (2 * 10_u64.pow(digits)).next_power_of_two();
    let mut covered = u128::from(each) << low.checked_ilog2()?;
    let mut doublings = 1;
    while covered <= u128::from(high) {
        covered <<= 1;
        doublings += 1;
    }
    Some((doublings + 1) * each / 2)
}

/// The number of values in a ms, for values in ms, µs and ns.
const UNITS: [u32; 3] = [1, 1000, 1_000_000];

/// Returns how many of a histogram's values are a ms, by its largest value and the log's figure for it; `None` if both
/// are 0, which they are in any unit.
pub(super) fn per_ms(largest: u64, interval_max: f64, digits: u8) -> Result<Option<u32>, IntervalFlaw> {
    if largest == 0 {
        return Ok(None);
    }
    // A value counts as those that it is rounded to, and the figure has three decimals.
    let rounding = 0.1_f64.powi(digits.clamp(1, 5).into());
    let fits = |unit: &u32| {
        let in_ms = largest as f64 / f64::from(*unit);
        (in_ms - interval_max).abs() <= in_ms * rounding + 0.0006
    };
    match UNITS.into_iter().find(fits) {
        Some(1) => Err(IntervalFlaw::NoUnit),
        Some(unit) => Ok(Some(unit)),
        None => Err(IntervalFlaw::Unit),
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
    use proptest::prelude::*;

    use super::*;

    fn plain(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn places_are_those_of_the_histogram() {
        for (digits, low, high) in
            [(0, 1, 2), (3, 1, 3_600_000_000), (4, 1, 3_600_000_000_000), (3, 1000, u64::MAX), (5, 7, 90)]
        {
            let histogram = Histogram::<u64>::new_with_bounds(low, high, digits).unwrap();
            let found = places(digits.into(), low, high).unwrap();
            assert_eq!(found, histogram.distinct_values() as u64, "{digits} {low} {high}");
        }
        assert_eq!((places(6, 1, 2), places(3, 0, 2)), (None, None));
        assert!(places(4, 1, 3_600_000_000_000).unwrap() <= MOST_PLACES);
    }

    fn flaw(bytes: &[u8]) -> Option<IntervalFlaw> {
        decode(&STANDARD.encode(bytes)).err()
    }

    // Those of 4 and 5 digits take long to read without optimisation.
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn counts_are_those_that_were_recorded(
            digits in 0..=3_u8, low in prop_oneof![Just(1_u64), 1..5000_u64],
            values in prop::collection::vec((0..u64::MAX >> 8, 1..1000_u64), 0..30),
        ) {
            let mut histogram = Histogram::<u64>::new_with_bounds(low, u64::MAX >> 1, digits).unwrap();
            values.iter().for_each(|(value, count)| histogram.record_n(*value, *count).unwrap());
            let mut packed = Vec::new();
            V2DeflateSerializer::new().serialize(&histogram, &mut packed).unwrap();
            let mut expected = std::collections::BTreeMap::new();
            for (value, count) in values {
                *expected.entry(histogram.highest_equivalent(value)).or_insert(0) += count;
            }
            let expected: Vec<(u64, u64)> = expected.into_iter().collect();
            for bytes in [packed, plain(&histogram)] {
                let found = decode(&STANDARD.encode(bytes)).ok().unwrap();
                prop_assert_eq!((found.digits, &found.counts), (digits, &expected));
            }
        }

        #[test]
        fn any_bytes_behind_a_cookie_are_decoded_or_refused(
            digits in prop_oneof![0..4_u8, Just(6)], low in prop_oneof![0..3_u64, any::<u64>()], high: u64,
            counts in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xff)], 0..40),
        ) {
            let mut bytes = PLAIN.to_vec();
            bytes.extend((counts.len() as u32).to_be_bytes());
            bytes.extend(0_u32.to_be_bytes());
            bytes.extend(u32::from(digits).to_be_bytes());
            bytes.extend(low.to_be_bytes());
            bytes.extend(high.to_be_bytes());
            bytes.extend(1_f64.to_be_bytes());
            bytes.extend(counts);
            let found = decode(&STANDARD.encode(&bytes));
            // Another reader of the format, which takes too long for what is large.
            if !matches!(found, Err(IntervalFlaw::Large)) {
                let expected: Option<Histogram<u64>> = Deserializer::new().deserialize(&mut &*bytes).ok();
                let counts = expected.map(|histogram| {
                    let values = histogram.iter_recorded();
                    values.map(|value| (value.value_iterated_to(), value.count_at_value())).collect::<Vec<_>>()
                });
                prop_assert_eq!(found.ok().map(|found| found.counts), counts);
            }
        }
    }

    #[test]
    fn what_is_not_whole_or_of_another_kind_has_a_flaw_of_its_own() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record(700).unwrap();
        let whole = plain(&histogram);
        assert_eq!(flaw(&whole), None);
        let changed = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            flaw(&bytes)
        };
        assert_eq!(
            (flaw(&whole[..whole.len() - 1]), flaw(&whole[..30])),
            (Some(IntervalFlaw::Damaged), Some(IntervalFlaw::Damaged))
        );
        assert_eq!(
            (changed(3, 0x11), changed(0, 0)),
            (Some(IntervalFlaw::Encoding), Some(IntervalFlaw::Encoding))
        );
        assert_eq!(
            (changed(11, 1), changed(32, 0)),
            (Some(IntervalFlaw::Decimals), Some(IntervalFlaw::Decimals))
        );
        // A range of 2^63 by 5 digits.
        let mut wide = whole.clone();
        (wide[15], wide[24]) = (5, 0x7f);
        assert_eq!(flaw(&wide), Some(IntervalFlaw::Large));
        // Digits, and the length of the counts.
        assert_eq!(
            (changed(15, 9), changed(4, 0x7f)),
            (Some(IntervalFlaw::Damaged), Some(IntervalFlaw::Damaged))
        );
        assert_eq!(decode("HISTF%").err(), Some(IntervalFlaw::Base64));
        let mut large = whole.clone();
        large.truncate(HEADER);
        large[4..8].copy_from_slice(&9_u32.to_be_bytes());
        large.extend([0xff; 9]);
        assert_eq!(flaw(&large), Some(IntervalFlaw::Large));
    }

    #[test]
    fn few_bytes_that_unpack_to_many_are_refused() {
        let mut packed = COMPRESSED.to_vec();
        packed.extend(0_u32.to_be_bytes());
        let mut pack = flate2::write::ZlibEncoder::new(&mut packed, flate2::Compression::best());
        std::io::Write::write_all(&mut pack, &vec![0; 3 * RECORD_LIMIT]).unwrap();
        pack.finish().unwrap();
        assert_eq!(flaw(&packed), Some(IntervalFlaw::Large));
    }

    #[test]
    fn unit_is_that_in_which_the_largest_value_is_the_figure_in_ms() {
        for (largest, figure, unit) in [
            (19_999, "19.999", Ok(Some(1000))),
            (27_407, "27.407", Ok(Some(1000))),
            (9_117_695, "9.118", Ok(Some(1_000_000))),
            (300, "0.000", Ok(Some(1_000_000))),
            (1, "0.001", Ok(Some(1000))),
            (0, "0.000", Ok(None)),
            (9119, "9119.0", Err(IntervalFlaw::NoUnit)),
            (9119, "12.000", Err(IntervalFlaw::Unit)),
            (9119, "NaN", Err(IntervalFlaw::Unit)),
            (9119, "-9.119", Err(IntervalFlaw::Unit)),
            (u64::MAX, "inf", Err(IntervalFlaw::Unit)),
        ] {
            assert_eq!(per_ms(largest, figure.parse().unwrap(), 3), unit, "{largest} {figure}");
        }
        assert_eq!(per_ms(9119, 9.119, 0), Ok(Some(1000)));
    }
}
