//! Two sides compared by the scatter of their repeats, and what so many repeats can show.

use super::difference::{EstimatedDifference, MISSED, OfMean, degrees_of_both, difference_with, percent_at};
use super::power::Design;
use crate::stats::student;

/// The difference that a number of repeats is planned for, as a share of the baseline.
const PLANNED: f64 = 0.05;

/// A figure of a side's repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeats {
    count: f64,
    mean: f64,
    /// The sum of the squared differences from the mean.
    squares: f64,
    /// The variance that a repeat has at least.
    least: f64,
}

/// What the comparison of repeats found, and the noise that it rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfRepeats {
    pub(super) difference: EstimatedDifference,
    /// True if the repeats scatter less than the least they should.
    pub(super) by_least: bool,
    /// The baseline's mean.
    baseline: f64,
    /// The standard error of the difference, and its degrees of freedom.
    error: f64,
    degrees: f64,
    /// The variance of a repeat, of both sides combined, or of the difference within a pair.
    variance: f64,
    /// What is repeated.
    design: Design,
    /// The means of both sides.
    means: RepeatMeans,
}

/// What the repeats of a figure could have shown.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Power {
    /// The least change that these repeats could have shown, in percent of the baseline.
    pub least_percent: f64,
    /// The number of repeats of each side, or of pairs, of which a change of 5 % is shown in four of five comparisons (a
    /// power of 80 %), if they scatter as these do; `None` if it is above 1,000.
    pub repeats_for_five_percent: Option<u32>,
    /// What is repeated.
    pub design: Design,
}

impl Repeats {
    /// Describes values, given the variance that each has at least; `None` without values.
    pub(super) fn of(values: &[f64], least: f64) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        (!values.is_empty()).then_some(Self { count, mean, squares, least })
    }

    /// Returns the variance that a repeat has at least.
    pub(super) fn least(self) -> f64 {
        self.least
    }

    fn with(self, variance: f64, degrees: f64) -> OfMean {
        OfMean { mean: self.mean, error: (variance / self.count).sqrt(), degrees }
    }

    /// Returns the mean with the side's own variance; `None` for a single repeat.
    fn alone(self) -> Option<OfMean> {
        let degrees = self.count - 1.0;
        (degrees > 0.0).then(|| self.with((self.squares / degrees).max(self.least), degrees))
    }

    /// Compares with another side; `None` for two single repeats.
    ///
    /// The variance is pooled (Student's t): with equal numbers of repeats that is right even if one side scatters more,
    /// nearly so. With unequal numbers it is not, and the wider of Student's and Welch's intervals counts. A single repeat
    /// is assumed to scatter as those of the other side do.
    pub(super) fn compared(self, other: Self) -> Option<OfRepeats> {
        self.means(other).and_then(RepeatMeans::compared)
    }

    /// Returns the means of both sides with the noise that [`Repeats::compared`] takes; `None` for two single repeats.
    pub(super) fn means(self, other: Self) -> Option<RepeatMeans> {
        let degrees = self.count + other.count - 2.0;
        let pooled = (self.squares + other.squares) / degrees;
        let least = (self.least * self.count + other.least * other.count) / (self.count + other.count);
        if degrees <= 0.0 {
            return None;
        }
        let variance = pooled.max(least);
        let with = |(a, b): (OfMean, OfMean), degrees| RepeatMeans {
            a,
            b,
            degrees,
            by_least: least > pooled,
            variance,
        };
        let student = with((self.with(variance, degrees), other.with(variance, degrees)), degrees);
        if self.count == other.count {
            return Some(student);
        }
        let own = self.alone().zip(other.alone());
        let welch = own.map(|(a, b)| with((a, b), degrees_of_both(&a, &b)));
        Some(welch.filter(|welch| welch.reach(MISSED) > student.reach(MISSED)).unwrap_or(student))
    }
}

/// The means of two sides of repeats, with their noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepeatMeans {
    pub(super) a: OfMean,
    pub(super) b: OfMean,
    /// The degrees of freedom of both noises combined.
    pub(super) degrees: f64,
    /// True if the repeats scatter less than the least they should.
    pub(super) by_least: bool,
    /// The variance of a repeat, of both sides combined.
    pub(super) variance: f64,
}

impl RepeatMeans {
    fn error(&self) -> f64 {
        self.a.error.hypot(self.b.error)
    }

    fn reach(&self, level: f64) -> f64 {
        student::distance(level, self.degrees) * self.error()
    }

    fn compared(self) -> Option<OfRepeats> {
        Some(OfRepeats::new(Design::Repeats, difference_with(&self.a, &self.b, self.degrees)?, self))
    }
}

impl OfRepeats {
    pub(super) fn new(design: Design, difference: EstimatedDifference, means: RepeatMeans) -> Self {
        let RepeatMeans { a, degrees, by_least, variance, .. } = means;
        Self {
            difference,
            by_least,
            baseline: a.mean,
            error: means.error(),
            degrees,
            variance,
            design,
            means,
        }
    }

    /// Returns the least difference that is called at a level.
    fn reach(&self, level: f64) -> f64 {
        student::distance(level, self.degrees) * self.error
    }

    /// Returns the interval of the change in percent that a share `level` of intervals misses.
    pub(super) fn percent(&self, level: f64) -> Option<(f64, f64)> {
        let RepeatMeans { a, b, degrees, .. } = &self.means;
        percent_at(a, b, *degrees, level)
    }

    /// Returns what these repeats could have shown at a level, and how many are needed at the first level of the family;
    /// `None` if the baseline's mean is not above 0.
    pub(super) fn power(&self, level: f64, first: f64) -> Option<Power> {
        let least_percent = self.reach(level) / self.baseline * 100.0;
        let (deviation, design) = (self.variance.sqrt(), self.design);
        let repeats_for_five_percent = design.needed(deviation, PLANNED * self.baseline, first);
        (self.baseline > 0.0).then_some(Power { least_percent, repeats_for_five_percent, design })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(a: &[f64], b: &[f64]) -> OfRepeats {
        Repeats::of(a, 0.0).unwrap().compared(Repeats::of(b, 0.0).unwrap()).unwrap()
    }

    #[test]
    fn equal_numbers_are_pooled_and_unequal_ones_take_the_wider_interval() {
        // Variances of 1 and 4: pooled 2.5 with 4 degrees of freedom, whose distance is 4.604.
        let found = compared(&[99.0, 100.0, 101.0], &[92.0, 90.0, 88.0]).difference.interval;
        let reach = 4.604 * (2.5_f64 * 2.0 / 3.0).sqrt();
        assert!((found.0 + 10.0 + reach).abs() < 0.01 && (found.1 + 10.0 - reach).abs() < 0.01, "{found:?}");
        let calm = [100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.0, 100.0, 100.0, 100.0];
        // Pooled, two wild repeats would seem as calm as the ten others; by Welch, two calm ones would be all that counts.
        let (wild, still) = (compared(&calm, &[80.0, 100.0]), compared(&calm, &[90.0, 90.1]));
        assert!(wild.degrees < 1.1 && wild.difference.p > 0.05, "{wild:?}");
        assert!((still.degrees - 10.0).abs() < 1e-9 && still.difference.p < 0.01, "{still:?}");
    }

    #[test]
    fn single_repeat_scatters_as_the_others_and_two_say_nothing() {
        let found = compared(&[99.0, 100.0, 101.0], &[80.0]);
        // 9.925 at two degrees of freedom.
        let reach = 9.925 * (1.0_f64 + 1.0 / 3.0).sqrt();
        assert!((found.difference.interval.1 + 20.0 - reach).abs() < 0.01, "{found:?}");
        let [one, other] = [1.0, 2.0].map(|value| Repeats::of(&[value], 0.0).unwrap());
        assert!(one.compared(other).is_none());
    }

    #[test]
    fn scatter_is_at_least_the_least() {
        let side = |mean: f64| Repeats::of(&[mean, mean, mean], 4.0).unwrap();
        let found = side(100.0).compared(side(101.0)).unwrap();
        assert!(found.by_least && found.difference.p > 0.1, "{found:?}");
    }

    #[test]
    fn power_is_that_of_the_noncentral_t() {
        // Simulated: 5 standard deviations are shown by 3 and 3 repeats in 83 % and by 2 and 2 in 22 % of comparisons, 3
        // by 5 and 5 in 86 %, by 4 and 4 in 69 %.
        for (deviations, repeats) in [(5.0, 3), (3.0, 5), (2.0, 8), (1.0, 26)] {
            assert_eq!(Design::Repeats.needed(1.0, deviations, 0.01), Some(repeats));
        }
        let found = compared(&[99.0, 100.0, 101.0], &[99.0, 100.0, 101.0]).power(0.01, 0.01).unwrap();
        assert_eq!(found.repeats_for_five_percent, Some(3));
        assert!((found.least_percent - 4.604 * (2.0_f64 / 3.0).sqrt()).abs() < 0.001, "{found:?}");
        let wild = compared(&[1.0, 100.0, 200.0], &[1.0, 100.0, 200.0]).power(0.01, 0.01).unwrap();
        assert_eq!(wild.repeats_for_five_percent, None);
    }
}
