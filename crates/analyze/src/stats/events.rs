//! Few events: what their number says of how many there would be in other runs.

use super::percentile::fraction;

/// The number of deviations of a 99 % interval.
const OF_99_PERCENT: f64 = 2.5758;

/// Returns the smaller of a share and its complement.
pub(crate) fn tail(share: f64) -> f64 {
    share.min(1.0 - share)
}

/// Returns the limits of the mean of a count, given one observed count whose variance is `dispersion` times its mean.
///
/// Exact limits of a Poisson count by Wilson and Hilferty ("The distribution of chi-square", 1931), which are right for
/// small and large counts.
pub(crate) fn count_limits(count: f64, dispersion: f64, deviations: f64) -> (f64, f64) {
    let cube = |count: f64, deviations: f64| {
        let root = 1.0 - 1.0 / (9.0 * count) + deviations / (3.0 * count.sqrt());
        count * root.max(0.0).powi(3)
    };
    let seen = count / dispersion;
    let low = if seen > 0.0 { cube(seen, -deviations) } else { 0.0 };
    (dispersion * low.min(seen), dispersion * cube(seen + 1.0, deviations).max(seen))
}

/// Returns the number of values beyond a percentile, given in percent, if they are so few, fewer than five, that none of
/// the values is the limit of its 99 % interval. A comparison calls such a percentile unknown. The least and the greatest
/// value are what they are.
pub(crate) fn few_beyond(percent: f64, values: u64) -> Option<f64> {
    let beyond = tail(fraction(percent)) * values as f64;
    (beyond > 0.0 && count_limits(beyond, 1.0, OF_99_PERCENT).0 < 1.0).then_some(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_counts_are_the_exact_ones() {
        // 99 %, from the tables of Garwood ("Fiducial limits for the Poisson distribution", 1936).
        for (count, low, high) in
            [(0.0, 0.0, 5.30), (1.0, 0.00501, 7.43), (5.0, 1.08, 14.15), (20.0, 10.35, 34.67)]
        {
            let found = count_limits(count, 1.0, OF_99_PERCENT);
            assert!((found.0 - low).abs() < 0.05 && (found.1 - high).abs() < 0.1, "{count}: {found:?}");
        }
        let (low, high) = count_limits(400.0, 4.0, 2.0);
        assert!((low - 322.0).abs() < 3.0 && (high - 486.0).abs() < 4.0, "{low} {high}");
    }

    #[test]
    fn percentile_is_known_with_five_values_beyond_it() {
        assert!(few_beyond(99.0, 400).is_some_and(|beyond| (beyond - 4.0).abs() < 1e-9));
        assert_eq!((few_beyond(99.0, 500), few_beyond(1.0, 500), few_beyond(50.0, 10)), (None, None, None));
        assert!(few_beyond(50.0, 8).is_some() && few_beyond(99.9, 4000).is_some());
        assert_eq!((few_beyond(100.0, 1), few_beyond(0.0, 1), few_beyond(99.0, 0)), (None, None, None));
    }
}
