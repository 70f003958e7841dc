//! Exact counts of whole numbers, merged by addition; means and percentiles come from them without error.

use std::borrow::Cow;
use std::fmt;

use perfpipe_model::run::Resolution;

use super::percentile::Percentiles;
use crate::error::{Error, Result};

/// Values from 0 to below this have a counter each, so that counting one is a single addition: about a minute in ms.
const NEAR: usize = 1 << 16;

/// The least number of counters. Their number is doubled where a greater value comes, so that a run of short times
/// neither touches nor searches counters that none of its values needs.
const FIRST: usize = 1 << 10;

/// The largest number of values that a correction adds, each with all its samples.
const MOST_CORRECTED: u64 = 100_000_000;

/// The least number of far values that are collected before they are sorted in.
const WAITING: usize = 4096;

/// An exact histogram: how many times each value occurred, for any values and any number of them.
///
/// Values are whole numbers of its unit, by default 1 ms; what is computed from them is in ms.
///
/// Merged histograms give the same answers as one that counted everything itself, to the last bit. Memory: 8 to 16 bytes
/// for each value from 0 to the largest, but at most 512 KiB, and 16 to 32 bytes for each distinct value beyond 65,535.
///
/// ```
/// use perfpipe_analyze::Histogram;
///
/// let mut elapsed: Histogram = [12, 15, 12, 40].into_iter().collect();
/// assert_eq!(elapsed.mean(), Some(19.75));
/// assert_eq!(elapsed.percentiles(&[0.0, 50.0, 100.0]), [Some(12.0), Some(13.5), Some(40.0)]);
///
/// elapsed.merge(&[400].into_iter().collect());
/// assert_eq!((elapsed.samples(), elapsed.percentile(50.0)), (5, Some(15.0)));
/// ```
#[derive(Clone, Default)]
pub struct Histogram {
    unit: Resolution,
    samples: u64,
    sum: i128,
    /// Samples by value, from 0, as far as values came.
    near: Vec<u64>,
    /// The other values as (value, samples): first `sorted` ascending distinct values, then those added since.
    far: Vec<(i32, u64)>,
    sorted: usize,
}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty histogram of values in a unit.
    ///
    /// ```
    /// use perfpipe_analyze::Histogram;
    /// use perfpipe_ingest::run::Resolution;
    ///
    /// let mut elapsed = Histogram::in_unit(Resolution::MICROSECOND);
    /// elapsed.add_counts(&[(250, 2), (4_000, 1)]);
    /// assert_eq!((elapsed.mean(), elapsed.min()), (Some(1.5), Some(0.25)));
    /// assert_eq!(elapsed.percentile(50.0), Some(0.25));
    /// ```
    pub fn in_unit(unit: Resolution) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Returns the unit of the values.
    pub fn unit(&self) -> Resolution {
        self.unit
    }

    /// Adds `samples` occurrences of a value in the histogram's unit.
    pub fn add(&mut self, value: i32, samples: u64) {
        self.add_counts(&[(value, samples)]);
    }

    /// Adds many values in the histogram's unit with their counts, in any order.
    ///
    /// ```
    /// let mut elapsed = perfpipe_analyze::Histogram::new();
    /// elapsed.add_counts(&[(12, 2), (15, 1)]);
    /// assert_eq!(elapsed.counts().collect::<Vec<_>>(), [(12, 2), (15, 1)]);
    /// ```
    pub fn add_counts(&mut self, counts: &[(i32, u64)]) {
        let (all, sum) = totals(counts);
        self.add_totals(all, sum);
        counts.iter().for_each(|(value, samples)| self.count(*value, *samples));
    }

    /// Adds the number of some values, which [`Histogram::count`] adds one by one, and their sum.
    pub(crate) fn add_totals(&mut self, samples: u64, sum: i128) {
        self.samples = self.samples.saturating_add(samples);
        self.sum += sum;
    }

    /// Counts a value, except in the totals.
    #[inline(always)]
    pub(crate) fn count(&mut self, value: i32, samples: u64) {
        match usize::try_from(value).ok().and_then(|value| self.near.get_mut(value)) {
            Some(counter) => *counter = counter.saturating_add(samples),
            None => self.count_new(value, samples),
        }
    }

    /// Counts eight values, each given as the difference to `base`, except in the totals. Returns false, and does nothing,
    /// if they might not have counters.
    #[inline(always)]
    pub(crate) fn count_eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]) -> bool {
        let counters = usize::try_from(base).ok().and_then(|base| self.near.get_mut(base..));
        // So many that every difference is the index of one, which the compiler then need not check.
        let Some(counters) = counters.and_then(|counters| counters.first_chunk_mut::<256>()) else {
            return false;
        };
        for (difference, samples) in differences.into_iter().zip(samples) {
            if let Some(counter) = counters.get_mut(usize::from(difference)) {
                *counter = counter.saturating_add(samples.into());
            }
        }
        true
    }

    /// Adds occurrences of a value that has no counter yet.
    #[cold]
    fn count_new(&mut self, value: i32, samples: u64) {
        match usize::try_from(value).ok().filter(|value| *value < NEAR) {
            Some(value) => {
                self.near.resize((value + 1).next_power_of_two().max(FIRST), 0);
                if let Some(counter) = self.near.get_mut(value) {
                    *counter = samples;
                }
            }
            None => self.add_far(value, samples),
        }
    }

    fn add_far(&mut self, value: i32, samples: u64) {
        self.far.push((value, samples));
        if self.far.len() - self.sorted > WAITING.max(self.sorted) {
            sort_and_add_up(&mut self.far);
            self.sorted = self.far.len();
        }
    }

    /// Adds all counts of another histogram, which must have the same unit unless this one is empty.
    pub fn merge(&mut self, other: &Self) {
        let counts: Vec<(i32, u64)> = other.counts().collect();
        if self.is_empty() {
            self.unit = other.unit;
        }
        self.add_counts(&counts);
    }

    /// Returns the number of values counted.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Returns the sum of all values, in the histogram's unit.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// Returns the arithmetic mean, rounded once; `None` if nothing was counted.
    pub fn mean(&self) -> Option<f64> {
        mean(self.sum, self.samples).map(|mean| self.unit.ms(mean))
    }

    /// Returns the standard deviation of all values, over n; `None` if nothing was counted.
    ///
    /// ```
    /// let elapsed: perfpipe_analyze::Histogram = [10, 20, 20, 30].into_iter().collect();
    /// assert_eq!(elapsed.deviation(), Some(50f64.sqrt()));
    /// ```
    pub fn deviation(&self) -> Option<f64> {
        let mean = mean(self.sum, self.samples)?;
        let square = |(value, samples): (i32, u64)| (f64::from(value) - mean).powi(2) * samples as f64;
        Some(self.unit.ms((self.counts().map(square).sum::<f64>() / self.samples as f64).sqrt()))
    }

    /// Returns the smallest value; `None` if nothing was counted.
    pub fn min(&self) -> Option<f64> {
        self.counts().next().map(|(value, _)| self.ms(value))
    }

    /// Returns the largest value; `None` if nothing was counted.
    pub fn max(&self) -> Option<f64> {
        self.counts().last().map(|(value, _)| self.ms(value))
    }

    /// Converts a value to ms.
    pub(crate) fn ms(&self, value: i32) -> f64 {
        self.unit.ms(value.into())
    }

    /// Returns each distinct value, in the histogram's unit, with its count, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let far = self.far();
        let below = far.partition_point(|(value, _)| *value < 0);
        let negative: Vec<(i32, u64)> = far.iter().take(below).copied().collect();
        let near = self.near.iter().zip(0..).map(|(samples, value)| (value, *samples));
        let beyond = (below..far.len()).filter_map(move |at| far.get(at).copied());
        negative.into_iter().chain(near).chain(beyond).filter(|(_, samples)| *samples > 0)
    }

    /// Returns one percentile; `percent` is from 0 to 100. See [`Histogram::percentiles`].
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.percentiles(&[percent]).into_iter().next().flatten()
    }

    /// Returns percentiles, given in percent, as PostgreSQL's `percentile_cont` defines them: of n sorted values the
    /// one at position p·(n−1), linear between neighbours. One sweep computes all.
    ///
    /// An answer is `None` if nothing was counted, or if the percentile is not a number from 0 to 100.
    ///
    /// ```
    /// let elapsed: perfpipe_analyze::Histogram = (1..=1000).collect();
    /// assert_eq!(elapsed.percentiles(&[95.0, 99.9, 101.0]), [Some(950.05), Some(999.001), None]);
    /// ```
    pub fn percentiles(&self, percents: &[f64]) -> Vec<Option<f64>> {
        Percentiles::new(percents).of(self.samples, self.counts(), self.unit)
    }

    /// Returns the histogram corrected for coordinated omission, as HdrHistogram does. A client that was to send every
    /// `interval` ms and waited v ms, longer than that, would also have had v − interval, v − 2·interval and so on,
    /// down to the interval; these values are added.
    ///
    /// # Errors
    /// If the interval is 0, or so short in relation to the largest value that more than 100 million values would be
    /// added.
    ///
    /// ```
    /// let elapsed: perfpipe_analyze::Histogram = [10, 35].into_iter().collect();
    /// let corrected = elapsed.corrected(10)?;
    /// assert_eq!(corrected.counts().collect::<Vec<_>>(), [(10, 1), (15, 1), (25, 1), (35, 1)]);
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn corrected(&self, interval: u32) -> Result<Self> {
        let longest = self.max().unwrap_or(0.0);
        let refused = || Error::Interval { interval, longest };
        let step = i32::try_from(interval.max(1).saturating_mul(self.unit.per_ms())).unwrap_or(i32::MAX);
        let missing = |value: i32| u64::from((value / step).unsigned_abs());
        let values = self.counts().filter(|(value, _)| *value > step);
        if interval == 0 || values.map(|(value, _)| missing(value)).sum::<u64>() > MOST_CORRECTED {
            return Err(refused());
        }
        let mut corrected = Self::in_unit(self.unit);
        for (value, samples) in self.counts() {
            corrected.add(value, samples);
            let mut sent = value.saturating_sub(step);
            while sent >= step {
                corrected.add(sent, samples);
                sent -= step;
            }
        }
        Ok(corrected)
    }

    /// Returns the far values, distinct and in ascending order.
    fn far(&self) -> Cow<'_, [(i32, u64)]> {
        if self.sorted == self.far.len() {
            return Cow::Borrowed(&self.far);
        }
        let mut far = self.far.clone();
        sort_and_add_up(&mut far);
        Cow::Owned(far)
    }
}

/// Sorts counts by value and merges those of equal values. Sorted stretches are merged, not sorted again.
pub(crate) fn sort_and_add_up(counts: &mut Vec<(i32, u64)>) {
    counts.sort_by_key(|(value, _)| *value);
    counts.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        same
    });
}

/// Returns the number of values in some counts, and their sum.
#[inline]
pub(crate) fn totals(counts: &[(i32, u64)]) -> (u64, i128) {
    /// Below these, no sum of products of values and counts exceeds 64 bits.
    const FEW: usize = 1 << 16;
    const SMALL: u64 = 1 << 15;
    if counts.len() < FEW && counts.iter().fold(0, |bits, (_, samples)| bits | samples) < SMALL {
        // The usual case, which takes a third of the time.
        let (all, sum) = counts.iter().fold((0u64, 0i64), |(all, sum), &(value, samples)| {
            (all.wrapping_add(samples), sum.wrapping_add(i64::from(value).wrapping_mul(samples as i64)))
        });
        return (all, sum.into());
    }
    counts.iter().fold((0, 0), |(all, sum), &(value, samples)| {
        (samples.saturating_add(all), sum + i128::from(value) * i128::from(samples))
    })
}

/// Returns the mean of an exact sum over a number of samples; `None` for no samples.
pub(crate) fn mean(sum: impl Into<i128>, samples: u64) -> Option<f64> {
    (samples > 0).then(|| sum.into() as f64 / samples as f64)
}

impl FromIterator<i32> for Histogram {
    fn from_iter<I: IntoIterator<Item = i32>>(values: I) -> Self {
        let mut histogram = Self::new();
        values.into_iter().for_each(|value| histogram.add(value, 1));
        histogram
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.samples == other.samples && self.unit == other.unit && self.counts().eq(other.counts())
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.counts()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Near, at the border, far and negative values.
    fn value() -> impl Strategy<Value = i32> {
        prop_oneof![0..50i32, 65_530..65_545i32, any::<i32>()]
    }

    proptest! {
        #[test]
        fn answers_equal_those_of_all_values_sorted(values in prop::collection::vec(value(), 1..400)) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let found: Histogram = values.iter().copied().collect();
            let back: Vec<i32> =
                found.counts().flat_map(|(value, samples)| (0..samples).map(move |_| value)).collect();
            prop_assert_eq!(&back, &sorted);
            let sum: i128 = sorted.iter().map(|value| i128::from(*value)).sum();
            prop_assert_eq!((found.sum(), found.samples()), (sum, sorted.len() as u64));
            prop_assert_eq!(found.mean(), Some(sum as f64 / sorted.len() as f64));
            prop_assert_eq!((found.min(), found.max()), (sorted.first().map(|v| f64::from(*v)), sorted.last().map(|v| f64::from(*v))));
            let middle = sorted.len() - 1;
            if middle % 2 == 0 {
                prop_assert_eq!(found.percentile(50.0), Some(f64::from(sorted[middle / 2])));
            }
        }

        #[test]
        fn parts_merged_equal_the_whole(
            parts in prop::collection::vec(prop::collection::vec(value(), 0..100), 0..6),
        ) {
            let whole: Histogram = parts.iter().flatten().copied().collect();
            let mut merged = Histogram::new();
            for part in &parts {
                merged.merge(&part.iter().copied().collect());
            }
            prop_assert_eq!(&merged, &whole);
            let percents = [0.0, 25.0, 50.0, 95.0, 99.9, 100.0];
            prop_assert_eq!(merged.percentiles(&percents), whole.percentiles(&percents));
        }
    }

    proptest! {
        /// Records one value after the other with the expected interval, as HdrHistogram does.
        #[test]
        fn correction_adds_what_each_value_kept_from_being_sent(
            values in prop::collection::vec(0..3000i32, 0..60), interval in 1..200u32,
        ) {
            let mut expected = values.clone();
            for value in &values {
                let mut missing = i64::from(*value) - i64::from(interval);
                while missing >= i64::from(interval) {
                    expected.push(missing as i32);
                    missing -= i64::from(interval);
                }
            }
            let found = values.into_iter().collect::<Histogram>().corrected(interval).unwrap();
            prop_assert_eq!(found, expected.into_iter().collect::<Histogram>());
        }
    }

    /// A client that sends every 10 ms for 100 s, during which the server stops for 10 s.
    #[test]
    fn stall_of_ten_seconds_is_a_tenth_of_the_time() {
        let mut elapsed: Histogram = std::iter::repeat_n(10, 9000).collect();
        elapsed.add(10_000, 1);
        assert_eq!(elapsed.percentile(99.0), Some(10.0));
        let corrected = elapsed.corrected(10).unwrap();
        let p99 = corrected.percentile(99.0).unwrap();
        assert!((p99 - 9000.1).abs() < 1e-9, "{p99}");
    }

    #[test]
    fn interval_that_makes_too_many_values_is_refused() {
        let stall: Histogram = [i32::MAX].into_iter().collect();
        assert!(
            matches!(stall.corrected(1), Err(Error::Interval { interval: 1, longest }) if longest == f64::from(i32::MAX))
        );
        assert!(stall.corrected(0).is_err() && stall.corrected(1000).is_ok());
    }

    #[test]
    fn many_far_values_are_sorted_in_on_the_way() {
        let mut found = Histogram::new();
        for round in 0..3 {
            for step in 0..3 * WAITING as i32 {
                found.add(if step % 2 == 0 { 1_000_000 - step } else { -step }, 1 + round);
            }
        }
        assert!(found.sorted > WAITING);
        assert_eq!(found.counts().count(), 3 * WAITING);
        assert!(found.counts().is_sorted());
        assert!(found.counts().all(|(_, samples)| samples == 6));
    }

    #[test]
    fn histogram_of_nothing_has_no_figures() {
        let nothing = Histogram::new();
        assert!(nothing.is_empty());
        assert_eq!((nothing.mean(), nothing.min(), nothing.max()), (None, None, None));
        assert_eq!(nothing.percentiles(&[0.0, 50.0]), [None, None]);
    }
}
