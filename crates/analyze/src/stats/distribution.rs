//! How elapsed times are distributed: their counts in bins of equal width, and the curve of percentiles.

use perfpipe_model::run::Resolution;

use super::histogram::Histogram;

/// The largest number of bins.
const BINS: f64 = 60.0;

/// The percentile up to which the bins reach, if the greatest time is far beyond it.
const REACH: f64 = 99.0;

/// How far the greatest time may be beyond the reach, as a multiple of it, for the bins to go on to it.
const FAR: f64 = 2.0;

/// Exact counts of elapsed times in bins of equal width, for a histogram.
///
/// The bins reach from the smallest time to the greatest, or to the 99th percentile if the greatest is far beyond it:
/// one slow request would make all others a single bar. What lies beyond the bins is counted too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distribution {
    /// The unit of all times here, that of the run.
    pub unit: Resolution,
    /// The width of a bin in the unit: 1, 2 or 5 times a power of ten.
    pub width: u32,
    /// The lower edge of the first bin in the unit, a multiple of the width. A bin holds the times from its lower edge on that
    /// are below the next bin's.
    pub first: i64,
    /// The number of requests in each bin.
    pub counts: Vec<u64>,
    /// The number of requests beyond the last bin.
    pub beyond: u64,
    /// The greatest time in the unit; `None` if nothing was counted.
    pub max: Option<i32>,
}

impl Distribution {
    /// Counts elapsed times in at most 61 bins.
    ///
    /// ```
    /// use perfpipe_analyze::breakdown::Distribution;
    ///
    /// let found = Distribution::new(&[20, 21, 21, 140].into_iter().collect());
    /// assert_eq!((found.width, found.first, found.counts.len(), found.beyond), (2, 20, 61, 0));
    /// assert_eq!((found.counts[0], found.counts[60]), (3, 1));
    /// ```
    pub fn new(elapsed: &Histogram) -> Self {
        let (least, greatest) = (elapsed.counts().next(), elapsed.counts().last());
        let Some(((min, _), (max, _))) = least.zip(greatest) else { return Self::default() };
        let reach = reach(elapsed, min, max);
        let width = round_width((reach - f64::from(min)) / BINS);
        let bin = |ms: i32| i64::from(ms).div_euclid(width.into());
        let first = bin(min);
        let last = bin(reach.floor() as i32);
        let mut found = Self {
            unit: elapsed.unit(),
            width,
            first: first * i64::from(width),
            counts: vec![0; usize::try_from(last - first + 1).unwrap_or(0)],
            beyond: 0,
            max: Some(max),
        };
        for (ms, samples) in elapsed.counts() {
            let at = usize::try_from(bin(ms) - first).ok();
            let count = at.and_then(|at| found.counts.get_mut(at)).unwrap_or(&mut found.beyond);
            *count = count.saturating_add(samples);
        }
        found
    }
}

/// Returns up to which time in the unit the bins reach.
fn reach(elapsed: &Histogram, min: i32, max: i32) -> f64 {
    let (min, max) = (f64::from(min), f64::from(max));
    let usual = elapsed.percentile(REACH).map_or(max, |ms| ms * f64::from(elapsed.unit().per_ms()));
    if max - min <= FAR * (usual - min) { max } else { usual }
}

/// Returns the least of 1, 2 or 5 times a power of ten that is not below a width.
fn round_width(least: f64) -> u32 {
    let powers = (0..=9).map(|power| 10u32.pow(power));
    let widths = powers.flat_map(|power| [1, 2, 5].map(|lead| power.saturating_mul(lead)));
    widths.into_iter().find(|width| f64::from(*width) >= least).unwrap_or(u32::MAX)
}

/// The number of points for each nine: from 90 % to 99 %, from there to 99.9 %, and so on.
const POINTS: u32 = 20;

/// The number of nines at the end of the curve.
const NINES: u32 = 4;

/// Common percentiles that are not at the nines.
const NAMED: [f64; 4] = [25.0, 50.0, 75.0, 95.0];

/// Returns elapsed times from 0 % to 99.99 %, each as (percent, ms), in ascending order: at equal steps of log
/// 1 / (1 − p), as in HdrHistogram's plots, and at the usual percentiles. Empty if nothing was counted.
pub(crate) fn percentile_curve(elapsed: &Histogram) -> Vec<(f64, f64)> {
    let percents = percents();
    let times = elapsed.percentiles(&percents);
    percents.into_iter().zip(times).filter_map(|(percent, ms)| Some((percent, ms?))).collect()
}

/// Returns the percentiles of the curve, in ascending order.
fn percents() -> Vec<f64> {
    let step = |step: u32| 100.0 - 100.0 * 10f64.powf(-f64::from(step) / f64::from(POINTS));
    // Four decimals, so that a nine is exactly as people write it.
    let tidy = |percent: f64| (percent * 1e4).round() / 1e4;
    let steps = (0..=NINES * POINTS).map(step).map(tidy);
    let mut percents: Vec<f64> = steps.chain(NAMED).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    percents
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[i32]) -> Distribution {
        Distribution::new(&values.iter().copied().collect())
    }

    proptest! {
        #[test]
        fn each_time_is_in_its_bin_or_beyond_all(
            values in prop::collection::vec(prop_oneof![0..400i32, 0..100_000i32, any::<i32>()], 1..200),
        ) {
            let found = of(&values);
            let (width, bins) = (i64::from(found.width), found.counts.len() as i64);
            prop_assert!((1..=61).contains(&bins), "{} bins", bins);
            prop_assert_eq!(found.first.rem_euclid(width), 0);
            let within = |ms: i32, low: i64| (low..low + width).contains(&i64::from(ms));
            for (at, count) in (0..).zip(&found.counts) {
                let low = found.first + at * width;
                prop_assert_eq!(values.iter().filter(|ms| within(**ms, low)).count() as u64, *count);
            }
            let end = found.first + bins * width;
            prop_assert_eq!(values.iter().filter(|ms| i64::from(**ms) >= end).count() as u64, found.beyond);
            prop_assert!(found.beyond as f64 <= 0.01 * values.len() as f64, "{} beyond", found.beyond);
            prop_assert_eq!(found.max, values.iter().copied().max());
        }
    }

    #[test]
    fn one_slow_request_does_not_hide_the_others() {
        let mut values: Vec<i32> = (0..1000).map(|at| 20 + at % 40).collect();
        values.push(60_000);
        let found = of(&values);
        assert_eq!((found.width, found.first, found.counts.len()), (1, 20, 40));
        assert_eq!((found.beyond, found.max), (1, Some(60_000)));
        // A few that are not far away are shown in their place.
        values.pop();
        values.push(80);
        assert_eq!((of(&values).counts.len(), of(&values).beyond), (61, 0));
    }

    #[test]
    fn distribution_of_nothing_is_empty() {
        assert_eq!(of(&[]), Distribution::default());
        assert_eq!((of(&[7, 7]).counts, of(&[7]).width), (vec![2], 1));
    }

    #[test]
    fn nines_are_on_the_curve_and_it_never_falls() {
        let percents = percents();
        for nine in [0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
            assert!(percents.contains(&nine), "{nine}: {percents:?}");
        }
        assert!(percents.is_sorted());
        let elapsed: Histogram = [3, 900, 12, 12, 70_000].into_iter().collect();
        let curve = percentile_curve(&elapsed);
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
        assert_eq!(percentile_curve(&Histogram::new()), []);
        let even = percentile_curve(&(0..=10_000).collect());
        assert!(even.contains(&(50.0, 5000.0)) && even.contains(&(99.9, 9990.0)));
        assert_eq!(even.last(), Some(&(99.99, 9999.0)));
    }
}
