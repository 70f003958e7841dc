//! How well `plan` forecasts: the scatter of runs that it estimates from few repeats or pairs, beside the true one.

use perfpipe_analyze::{Measure, Measured, Plan, PlanOptions, View};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::dice::Dice;
use crate::repeats::run;
use crate::share::{CHANCE, Share, at_most};

/// The standard deviation of a run's throughput, as a share of it: of what differs from start to start.
const BETWEEN: f64 = 0.02;
/// The standard deviation of what both runs of a pair share.
const SHARED: f64 = 0.1;

/// What came of some plans.
#[derive(Default, Clone, Copy)]
struct Forecasts {
    /// The range contains the truth.
    within: Share,
    /// The forecast is within × 1.5 of the truth.
    near: Share,
}

impl Forecasts {
    fn merged(self, other: Self) -> Self {
        Self { within: self.within.merged(other.within), near: self.near.merged(other.near) }
    }
}

fn measured(dice: &mut Dice, shared: f64) -> Measured {
    let rate = 1000.0 * shared * (1.0 + BETWEEN * dice.normal());
    Measured::new(&run(dice, rate), &View::default()).unwrap()
}

fn forecasts(count: u64, pairs: bool, first: u64, plans: u64) -> Forecasts {
    let plan = |at: u64| {
        let mut dice = Dice::new(first.wrapping_add(at));
        let (plan, truth) = if pairs {
            let mut pair = || {
                let shared = (SHARED * dice.normal()).exp();
                (measured(&mut dice, shared), measured(&mut dice, shared))
            };
            let pairs: Vec<(Measured, Measured)> = (0..count).map(|_| pair()).collect();
            (Plan::of_pairs("a", &pairs, PlanOptions::default()), BETWEEN * 2.0_f64.sqrt())
        } else {
            let runs: Vec<Measured> = (0..count).map(|_| measured(&mut dice, 1.0)).collect();
            (Plan::of_repeats("a", &[runs], PlanOptions::default()), BETWEEN)
        };
        let figures = plan.unwrap().figures;
        let found = figures.iter().find(|figure| figure.measure == Measure::Throughput).unwrap();
        let (found, truth) = (found.scatter_percent, 100.0 * truth);
        Forecasts {
            within: Share::of(found.low <= truth && truth <= found.high),
            near: Share::of((truth / 1.5..=truth * 1.5).contains(&found.value)),
        }
    };
    (0..plans).into_par_iter().map(plan).reduce(Forecasts::default, Forecasts::merged)
}

/// Prints the table, and says whether all is as it must be.
fn table(first: u64, plans: u64) -> bool {
    println!("\nseeds from {first} on\n");
    println!("| stored | plans | 90 % range contains the truth | forecast within × 1.5 |");
    println!("|---|--:|--:|--:|");
    let mut holds = true;
    for (pairs, counts) in [(false, [2, 3, 5, 8, 12, 20]), (true, [2, 3, 5, 8, 12, 20])] {
        for count in counts {
            let found = forecasts(count, pairs, first, plans);
            let name = if pairs { "pairs" } else { "repeats" };
            let percent = |share: Share| format!("{:.1} %", share.ratio() * 100.0);
            println!("| {count} {name} | {plans} | {} | {} |", percent(found.within), percent(found.near));
            let missed = plans - found.within.count;
            holds &= missed as f64 <= at_most(0.1, plans, CHANCE);
            holds &= count < 12 || (plans - found.near.count) as f64 <= at_most(0.1, plans, CHANCE);
        }
    }
    holds
}

#[test]
fn ranges_of_plans_contain_the_truth() {
    for pairs in [false, true] {
        for count in [3, 12] {
            let found = forecasts(count, pairs, 1, 200);
            assert!(
                (200 - found.within.count) as f64 <= at_most(0.1, 200, CHANCE),
                "{count}: {}",
                found.within
            );
        }
        let found = forecasts(12, pairs, 1, 200);
        assert!((200 - found.near.count) as f64 <= at_most(0.1, 200, CHANCE), "{}", found.near);
    }
}

/// Fixed seeds, and a fresh set that nobody tuned anything by.
#[test]
#[ignore = "minutes: .ci/long truth"]
fn rates_of_plans() {
    let fixed = table(5000, 1000);
    let fresh = table(fastrand::u64(..) >> 16, 1000);
    assert!(fixed && fresh, "see the tables above");
}
