//! Statistics of counts: exact histograms, percentiles, and Student's t.

pub(crate) mod change_points;
pub(crate) mod distribution;
pub(crate) mod histogram;
pub(crate) mod maybe;
pub(crate) mod percentile;
pub(crate) mod stretch;
pub(crate) mod student;

/// Returns the mean of some values; 0 without any.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the sum of the squares of the distances from the mean.
pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
