//! The power of experiments: the least difference that so many repeats or pairs show, how many show a given one, and when
//! an experiment may stop.

use super::difference::MISSED;
use crate::stats::student;

/// The power that is planned for, as the distance that a standard normal value stays below so often: 80 %.
const POWER: f64 = 0.8416;
/// The largest number of repeats or pairs that is planned.
const MOST: u32 = 1000;

/// What is repeated in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Design {
    /// Runs of each side, in any order.
    Repeats,
    /// Pairs of a run of each side, compared within each pair.
    Pairs,
}

impl Design {
    /// Returns its name in tables: `repeats` or `pairs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repeats => "repeats",
            Self::Pairs => "pairs",
        }
    }

    /// Returns the standard error of the mean difference of so many, and its degrees of freedom, given the standard deviation
    /// of a repeat, or of the difference within a pair.
    fn error(self, deviation: f64, count: f64) -> (f64, f64) {
        match self {
            Self::Repeats => (deviation * (2.0 / count).sqrt(), 2.0 * count - 2.0),
            Self::Pairs => (deviation / count.sqrt(), count - 1.0),
        }
    }

    /// Returns the least difference that so many show at a level, by an approximation of the noncentral t distribution (Abramowitz and
    /// Stegun, "Handbook of mathematical functions", 1964, 26.7.10).
    pub(super) fn least(self, deviation: f64, count: f64, level: f64) -> f64 {
        let (error, degrees) = self.error(deviation, count);
        let limit = student::distance(level, degrees);
        error
            * (limit * (1.0 - 1.0 / (4.0 * degrees)) + POWER * (1.0 + limit * limit / (2.0 * degrees)).sqrt())
    }

    /// Returns the number that shows a difference at a level; `None` if it is above 1,000.
    pub(super) fn needed(self, deviation: f64, difference: f64, level: f64) -> Option<u32> {
        let numbers: Vec<u32> = (2..=MOST).collect();
        let is_too_few = |count: &u32| self.least(deviation, f64::from(*count), level) > difference;
        numbers.get(numbers.partition_point(is_too_few)).copied()
    }
}

/// Returns the level at each look of an experiment that may stop there, given the ascending numbers of pairs at the looks, the
/// last of which ends it: a change is shown by p-values below the level. Nearly all of the 1 % is left for the last look.
///
/// The levels are the increases of a spending function like O'Brien and Fleming's (Lan and DeMets, "Discrete sequential
/// boundaries for clinical trials", 1983). Since they add up to 1 %, so do the shares of false alarms, however much the looks
/// depend on each other.
///
/// ```
/// let levels = perfpipe_analyze::stopping_levels(&[4, 7, 10]);
/// assert!(levels[0] < 0.0001 && levels[2] > 0.0075);
/// assert!((levels.iter().sum::<f64>() - 0.01).abs() < 1e-12);
/// ```
pub fn stopping_levels(looks: &[u32]) -> Vec<f64> {
    let end = f64::from(looks.last().copied().unwrap_or(1).max(1));
    // Student's t with so many degrees of freedom is the normal distribution.
    const NORMAL: f64 = 1e7;
    let limit = student::distance(MISSED, NORMAL);
    let mut spent = 0.0;
    let level = |look: &u32| {
        let share = (f64::from(*look) / end).clamp(0.0, 1.0);
        let all = if share < 1.0 { student::beyond(limit / share.sqrt(), NORMAL) } else { MISSED };
        let level = f64::max(all - spent, 0.0);
        spent = f64::max(all, spent);
        level
    };
    looks.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::change_points::normal;
    use crate::stats::{mean, sum_of_squares};

    #[test]
    fn needed_repeats_show_the_change_that_is_least_for_them() {
        for design in [Design::Repeats, Design::Pairs] {
            for count in [2, 3, 5, 12, 100] {
                let least = design.least(0.03, f64::from(count), MISSED);
                assert_eq!(design.needed(0.03, least * 1.0001, MISSED), Some(count));
                assert_eq!(design.needed(0.03, least * 0.9999, MISSED), Some(count + 1));
            }
            assert_eq!(design.needed(1.0, 0.001, MISSED), None);
        }
        // The power of compare: 5 standard deviations by 3 and 3 repeats.
        assert_eq!(Design::Repeats.needed(0.01, 0.05, MISSED), Some(3));
    }

    /// Returns true if a t test of so many repeats of sd 1 against as many, which differ by this, is below 1 %.
    fn is_shown(count: u32, difference: f64, chance: &mut fastrand::Rng) -> bool {
        let n = f64::from(count);
        let mut side = |level: f64| -> (f64, f64) {
            let values: Vec<f64> = (0..count).map(|_| level + normal(chance)).collect();
            (mean(&values), sum_of_squares(&values))
        };
        let (a, b) = (side(0.0), side(difference));
        let error = ((a.1 + b.1) / (2.0 * n - 2.0) * 2.0 / n).sqrt();
        ((b.0 - a.0) / error).abs() > student::distance(MISSED, 2.0 * n - 2.0)
    }

    #[test]
    fn least_change_is_shown_in_four_of_five_experiments() {
        let mut chance = fastrand::Rng::with_seed(11);
        for count in [3, 5, 12] {
            let least = Design::Repeats.least(1.0, f64::from(count), MISSED);
            let shown = (0..4000).filter(|_| is_shown(count, least, &mut chance)).count();
            assert!((3080..=3320).contains(&shown), "{shown} of 4,000 with {count}");
        }
    }
}
