//! The noise of a series whose values depend on those before them: white noise, and a first-order autoregression.
//!
//! A model of the series has columns, such as the levels between changes, and noise. Both are fitted together, by maximum
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
