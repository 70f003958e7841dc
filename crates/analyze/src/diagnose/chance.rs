//! Tests of chance: how unlikely an observed count is.

/// The surprise (−ln of a probability) from which chance is ruled out: a probability of one in ten million.
pub(super) const SURPRISE: f64 = 16.1;

/// Returns a lower bound of the surprise of a count: −ln of Chernoff's bound on the probability that a Poisson count
/// with mean `expected` is as far away on the same side, `expected − count + count · ln(count / expected)`.
pub(super) fn surprise(count: f64, expected: f64) -> f64 {
    if expected <= 0.0 {
        return if count > 0.0 { f64::INFINITY } else { 0.0 };
    }
    let log = if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    expected - count + log
}

/// Returns the surprise of the difference between two rates: Wilks's log-likelihood ratio of two Poisson counts. Each
/// argument is a count with its exposure (time, or number of requests).
pub(super) fn contrast(one: (f64, f64), other: (f64, f64)) -> f64 {
    let all = one.1 + other.1;
    if all <= 0.0 {
        return 0.0;
    }
    let of = |(count, size): (f64, f64)| {
        let expected = (one.0 + other.0) * size / all;
        if count > 0.0 { count * (count / expected).ln() } else { 0.0 }
    };
    of(one) + of(other)
}

/// Returns the 99 % confidence interval of a share, seen `count` times in `all`: Wilson's score interval.
pub(super) fn share(count: f64, all: f64) -> (f64, f64) {
    /// The standard normal distribution exceeds this with a probability of half a percent.
    const Z: f64 = 2.576;
    let (seen, more) = (count / all, Z * Z / all);
    let width = Z * (seen * (1.0 - seen) / all + more / all / 4.0).sqrt();
    let of = |side: f64| ((seen + more / 2.0 + side * width) / (1.0 + more)).clamp(0.0, 1.0);
    (of(-1.0), of(1.0))
}

/// Returns the dispersion of counts: the ratio of their variance to that of Poisson counts, from the median distance;
/// at least 1.
///
/// `counts` are pairs of a count and its expected value.
pub(super) fn dispersion(counts: &[(f64, f64)]) -> f64 {
    let distances: Vec<f64> = counts
        .iter()
        .filter(|(_, expected)| *expected > 0.0)
        .map(|(count, expected)| (count - expected).abs() / expected.sqrt())
        .collect();
    crate::stats::median::upper_median(&distances)
        .map_or(1.0, |distance| (1.4826 * distance).powi(2).max(1.0))
}

/// Returns the ratio of the variance of counts to their mean, which is about 1 for Poisson counts; 1 without any.
pub(super) fn variance_ratio(counts: &[f64]) -> f64 {
    let number = counts.len().max(1) as f64;
    let mean = counts.iter().sum::<f64>() / number;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / number;
    if mean > 0.0 { variance / mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of a Poisson count of at most `count`, summed up.
    fn at_most(count: u32, expected: f64) -> f64 {
        let mut term = (-expected).exp();
        let mut sum = term;
        for k in 1..=count {
            term *= expected / f64::from(k);
            sum += term;
        }
        sum
    }

    #[test]
    fn bound_is_one() {
        for expected in [1.0, 5.0, 16.0, 40.0, 200.0] {
            for count in (0..expected as u32).step_by(3) {
                let bound = (-surprise(count.into(), expected)).exp();
                assert!(at_most(count, expected) <= bound * (1.0 + 1e-9), "{count} of {expected}");
            }
        }
        assert!(surprise(0.0, 16.2) > SURPRISE && surprise(0.0, 16.0) < SURPRISE);
        assert_eq!(surprise(7.0, 7.0), 0.0);
        assert_eq!((surprise(0.0, 0.0), surprise(1.0, 0.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn equal_rates_are_no_surprise_and_others_are() {
        assert!(contrast((10.0, 100.0), (20.0, 200.0)).abs() < 1e-9);
        assert_eq!(contrast((0.0, 0.0), (0.0, 0.0)), 0.0);
        let distinct = contrast((0.0, 100.0), (30.0, 100.0));
        assert!((distinct - 30.0 * 2f64.ln()).abs() < 1e-9, "{distinct}");
    }

    #[test]
    fn share_lies_within_its_interval() {
        // Wilson's 99 % interval of 3 in 60, computed by hand.
        let (low, high) = share(3.0, 60.0);
        assert!((low - 0.0127).abs() < 1e-3 && (high - 0.1770).abs() < 1e-3, "{low} {high}");
        assert_eq!(share(0.0, 50.0).0, 0.0);
    }

    #[test]
    fn equal_counts_are_no_less_than_chance() {
        assert_eq!(dispersion(&[(5.0, 5.0); 9]), 1.0);
        assert!(dispersion(&[(0.0, 100.0), (200.0, 100.0), (0.0, 100.0)]) > 50.0);
    }
}
