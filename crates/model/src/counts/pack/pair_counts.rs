//! The packed form of exact counts that earlier versions wrote, and that serves where few differences are small: two
//! numbers for each value.

use crate::sample::varint::{read_signed, read_unsigned, signed, unfolded, unsigned};

/// Packs exact counts, ascending by value: their number, then for each the difference to the previous value and the
/// count.
pub(super) fn pack(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
    unsigned(out, counts.len() as u64);
    let mut previous = 0;
    for (value, count) in counts {
        signed(out, i64::from(*value) - previous);
        unsigned(out, *count);
        previous = i64::from(*value);
    }
}

/// Reads packed counts from the front of the bytes, and passes them on. `None` if they are invalid or not ascending.
#[inline]
pub(super) fn read(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = i32::try_from(read_signed(from)?).ok()?;
    take.one(value, read_unsigned(from)?);
    while others > 0 {
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

/// Receives the counts of a cell, which come in ascending order of the values: elapsed times in the run's unit.
pub trait TakeCounts {
    /// Receives eight values, each given as its difference to `base`, with its number of samples, which is less than 8. They
    /// are never the first ones, and none of them is too large for an `i32`.
    fn eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]);

    /// Receives a value and its number of samples.
    fn one(&mut self, value: i32, samples: u64);
}

/// Appends the counts as they are in [`crate::counts::Cell::elapsed`].
impl TakeCounts for Vec<(i32, u64)> {
    #[inline]
    fn eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]) {
        let counts = differences.into_iter().zip(samples);
        self.extend(
            counts.map(|(difference, samples)| (base.wrapping_add(difference.into()), samples.into())),
        );
    }

    #[inline]
    fn one(&mut self, value: i32, samples: u64) {
        self.push((value, samples));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::counts::pack::examples::{one_by_one, small_counts};

    proptest! {
        #[test]
        fn counts_are_those_that_are_read_one_by_one(
            counts in small_counts(), more in any::<[u8; 3]>(), at in 0..1300usize, cut in 0..1300usize,
        ) {
            let mut bytes = Vec::new();
            pack(&mut bytes, &counts);
            let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
                let mut bytes = bytes.clone();
                change(&mut bytes);
                bytes
            };
            let changed = damaged(&|bytes| if let Some(byte) = bytes.get_mut(at) { *byte ^= more[0] });
            let longer = damaged(&|bytes| bytes.extend(more));
            for mut bytes in [&bytes[..], &changed, &longer, &bytes[..cut.min(bytes.len())]] {
                let (mut slow, mut found) = (bytes, Vec::new());
                let read = read(&mut bytes, &mut found);
                match (read, one_by_one(&mut slow)) {
                    (Some(()), Some(expected)) => {
                        prop_assert_eq!((found, bytes), (expected, slow));
                    }
                    (read, expected) => prop_assert_eq!((read, expected), (None, None)),
                }
            }
        }

    }
}
