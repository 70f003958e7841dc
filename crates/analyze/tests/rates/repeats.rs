//! How often `compare` calls a change between repeats whose throughput differs from start to start.

use perfpipe_analyze::{Change, Measure, Measured, Outcome, Side, View, compare_sides};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::dice::Dice;
use crate::share::{Share, at_most};

/// The length of a run, in seconds.
const LASTING: u32 = 30;
/// The standard deviation of a second's throughput, as a share of it.
const OF_SECONDS: f64 = 0.01;
/// The change that is planted.
const SLOWER: f64 = 0.95;

/// Numbers of repeats, and the standard deviations of their throughput as a share of it.
#[derive(Clone, Copy)]
struct Design {
    a: (usize, f64),
    b: (usize, f64),
}

/// What came of some comparisons.
#[derive(Default, Clone, Copy)]
struct Rates {
    /// Throughput is called, and it alone decides.
    called: Share,
    /// Any figure is called, and all decide.
    any: Share,
    /// The 99 % intervals of its change, in successes per second and in percent, that contain the true one.
    covers: Share,
    percent_covers: Share,
}

impl Rates {
    fn merged(self, other: Self) -> Self {
        Self {
            called: self.called.merged(other.called),
            any: self.any.merged(other.any),
            covers: self.covers.merged(other.covers),
            percent_covers: self.percent_covers.merged(other.percent_covers),
        }
    }
}

/// A run of a closed loop: what throughput loses, response times gain.
pub(crate) fn run(dice: &mut Dice, rate: f64) -> StoredRun {
    let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    // The twenty quantiles of an exponential distribution whose mean is 10 clients' share of a second.
    let quantile = |at: u64| -10e6 / rate * (1.0 - (at as f64 + 0.5) / 20.0).ln();
    let cells = (0..LASTING).map(|second| {
        let rate = rate * (1.0 + OF_SECONDS * dice.normal());
        let count = |at: u64| (rate.round() as u64 + at) / 20;
        let elapsed = (0..20).map(|at| (quantile(at) as i32, count(at))).collect();
        (key(second), Cell { elapsed, ..Cell::default() })
    });
    let table = CellTable::new(vec!["Get".into()], vec![], cells.collect::<Vec<_>>());
    let lasting = i64::from(LASTING) * 1000;
    let mut info = RunInfo::new(RunKey::new("a", "b"), 0, lasting - 1);
    (info.last_end_ms, info.resolution) = (Some(lasting), Resolution::MICROSECOND);
    StoredRun::new(info, table)
}

fn side(dice: &mut Dice, rate: f64, (repeats, deviation): (usize, f64)) -> Side {
    let mut one = || {
        let rate = rate * (1.0 + deviation * dice.normal());
        Measured::new(&run(dice, rate), &View::default()).unwrap()
    };
    Side::of((0..repeats).map(|_| one()).collect())
}

/// What came of sides that are equal, and of sides of which the second is slower.
type SameAndSlower = [Rates; 2];

/// Compares so many sides with equal and with slower ones.
fn rates(design: Design, first: u64, pairs: u64) -> SameAndSlower {
    let is_shown = |change: &Change| matches!(change.outcome, Outcome::Shown(_));
    let contains = |interval: Option<(f64, f64)>, truth: f64| {
        Share::of(interval.is_some_and(|(low, high)| low <= truth && truth <= high))
    };
    let pair = |at: u64| {
        let mut dice = Dice::new(first.wrapping_add(at));
        let a = side(&mut dice, 1000.0, design.a);
        [1.0, SLOWER].map(|times| {
            let b = side(&mut dice, 1000.0 * times, design.b);
            let throughput = &compare_sides(&a, std::slice::from_ref(&b), &[Measure::Throughput])[0];
            Rates {
                called: Share::of(is_shown(throughput)),
                any: Share::of(compare_sides(&a, &[b], &[]).iter().any(is_shown)),
                covers: contains(throughput.interval, 1000.0 * (times - 1.0)),
                percent_covers: contains(throughput.percent_interval, 100.0 * (times - 1.0)),
            }
        })
    };
    let merge = |[a, b]: SameAndSlower, [c, d]: SameAndSlower| [a.merged(c), b.merged(d)];
    (0..pairs).into_par_iter().map(pair).reduce(Default::default, merge)
}

/// The deviations by which a share of a table may miss its promise: both tables have some hundred shares, one of which is
/// beyond three deviations in every eighth trial.
const OF_MANY: f64 = 4.0;

/// The largest share of so many comparisons that may be wrong.
fn wrong_at_most(pairs: u64) -> f64 {
    at_most(0.01, pairs, OF_MANY) / pairs as f64
}

const CALM: f64 = 0.01;
const WILD: f64 = 0.03;

/// Prints the table, and says whether all is as it must be.
fn table(first: u64, pairs: u64) -> bool {
    println!("\nseeds from {first} on\n");
    println!(
        "| repeats | sd | comparisons | nothing changed: called | any of all | 5 % slower: called | any of all | 99 % covers | in percent |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    let equal = [(3, 3), (4, 4), (2, 2), (5, 5), (3, 1), (4, 3), (5, 3), (10, 2)];
    let unequal = [(3, 3), (5, 5), (3, 5), (5, 3), (10, 2)];
    let designs = equal.map(|repeats| (repeats, CALM)).into_iter();
    let mut holds = true;
    for ((a, b), deviation) in designs.chain(unequal.map(|repeats| (repeats, WILD))) {
        let design = Design { a: (a, CALM), b: (b, deviation) };
        // Of those that nothing is promised of, a fifth says enough.
        let pairs = if deviation == CALM && (a, b) != (10, 2) { pairs } else { pairs / 5 };
        let [same, slower] = rates(design, first, pairs);
        let percent = |share: Share| format!("{:.2} %", share.ratio() * 100.0);
        println!(
            "| {a} and {b} | {} and {} % | {pairs} | {} | {} | {} | {} | {} | {} |",
            CALM * 100.0,
            deviation * 100.0,
            percent(same.called),
            percent(same.any),
            percent(slower.called),
            percent(slower.any),
            percent(slower.covers),
            percent(slower.percent_covers)
        );
        if deviation == CALM {
            let missed = [slower.covers, slower.percent_covers].map(|covers| 1.0 - covers.ratio());
            let wrong = [same.called.ratio(), same.any.ratio(), missed[0], missed[1]];
            holds &= wrong.iter().all(|share| *share <= wrong_at_most(pairs));
        }
        holds &= match (a, b) {
            (3, 3) if deviation == CALM => slower.called.ratio() >= 0.8,
            (4, 4) => slower.called.ratio() >= 0.97,
            _ => true,
        };
    }
    holds
}

#[test]
fn repeats_that_differ_by_chance_have_not_changed_and_a_twentieth_is_shown() {
    for (repeats, least) in [(3, 0.8), (4, 0.97)] {
        let design = Design { a: (repeats, CALM), b: (repeats, CALM) };
        let [same, slower] = rates(design, 1, 100);
        for wrong in [same.called.ratio(), same.any.ratio(), 1.0 - slower.percent_covers.ratio()] {
            assert!(wrong <= wrong_at_most(100), "{repeats}: {wrong}");
        }
        assert!(slower.called.ratio() >= least, "{repeats}: {}", slower.called);
    }
}

/// Fixed seeds, and a fresh set that nobody tuned anything by.
#[test]
#[ignore = "minutes: .ci/long truth"]
fn rates_between_repeats() {
    let pairs = std::env::var("PERFPIPE_PAIRS").map_or(10_000, |text| text.parse().unwrap());
    let fixed = table(1000, pairs);
    let fresh = std::env::var_os("PERFPIPE_FIXED_ONLY").is_some() || table(fastrand::u64(..) >> 16, pairs);
    assert!(fixed && fresh, "see the tables above");
}
