//! Sorts elapsed times.

/// The bits of a digit. Its counters fill 8 KiB.
const BITS: u32 = 11;
const DIGITS: usize = 1 << BITS;

/// The number of times from which on it is faster to go through them three times than to compare them.
const MANY: usize = 700;

/// Sorts lists of times, and keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// The times by their low digits.
    by_low: Vec<i32>,
}

impl Sorter {
    /// Sorts times. Many that are below 2^22, such as 4 s in µs, are sorted by one digit after the other.
    pub(super) fn sort(&mut self, times: &mut [i32]) {
        let all = times.iter().fold(0, |all, time| all | *time);
        if times.len() < MANY || u32::try_from(all).is_ok_and(|all| all >> (2 * BITS) > 0) || all < 0 {
            return times.sort_unstable();
        }
        self.by_low.clear();
        self.by_low.resize(times.len(), 0);
        by_digit(times, &mut self.by_low, 0);
        by_digit(&self.by_low, times, BITS);
    }
}

/// Copies times in the order of the digit that begins at this bit; those of the same digit stay as they are.
fn by_digit(from: &[i32], into: &mut [i32], bit: u32) {
    let digit = |time: i32| (time >> bit) as usize % DIGITS;
    // The place of the next time of each digit.
    let mut places = [0_u32; DIGITS];
    for time in from {
        if let Some(count) = places.get_mut(digit(*time)) {
            *count += 1;
        }
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for time in from {
        let Some(place) = places.get_mut(digit(*time)) else { continue };
        if let Some(into) = into.get_mut(*place as usize) {
            *into = *time;
        }
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_sorted_as_the_standard_library_does(
            seeds in prop::collection::vec(any::<i32>(), 0..50),
            repeated in 0..40usize,
            bits in 1..33u32,
        ) {
            let scattered = |at: usize, seed: &i32| seed.wrapping_mul(2 * at as i32 + 1);
            let all = (0..repeated).flat_map(|at| seeds.iter().map(move |seed| scattered(at, seed)));
            let mut times: Vec<i32> = all.map(|time| (time as u32 >> (32 - bits)) as i32).collect();
            let mut expected = times.clone();
            expected.sort_unstable();
            Sorter::default().sort(&mut times);
            prop_assert_eq!(times, expected);
        }
    }
}
