//! The scatter of a series of seconds: its slow and fast parts, and its autocorrelations.

use std::f64::consts::PI;

/// The largest lag of a correlation.
const MOST_LAGS: usize = 512;

/// The scatter of one figure over consecutive seconds of one phase.
///
/// The series holds each second's contribution to the figure's error: its sum is the error of the figure.
#[derive(Debug, Clone, Default)]
pub(super) struct Scatter {
    /// The number of values in the series.
    pub(super) values: usize,
    /// The variance of one value.
    of_one: f64,
    /// The squared cosine coefficients of the series for 1, 2, … half waves. Where the spectrum is flat, the expected
    /// value of each is the variance of the sum ÷ the number of values.
    pub(super) powers: Vec<f64>,
    /// Autocorrelations from lag 1.
    pub(super) correlations: Vec<f64>,
    /// True if the load is level: only then are slow changes a sign of long memory.
    pub(super) is_level: bool,
}

impl Scatter {
    pub(super) fn of(mut series: Vec<f64>, is_level: bool) -> Self {
        let slope = if is_level { 0.0 } else { slope(&series) };
        take_out(&mut series, slope);
        let squares: f64 = series.iter().map(|value| value * value).sum();
        Self {
            values: series.len(),
            of_one: squares / series.len().max(1) as f64,
            powers: powers(&series),
            correlations: correlations(&series),
            is_level,
        }
    }

    /// Returns the number of cosines to use if seconds do not depend on each other: few enough, compared with all, that
    /// a dependence too weak to be seen does little harm (Lazarus, Lewis, Stock and Watson 2018).
    pub(super) fn most_cosines(&self) -> usize {
        self.powers.len()
    }

    /// Returns the variance of the series' sum if all its values varied as one.
    pub(super) fn variance_as_one(&self) -> f64 {
        (self.values as f64).powi(2) * self.of_one
    }

    /// Returns how much of the scatter is in the slowest cosines: the mean square of the series' partial sums, divided
    /// by the variance of one value and the number of values (Nyblom, "Testing for the constancy of parameters over
    /// time", 1989).
    pub(super) fn wander(&self) -> f64 {
        let half_waves = (1..).map(|half_waves: u32| f64::from(half_waves).powi(2));
        let slow: f64 = self.powers.iter().zip(half_waves).map(|(power, squared)| power / squared).sum();
        if self.of_one > 0.0 { slow / (self.of_one * PI * PI) } else { 0.0 }
    }

    /// Estimates the variance of the series' sum from the given number of slowest cosines.
    pub(super) fn variance(&self, cosines: usize) -> f64 {
        let used = cosines.clamp(1, self.powers.len().max(1));
        self.values as f64 * self.powers.iter().take(used).sum::<f64>() / used as f64
    }
}

/// Returns the slope per value of the least-squares line through a series.
fn slope(series: &[f64]) -> f64 {
    let middle = (series.len() as f64 - 1.0) / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (at, value) in series.iter().enumerate() {
        let from_middle = at as f64 - middle;
        product += from_middle * value;
        square += from_middle * from_middle;
    }
    if square > 0.0 { product / square } else { 0.0 }
}

/// Subtracts the mean and a line of the given slope from a series.
fn take_out(series: &mut [f64], slope: f64) {
    let middle = (series.len() as f64 - 1.0) / 2.0;
    let mean = series.iter().sum::<f64>() / series.len().max(1) as f64;
    for (at, value) in series.iter_mut().enumerate() {
        *value -= mean + slope * (at as f64 - middle);
    }
}

/// Returns the squared coefficients of the cosine transform, slowest first, without the constant.
fn powers(series: &[f64]) -> Vec<f64> {
    let values = series.len();
    let most = ((values as f64).powf(2.0 / 3.0) as usize).min(values.saturating_sub(1));
    let power = |half_waves: usize| {
        let step = PI * half_waves as f64 / values as f64;
        let sum: f64 =
            series.iter().enumerate().map(|(at, value)| value * (step * (at as f64 + 0.5)).cos()).sum();
        2.0 * sum * sum / values as f64
    };
    (1..=most).map(power).collect()
}

fn correlations(series: &[f64]) -> Vec<f64> {
    let own: f64 = series.iter().map(|value| value * value).sum();
    let lags = (series.len() / 2).min(MOST_LAGS);
    let at = |lag: usize| {
        let product: f64 = series.iter().zip(series.iter().skip(lag)).map(|(a, b)| a * b).sum();
        if own > 0.0 { product / own } else { 0.0 }
    };
    (1..=lags).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(chance: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| chance.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn all_cosines_together_have_the_variance_of_the_values() {
        let mut chance = fastrand::Rng::with_seed(3);
        let (mut found, mut all) = (0.0, 0.0);
        for _ in 0..200 {
            let series: Vec<f64> = (0..100).map(|_| 3.0 * normal(&mut chance)).collect();
            let scatter = Scatter::of(series, true);
            found += scatter.variance(scatter.most_cosines());
            all += 900.0;
        }
        assert!((found / all - 1.0).abs() < 0.05, "{found} for {all}");
    }

    #[test]
    fn line_is_no_scatter_where_the_load_is_not_level() {
        let line: Vec<f64> = (0..50).map(f64::from).collect();
        assert!(Scatter::of(line.clone(), false).variance(5) < 1e-12);
        assert!(Scatter::of(line, true).variance(5) > 1000.0);
    }

    #[test]
    fn scatter_needs_two_values() {
        for series in [vec![], vec![7.0]] {
            assert_eq!(Scatter::of(series, false).variance(3), 0.0);
        }
    }
}
