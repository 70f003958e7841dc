//! Two runs side by side: what changed, and whether more than by chance.

mod blocks;
mod bootstrap;

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::percentile::{self, column_name};
use crate::phases::Span;
use crate::table::Table;
use crate::timeline::Timeline;
use crate::view::View;

use blocks::{Stratum, cut, figures};

/// One figure of two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which seconds: "run", or "hold" where both runs have one, and other seconds too.
    pub part: &'static str,
    /// The figure, by the name that it has in the summary: "throughput", "p95".
    pub measure: String,
    /// Its unit.
    pub unit: &'static str,
    /// The first run's value.
    pub a: Option<f64>,
    /// The second run's value.
    pub b: Option<f64>,
    /// Between which values the difference, b − a, lies in 99 of 100 draws of the seconds; `None` where that can't be
    /// told: a run with fewer than eight blocks of seconds, or none of the figure in some draw.
    pub interval: Option<(f64, f64)>,
    /// What to make of it.
    pub outcome: Outcome,
}

/// What a change is, seen from the second run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is nothing that the scatter of the seconds would not do.
    Noise,
    /// It goes beyond that, for the better.
    Better,
    /// It goes beyond that, for the worse.
    Worse,
    /// It goes beyond that, to more of what is neither good nor bad by itself.
    More,
    /// It goes beyond that, to less of it.
    Less,
    /// There is no telling: the runs are too short, or one of them has no such figure.
    Unknown,
}

impl Outcome {
    /// Its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::More => "more",
            Self::Less => "less",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether it is good that a figure grows.
#[derive(Clone, Copy)]
enum Growth {
    Good,
    Bad,
    Neither,
}

impl Change {
    /// The change in percent of the first run's value; `None` where that is 0 or one is absent.
    pub fn percent(&self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        (a != 0.0).then(|| (b - a) / a * 100.0)
    }
}

/// Compares two stored runs, each looked at by a view of its own: throughput, failures, CPU, and elapsed by its mean
/// and the first view's percentiles; for the whole run, and for the hold.
///
/// A change goes beyond noise where 99 % of the differences that come of drawing both runs' seconds anew (1,000 times,
/// in blocks of 3 to 10 seconds, with replacement, each phase by itself) lie on one side of zero. That is the noise
/// within these two runs: what differs from one start of a server to the next shows only in repeats. Where the load
/// climbs, the scatter is large, and only large changes go beyond it: the hold tells more.
///
/// # Errors
/// As [`Timeline::new`], for either run.
///
/// ```
/// use perfpipe_analyze::{Outcome, View, compare};
/// use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey, StoredRun};
///
/// let run = |successes: u64| {
///     let key = |second| CellKey { second, label: 0, success: true, transaction: false };
///     let cell = |second: u32| Cell { elapsed: vec![(10, successes + u64::from(second % 7))], ..Cell::default() };
///     StoredRun {
///         info: RunInfo::new(RunKey::new("spring", "2048"), 0, 99_999),
///         cells: CellTable::new(vec!["Get".into()], vec![], (0..100).map(|second| (key(second), cell(second)))),
///         cpu: CpuSeries::default(),
///         errors: vec![],
///         labels: vec![],
///     }
/// };
/// let view = View::default();
/// let changes = compare((&run(1000), &view), (&run(1100), &view))?;
/// assert_eq!((&*changes[0].measure, changes[0].outcome), ("throughput", Outcome::Better));
/// assert_eq!(compare((&run(1000), &view), (&run(1000), &view))?[0].outcome, Outcome::Noise);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn compare(a: (&StoredRun, &View), b: (&StoredRun, &View)) -> Result<Vec<Change>> {
    let percentiles = percentile::checked(&a.1.percentiles)?;
    let measures = measures(&percentiles);
    let (one, other) = (Timeline::new(a.0, a.1)?, Timeline::new(b.0, b.1)?);
    let mut changes = Vec::new();
    for (part, of) in [("run", all as fn(&Timeline) -> Option<Span>), ("hold", hold)] {
        let (Some(span_a), Some(span_b)) = (of(&one), of(&other)) else { continue };
        let cut_a = cut(a.0, a.1, &one, span_a)?;
        let cut_b = cut(b.0, b.1, &other, span_b)?;
        let intervals = bootstrap::intervals(&cut_a, &cut_b, &percentiles, measures.len());
        let whole = |strata: &[Stratum]| figures(strata.iter().flatten(), &percentiles);
        let values = whole(&cut_a).into_iter().zip(whole(&cut_b)).zip(intervals);
        changes.extend(measures.iter().zip(values).map(|((measure, unit, growth), ((a, b), interval))| {
            let outcome = outcome(*growth, interval);
            Change { part, measure: measure.clone(), unit, a, b, interval, outcome }
        }));
    }
    Ok(changes)
}

/// Changes as a table: `part`, `measure`, `unit`, `a`, `b`, `change_percent`, `difference_low`, `difference_high` and
/// `outcome`.
pub fn change_table(changes: &[Change]) -> Table {
    Table::of(changes)
        .column("part", |row| Some(row.part.to_owned()))
        .column("measure", |row| Some(row.measure.clone()))
        .column("unit", |row| Some(row.unit.to_owned()))
        .column("a", |row| row.a)
        .unit("", 2)
        .column("b", |row| row.b)
        .unit("", 2)
        .column("change_percent", Change::percent)
        .title("change")
        .unit("%", 1)
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("", 2)
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .title("to")
        .unit("", 2)
        .column("outcome", |row| Some(row.outcome.name().to_owned()))
        .title("b is")
        .done()
}

/// What is compared: the name, the unit, and whether more of it is good.
fn measures(percentiles: &[f64]) -> Vec<(String, &'static str, Growth)> {
    let always = [
        ("throughput", "/s", Growth::Good),
        ("failures_percent", "%", Growth::Bad),
        ("cpu_mean", "%", Growth::Neither),
        ("elapsed_mean", "ms", Growth::Bad),
    ];
    let always = always.into_iter().map(|(name, unit, growth)| (name.to_owned(), unit, growth));
    always.chain(percentiles.iter().map(|percent| (column_name(*percent), "ms", Growth::Bad))).collect()
}

/// All seconds of a timeline.
fn all(timeline: &Timeline) -> Option<Span> {
    let (first, last) = (timeline.seconds.first()?, timeline.seconds.last()?);
    Some(Span { first: first.second, last: last.second })
}

/// Those of the hold, where there are others beside them.
fn hold(timeline: &Timeline) -> Option<Span> {
    timeline.hold.as_ref().and(timeline.phases.hold)
}

fn outcome(growth: Growth, interval: Option<(f64, f64)>) -> Outcome {
    let Some((low, high)) = interval else { return Outcome::Unknown };
    match growth {
        _ if low <= 0.0 && high >= 0.0 => Outcome::Noise,
        Growth::Good if low > 0.0 => Outcome::Better,
        Growth::Bad if high < 0.0 => Outcome::Better,
        Growth::Good | Growth::Bad => Outcome::Worse,
        Growth::Neither if low > 0.0 => Outcome::More,
        Growth::Neither => Outcome::Less,
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey};
    use proptest::prelude::*;

    use super::*;

    /// A run of some seconds with about so many successes each, of about so many ms.
    fn run(chance: &mut fastrand::Rng, seconds: u32, rate: u64, elapsed: i32) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells = (0..seconds).map(|second| {
            let mut counts = std::collections::BTreeMap::<i32, u64>::new();
            for _ in 0..chance.u64(rate * 8 / 10..=rate * 12 / 10) {
                *counts.entry(elapsed + chance.i32(0..elapsed)).or_default() += 1;
            }
            (key(second), Cell { elapsed: counts.into_iter().collect(), ..Cell::default() })
        });
        StoredRun {
            info: RunInfo::new(RunKey::new("a", "b"), 0, i64::from(seconds) * 1000 - 1),
            cells: CellTable::new(vec!["Get".into()], vec![], cells),
            cpu: CpuSeries::default(),
            errors: vec![],
            labels: vec![],
        }
    }

    fn outcomes(one: &StoredRun, other: &StoredRun) -> Vec<(String, Outcome)> {
        let view = View::default();
        let changes = compare((one, &view), (other, &view)).unwrap();
        changes.into_iter().map(|change| (change.measure, change.outcome)).collect()
    }

    #[test]
    fn chance_is_noise_and_a_tenth_is_not() {
        let mut chance = fastrand::Rng::with_seed(7);
        let mut told = 0;
        for _ in 0..20 {
            let calm = run(&mut chance, 120, 100, 40);
            let found = outcomes(&calm, &run(&mut chance, 120, 100, 40));
            told += found
                .iter()
                .filter(|(_, outcome)| matches!(outcome, Outcome::Better | Outcome::Worse))
                .count();
            let found = outcomes(&calm, &run(&mut chance, 120, 90, 44));
            for (measure, outcome) in found {
                match &*measure {
                    "failures_percent" => assert_eq!(outcome, Outcome::Noise),
                    "cpu_mean" => assert_eq!(outcome, Outcome::Unknown),
                    _ => assert_eq!(outcome, Outcome::Worse, "{measure}"),
                }
            }
        }
        // Of 120 comparisons of nothing but chance, 99 % intervals should miss about one.
        assert!(told <= 6, "{told} of 120");
    }

    #[test]
    fn a_short_run_tells_nothing() {
        let mut chance = fastrand::Rng::with_seed(7);
        let (short, long) = (run(&mut chance, 20, 50, 40), run(&mut chance, 120, 500, 40));
        assert!(outcomes(&short, &long).iter().all(|(_, outcome)| *outcome == Outcome::Unknown));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn the_figures_of_all_blocks_are_those_of_the_summary(
            seed in any::<u64>(), seconds in 1..300u32, from in 0..300u32,
        ) {
            let run = run(&mut fastrand::Rng::with_seed(seed), seconds, 20, 30);
            let view = View { from: Some(from.min(seconds - 1)), ..View::default() };
            let summary = Timeline::new(&run, &view)?.summary;
            let changes = compare((&run, &view), (&run, &view))?;
            let value = |measure: &str| changes.iter().find(|change| change.measure == measure).unwrap().a;
            prop_assert_eq!(value("throughput"), Some(summary.throughput));
            prop_assert_eq!(value("elapsed_mean"), summary.elapsed_mean);
            prop_assert_eq!(value("p95"), summary.p95);
            prop_assert_eq!(value("failures_percent"), summary.failure_share().map(|share| share * 100.0));
        }
    }
}
