//! The capacity between two levels: the monotone fit and its crossing, and the interval by monotonicity alone.

use super::levels::{LevelState, MeasuredLevel};
use crate::check::Objective;

/// Where the objectives stop being met.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bracket {
    /// The index of the last level that meets them.
    pub(super) met: Option<usize>,
    /// The index of the first that does not.
    pub(super) failed: Option<usize>,
    pub(super) estimate: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// Finds where the objectives stop being met, and lets fail the levels above the first that does.
pub(super) fn bracket(levels: &mut [MeasuredLevel], objectives: &[Objective]) -> Bracket {
    let of_state = |state: LevelState| move |level: &MeasuredLevel| level.row.state == state;
    let failed = levels.iter().position(of_state(LevelState::Failed));
    let met = levels
        .get(..failed.unwrap_or(levels.len()))
        .and_then(|below| below.iter().rposition(of_state(LevelState::Met)));
    if let Some(failed) = failed {
        let name = levels.get(failed).map(|level| level.row.level).unwrap_or_default();
        for level in levels.iter_mut().skip(failed + 1).filter(|level| level.row.state == LevelState::Met) {
            level.row.state = LevelState::Failed;
            level.row.why = Some(format!("the lower level {} fails", super::figures(name)));
        }
    }
    let (low, high) = interval(levels, objectives);
    let estimate = met.zip(failed).and_then(|(met, failed)| {
        let of_one = |at: usize| crossing(levels, at, objectives.get(at)?, (met, failed));
        let least = (0..objectives.len()).filter_map(of_one).reduce(f64::min)?;
        Some(least.max(low.unwrap_or(least)).min(high.unwrap_or(f64::INFINITY)))
    });
    Bracket { met, failed, estimate, low, high }
}

/// Returns the rate at which a monotone fit of the share crosses the required one, between two levels.
fn crossing(
    levels: &[MeasuredLevel],
    at: usize,
    objective: &Objective,
    (met, failed): (usize, usize),
) -> Option<f64> {
    let known = levels.iter().enumerate().filter(|(_, level)| level.row.state != LevelState::Unknown);
    let share = |(place, level): (usize, &MeasuredLevel)| {
        let (low, high) = level.shares.get(at)?.bounds;
        Some((place, f64::midpoint(low, high), level.weight))
    };
    let shares: Vec<(usize, f64, f64)> = known.filter_map(share).collect();
    let fitted = isotonic(&shares.iter().map(|(_, share, weight)| (*share, *weight)).collect::<Vec<_>>());
    let of = |place: usize| {
        let found = shares.iter().position(|(own, ..)| *own == place)?;
        Some((levels.get(place)?.row.throughput?, *fitted.get(found)?))
    };
    let ((from, above), (to, below)) = (of(met)?, of(failed)?);
    let required = objective.required();
    if !objective.is_met_by(above) {
        return Some(from);
    }
    if objective.is_met_by(below) {
        return Some(to);
    }
    let part = if above > below { ((above - required) / (above - below)).clamp(0.0, 1.0) } else { 0.0 };
    Some(from + part * (to - from))
}

/// Fits values that never grow, by least squares with weights: neighbours that grow are replaced by their mean.
fn isotonic(values: &[(f64, f64)]) -> Vec<f64> {
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (value, weight) in values {
        let mut block = (*value, weight.max(f64::MIN_POSITIVE), 1);
        while let Some((mean, all, count)) = blocks.pop_if(|(mean, ..)| *mean < block.0) {
            let weight = all + block.1;
            block = ((mean * all + block.0 * block.1) / weight, weight, count + block.2);
        }
        blocks.push(block);
    }
    blocks.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count)).collect()
}

/// Returns the interval by the levels that meet the objectives for sure and those that do not for sure, with the limits of
/// their rates.
///
/// From below, each level must meet all objectives for sure as those below it do; from above, each must miss one for sure.
/// So each end is wrong only if one certain level is misjudged: the first that truly fails, or the last that truly meets
/// them. Several objectives do not make a lower end wrong more often, since one of them decides; for the upper end each of
/// them could, so that their limits are wider.
fn interval(levels: &[MeasuredLevel], objectives: &[Objective]) -> (Option<f64>, Option<f64>) {
    let is_sure = |level: &MeasuredLevel| {
        level.shares.len() == objectives.len()
            && objectives
                .iter()
                .zip(&level.shares)
                .all(|(objective, share)| share.limits.is_some_and(|(low, _)| objective.is_met_by(low)))
    };
    let misses = |level: &MeasuredLevel| {
        let shares = objectives.iter().zip(&level.shares);
        let mut sure = shares.map(|(objective, share)| {
            share.limits_of_all.is_some_and(|(_, high)| !objective.is_met_by(high))
        });
        let overloaded = level.queue_grows && objectives.iter().any(Objective::is_of_times);
        overloaded || (level.row.state != LevelState::Unknown && sure.any(|sure| sure))
    };
    let is_skipped = |level: &MeasuredLevel| level.row.state == LevelState::Unknown;
    let below = levels
        .iter()
        .enumerate()
        .filter(|(_, level)| !is_skipped(level))
        .take_while(|(_, level)| is_sure(level))
        .last()
        .map(|(at, _)| at);
    let above = levels
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, level)| !is_skipped(level) || misses(level))
        .take_while(|(_, level)| misses(level))
        .last()
        .map(|(at, _)| at);
    // Between the two, the throughput may be lower or higher than at either end.
    let first = below.unwrap_or(0);
    let end = above.map_or(levels.len(), |above| above + 1);
    let rates = || levels.get(first..end).unwrap_or_default().iter().filter_map(|level| level.rate);
    let low = below.and_then(|_| rates().map(|(low, _)| low).reduce(f64::min)).map(|low| low.max(0.0));
    let high = above.and_then(|_| rates().map(|(_, high)| high).reduce(f64::max));
    (low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::levels::{CapacityLevel, LevelShare};
    use super::*;

    /// A level with a rate and a share, of which both are known to within some error.
    fn level(rate: f64, share: f64, error: f64) -> MeasuredLevel {
        let limits = Some((share - error, share + error));
        MeasuredLevel {
            row: CapacityLevel {
                level: rate,
                repeats: 1,
                seconds: 60.0,
                throughput: Some(rate),
                objective: 0,
                share: Some(share),
                share_interval: limits,
                state: if share >= 0.99 { LevelState::Met } else { LevelState::Failed },
                why: None,
            },
            shares: vec![LevelShare { bounds: (share, share), limits, limits_of_all: limits }],
            rate: Some((rate - 1.0, rate + 1.0)),
            weight: 1000.0,
            queue_grows: false,
        }
    }

    fn found(mut levels: Vec<MeasuredLevel>) -> (Bracket, Vec<LevelState>) {
        let bracket = bracket(&mut levels, &["within 200ms >= 99%".parse().unwrap()]);
        (bracket, levels.iter().map(|level| level.row.state).collect())
    }

    #[test]
    fn crossing_is_interpolated_and_the_interval_is_that_of_the_sure_levels() {
        let (found, _) = found(vec![
            level(100.0, 1.0, 0.001),
            level(200.0, 0.995, 0.001),
            level(300.0, 0.985, 0.001),
            level(400.0, 0.9, 0.01),
        ]);
        assert_eq!((found.met, found.failed), (Some(1), Some(2)));
        assert!((found.estimate.unwrap() - 250.0).abs() < 1e-6);
        assert_eq!((found.low, found.high), (Some(199.0), Some(301.0)));
    }

    #[test]
    fn levels_that_are_not_sure_widen_the_interval() {
        let (found, _) = found(vec![
            level(100.0, 1.0, 0.001),
            level(200.0, 0.995, 0.01),
            level(300.0, 0.985, 0.01),
            level(400.0, 0.9, 0.01),
        ]);
        assert_eq!((found.low, found.high), (Some(99.0), Some(401.0)));
    }

    #[test]
    fn ends_that_no_level_shows_are_open() {
        let (all, _) = found(vec![level(100.0, 1.0, 0.001), level(200.0, 0.995, 0.001)]);
        assert_eq!((all.met, all.failed, all.estimate), (Some(1), None, None));
        assert_eq!((all.low, all.high), (Some(199.0), None));
        let (none, _) = found(vec![level(100.0, 0.9, 0.001), level(200.0, 0.8, 0.001)]);
        assert_eq!((none.met, none.failed, none.estimate), (None, Some(0), None));
        assert_eq!((none.low, none.high), (None, Some(101.0)));
        let (one, _) = found(vec![level(100.0, 0.995, 0.1)]);
        assert_eq!((one.met, one.low, one.high), (Some(0), None, None));
        assert_eq!(found(Vec::new()).0, Bracket::default());
    }

    #[test]
    fn level_above_one_that_fails_fails_too_and_unknown_ones_are_passed_over() {
        let mut short = level(150.0, 0.5, 0.001);
        short.row.state = LevelState::Unknown;
        let (bracket, states) = found(vec![
            level(100.0, 1.0, 0.001),
            short,
            level(200.0, 0.995, 0.001),
            level(300.0, 0.985, 0.01),
            level(400.0, 0.992, 0.01),
        ]);
        assert_eq!((bracket.met, bracket.failed), (Some(2), Some(3)));
        assert_eq!(states[1], LevelState::Unknown);
        assert_eq!(states[4], LevelState::Failed);
        assert_eq!(
            (bracket.low, bracket.high),
            (Some(199.0), None),
            "the highest level does not fail for sure"
        );
    }

    #[test]
    fn queue_that_grows_bounds_the_capacity_and_is_neither_met_nor_failed() {
        let mut overloaded = level(300.0, 1.0, 0.001);
        (overloaded.row.state, overloaded.queue_grows) = (LevelState::Unknown, true);
        let (bracket, states) = found(vec![level(100.0, 1.0, 0.001), overloaded]);
        assert_eq!((bracket.met, bracket.failed, states[1]), (Some(0), None, LevelState::Unknown));
        assert_eq!((bracket.low, bracket.high), (Some(99.0), Some(301.0)));
    }

    proptest! {
        #[test]
        fn fit_never_grows_and_keeps_the_sum(values in prop::collection::vec((0.0..1.0f64, 1.0..100.0f64), 0..20)) {
            let fitted = isotonic(&values);
            prop_assert_eq!(fitted.len(), values.len());
            prop_assert!(fitted.windows(2).all(|two| two[0] >= two[1] - 1e-12));
            let sum = |of: Vec<f64>| -> f64 { of.iter().zip(&values).map(|(value, (_, weight))| value * weight).sum() };
            let own = sum(values.iter().map(|(value, _)| *value).collect());
            prop_assert!((sum(fitted) - own).abs() < 1e-6);
        }

        #[test]
        fn estimate_lies_in_its_interval(
            shares in prop::collection::vec((0.9..1.0f64, 0.0..0.02f64), 1..8),
        ) {
            let levels = (1..).zip(&shares).map(|(at, (share, error))| level(100.0 * f64::from(at), *share, *error));
            let (found, _) = found(levels.collect());
            if let Some(estimate) = found.estimate {
                prop_assert!(found.low.is_none_or(|low| low <= estimate));
                prop_assert!(found.high.is_none_or(|high| estimate <= high));
            }
            prop_assert!(found.low.zip(found.high).is_none_or(|(low, high)| low < high));
        }
    }
}
