//! How often `compare` calls a change where there is none, how often it can't tell, and how often it finds one.
#![allow(clippy::print_stdout, reason = "the tables of the docs are printed")]

use std::collections::BTreeMap;

use perfpipe_analyze::{Change, Direction, Measured, Outcome, Side, View, compare_sides};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::share::Share;
use crate::system::{Load, Shape, System, Wander};

/// The level at which a figure by itself is called, and the one for all figures together.
const LEVEL: f64 = 0.01;

const HEAD: &str = "| system | failing, % | s | called | can't tell |\n|---|--:|--:|--:|--:|";

/// Systems of one kind, and how many pairs of runs of each are compared.
struct Kind {
    name: String,
    system: System,
    pairs: u64,
}

/// What came of comparing runs.
#[derive(Default)]
struct Outcomes {
    /// By figure: how many were compared, and how many are beyond their own 99 %.
    figures: BTreeMap<String, Share>,
    /// Pairs in which anything was called, all figures taken together.
    called: Share,
    /// Pairs in which there was no telling of a figure that both runs have.
    untold: Share,
}

impl Outcomes {
    fn add(&mut self, changes: &[Change]) {
        let told = |change: &&Change| change.a.is_some() && change.b.is_some();
        for change in changes.iter().filter(told) {
            let figure = self.figures.entry(change.measure.column()).or_default();
            figure.add(change.p.is_some_and(|p| p < LEVEL));
        }
        self.called.add(changes.iter().any(is_called));
        self.untold.add(changes.iter().filter(told).any(|change| change.interval.is_none()));
    }

    fn merge(mut self, other: Self) -> Self {
        for (name, share) in other.figures {
            self.figures.entry(name).or_default().merge(share);
        }
        self.called.merge(other.called);
        self.untold.merge(other.untold);
        self
    }
}

fn is_called(change: &Change) -> bool {
    change.outcome.direction().is_some()
}

/// A seed of its own for a number: generators whose seeds follow one another are not independent, and of runs from such
/// seeds the means differ more often than chance allows (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
fn seed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A side of runs of these systems, each by its own number.
fn side(systems: impl IntoIterator<Item = (System, u64)>) -> Side {
    let view = View::default();
    let run = |(system, number): (System, u64)| Measured::new(&system.run(seed(number)), &view).unwrap();
    Side::of(systems.into_iter().map(run).collect())
}

/// Pairs of runs of the same system.
fn null_pairs(system: &System, first: u64, pairs: u64) -> Outcomes {
    let pair = |at: u64| {
        let one = |run: u64| side([(system.clone(), (first + at) * 2 + run)]);
        let mut outcomes = Outcomes::default();
        outcomes.add(&compare_sides(&one(0), &[one(1)], &[]));
        outcomes
    };
    (0..pairs).into_par_iter().map(pair).reduce(Outcomes::default, Outcomes::merge)
}

/// Open and closed systems without memory from second to second.
fn without_memory(lengths: &[f64], pairs: u64) -> Vec<Kind> {
    let open =
        [20.0, 200.0, 2000.0].map(|rate| (format!("open {rate}/s"), Load::Open { rate }, Shape::Exponential));
    let shapes = [("exponential", Shape::Exponential), ("lognormal", Shape::Lognormal(1.0))];
    let closed = shapes.iter().flat_map(|(name, shape)| {
        [10, 50, 200].map(|clients| {
            let load = Load::Closed { injectors: 1, clients, think: 0.0, ramp: 0.0 };
            (format!("closed, {clients} users, {name}"), load, *shape)
        })
    });
    let mut kinds = Vec::new();
    for (name, load, shape) in open.into_iter().chain(closed) {
        for lasting in lengths {
            for failing in [0.001, 0.05] {
                let servers = if matches!(load, Load::Open { .. }) { 0 } else { 4 };
                let system = System { lasting: *lasting, load, servers, shape, failing, ..System::default() };
                kinds.push(Kind { name: name.clone(), system, pairs });
            }
        }
    }
    kinds
}

/// Systems whose rate wanders, each second by what it was in the last.
fn with_memory(lengths: &[f64], deviation: f64, pairs: u64) -> Vec<Kind> {
    let closed = Load::Closed { injectors: 1, clients: 20, think: 0.0, ramp: 0.0 };
    let loads = [("open", Load::Open { rate: 400.0 }, 0), ("closed", closed, 8)];
    let mut kinds = Vec::new();
    for correlation in [0.9, 0.98] {
        for (name, load, servers) in loads {
            for lasting in lengths {
                let wander = Some(Wander { correlation, deviation });
                let system = System { lasting: *lasting, load, servers, wander, ..System::default() };
                kinds.push(Kind { name: format!("{name}, AR({correlation})"), system, pairs });
            }
        }
    }
    kinds
}

/// Compares pairs of each kind, each from its own seeds, and prints a row of each.
fn trial(kinds: &[Kind]) -> Vec<(String, f64, Outcomes)> {
    let mut rows = Vec::new();
    for (kind, at) in kinds.iter().zip(1u64..) {
        let Kind { name, system, pairs } = kind;
        let outcomes = null_pairs(system, at * 1_000_000, *pairs);
        println!(
            "| {name} | {} | {} | {} | {} |",
            system.failing * 100.0,
            system.lasting,
            outcomes.called,
            outcomes.untold
        );
        rows.push((name.clone(), system.lasting, outcomes));
    }
    rows
}

fn print_figures(outcomes: &Outcomes) {
    println!("| figure | pairs | beyond its 99 % |\n|---|--:|--:|");
    for (name, share) in &outcomes.figures {
        println!("| {name} | {} | {share} |", share.all);
    }
    println!("| any, of all at once | {} | {} |", outcomes.called.all, outcomes.called);
    println!("| can't tell | {} | {} |", outcomes.untold.all, outcomes.untold);
}

fn all(rows: Vec<(String, f64, Outcomes)>) -> Outcomes {
    rows.into_iter().map(|(_, _, outcomes)| outcomes).fold(Outcomes::default(), Outcomes::merge)
}

/// In how many pairs a throughput that is so much greater is called better.
fn found(rate: f64, times: f64, lasting: f64, pairs: u64) -> Share {
    let system = |rate| System { lasting, load: Load::Open { rate }, servers: 0, ..System::default() };
    let pair = |at: u64| {
        let (a, b) = (side([(system(rate), at * 2)]), side([(system(rate * times), at * 2 + 1)]));
        let changes = compare_sides(&a, &[b], &[]);
        Share::of(changes[0].outcome == Outcome::TheseRuns(Direction::Better))
    };
    (0..pairs).into_par_iter().map(pair).reduce(Share::default, Share::merged)
}

#[test]
fn called_differences_are_seldom_chance() {
    let found = all(trial(&without_memory(&[60.0], 12)));
    print_figures(&found);
    for (name, share) in &found.figures {
        // One in a hundred, and what four standard deviations add to that.
        assert!(share.ratio() < 0.01 + 4.0 * (0.01 / share.all as f64).sqrt(), "{name}: {share}");
    }
    assert!(found.called.ratio() < 0.045, "{}", found.called);
    assert!(found.untold.ratio() < 0.05, "{}", found.untold);
}

#[test]
fn long_memory_is_no_change() {
    let found = all(trial(&with_memory(&[60.0, 300.0], 0.2, 15)));
    assert!(found.called.ratio() < 0.1, "{}", found.called);
}

#[test]
fn two_percent_are_found() {
    let found = found(400.0, 1.02, 300.0, 60);
    assert!(found.ratio() > 0.75, "{found}");
}

#[test]
#[ignore = "a long trial: .ci/long truth"]
fn rates_without_change_or_memory() {
    println!("\n{HEAD}");
    let mut kinds = without_memory(&[60.0, 300.0, 900.0], 84);
    // Long and busy runs take long; short ones show as much.
    let busy = |kind: &&mut Kind| {
        matches!(kind.system.load, Load::Open { rate: 2000.0 }) && kind.system.lasting > 60.0
    };
    kinds.iter_mut().filter(busy).for_each(|kind| kind.pairs = 24);
    let found = all(trial(&kinds));
    println!();
    print_figures(&found);
    for (name, share) in &found.figures {
        assert!(share.upper() <= 0.013, "{name}: {share}");
    }
    assert!(found.called.upper() <= 0.02, "{}", found.called);
    assert!(found.untold.ratio() <= 0.02, "{}", found.untold);
}

#[test]
#[ignore = "a long trial: .ci/long truth"]
fn rates_with_long_memory() {
    for (deviation, pairs) in [(0.2, 200), (0.1, 200), (0.05, 200)] {
        println!("\nDeviation {deviation}:\n\n{HEAD}");
        for (name, lasting, outcomes) in trial(&with_memory(&[60.0, 300.0, 900.0], deviation, pairs)) {
            // In a minute, slow noise can't be seen unless it is greater than the fast.
            let can_be_seen = deviation >= 0.1 || lasting > 60.0 || name.contains("0.9)");
            assert!(
                !can_be_seen || outcomes.called.ratio() <= 0.05,
                "{name}, {lasting} s: {}",
                outcomes.called
            );
            let is_long_enough = name.contains("0.9)") && lasting == 900.0;
            assert!(!is_long_enough || outcomes.untold.ratio() <= 0.3, "{name}: {}", outcomes.untold);
        }
    }
}

#[test]
#[ignore = "a long trial: .ci/long truth"]
fn rates_of_changes_found() {
    println!("\n| throughput, 400/s | s | found |\n|---|--:|--:|");
    for (times, lasting, pairs, least) in
        [(1.02, 300.0, 2000, 0.9), (1.05, 60.0, 1000, 0.6), (1.08, 60.0, 1000, 0.9), (1.01, 900.0, 300, 0.5)]
    {
        let share = found(400.0, times, lasting, pairs);
        println!("| times {times} | {lasting} | {share} |");
        assert!(share.ratio() >= least, "{share}");
    }
}
