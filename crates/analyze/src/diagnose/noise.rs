//! The noise of a series whose values depend on those before them, white noise and a first-order autoregression, and tests
//! of chance: how unlikely an observed count is.
//!
//! A model of the series has columns, such as the levels between changes, and noise. Both are fitted jointly, by maximum
//! likelihood: what the columns leave over is whitened by the Kalman filter of the noise (Harvey, "Forecasting, Structural
//! Time Series Models and the Kalman Filter", 1989). So a slow wander that levels explain well can be explained as well by
//! noise that forgets slowly, and the gain in likelihood shows which of both explains it better.

/// The numbers of values in which the autoregression may forget.
const TIMES: [f64; 7] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];
/// The shares of the variance that the autoregression may have.
const SHARES: [f64; 7] = [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// The noise of a series around its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeriesNoise {
    /// The logarithm of the likelihood of the series, less a constant that depends on its length.
    pub(super) likelihood: f64,
    /// The same, if the noise is white.
    white: f64,
    variance: f64,
    kind: Autoregression,
}

/// The autoregression: its share of the variance, and its correlation from value to value.
#[derive(Debug, Clone, Copy)]
struct Autoregression {
    share: f64,
    correlation: f64,
}

impl SeriesNoise {
    /// Fits the noise of a series around the best multiples of some columns, each as long as the series.
    pub(super) fn around(series: &[f64], columns: &[Vec<f64>]) -> Self {
        let white = Autoregression { share: 0.0, correlation: 0.0 };
        let others = TIMES.into_iter().flat_map(|time| {
            SHARES.into_iter().map(move |share| Autoregression { share, correlation: (-1.0 / time).exp() })
        });
        let fits = std::iter::once(white).chain(others).map(|kind| Self::of_kind(series, columns, kind));
        let best = fits.reduce(|best, fit| {
            if fit.likelihood > best.likelihood { Self { white: best.white, ..fit } } else { best }
        });
        best.unwrap_or(Self { likelihood: 0.0, white: 0.0, variance: 0.0, kind: white })
    }

    fn of_kind(series: &[f64], columns: &[Vec<f64>], kind: Autoregression) -> Self {
        let filter = kind.filter(series.len());
        let mut left = kind.whitened(series, &filter);
        let mut others: Vec<Vec<f64>> = columns.iter().map(|column| kind.whitened(column, &filter)).collect();
        // Gram and Schmidt: each column explains what those before it leave over.
        while let Some(column) = others.pop() {
            let size = product(&column, &column);
            if size > 0.0 {
                subtract(&mut left, &column, size);
                others.iter_mut().for_each(|other| subtract(other, &column, size));
            }
        }
        let length = series.len() as f64;
        let variance = product(&left, &left) / length;
        let scales: f64 = filter.iter().map(|(scale, _)| scale.ln()).sum();
        // Without any noise left, the series is explained entirely.
        let likelihood = -0.5 * (length * variance.max(f64::MIN_POSITIVE).ln() + scales);
        Self { likelihood, white: likelihood, variance, kind }
    }

    /// Returns true if the series wanders around its columns: this explains more than white noise by at least such a gain in
    /// the logarithm of the likelihood.
    pub(super) fn wanders_by(&self, gain: f64) -> bool {
        self.likelihood - self.white >= gain
    }

    /// Returns the standard deviation of one value that has the variance of a mean of so many, times their number.
    pub(super) fn of_mean(&self, number: usize) -> f64 {
        let Autoregression { share, correlation } = self.kind;
        let lag = |lag: usize| (1.0 - lag as f64 / number as f64) * correlation.powf(lag as f64);
        let together: f64 = (1..number).map(lag).sum();
        (self.variance * (1.0 + 2.0 * share * together)).sqrt()
    }
}

impl Autoregression {
    /// Returns of each value the variance of its prediction from those before it, and the gain of the filter. The variance
    /// of a value is 1.
    fn filter(self, length: usize) -> Vec<(f64, f64)> {
        let squared = self.correlation * self.correlation;
        let mut state = self.share;
        let next = |_| {
            let scale = state + 1.0 - self.share;
            let gain = self.correlation * state / scale;
            state = squared * state * (1.0 - state / scale) + self.share * (1.0 - squared);
            (scale, gain)
        };
        (0..length).map(next).collect()
    }

    /// Returns the errors of the predictions, in standard deviations.
    fn whitened(self, values: &[f64], filter: &[(f64, f64)]) -> Vec<f64> {
        let mut state = 0.0;
        let next = |(value, (scale, gain)): (&f64, &(f64, f64))| {
            let error = value - state;
            state = self.correlation * state + gain * error;
            error / scale.sqrt()
        };
        values.iter().zip(filter).map(next).collect()
    }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Subtracts from values what a column explains of them, given its squared length.
fn subtract(values: &mut [f64], column: &[f64], size: f64) {
    let share = product(values, column) / size;
    values.iter_mut().zip(column).for_each(|(value, of)| *value -= share * of);
}

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
pub(super) fn share_interval(count: f64, all: f64) -> (f64, f64) {
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
    crate::stats::percentile::upper_median(&distances)
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
        let (low, high) = share_interval(3.0, 60.0);
        assert!((low - 0.0127).abs() < 1e-3 && (high - 0.1770).abs() < 1e-3, "{low} {high}");
        assert_eq!(share_interval(0.0, 50.0).0, 0.0);
    }

    #[test]
    fn equal_counts_are_no_less_than_chance() {
        assert_eq!(dispersion(&[(5.0, 5.0); 9]), 1.0);
        assert!(dispersion(&[(0.0, 100.0), (200.0, 100.0), (0.0, 100.0)]) > 50.0);
    }
}
