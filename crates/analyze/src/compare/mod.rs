//! Comparison of runs: what changed, and whether chance explains it.

mod change;
pub(crate) mod difference;
mod figure;
pub(crate) mod level;
pub(crate) mod margin;
mod measure;
mod measured;
mod memory;
mod notes;
mod pairing;
mod plan;
pub(crate) mod points;
mod power;
mod repeats;
mod sessions;
mod sides;
mod trend;
mod units;

use perfpipe_model::StoredRun;

use crate::error::Result;
use crate::view::View;

pub use self::change::{Change, Direction, Noise, Outcome, change_table};
pub use self::measure::{Measure, Part, SeriesKey};
pub use self::measured::Measured;
pub use self::notes::change_notes;
pub use self::pairing::{PAIR_TAG, PairFault, Pairing, SIDE_TAG};
pub use self::plan::{Forecast, Plan, PlanOptions, PlannedFigure, plan_table};
pub use self::power::{Design, stopping_levels};
pub use self::repeats::Power;
pub use self::sides::{Side, compare_sides};
pub use self::trend::{Drift, LevelChange, Trend, TrendLevel, Trends, Version, trend_table};

/// Compares two stored runs, each with its own view, as [`compare_sides`] does where all figures decide.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`], for either run.
///
/// ```
/// use perfpipe_analyze::{Direction, Measure, Outcome, View, compare};
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// let run = |successes: u64| {
///     let key = |second| CellKey { second, label: 0, success: true, transaction: false };
///     let cell = |second: u32| Cell { elapsed: vec![(10, successes + u64::from(second % 7))], ..Cell::default() };
///     let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 99_999);
///     StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], (0..100).map(|second| (key(second), cell(second)))))
/// };
/// let view = View::default();
/// let changes = compare((&run(1000), &view), (&run(1100), &view))?;
/// assert_eq!((&changes[0].measure, changes[0].outcome), (&Measure::Throughput, Outcome::TheseRuns(Direction::Better)));
/// assert_eq!(compare((&run(1000), &view), (&run(1000), &view))?[0].outcome, Outcome::NotShown);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn compare(a: (&StoredRun, &View), b: (&StoredRun, &View)) -> Result<Vec<Change>> {
    let side = |(run, view): (&StoredRun, &View)| Measured::new(run, view).map(|run| Side::of(vec![run]));
    Ok(compare_sides(&side(a)?, &[side(b)?], &[]))
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::{RunInfo, RunKey};
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::Timeline;

    /// A run with about `rate` successes in each second, which take between one and two times `elapsed` ms.
    fn run(chance: &mut fastrand::Rng, seconds: u32, rate: u64, elapsed: i32) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells = (0..seconds).map(|second| {
            let mut counts = std::collections::BTreeMap::<i32, u64>::new();
            for _ in 0..chance.u64(rate * 8 / 10..=rate * 12 / 10) {
                *counts.entry(elapsed + chance.i32(0..elapsed)).or_default() += 1;
            }
            (key(second), Cell { elapsed: counts.into_iter().collect(), ..Cell::default() })
        });
        StoredRun::new(
            RunInfo::new(RunKey::new("a", "b"), 0, i64::from(seconds) * 1000 - 1),
            CellTable::new(vec!["Get".into()], vec![], cells),
        )
    }

    fn outcomes(one: &StoredRun, other: &StoredRun) -> Vec<(Measure, Outcome)> {
        let view = View::default();
        let changes = compare((one, &view), (other, &view)).unwrap();
        changes.into_iter().map(|change| (change.measure, change.outcome)).collect()
    }

    #[test]
    fn chance_is_not_shown_and_a_tenth_is() {
        let mut chance = fastrand::Rng::with_seed(7);
        let mut shown = 0;
        for _ in 0..20 {
            let calm = run(&mut chance, 120, 100, 40);
            let found = outcomes(&calm, &run(&mut chance, 120, 100, 40));
            shown += found.iter().filter(|(_, outcome)| outcome.direction().is_some()).count();
            let found = outcomes(&calm, &run(&mut chance, 120, 90, 44));
            for (measure, outcome) in found {
                match measure {
                    Measure::FailuresPercent => assert_eq!(outcome, Outcome::NotShown),
                    Measure::CpuMean => assert_eq!(outcome, Outcome::Unknown),
                    _ => assert_eq!(outcome, Outcome::TheseRuns(Direction::Worse), "{measure}"),
                }
            }
        }
        // Of 120 comparisons without a difference, 99 % intervals should miss about one.
        assert!(shown <= 6, "{shown} of 120");
    }

    #[test]
    fn joint_interval_excludes_zero_just_where_a_change_is_called() {
        let mut chance = fastrand::Rng::with_seed(11);
        let (mut called, mut not) = (0, 0);
        for round in 0..120 {
            let elapsed = 40 + round % 4;
            let mut side = |elapsed, repeats| {
                let runs = (0..repeats).map(|_| run(&mut chance, 60, 100, elapsed));
                Side::of(runs.map(|run| Measured::new(&run, &View::default()).unwrap()).collect())
            };
            let repeats = 1 + round % 3;
            let (a, b) = (side(40, repeats), side(elapsed, repeats));
            for change in compare_sides(&a, &[b], &[]) {
                let Some((low, high)) = change.joint_percent else { continue };
                let (excludes, is_called) = (low > 0.0 || high < 0.0, change.outcome.direction().is_some());
                assert_eq!(excludes, is_called, "{change:?}");
                let (own_low, own_high) = change.percent_interval.unwrap();
                assert!(low <= own_low && own_high <= high, "{change:?}");
                if is_called { called += 1 } else { not += 1 }
            }
        }
        assert!(called > 100 && not > 100, "{called} {not}");
    }

    #[test]
    fn joint_interval_contains_the_own_one_however_many_sides_and_seconds() {
        let mut chance = fastrand::Rng::with_seed(5);
        let (mut checked, mut unlimited, mut equal) = (0, 0, 0);
        for (seconds, rate) in [(24, 3), (30, 8), (30, 40), (52, 10), (52, 100), (120, 20), (300, 5)] {
            for sides in [1, 5, 12] {
                let mut side = |elapsed| {
                    let run = run(&mut chance, seconds, rate, elapsed);
                    Side::of(vec![Measured::new(&run, &View::default()).unwrap()])
                };
                let baseline = side(40);
                // One of them is the baseline itself, of which no figure differs.
                let mut others: Vec<Side> = (1..sides).map(|at| side(40 + 4 * (at % 3))).collect();
                others.push(baseline.clone());
                for change in compare_sides(&baseline, &others, &[]) {
                    let Some((own_low, own_high)) = change.percent_interval else { continue };
                    let (low, high) = change.joint_percent.expect("a joint interval");
                    assert!(low <= own_low && own_high <= high, "{change:?}");
                    let excludes = low > 0.0 || high < 0.0;
                    assert_eq!(excludes, change.outcome.direction().is_some(), "{change:?}");
                    checked += 1;
                    unlimited += usize::from(high.is_infinite());
                    equal += usize::from(change.a == change.b);
                }
            }
        }
        assert!(checked > 300 && unlimited > 10 && equal > 80, "{checked} {unlimited} {equal}");
    }

    #[test]
    fn percentiles_below_a_millisecond_are_compared_by_their_own_unit() {
        let mut chance = fastrand::Rng::with_seed(7);
        let mut side = |elapsed| {
            let mut repeat = || {
                let mut run = run(&mut chance, 60, 100, elapsed);
                run.info.resolution = perfpipe_model::run::Resolution::MICROSECOND;
                Measured::new(&run, &View::default()).unwrap()
            };
            Side::of((0..4).map(|_| repeat()).collect())
        };
        let changes = compare_sides(&side(400), &[side(440)], &[Measure::Percentile(50.0)]);
        assert_eq!(changes[0].outcome, Outcome::Shown(Direction::Worse), "{:?}", changes[0]);
    }

    #[test]
    fn short_run_tells_nothing() {
        let mut chance = fastrand::Rng::with_seed(7);
        let (short, long) = (run(&mut chance, 20, 50, 40), run(&mut chance, 120, 500, 40));
        assert!(outcomes(&short, &long).iter().all(|(_, outcome)| *outcome == Outcome::Unknown));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn figures_are_those_of_the_summary(
            seed in any::<u64>(), seconds in 1..300u32, from in prop::option::of(0..300u32),
            // The last answer comes in the last second, or up to 20 s later, or at a time that is not known.
            end in prop::option::of(-999..20_000i64),
        ) {
            let mut run = run(&mut fastrand::Rng::with_seed(seed), seconds, 20, 30);
            run.info.last_end_ms = end.map(|end| (run.info.t0_ms + i64::from(seconds) * 1000 + end).max(1));
            let view = View { from: from.map(|from| from.min(seconds - 1)), ..View::default() };
            let summary = Timeline::new(&run, &view)?.summary;
            let changes = compare((&run, &view), (&run, &view))?;
            let value = |measure: Measure| changes.iter().find(|change| change.measure == measure).unwrap().a;
            prop_assert_eq!(value(Measure::Throughput), Some(summary.throughput));
            prop_assert_eq!(value(Measure::ElapsedMean), summary.elapsed_mean);
            prop_assert_eq!(value(Measure::Percentile(95.0)), summary.p95);
            prop_assert_eq!(value(Measure::FailuresPercent), summary.failure_share().map(|share| share * 100.0));
        }
    }
}
