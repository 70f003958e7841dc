//! How often `compare` calls a change between pairs of runs, of equal versions and of one that is slower, beside what is done
//! without pairs: the same runs as repeats, a threshold of 10 %, and a t test against a history.

use perfpipe_analyze::{
    Change, Measure, Measured, Outcome, PAIR_TAG, SIDE_TAG, Side, View, compare_sides, stopping_levels,
};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::dice::Dice;
use crate::share::{CHANCE, Share, at_least, at_most};

/// The length of a run and the pause after it, in seconds.
const LASTING: (usize, usize) = (60, 10);
/// The standard deviation of a second's throughput that is its own, as a share.
const OWN: f64 = 0.05;
/// The successes per second.
const RATE: f64 = 1000.0;
/// The change that is planted.
const SLOWER: f64 = 0.97;
/// The number of pairs.
const PAIRS: usize = 10;
/// The numbers of pairs at which an experiment may stop.
const LOOKS: [u32; 3] = [4, 7, 10];
/// The number of runs in a history.
const HISTORY: usize = 64;

/// How pairs are measured, and the noise that they share.
#[derive(Clone, Copy)]
struct Design {
    name: &'static str,
    /// Both runs of a pair are measured at once.
    duets: bool,
    /// The correlation of the shared noise from second to second, and its standard deviation as a share.
    memory: f64,
    shared: f64,
}

fn designs() -> [Design; 5] {
    let hour = (-1.0_f64 / 3600.0).exp();
    [
        Design { name: "at once, AR(0.98) of 20 %", duets: true, memory: 0.98, shared: 0.2 },
        Design { name: "in turn, memory of an hour, 5 %", duets: false, memory: hour, shared: 0.05 },
        Design { name: "in turn, nothing shared", duets: false, memory: 0.0, shared: 0.0 },
        Design { name: "in turn, memory of an hour, 20 %", duets: false, memory: hour, shared: 0.2 },
        Design { name: "in turn, AR(0.98) of 20 %", duets: false, memory: 0.98, shared: 0.2 },
    ]
}

/// The noise of a machine, second by second.
struct Machine {
    design: Design,
    now: f64,
}

impl Machine {
    fn new(design: Design, dice: &mut Dice) -> Self {
        Self { design, now: dice.normal() }
    }

    /// Returns the factors of the next seconds, after a pause.
    fn seconds(&mut self, dice: &mut Dice) -> Vec<f64> {
        let fade = self.design.memory;
        let new = (1.0 - fade * fade).sqrt();
        let mut next = || {
            self.now = fade * self.now + new * dice.normal();
            (self.design.shared * self.now).exp()
        };
        (0..LASTING.1).for_each(|_| _ = next());
        (0..LASTING.0).map(|_| next()).collect()
    }
}

/// The successes of each second of a run on a machine.
fn run(dice: &mut Dice, machine: &[f64], times: f64) -> Vec<u64> {
    let count = |factor: &f64| (RATE * factor * times * (1.0 + OWN * dice.normal())).round().max(0.0) as u64;
    machine.iter().map(count).collect()
}

fn mean(successes: &[u64]) -> f64 {
    successes.iter().sum::<u64>() as f64 / successes.len() as f64
}

fn measured(successes: &[u64], pair: usize, side: &str, start_s: usize, tagged: bool) -> Measured {
    let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    let cells = (0..).zip(successes).map(|(second, count)| {
        // A closed loop of ten clients.
        let elapsed = (10e6 / (*count).max(1) as f64) as i32;
        (key(second), Cell { elapsed: vec![(elapsed, *count)], ..Cell::default() })
    });
    let table = CellTable::new(vec!["Get".into()], vec![], cells.collect::<Vec<_>>());
    let start = start_s as i64 * 1000;
    let end = start + LASTING.0 as i64 * 1000;
    let mut info = RunInfo::new(RunKey::new(side, "t").with_repeat(pair as u32 + 1), start, end - 1);
    (info.last_end_ms, info.resolution) = (Some(end), Resolution::MICROSECOND);
    if tagged {
        info.options.tags.insert(PAIR_TAG.into(), pair.to_string());
        info.options.tags.insert(SIDE_TAG.into(), side.into());
    }
    Measured::new(&StoredRun::new(info, table), &View::default()).unwrap()
}

/// What came of some experiments.
#[derive(Default, Clone, Copy)]
struct Called {
    /// Throughput is called by pairs, and it alone decides.
    pairs: Share,
    /// Any figure is called by pairs, and all decide.
    any: Share,
    /// Throughput is called by pairs that may stop early.
    early: Share,
    /// The number of pairs measured until then.
    measured: Share,
    /// Throughput is called by the same runs as repeats.
    repeats: Share,
    /// One run has a throughput below 90 % of that of another.
    threshold: Share,
    /// One run is beyond the 99 % of a t test against a history.
    history: Share,
}

impl Called {
    fn merged(self, other: Self) -> Self {
        Self {
            pairs: self.pairs.merged(other.pairs),
            any: self.any.merged(other.any),
            early: self.early.merged(other.early),
            measured: self.measured.merged(other.measured),
            repeats: self.repeats.merged(other.repeats),
            threshold: self.threshold.merged(other.threshold),
            history: self.history.merged(other.history),
        }
    }
}

fn is_called(change: &Change) -> bool {
    matches!(change.outcome, Outcome::Shown(_))
}

fn throughput(a: &[Measured], b: &[Measured]) -> Change {
    let side = |runs: &[Measured]| Side::of(runs.to_vec());
    compare_sides(&side(a), &[side(b)], &[Measure::Throughput]).swap_remove(0)
}

fn experiment(design: Design, times: f64, seed: u64) -> Called {
    let mut dice = Dice::new(seed);
    let mut machine = Machine::new(design, &mut dice);
    let (mut a, mut b, mut start) = (Vec::new(), Vec::new(), 0);
    for _ in 0..PAIRS {
        let first = machine.seconds(&mut dice);
        let is_a_first = dice.uniform() < 0.5;
        let second = if design.duets { first.clone() } else { machine.seconds(&mut dice) };
        let (of_a, of_b) = if is_a_first { (first, second) } else { (second, first) };
        let length = LASTING.0 + LASTING.1;
        let (at_a, at_b) = match (design.duets, is_a_first) {
            (true, _) => (start, start),
            (_, true) => (start, start + length),
            (_, false) => (start + length, start),
        };
        start += if design.duets { length } else { 2 * length };
        a.push((run(&mut dice, &of_a, 1.0), at_a));
        b.push((run(&mut dice, &of_b, times), at_b));
    }
    let of = |runs: &[(Vec<u64>, usize)], side: &str, tagged| -> Vec<Measured> {
        let one = |(pair, (seconds, start)): (usize, &(Vec<u64>, usize))| {
            measured(seconds, pair, side, *start, tagged)
        };
        runs.iter().enumerate().map(one).collect()
    };
    let (of_a, of_b) = (of(&a, "old", true), of(&b, "new", true));
    let (left_a, left_b) = (of(&a, "old", false), of(&b, "new", false));
    let (stop, is_early) = stopped(&of_a, &of_b);
    let all = compare_sides(&Side::of(of_a.clone()), &[Side::of(of_b.clone())], &[]);
    // Runs of a history are far from each other, and so is the one that is tested.
    let mut far = |times: f64| {
        let machine = Machine::new(design, &mut dice).seconds(&mut dice);
        mean(&run(&mut dice, &machine, times))
    };
    let history: Vec<f64> = (0..HISTORY).map(|_| far(1.0)).collect();
    let (level, new) = (history.iter().sum::<f64>() / HISTORY as f64, far(times));
    let variance = history.iter().map(|value| (value - level).powi(2)).sum::<f64>() / (HISTORY as f64 - 1.0);
    // The two-sided 99 % of Student's t with 63 degrees of freedom.
    let limit = 2.656 * (variance * (1.0 + 1.0 / HISTORY as f64)).sqrt();
    Called {
        pairs: Share::of(is_called(&throughput(&of_a, &of_b))),
        any: Share::of(all.iter().any(is_called)),
        early: Share::of(is_early),
        measured: Share { count: u64::from(stop), all: 1 },
        repeats: Share::of(is_called(&throughput(&left_a, &left_b))),
        threshold: Share::of(new < 0.9 * history[0]),
        history: Share::of((new - level).abs() > limit),
    }
}

/// Looks after some pairs; returns the number at which the experiment stops, and true if a change is shown.
fn stopped(a: &[Measured], b: &[Measured]) -> (u32, bool) {
    for (look, level) in LOOKS.into_iter().zip(stopping_levels(&LOOKS)) {
        let change = throughput(&a[..look as usize], &b[..look as usize]);
        if change.p.is_some_and(|p| p < level) {
            return (look, true);
        }
    }
    (LOOKS[LOOKS.len() - 1], false)
}

fn experiments(design: Design, times: f64, first: u64, count: u64) -> Called {
    let one = |at| experiment(design, times, first.wrapping_add(at));
    (0..count).into_par_iter().map(one).reduce(Called::default, Called::merged)
}

/// Prints the table, with so many experiments of equal versions in the designs of which something is promised, and says whether
/// all is as it must be.
fn table(first: u64, equal: u64) -> bool {
    println!("\nseeds from {first} on\n");
    println!(
        "| pairs | truth | experiments | within pairs | any of all figures | stopping early | pairs until then | same runs as repeats | threshold of 10 % | t test, history of 64 |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut holds = true;
    for (at, design) in designs().into_iter().enumerate() {
        let equal = if at < 2 { equal } else { equal / 10 };
        for (times, count) in [(1.0, equal), (SLOWER, 1000.min(equal))] {
            let found = experiments(design, times, first, count);
            let percent = |share: Share| format!("{:.2} %", share.ratio() * 100.0);
            let row = [found.pairs, found.any, found.early].map(percent).join(" | ");
            let others = [found.repeats, found.threshold, found.history].map(percent).join(" | ");
            let truth = if times < 1.0 { "3 % slower" } else { "equal" };
            let until = found.measured.ratio();
            println!("| {} | {truth} | {count} | {row} | {until:.1} | {others} |", design.name);
            // Noise that changes much from run to run is not what pairs in turn are for.
            if at > 2 && (times < 1.0 || design.memory == 0.98) {
                continue;
            }
            holds &= match times < 1.0 {
                true => [found.pairs, found.early]
                    .iter()
                    .all(|share| share.count as f64 >= at_least(0.9, count, CHANCE)),
                false => [found.pairs, found.any, found.early]
                    .iter()
                    .all(|share| share.count as f64 <= at_most(0.01, count, CHANCE)),
            };
        }
    }
    holds
}

#[test]
fn pairs_call_what_differs_and_nothing_else() {
    for design in designs().into_iter().take(2) {
        let equal = experiments(design, 1.0, 1, 100);
        assert!(equal.pairs.count as f64 <= at_most(0.01, 100, CHANCE), "{}: {}", design.name, equal.pairs);
        let slower = experiments(design, SLOWER, 1, 30);
        assert!(slower.pairs.count as f64 >= at_least(0.9, 30, CHANCE), "{}: {}", design.name, slower.pairs);
    }
}

/// Fixed seeds, and a fresh set that nobody tuned anything by.
#[test]
#[ignore = "minutes: .ci/long truth"]
fn rates_of_pairs() {
    let fixed = table(9000, 10_000);
    let fresh = table(fastrand::u64(..) >> 16, 2000);
    assert!(fixed && fresh, "see the tables above");
}
