//! The difference of two figures: its confidence interval and its p-value, and the correction for many comparisons at
//! once.

use super::figure::{PartFigure, SumNoise};
use crate::stats::student;

/// The share of intervals that miss the true difference, and of false alarms.
pub(crate) const MISSED: f64 = 0.01;
/// A number of standard deviations that chance never reaches.
const BEYOND_CHANCE: f64 = 1e5;
/// Differences below this share of the figures are rounding errors.
const ROUNDING: f64 = 1e-9;

/// An estimated difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EstimatedDifference {
    /// The 99 % confidence interval.
    pub(super) interval: (f64, f64),
    /// The 99 % confidence interval of the change in percent; `None` if the baseline may be 0.
    pub(super) percent: Option<(f64, f64)>,
    /// The p-value: the probability of so large a difference by chance alone.
    pub(super) p: f64,
}

/// One side of a difference: a value, and its limits at a number of standard deviations.
pub(super) trait DifferenceSide {
    fn value(&self) -> f64;
    fn limits(&self, deviations: f64) -> (f64, f64);
    /// The degrees of freedom of the noise estimate.
    fn degrees(&self) -> f64;
}

/// A figure of one run, with the noise of its seconds.
pub(super) struct OfSeconds<'a> {
    pub(super) figure: &'a PartFigure,
    pub(super) noise: SumNoise,
}

impl DifferenceSide for OfSeconds<'_> {
    fn value(&self) -> f64 {
        self.figure.value.unwrap_or(f64::NAN)
    }

    fn limits(&self, deviations: f64) -> (f64, f64) {
        self.figure.limits(self.noise, deviations)
    }

    fn degrees(&self) -> f64 {
        self.noise.degrees
    }
}

/// A mean with its standard error and the degrees of freedom of that error.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfMean {
    pub(super) mean: f64,
    pub(super) error: f64,
    pub(super) degrees: f64,
}

impl DifferenceSide for OfMean {
    fn value(&self) -> f64 {
        self.mean
    }

    fn limits(&self, deviations: f64) -> (f64, f64) {
        let reach = deviations * self.error;
        (self.mean - reach, self.mean + reach)
    }

    fn degrees(&self) -> f64 {
        self.degrees
    }
}

/// Estimates the difference b − a; `None` if either figure has too few data for finite limits.
pub(super) fn difference(a: &dyn DifferenceSide, b: &dyn DifferenceSide) -> Option<EstimatedDifference> {
    difference_with(a, b, degrees_of_both(a, b))
}

/// Estimates the difference b − a, given the degrees of freedom of both noises combined.
pub(super) fn difference_with(
    a: &dyn DifferenceSide,
    b: &dyn DifferenceSide,
    degrees: f64,
) -> Option<EstimatedDifference> {
    let deviations = student::distance(MISSED, degrees);
    let interval = interval(a, b, deviations);
    if !interval.0.is_finite() || !interval.1.is_finite() {
        return None;
    }
    let percent = percent_at(a, b, degrees, MISSED).filter(|(_, high)| high.is_finite());
    Some(EstimatedDifference { interval, percent, p: likelihood(a, b, degrees) })
}

/// Estimates the change in percent between limits that a share `level` of intervals misses. The upper one is infinite where
/// there is none. A smaller share never has a narrower interval.
pub(super) fn percent_at(
    a: &dyn DifferenceSide,
    b: &dyn DifferenceSide,
    degrees: f64,
    level: f64,
) -> Option<(f64, f64)> {
    let of_ratio = ratio(a, b, student::distance(level, degrees));
    of_ratio.map(|(low, high)| ((low - 1.0) * 100.0, (high - 1.0) * 100.0))
}

/// Combines the limits of both figures into an interval of their ratio b ÷ a: the ratios r at which the interval of
/// b − r·a contains zero (Fieller, "Some problems in interval estimation", 1954; with asymmetrical limits Donner and Zou,
/// "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012). It contains 1 just
/// where the interval of the difference contains zero. Its upper limit is infinite if the limits of `a` reach zero, or `b`
/// has no upper limit. `None` if no side has a ratio.
fn ratio(a: &dyn DifferenceSide, b: &dyn DifferenceSide, deviations: f64) -> Option<(f64, f64)> {
    let (of_a, of_b) = (a.limits(deviations), b.limits(deviations));
    let (a, b) = (a.value(), b.value());
    if a <= 0.0 || b < 0.0 {
        return None;
    }
    let squares = |end_of_a: f64, end_of_b: f64| ((end_of_a - a).powi(2), (end_of_b - b).powi(2));
    let root = |(of_a, of_b): (f64, f64)| (a * a * of_b + b * b * of_a - of_a * of_b).max(0.0).sqrt();
    let (down, up) = (squares(of_a.1, of_b.0), squares(of_a.0, of_b.1));
    // An infinite limit would leave nothing but ∞ − ∞ of the root.
    let has_low = of_a.1.is_finite() && of_b.0.is_finite();
    let low = if has_low { ((b * b - down.1) / (a * b + root(down))).max(0.0) } else { 0.0 };
    let has_high = of_a.0 > 0.0 && of_b.1.is_finite();
    let high = if has_high { (a * b + root(up)) / (a * a - up.0) } else { f64::INFINITY };
    Some((low, high))
}

/// Combines the limits of both figures into an interval of their difference (Zou and Donner, "Construction of
/// confidence limits about effect measures", 2008). It is exact for symmetrical limits, and right for asymmetrical
/// ones.
fn interval(a: &dyn DifferenceSide, b: &dyn DifferenceSide, deviations: f64) -> (f64, f64) {
    let (of_a, of_b) = (a.limits(deviations), b.limits(deviations));
    let difference = b.value() - a.value();
    let down = f64::hypot(b.value() - of_b.0, of_a.1 - a.value());
    let up = f64::hypot(of_b.1 - b.value(), a.value() - of_a.0);
    (difference - down, difference + up)
}

/// Returns the degrees of freedom of both noises combined (Welch 1947, Satterthwaite 1946).
pub(super) fn degrees_of_both(a: &dyn DifferenceSide, b: &dyn DifferenceSide) -> f64 {
    let square = |side: &dyn DifferenceSide| {
        let (low, high) = side.limits(2.0);
        ((high - low) / 4.0).powi(2)
    };
    let (of_a, of_b) = (square(a), square(b));
    let degrees = (of_a + of_b).powi(2) / (of_a * of_a / a.degrees() + of_b * of_b / b.degrees());
    if degrees.is_finite() { degrees } else { a.degrees().min(b.degrees()) }
}

/// Computes the p-value: the level at which the interval just reaches zero.
pub(super) fn likelihood(a: &dyn DifferenceSide, b: &dyn DifferenceSide, degrees: f64) -> f64 {
    let size = a.value().abs().max(b.value().abs());
    if (b.value() - a.value()).abs() <= ROUNDING * size {
        return 1.0;
    }
    let holds_zero = |deviations: f64| {
        let (low, high) = interval(a, b, deviations);
        low <= 0.0 && high >= 0.0
    };
    let (mut low, mut high) = (0.0, BEYOND_CHANCE);
    for _ in 0..80 {
        let middle = if low > 0.01 { f64::sqrt(low * high) } else { f64::min(high / 2.0, 1.0 + low) };
        if holds_zero(middle) { high = middle } else { low = middle }
    }
    student::beyond(low, degrees)
}

/// A p-value of a family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Member {
    /// The p-value, adjusted for the family.
    pub(crate) adjusted: f64,
    /// The p-value must be below this for its figure to be called changed.
    pub(crate) level: f64,
}

impl Member {
    /// Returns the level of an interval that excludes zero just where the figure is called changed. Holm's own level is one, but
    /// for a figure whose p-value is below it, and which isn't called since one with a smaller p-value is not.
    pub(super) fn joint_level(self, p: f64) -> f64 {
        if self.adjusted < MISSED { self.level } else { self.level.min(MISSED * p / self.adjusted) }
    }
}

/// Adjusts p-values (Holm, "A simple sequentially rejective multiple test procedure", 1979). If values below a level
/// are called changes, the share of families with any false call is at most that level.
pub(crate) fn adjusted(likelihoods: &[f64]) -> Vec<Member> {
    let mut ascending: Vec<(usize, f64)> = likelihoods.iter().copied().enumerate().collect();
    ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut largest = 0.0;
    let mut adjusted: Vec<(usize, Member)> = (0..)
        .zip(ascending)
        .map(|(before, (place, p))| {
            let left = (likelihoods.len() - before) as f64;
            largest = f64::max(largest, left * p).min(1.0);
            (place, Member { adjusted: largest, level: MISSED / left })
        })
        .collect();
    adjusted.sort_by_key(|(place, _)| *place);
    adjusted.into_iter().map(|(_, member)| member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_means_are_compared_as_welch_does() {
        let side = |mean, error, degrees| OfMean { mean, error, degrees };
        // t = 2 at 20 degrees of freedom: p = 0.0593; 99 %: 2.845 errors.
        let found = difference(&side(10.0, 3.0, 10.0), &side(20.0, 4.0, 10.0)).unwrap();
        let degrees = 625.0 / (8.1 + 25.6);
        assert!((found.p - student::beyond(2.0, degrees)).abs() < 1e-6, "{found:?}");
        let reach = 5.0 * student::distance(0.01, degrees);
        assert!((found.interval.0 - (10.0 - reach)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn change_in_percent_has_the_limits_of_fieller() {
        let side = |mean, error, degrees| OfMean { mean, error, degrees };
        let (a, b) = (side(100.0, 2.0, 8.0), side(90.0, 3.0, 8.0));
        let found = difference_with(&a, &b, 8.0).unwrap();
        let (low, high) = found.percent.unwrap();
        let t = student::distance(0.01, 8.0);
        for percent in [low, high] {
            let ratio = 1.0 + percent / 100.0;
            let distance = (90.0 - ratio * 100.0).abs() / 3.0_f64.hypot(ratio * 2.0);
            assert!((distance / t - 1.0).abs() < 1e-9, "{percent}");
        }
        assert!(low < -10.0 && high > -10.0, "{low} {high}");
        // Nothing is said of a change from what may be zero, and nothing falls by more than all.
        assert_eq!(difference_with(&side(5.0, 2.0, 8.0), &b, 8.0).unwrap().percent, None);
        let fallen = difference_with(&side(100.0, 1.0, 8.0), &side(1.0, 1.0, 8.0), 8.0).unwrap();
        assert_eq!(fallen.percent.unwrap().0, -100.0);
    }

    /// A side whose limits are not symmetrical, and end: beyond `ends` deviations there are none.
    #[derive(Debug)]
    struct Skewed {
        value: f64,
        errors: (f64, f64),
        ends: (f64, f64),
    }

    impl DifferenceSide for Skewed {
        fn value(&self) -> f64 {
            self.value
        }

        fn limits(&self, deviations: f64) -> (f64, f64) {
            let low = self.value - deviations * self.errors.0;
            let high = self.value + deviations * self.errors.1;
            (
                if deviations > self.ends.0 { f64::NEG_INFINITY } else { low },
                if deviations > self.ends.1 { f64::INFINITY } else { high },
            )
        }

        fn degrees(&self) -> f64 {
            20.0
        }
    }

    #[test]
    fn smaller_level_never_has_a_narrower_interval() {
        let mut chance = fastrand::Rng::with_seed(3);
        let (mut unlimited, mut limited) = (0, 0);
        for round in 0..2000 {
            let mut side = |value: f64| Skewed {
                value,
                errors: (0.1 + 10.0 * chance.f64(), 0.1 + 10.0 * chance.f64()),
                ends: (2.0 + 4.0 * chance.f64(), 2.0 + 4.0 * chance.f64()),
            };
            let (a, b) = (side(50.0), side([50.0, 60.0, 30.0][round % 3]));
            let mut inner = (0.0, 0.0);
            for (at, level) in [0.05, 0.01, 2e-3, 1e-3, 1e-4, 1e-5].into_iter().enumerate() {
                let (low, high) = percent_at(&a, &b, 20.0, level).unwrap();
                assert!(low >= -100.0 && low <= high, "{a:?}, {b:?}: {low} {high}");
                assert!(
                    at == 0 || (low <= inner.0 && high >= inner.1),
                    "{a:?}, {b:?}: {inner:?}, {low} {high}"
                );
                let deviations = student::distance(level, 20.0);
                let of_difference = interval(&a, &b, deviations);
                let holds = of_difference.0 <= 0.0 && of_difference.1 >= 0.0;
                assert_eq!(holds, low <= 0.0 && high >= 0.0, "{a:?}, {b:?}: {of_difference:?}, {low} {high}");
                if high.is_finite() {
                    limited += 1
                } else {
                    unlimited += 1
                }
                inner = (low, high);
            }
        }
        assert!(limited > 1000 && unlimited > 1000, "{limited} {unlimited}");
    }

    #[test]
    fn values_without_scatter_differ_surely_or_not_at_all() {
        let side = |mean| OfMean { mean, error: 0.0, degrees: 9.0 };
        assert_eq!(difference(&side(10.0), &side(10.0)).unwrap().p, 1.0);
        assert_eq!(difference(&side(0.1 + 0.2), &side(0.3)).unwrap().p, 1.0);
        assert!(difference(&side(10.0), &side(11.0)).unwrap().p < 1e-9);
    }

    #[test]
    fn interval_excludes_zero_just_where_p_is_below_one_percent() {
        for at in 1..400 {
            let b = OfMean { mean: f64::from(at) / 50.0, error: 1.0, degrees: 12.0 };
            let found = difference(&OfMean { mean: 0.0, error: 1.0, degrees: 12.0 }, &b).unwrap();
            assert_eq!(found.interval.0 > 0.0, found.p < MISSED, "{found:?}");
            let b = OfMean { mean: 50.0 + b.mean, ..b };
            let found = difference(&OfMean { mean: 50.0, error: 1.0, degrees: 12.0 }, &b).unwrap();
            assert_eq!(found.percent.unwrap().0 > 0.0, found.p < MISSED, "{found:?}");
        }
    }

    #[test]
    fn smallest_counts_for_all_and_the_largest_for_itself() {
        let values = |of: &[f64]| -> Vec<f64> { adjusted(of).iter().map(|member| member.adjusted).collect() };
        assert_eq!(values(&[0.5, 0.25, 0.0625]), [0.5, 0.5, 0.1875]);
        assert_eq!(values(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(values(&[]), [0.0; 0]);
        let levels: Vec<f64> = adjusted(&[0.5, 0.25]).iter().map(|member| member.level).collect();
        assert_eq!(levels, [0.01, 0.005]);
    }
}
