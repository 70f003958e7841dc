//! Detection of a step or a linear trend in a series, with a test against chance.
//!
//! The probability that a level series gives so large a CUSUM is that of a Brownian bridge, 2 · exp(−2 x²), where x is
//! the largest sum of distances from the mean in units of √n times the deviation (Ploberger and Krämer, "The CUSUM test
//! with OLS residuals", 1992). That of a line is normal. Since values depend on those before them, the deviation is
//! that of means of many values, computed from the residuals: the largest over batches of several lengths.

use super::chance::SURPRISE;
use crate::stats::median::upper_median;

/// The least number of values in which a change is looked for.
pub(super) const LEAST: usize = 15;
/// The least number of values on either side of a step, and the divisor that makes it a share of all values.
const SIDE: (usize, usize) = (4, 20);
/// The least number of batches whose means show how much means vary.
const BATCHES: usize = 8;

/// A change in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// A step to another level at the index `at`, with the levels before it and from there on.
    Step { at: usize, before: f64, after: f64 },
    /// A linear trend, with its first and its last value.
    Line { first: f64, last: f64 },
}

impl Change {
    /// Returns the value before the change and the value after it.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Self::Step { before, after, .. } => (before, after),
            Self::Line { first, last } => (first, last),
        }
    }
}

/// Finds the change of a series, if chance would make one as large at most once in ten million times.
pub(super) fn find(series: &[f64]) -> Option<Change> {
    let length = series.len() as f64;
    if series.len() < LEAST {
        return None;
    }
    let (step, line) = (step(series)?, line(series));
    let left = |change: Change| residuals(series, change);
    let squares = |left: &[f64]| left.iter().map(|value| value * value).sum::<f64>();
    let (of_step, of_line) = (left(step), left(line));
    // A step has one parameter more, its place, and must fit better by what that explains of chance (Schwarz 1978).
    let better = 1.0 + 2.0 * length.ln() / length;
    let is_line = squares(&of_line) < better * squares(&of_step);
    // Corrects for the fitted parameters: with few values, the variance is uncertain.
    let variance = |left: &[f64]| long_run(left) * length / (length - 4.0);
    let (change, surprised) = if is_line {
        let level = mean(series);
        let explained = series.iter().map(|value| (value - level).powi(2)).sum::<f64>() - squares(&of_line);
        (line, explained / (2.0 * variance(&of_line)))
    } else {
        let largest = sums(series).into_iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
        (step, 2.0 * largest * largest / (variance(&of_step) * length) - 2f64.ln())
    };
    // Without this test, a constant series could pass by a division of zero by zero.
    (change.ends().0 != change.ends().1 && surprised >= SURPRISE).then_some(change)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the partial sums of the distances from the mean.
fn sums(series: &[f64]) -> Vec<f64> {
    let mean = mean(series);
    let add = |sum: &mut f64, value: &f64| {
        *sum += value - mean;
        Some(*sum)
    };
    series.iter().scan(0.0, add).collect()
}

/// Finds the step that explains most of the variance.
fn step(series: &[f64]) -> Option<Change> {
    let length = series.len();
    let side = SIDE.0.max(length / SIDE.1);
    // The variance that a step explains, from sums of distances from the mean: S² · n / (k · (n − k)).
    let explained = |(at, sum): &(usize, f64)| {
        let before = (at + 1) as f64;
        sum * sum / (before * (length as f64 - before))
    };
    let sums = sums(series).into_iter().enumerate();
    let inner = sums.filter(|(at, _)| (side..=length.saturating_sub(side)).contains(&(at + 1)));
    let (at, _) = inner.max_by(|a, b| explained(a).total_cmp(&explained(b)))?;
    let (before, after) = series.split_at_checked(at + 1)?;
    Some(Change::Step { at: at + 1, before: mean(before), after: mean(after) })
}

/// Fits the least-squares line.
fn line(series: &[f64]) -> Change {
    let middle = (series.len() as f64 - 1.0) / 2.0;
    let level = mean(series);
    let (mut together, mut squares) = (0.0, 0.0);
    for (at, value) in series.iter().enumerate() {
        let from = at as f64 - middle;
        together += from * (value - level);
        squares += from * from;
    }
    let slope = if squares > 0.0 { together / squares } else { 0.0 };
    Change::Line { first: level - slope * middle, last: level + slope * middle }
}

/// Returns the residuals of a series after a change is subtracted.
fn residuals(series: &[f64], change: Change) -> Vec<f64> {
    let steps = (series.len().max(2) - 1) as f64;
    let explained = |at: usize| match change {
        Change::Step { at: from, before, after } => {
            if at < from {
                before
            } else {
                after
            }
        }
        Change::Line { first, last } => first + (last - first) * at as f64 / steps,
    };
    series.iter().enumerate().map(|(at, value)| value - explained(at)).collect()
}

/// Returns the long-run variance: the variance of a mean of many such values, times their number. It is the largest of
/// several estimates: from the means of batches, and from the correlation of each value with the next.
pub(super) fn long_run(values: &[f64]) -> f64 {
    let of = |size: usize| {
        let means: Vec<f64> = values.chunks_exact(size).map(mean).collect();
        let squares: f64 = means.iter().map(|mean| mean * mean).sum();
        squares * size as f64 / means.len().max(1) as f64
    };
    let sizes = std::iter::successors(Some(1), |size| Some(size * 2));
    let batches = sizes.take_while(|size| *size == 1 || size * BATCHES <= values.len()).map(of);
    batches.fold(of(1) * longer(values), f64::max)
}

/// Returns the factor by which the variance of means grows due to the correlation of each value with the next, as in a
/// first-order autoregression.
fn longer(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let next: f64 = values.iter().zip(values.iter().skip(1)).map(|(one, next)| one * next).sum();
    let seen = if squares > 0.0 { next / squares } else { 0.0 };
    // The estimated correlation is biased downwards, more so for few values (Kendall 1954).
    let alike = (seen + (1.0 + 4.0 * seen) / values.len() as f64).clamp(0.0, 0.98);
    (1.0 + alike) / (1.0 - alike)
}

/// Returns the standard deviation of values around a level: from the median distance or from the long-run variance,
/// whichever is larger.
pub(super) fn deviation(values: &[f64], level: f64) -> f64 {
    let left: Vec<f64> = values.iter().map(|value| value - level).collect();
    let distances: Vec<f64> = left.iter().map(|value| value.abs()).collect();
    (1.4826 * upper_median(&distances).unwrap_or(0.0)).max(long_run(&left).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(chance: &mut fastrand::Rng) -> f64 {
        (-2.0 * (1.0 - chance.f64()).ln()).sqrt() * (std::f64::consts::TAU * chance.f64()).cos()
    }

    /// A first-order autoregression.
    fn wander(seed: u64, length: usize, correlation: f64) -> Vec<f64> {
        let mut chance = fastrand::Rng::with_seed(seed);
        let mut value = normal(&mut chance);
        let next = |_| {
            let now = value;
            value = correlation * value + (1.0 - correlation * correlation).sqrt() * normal(&mut chance);
            now
        };
        (0..length).map(next).collect()
    }

    #[test]
    fn step_and_a_line_are_told_apart_with_their_ends() {
        for seed in 0..50 {
            let noise = wander(seed, 200, 0.0);
            let step: Vec<f64> =
                (0..).zip(&noise).map(|(at, x)| x + if at < 120 { 0.0 } else { 3.0 }).collect();
            let Some(Change::Step { at, before, after }) = find(&step) else { panic!("{seed}") };
            assert!((117..=123).contains(&at) && before.abs() < 0.5 && (after - 3.0).abs() < 0.5, "{seed}");
            let line: Vec<f64> = (0..).zip(&noise).map(|(at, x)| x + f64::from(at) * 0.03).collect();
            let Some(Change::Line { first, last }) = find(&line) else { panic!("{seed}") };
            assert!(first.abs() < 1.0 && (last - 6.0).abs() < 1.0, "{seed}: {first} to {last}");
        }
    }

    #[test]
    fn chance_is_no_change() {
        for seed in 0..2000 {
            for (length, correlation) in [(LEAST, 0.0), (40, 0.3), (300, 0.0), (300, 0.9)] {
                assert_eq!(find(&wander(seed, length, correlation)), None, "{seed}: {length}, {correlation}");
            }
        }
        assert_eq!(find(&[7.0; 100]), None);
    }
}
