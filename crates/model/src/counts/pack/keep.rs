//! Keeps packed counts in the form of today, whatever version packed them.

use super::dense_counts::{BITS, MARK, Small, check, is_too_wide, put};
use super::pair_counts::read_pair;
use crate::sample::varint::{read_signed, read_unsigned, signed, unsigned};

/// Appends the packed counts at the front of the bytes, in the form of [`super::pack_counts`], skips these and returns the number
/// of samples. `None` if they are no packed counts; what was appended then has no meaning.
pub fn keep(out: &mut Vec<u8>, from: &mut &[u8]) -> Option<u64> {
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
        put_small::<32, 64>(&mut small, out, from, others);
        put_small::<8, 16>(&mut small, out, from, others);
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

/// Appends pairs, until there are `most` values, as long as blocks of so many have no wide one.
#[inline]
fn put_small<const BLOCK: usize, const BYTES: usize>(
    small: &mut Small,
    out: &mut Vec<u8>,
    from: &mut &[u8],
    most: u64,
) {
    while most - small.values >= BLOCK as u64
        && let Some((block, rest)) = from.split_first_chunk::<BYTES>()
        && let Some((dense, rise, samples)) = dense::<BLOCK>(block)
    {
        out.extend_from_slice(&dense);
        *from = rest;
        small.add(BLOCK, rise, samples);
    }
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
    // Without a branch or a check, so that the compiler processes many pairs at a time.
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

#[cfg(test)]
mod tests {
    use super::super::dense_counts::{each_count, pack_counts, read};
    use super::super::examples::{one_by_one, small_counts};
    use super::super::pair_counts;
    use super::*;
    use proptest::prelude::*;

    fn packed(counts: &[(i32, u64)]) -> Vec<u8> {
        let mut packed = Vec::new();
        pack_counts(&mut packed, counts);
        packed
    }

    fn in_pairs(counts: &[(i32, u64)]) -> Vec<u8> {
        let mut packed = Vec::new();
        pair_counts::pack(&mut packed, counts);
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
