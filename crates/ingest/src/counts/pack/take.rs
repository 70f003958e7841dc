//! How packed counts are passed on.

/// Takes the counts of a cell, which come in ascending order of the values: elapsed times in the run's unit.
pub trait TakeCounts {
    /// Takes eight values, each given as its difference to `base`, with its number of samples, which is less than 8. They
    /// are never the first ones, and none of them is too large for an `i32`.
    fn eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]);

    /// Takes a value and its number of samples.
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
