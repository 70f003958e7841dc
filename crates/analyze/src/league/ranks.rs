//! The ranks that frameworks may have, and those by the holds of their runs alone.

use super::standing::Standing;
use crate::format::{counted, decimals};
use crate::stats::percentile::median;
use crate::stats::student;
use crate::table::Interval;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;

/// How often any difference of a league is wrong. It is below the promised 5 %, since the choice between one spread and
/// several can be wrong as well.
const LEVEL: f64 = 0.03;
/// The normal quantile of the test for equal spreads: it fails in one of a hundred leagues of equal ones.
const SPREADS: f64 = 2.3263;
/// Logarithms that differ by less are of equal numbers.
const SAME: f64 = 1e-12;

/// Returns the ranks that each framework may have, given the throughputs of its repeats: from one more than the number
/// of frameworks that are faster beyond chance, to the last but those that are slower beyond chance.
///
/// All true ranks are within these intervals whenever all differences are right (Mogstad, Romano, Shaikh and Wilhelm,
/// "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries",
/// 2024).
pub(crate) fn ranks(throughputs: &[Vec<f64>]) -> Vec<Interval> {
    let mut ranks = vec![Interval { low: 1, high: throughputs.len() as u64 }; throughputs.len()];
    for difference in differences(throughputs) {
        if let Some(slower) = ranks.get_mut(difference.slower) {
            slower.low += 1;
        }
        if let Some(faster) = ranks.get_mut(difference.faster) {
            faster.high -= 1;
        }
    }
    ranks
}

/// Two frameworks that differ, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameworkDifference {
    faster: usize,
    slower: usize,
}

/// Compares each framework with each other by the means of the logarithms of their repeats' throughput, so that spreads
/// are relative. Returns the pairs that differ; none if no framework has two repeats, so that the spread is unknown.
///
/// A difference is measured by Student's t, and accepted by the procedure of Holm (1979) over all pairs: in 97 % of
/// leagues, all are right. The spread is pooled over all frameworks, which makes it reliable even for few repeats. If
/// the spreads differ (Bartlett's test at 1 %), each framework has its own, and the degrees of freedom are Welch's; a
/// framework with a single repeat still has the pooled spread.
fn differences(throughputs: &[Vec<f64>]) -> Vec<FrameworkDifference> {
    let means = means(throughputs);
    let pairs = (0..means.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let mut tested: Vec<(f64, FrameworkDifference)> = pairs
        .filter_map(|(one, other)| {
            let chance = chance(means.get(one)?, means.get(other)?)?;
            let (faster, slower) =
                if means.get(one)?.mean > means.get(other)?.mean { (one, other) } else { (other, one) };
            Some((chance, FrameworkDifference { faster, slower }))
        })
        .collect();
    tested.sort_by(|one, other| one.0.total_cmp(&other.0));
    let pairs = (means.len() * means.len().saturating_sub(1) / 2) as f64;
    let accepted = |(before, (chance, difference)): (usize, (f64, FrameworkDifference))| {
        (chance < LEVEL / (pairs - before as f64)).then_some(difference)
    };
    tested.into_iter().enumerate().map_while(accepted).collect()
}

/// The mean log throughput of a framework's repeats.
#[derive(Debug, Clone, Copy)]
struct LogMean {
    repeats: f64,
    mean: f64,
    /// The sum of squared distances of the repeats from the mean.
    squares: f64,
    /// The assumed variance of a repeat.
    variance: f64,
    /// The degrees of freedom of the variance, and true if it is the framework's own rather than the pooled one.
    known: (f64, bool),
}

impl LogMean {
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

/// Returns the means with their variances; none if no framework has two repeats.
fn means(throughputs: &[Vec<f64>]) -> Vec<LogMean> {
    let mut means: Vec<LogMean> = throughputs.iter().map(|repeats| LogMean::of(repeats)).collect();
    let freedom: f64 = means.iter().map(LogMean::freedom).sum();
    if freedom < 1.0 {
        return Vec::new();
    }
    let pooled = means.iter().map(|one| one.squares).sum::<f64>() / freedom;
    let differ = spreads_differ(&means, pooled);
    for one in &mut means {
        let own = differ && one.freedom() > 0.0;
        one.variance = if own { one.squares / one.freedom() } else { pooled };
        one.known = (if own { one.freedom() } else { freedom }, own);
    }
    means
}

/// Returns the probability that chance alone makes two means differ as much; `None` if they are equal.
fn chance(one: &LogMean, other: &LogMean) -> Option<f64> {
    let difference = (one.mean - other.mean).abs();
    let error = one.error() + other.error();
    (difference > SAME).then(|| student::beyond(difference / error.sqrt(), freedom(one, other)))
}

/// Returns the degrees of freedom of the difference of two means: those of the pooled variance if both have it,
/// otherwise Welch's.
fn freedom(one: &LogMean, other: &LogMean) -> f64 {
    let (a, b) = (one.error(), other.error());
    if (!one.known.1 && !other.known.1) || a + b <= 0.0 {
        return one.known.0.min(other.known.0);
    }
    (a + b).powi(2) / (a * a / one.known.0 + b * b / other.known.0)
}

/// Returns true if the frameworks' spreads differ by more than chance explains (Bartlett 1937).
fn spreads_differ(means: &[LogMean], pooled: f64) -> bool {
    let repeated: Vec<&LogMean> = means.iter().filter(|one| one.freedom() > 0.0).collect();
    let others = repeated.len() as f64 - 1.0;
    if others < 1.0 || pooled <= 0.0 {
        return false;
    }
    let sum = |of: &dyn Fn(&LogMean) -> f64| repeated.iter().map(|one| of(one)).sum::<f64>();
    let freedom = sum(&LogMean::freedom);
    let statistic = sum(&|one| one.freedom() * (pooled / (one.squares / one.freedom())).ln());
    let correction = 1.0 + (sum(&|one| 1.0 / one.freedom()) - 1.0 / freedom) / (3.0 * others);
    // χ² by the normal approximation of Wilson & Hilferty (1931).
    let ninth = 2.0 / (9.0 * others);
    statistic / correction > others * (1.0 - ninth + SPREADS * ninth.sqrt()).powi(3)
}

/// The least number of seconds of a hold by which frameworks are ranked.
const LEAST: u32 = 20;
/// At most so many frameworks are named.
const NAMED: usize = 5;

/// What a framework's rank is by the holds of its runs alone.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HoldRank {
    /// The system under test.
    pub framework: String,
    /// The rank by the holds.
    pub rank: Interval,
    /// The median of its repeats' successes per second in the hold.
    pub throughput: f64,
}

/// Ranks frameworks by the holds of their runs. Returns those whose ranks differ from the ranks by the whole runs, best
/// first; if no framework has several repeats, all of them where their order differs.
///
/// There are none if the runs are not looked at as a whole, or if one of them has no hold of 20 s.
pub(super) fn ranks_by_hold<'a>(
    standings: &[&Standing],
    repeats: impl Fn(&str) -> &'a [&'a Timeline],
) -> Vec<HoldRank> {
    let of = |standing: &&Standing| {
        repeats(&standing.framework)
            .iter()
            .map(|run| Some(held(run)?.throughput))
            .collect::<Option<Vec<f64>>>()
    };
    let Some(throughputs) = standings.iter().map(of).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let ranked = standings.iter().zip(ranks(&throughputs)).zip(&throughputs);
    let mut held: Vec<(&Standing, HoldRank)> = ranked
        .map(|((standing, rank), throughputs)| {
            let throughput = median(throughputs.iter().copied()).unwrap_or_default();
            (*standing, HoldRank { framework: standing.framework.clone(), rank, throughput })
        })
        .collect();
    held.sort_by(|(_, one), (_, other)| other.throughput.total_cmp(&one.throughput));
    let reordered = standings.iter().all(|standing| standing.repeats == 1)
        && held.iter().zip(standings).any(|((one, _), other)| one.throughput != other.throughput);
    held.retain(|(standing, hold)| reordered || standing.rank != Some(hold.rank));
    held.into_iter().map(|(_, hold)| hold).collect()
}

/// Returns the summary of a run's hold, if the whole run is looked at, and the hold is long enough.
fn held(run: &Timeline) -> Option<&Summary> {
    let view = &run.view;
    let whole = view.phase.is_none() && view.from.is_none() && view.to.is_none();
    let hold = run.hold.as_ref().or_else(|| run.phases.hold.map(|_| &run.summary));
    hold.filter(|hold| whole && hold.seconds >= LEAST)
}

/// Returns the sentence on ranks by the holds; `None` if there are no others.
pub(super) fn hold_note(ranks: &[HoldRank]) -> Option<String> {
    let named =
        |one: &HoldRank| format!("{} {} ({}/s)", one.framework, one.rank, decimals(one.throughput, 1));
    let mut named: Vec<String> = ranks.iter().take(NAMED).map(named).collect();
    let more = ranks.len().saturating_sub(NAMED) as u64;
    named.extend((more > 0).then(|| format!("and {} more", counted(more, "framework"))));
    (!ranks.is_empty()).then(|| format!("The holds alone rank otherwise: {}.", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(throughputs: &[&[f64]]) -> Vec<String> {
        let repeats: Vec<Vec<f64>> = throughputs.iter().map(|repeats| repeats.to_vec()).collect();
        ranks(&repeats).iter().map(Interval::to_string).collect()
    }

    #[test]
    fn frameworks_far_from_each_other_have_one_rank_each() {
        let far: [&[f64]; 3] = [&[99.0, 101.0], &[49.0, 51.0], &[9.9, 10.1]];
        assert_eq!(of(&far), ["1", "2", "3"]);
        assert_eq!(of(&[&[99.0, 101.0]]), ["1"]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn ranks_of_a_chain_overlap() {
        // Each is near the next, and far from the one after it.
        let chain: [&[f64]; 3] = [&[99.0, 101.0, 100.0], &[96.5, 98.5, 97.5], &[94.0, 96.0, 95.0]];
        assert_eq!(of(&chain), ["1–2", "1–3", "2–3"]);
    }

    #[test]
    fn equal_throughputs_differ_by_nothing() {
        assert_eq!(of(&[&[5.0, 5.0], &[5.0, 5.0], &[4.0, 4.0]]), ["1–2", "1–2", "3"]);
    }

    #[test]
    fn without_two_repeats_of_any_framework_each_may_have_any_rank() {
        assert_eq!(of(&[&[900.0], &[5.0]]), ["1–2", "1–2"]);
        assert_eq!(of(&[&[900.0], &[5.0], &[4.9, 5.1]]), ["1", "2–3", "2–3"]);
    }

    #[test]
    fn framework_without_a_success_is_slower_than_all_others() {
        assert_eq!(of(&[&[0.0, 0.0, 0.0], &[9.0, 9.1, 9.2], &[9.1, 9.2, 9.0]]), ["3", "1–2", "1–2"]);
    }
}
