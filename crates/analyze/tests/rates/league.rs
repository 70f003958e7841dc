//! Ranks of frameworks: how often equal ones are in different ranks, and how often different ones are told apart.

use std::collections::BTreeMap;

use perfpipe_analyze::{League, Timeline, View};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};

use crate::dice::Dice;

/// The true throughput of a league's frameworks, and the standard deviation of their repeats, as a share of it.
struct Truth {
    frameworks: Vec<(f64, f64)>,
    repeats: usize,
}

/// What became of some leagues of one kind.
#[derive(Default)]
struct Rates {
    leagues: usize,
    /// Leagues in which two equal frameworks are in different ranks.
    wrong: usize,
    /// Pairs of different frameworks, and those that are in different ranks, the faster one above.
    pairs: usize,
    told: usize,
}

impl Rates {
    fn wrong_percent(&self) -> f64 {
        100.0 * self.wrong as f64 / self.leagues as f64
    }

    fn told_percent(&self) -> f64 {
        100.0 * self.told as f64 / self.pairs as f64
    }
}

/// A run, of which only key and throughput matter here.
fn any_timeline() -> Timeline {
    let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    let cell = Cell { elapsed: vec![(1, 1)], ..Cell::default() };
    let run = StoredRun::new(
        RunInfo::new(RunKey::new("a", "b"), 0, 999),
        CellTable::new(vec!["Get".into()], vec![], [(key, cell)]),
    );
    Timeline::new(&run, &View::default()).unwrap()
}

impl Truth {
    fn new(frameworks: impl IntoIterator<Item = (f64, f64)>, repeats: usize) -> Self {
        Self { frameworks: frameworks.into_iter().collect(), repeats }
    }

    /// The ranks of a league that is drawn, by framework.
    fn ranks(&self, any: &Timeline, dice: &mut Dice) -> Vec<u64> {
        let mut timelines = Vec::new();
        for (at, (mean, deviation)) in self.frameworks.iter().enumerate() {
            for _ in 0..self.repeats {
                let mut timeline = any.clone();
                timeline.info.key.framework = format!("{at:02}");
                timeline.summary.throughput = mean * (1.0 + deviation * dice.normal());
                timelines.push(timeline);
            }
        }
        let league = League::new(&timelines).unwrap();
        let ranks: BTreeMap<&str, u64> =
            league.standings.iter().map(|row| (row.framework.as_str(), row.rank.unwrap())).collect();
        ranks.into_values().collect()
    }

    fn rates(&self, leagues: usize, seed: u64) -> Rates {
        let (any, mut dice) = (any_timeline(), Dice::new(seed));
        let mut rates = Rates { leagues, ..Rates::default() };
        for _ in 0..leagues {
            let ranks = self.ranks(&any, &mut dice);
            let mut wrong = false;
            for (one, (mean, _)) in self.frameworks.iter().enumerate() {
                for (other, (slower, _)) in self.frameworks.iter().enumerate() {
                    wrong |= mean == slower && ranks[one] != ranks[other];
                    rates.pairs += usize::from(mean > slower);
                    rates.told += usize::from(mean > slower && ranks[one] < ranks[other]);
                }
            }
            rates.wrong += usize::from(wrong);
        }
        rates
    }
}

const SIZES: [usize; 3] = [2, 5, 10];
const REPEATS: [usize; 3] = [3, 5, 10];
const DEVIATIONS: [f64; 3] = [0.01, 0.03, 0.1];

fn equal(size: usize, repeats: usize, deviation: f64) -> Truth {
    Truth::new((0..size).map(|_| (1000.0, deviation)), repeats)
}

/// Equal ones in pairs, each pair twice as fast as the one before: of an odd number one is alone.
fn pairs(size: usize, repeats: usize, deviation: f64) -> Truth {
    Truth::new((0..size).map(|at| (1000.0 * f64::powi(2.0, at as i32 / 2), deviation)), repeats)
}

/// Every other one 10 % slower than the rest.
fn halves(size: usize, repeats: usize, deviation: f64) -> Truth {
    Truth::new((0..size).map(|at| (if at % 2 == 0 { 1000.0 } else { 900.0 }, deviation)), repeats)
}

/// One 10 % slower than all others.
fn one_slower(size: usize, repeats: usize, deviation: f64) -> Truth {
    Truth::new((0..size).map(|at| (if at == 0 { 900.0 } else { 1000.0 }, deviation)), repeats)
}

/// Each 10 % slower than the one before.
fn ladder(size: usize, repeats: usize, deviation: f64) -> Truth {
    Truth::new((0..size).map(|at| (1000.0 * 0.9f64.powi(at as i32), deviation)), repeats)
}

/// Equal ones, of which the first, or every other one, spreads by 10 %, the rest by 1 %.
fn spread(size: usize, repeats: usize, wild: impl Fn(usize) -> bool) -> Truth {
    Truth::new((0..size).map(|at| (1000.0, if wild(at) { 0.1 } else { 0.01 })), repeats)
}

/// The bounds that are promised, over a part of what the whole trial looks at. A rate of 5 % is beyond 9 % of 200
/// leagues once in 400 times, one of 90 % below 85 % once in 100; the seeds are fixed.
#[test]
fn ranks_err_seldom_and_tell_a_tenth() {
    for size in SIZES {
        for truth in [equal(size, 5, 0.03), pairs(size, 3, 0.1), halves(size, 5, 0.1)] {
            let rates = truth.rates(200, 1);
            assert!(rates.wrong_percent() <= 9.0, "{size}: {}", rates.wrong_percent());
        }
        for truth in [one_slower, halves, ladder] {
            let [five, ten] = [5, 10].map(|repeats| truth(size, repeats, 0.03).rates(200, 2).told_percent());
            assert!(five >= 85.0 && ten >= five, "{size}: {five} {ten}");
        }
    }
}

/// Leagues of each kind.
const LEAGUES: usize = 2000;

#[test]
#[ignore = "takes minutes, and prints a table"]
fn whole_trial() {
    let mut seed = 10;
    let mut rates = |truth: Truth| {
        seed += 1;
        truth.rates(LEAGUES, seed)
    };
    println!("Leagues in which two equal frameworks are in different ranks, % of {LEAGUES}:\n");
    println!("| frameworks | repeats | sd | all equal | equal in pairs | every other 10 % slower |");
    println!("|--:|--:|--:|--:|--:|--:|");
    for size in SIZES {
        for repeats in REPEATS {
            for deviation in DEVIATIONS {
                let wrong =
                    [equal, pairs, halves].map(|kind| rates(kind(size, repeats, deviation)).wrong_percent());
                let percent = deviation * 100.0;
                println!(
                    "| {size} | {repeats} | {percent} % | {:.2} | {:.2} | {:.2} |",
                    wrong[0], wrong[1], wrong[2]
                );
                assert!(
                    wrong.iter().all(|percent| *percent <= 5.0),
                    "{size} {repeats} {deviation}: {wrong:?}"
                );
            }
        }
    }
    println!("\nPairs 10 % apart that are in different ranks, % (sd 3 %):\n");
    println!(
        "| frameworks | repeats | one 10 % slower | every other 10 % slower | each 10 % slower than the next |"
    );
    println!("|--:|--:|--:|--:|--:|");
    for size in SIZES {
        let mut before = [0.0; 3];
        for repeats in REPEATS {
            let told =
                [one_slower, halves, ladder].map(|kind| rates(kind(size, repeats, 0.03)).told_percent());
            println!("| {size} | {repeats} | {:.1} | {:.1} | {:.1} |", told[0], told[1], told[2]);
            let enough = repeats < 5 || told.iter().all(|percent| *percent >= 90.0);
            assert!(enough && told.iter().zip(&before).all(|(told, before)| told >= before), "{told:?}");
            before = told;
        }
    }
    println!(
        "\nEqual frameworks in different ranks where spreads differ (1 and 10 %), % of {LEAGUES} leagues:\n"
    );
    println!("| frameworks | repeats | one spreads by 10 % | every other one does |");
    println!("|--:|--:|--:|--:|");
    for size in SIZES {
        for repeats in [2, 3, 5, 10] {
            let one = rates(spread(size, repeats, |at| at == 0)).wrong_percent();
            let half = rates(spread(size, repeats, |at| at % 2 == 0)).wrong_percent();
            println!("| {size} | {repeats} | {one:.2} | {half:.2} |");
        }
    }
}
