//! The test of which frameworks differ in throughput, given their repeats.

use crate::stats::student;

/// The error rate of a league: how often two equal frameworks may be told apart. It is below the promised 5 %, since
/// the choice between one spread and several can be wrong as well.
const LEVEL: f64 = 0.035;
/// The normal quantile of the test for equal spreads: it fails in one of a hundred leagues of equal ones.
const SPREADS: f64 = 2.3263;
/// Logarithms that differ by less are of equal numbers.
const SAME: f64 = 1e-12;

/// The frameworks of a league, compared by the means of the logarithms of their repeats' throughput, so that spreads
/// are relative.
///
/// Two frameworks differ if Student's t of their difference is larger than chance makes it with a probability of 3.5 %
/// ÷ ⌊frameworks ÷ 2⌋. Ranks then err in 3.5 % of leagues that consist of so many pairs of equal frameworks far from
/// each other, and in no league more often (see `ranks`). The spread is pooled over all frameworks, which makes it
/// reliable even for few repeats. If the spreads differ (Bartlett's test at 1 %), each framework has its own, and the
/// degrees of freedom are Welch's; a framework with a single repeat still has the pooled spread.
#[derive(Debug)]
pub(crate) struct Apart {
    means: Vec<Mean>,
    /// The probability by chance below which a difference is accepted.
    level: f64,
}

/// The mean log throughput of a framework's repeats.
#[derive(Debug, Clone, Copy)]
struct Mean {
    repeats: f64,
    mean: f64,
    /// The sum of squared distances of the repeats from the mean.
    squares: f64,
    /// The assumed variance of a repeat.
    variance: f64,
    /// The degrees of freedom of the variance, and true if it is the framework's own rather than the pooled one.
    known: (f64, bool),
}

impl Mean {
    fn of(throughputs: &[f64]) -> Self {
        // The logarithm of a run without a success is far below any other.
        let logs: Vec<f64> = throughputs.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
        let repeats = logs.len().max(1) as f64;
        let mean = logs.iter().sum::<f64>() / repeats;
        let squares = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Self { repeats, mean, squares, variance: 0.0, known: (0.0, false) }
    }

    fn freedom(&self) -> f64 {
        self.repeats - 1.0
    }

    /// Returns the variance of the mean.
    fn error(&self) -> f64 {
        self.variance / self.repeats
    }
}

impl Apart {
    /// Compares frameworks by the throughputs of their repeats; `None` if no framework has two repeats, so that the
    /// spread is unknown.
    pub(crate) fn new(throughputs: &[Vec<f64>]) -> Option<Self> {
        let mut means: Vec<Mean> = throughputs.iter().map(|repeats| Mean::of(repeats)).collect();
        let freedom: f64 = means.iter().map(Mean::freedom).sum();
        if freedom < 1.0 {
            return None;
        }
        let pooled = means.iter().map(|one| one.squares).sum::<f64>() / freedom;
        let differ = spreads_differ(&means, pooled);
        for one in &mut means {
            let own = differ && one.freedom() > 0.0;
            one.variance = if own { one.squares / one.freedom() } else { pooled };
            one.known = (if own { one.freedom() } else { freedom }, own);
        }
        let level = LEVEL / (means.len() / 2).max(1) as f64;
        Some(Self { means, level })
    }

    /// Returns true if the first framework is faster than the second, beyond chance. Both are given by index.
    pub(crate) fn is_faster(&self, one: usize, other: usize) -> bool {
        let Some((one, other)) = self.means.get(one).zip(self.means.get(other)) else { return false };
        let difference = one.mean - other.mean;
        let error = one.error() + other.error();
        difference > SAME && student::beyond(difference / error.sqrt(), freedom(one, other)) < self.level
    }
}

/// Returns the degrees of freedom of the difference of two means: those of the pooled variance if both have it,
/// otherwise Welch's.
fn freedom(one: &Mean, other: &Mean) -> f64 {
    let (a, b) = (one.error(), other.error());
    if (!one.known.1 && !other.known.1) || a + b <= 0.0 {
        return one.known.0.min(other.known.0);
    }
    (a + b).powi(2) / (a * a / one.known.0 + b * b / other.known.0)
}

/// Returns true if the frameworks' spreads differ by more than chance explains (Bartlett 1937).
fn spreads_differ(means: &[Mean], pooled: f64) -> bool {
    let repeated: Vec<&Mean> = means.iter().filter(|one| one.freedom() > 0.0).collect();
    let others = repeated.len() as f64 - 1.0;
    if others < 1.0 || pooled <= 0.0 {
        return false;
    }
    let sum = |of: &dyn Fn(&Mean) -> f64| repeated.iter().map(|one| of(one)).sum::<f64>();
    let freedom = sum(&Mean::freedom);
    let statistic = sum(&|one| one.freedom() * (pooled / (one.squares / one.freedom())).ln());
    let correction = 1.0 + (sum(&|one| 1.0 / one.freedom()) - 1.0 / freedom) / (3.0 * others);
    // χ² by the normal approximation of Wilson & Hilferty (1931).
    let ninth = 2.0 / (9.0 * others);
    statistic / correction > others * (1.0 - ninth + SPREADS * ninth.sqrt()).powi(3)
}
