//! How often the interval of a capacity contains the true one: of queues whose response times theory knows, under open and
//! closed loads, in sweeps of several runs and in stepped runs.

use perfpipe_analyze::{Capacity, CapacitySubject, LevelAxis, LoadRun, Objective, View};
use perfpipe_ingest::counts::CellTable;
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::dice::Dice;
use crate::share::{CHANCE, Share, at_most};
use crate::system::{Fault, Load, Shape, System};

/// The share of intervals that may miss.
const MISSED: f64 = 0.05;

/// How the levels are measured.
#[derive(Clone, Copy, PartialEq)]
enum Design {
    /// A run for each rate, of requests that come by chance.
    Rates,
    /// The same, three repeats of each.
    Repeats,
    /// One run whose rate is raised in steps.
    Stepped,
    /// A run for each number of clients that wait for their answers and think for half a second.
    Clients,
    /// One run with more and more of these clients.
    SteppedClients,
}

impl Design {
    fn is_closed(self) -> bool {
        matches!(self, Self::Clients | Self::SteppedClients)
    }
}

/// A queue, what is asked of it, and how it is measured.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    design: Design,
    servers: usize,
    /// The mean time that a server takes, ms.
    service: f64,
    shape: Shape,
    failing: f64,
    /// The time and the share of the objective.
    within: f64,
    share: f64,
    /// How many times the load of a level is that of the one below.
    step: f64,
    /// The length of a level, s.
    lasting: f64,
}

const ONE: Case = Case {
    name: "M/M/1, open",
    design: Design::Rates,
    servers: 1,
    service: 20.0,
    shape: Shape::Exponential,
    failing: 0.0,
    within: 200.0,
    share: 0.95,
    step: 1.15,
    lasting: 60.0,
};
const THINK: f64 = 0.5;

fn cases() -> Vec<Case> {
    let many = Case { name: "M/M/4, open", servers: 4, within: 100.0, share: 0.99, ..ONE };
    let closed = Case { name: "M/M/1, closed", design: Design::Clients, within: 100.0, ..ONE };
    vec![
        ONE,
        Case { name: "M/M/1, open, 300 s", lasting: 300.0, ..ONE },
        Case { name: "M/M/1, open, 99 % in 300 ms", share: 0.99, within: 300.0, ..ONE },
        Case { name: "M/M/1, open, coarse", step: 1.5, ..ONE },
        Case { name: "M/M/1, open, fine", step: 1.06, lasting: 300.0, ..ONE },
        Case { name: "M/M/1, open, three repeats", design: Design::Repeats, ..ONE },
        Case { name: "M/M/1, open, 3 % fail", failing: 0.03, ..ONE },
        Case { name: "M/M/1, stepped", design: Design::Stepped, ..ONE },
        many,
        Case { name: "M/M/16, open", servers: 16, within: 120.0, ..many },
        Case { name: "M/M/16, stepped", servers: 16, within: 120.0, design: Design::Stepped, ..many },
        Case { name: "M/D/1, open", shape: Shape::Constant, within: 100.0, ..ONE },
        Case { name: "M/lognormal(1)/1, open", shape: Shape::Lognormal(1.0), within: 300.0, ..ONE },
        Case { name: "M/Pareto(2.5)/1, open", shape: Shape::Pareto(2.5), within: 300.0, ..ONE },
        closed,
        Case { name: "M/M/4, closed", servers: 4, share: 0.99, ..closed },
        Case { name: "M/M/16, closed", servers: 16, within: 80.0, ..closed },
        Case { name: "M/M/1, closed, stepped", design: Design::SteppedClients, ..closed },
        Case { name: "M/M/1, closed, 120 s, coarse", lasting: 120.0, step: 1.5, ..closed },
    ]
}

/// The chance that an answer comes within `within` s, for each number of requests that a new one finds before itself: it
/// waits for so many of them to leave as are needed for a server to be free, each in an exponential time.
fn within_by_found(servers: usize, rate: f64, within: f64) -> Vec<f64> {
    const PARTS: usize = 400;
    let (all, step) = (servers as f64 * rate, within / PARTS as f64);
    let mut found = vec![1.0 - (-rate * within).exp(); servers];
    // The density of the waiting time for so many to leave, at the middle of each part of the time.
    let at = |part: usize| (part as f64 + 0.5) * step;
    let mut density: Vec<f64> = (0..PARTS).map(|part| all * (-all * at(part)).exp()).collect();
    for leaving in 1..2000 {
        let answered = |part: usize| 1.0 - (-rate * (within - at(part))).exp();
        let chance = density.iter().enumerate().map(|(part, density)| density * answered(part) * step).sum();
        found.push(chance);
        if chance < 1e-12 {
            break;
        }
        density.iter_mut().enumerate().for_each(|(part, density)| {
            *density *= all * at(part) / f64::from(leaving);
        });
    }
    found
}

/// The chances of so many requests in a system, from the rates at which one more comes.
fn in_system(servers: usize, rate: f64, most: usize, coming: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut chances = vec![1.0];
    for before in 0..most {
        let leaving = (before + 1).min(servers) as f64 * rate;
        chances.push(chances[before] * coming(before) / leaving);
    }
    let all: f64 = chances.iter().sum();
    chances.iter().map(|chance| chance / all).collect()
}

fn expected(chances: &[f64], values: &[f64]) -> f64 {
    chances.iter().zip(values).map(|(chance, value)| chance * value).sum()
}

/// The distribution function of the standard normal distribution (Abramowitz and Stegun 1964, 26.2.17).
fn normal_below(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = series.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    let above = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum;
    if x >= 0.0 { 1.0 - above } else { above }
}

impl Case {
    /// The share of the service times that are up to so many seconds.
    fn served_within(&self, time: f64) -> f64 {
        let mean = self.service / 1000.0;
        if time <= 0.0 {
            return 0.0;
        }
        match self.shape {
            Shape::Constant => f64::from(time >= mean),
            Shape::Exponential => 1.0 - (-time / mean).exp(),
            Shape::Lognormal(sigma) => normal_below(((time / mean).ln() + sigma * sigma / 2.0) / sigma),
            Shape::Pareto(alpha) => {
                let least = mean * (alpha - 1.0) / alpha;
                if time < least { 0.0 } else { 1.0 - (least / time).powf(alpha) }
            }
            Shape::Bimodal { .. } => unreachable!("no case has it"),
        }
    }

    /// The share of the requests that are answered in time by one server, at some rate of requests: by the formula of
    /// Pollaczek and Khinchine, a wait is a sum of residual service times, whose number is geometric.
    fn of_one_server(&self, rate: f64) -> f64 {
        const PARTS: usize = 600;
        let (mean, within) = (self.service / 1000.0, self.within / 1000.0);
        let (busy, step) = (rate * mean, within / PARTS as f64);
        let residual: Vec<f64> = (0..PARTS)
            .map(|part| (1.0 - self.served_within((part as f64 + 0.5) * step)) / mean * step)
            .collect();
        // The chance that the wait lies in each part of the time; that of no wait stands before.
        let mut waits: Vec<f64> = Vec::with_capacity(PARTS);
        for part in 0..PARTS {
            let sums: f64 = (0..part).map(|at| waits[at] * residual[part - 1 - at]).sum();
            waits.push(busy * ((1.0 - busy) * residual[part] + sums));
        }
        let answered = |part: usize| self.served_within(within - (part as f64 + 0.5) * step);
        let waiting: f64 = waits.iter().enumerate().map(|(part, wait)| wait * answered(part)).sum();
        (1.0 - busy) * self.served_within(within) + waiting
    }

    /// The true capacity, in successes a second, and the number of clients at it.
    fn truth(&self) -> (f64, f64) {
        let (rate, within) = (1000.0 / self.service, self.within / 1000.0);
        let required = self.share / (1.0 - self.failing);
        if self.design.is_closed() {
            let by_found = within_by_found(self.servers, rate, within);
            let of = |clients: usize| {
                let coming = |clients: usize| move |inside: usize| (clients - inside) as f64 / THINK;
                // A request finds what there is with one client less.
                let seen = in_system(self.servers, rate, clients - 1, coming(clients - 1));
                let inside = in_system(self.servers, rate, clients, coming(clients));
                let busy: Vec<f64> =
                    (0..=clients).map(|inside| inside.min(self.servers) as f64 * rate).collect();
                (expected(&seen, &by_found), expected(&inside, &busy))
            };
            let last = (1..5000).take_while(|clients| of(*clients).0 >= required).last().unwrap();
            return (of(last).1 * (1.0 - self.failing), last as f64);
        }
        let of = |coming: f64| match self.shape {
            Shape::Exponential => {
                let by_found = within_by_found(self.servers, rate, within);
                expected(&in_system(self.servers, rate, 3000, |_| coming), &by_found)
            }
            _ => self.of_one_server(coming),
        };
        let (mut low, mut high) = (0.0, self.servers as f64 * rate * 0.999);
        for _ in 0..24 {
            let middle = f64::midpoint(low, high);
            if of(middle) >= required { low = middle } else { high = middle }
        }
        (low * (1.0 - self.failing), low)
    }

    fn system(&self, load: Load) -> System {
        System {
            lasting: self.lasting,
            load,
            servers: self.servers,
            service: self.service,
            shape: self.shape,
            failing: self.failing,
            resolution: Resolution::MICROSECOND,
            ..System::default()
        }
    }

    /// The runs of a sweep around this load, whose levels lie by chance.
    fn runs(&self, load: f64, dice: &mut Dice) -> Vec<StoredRun> {
        let offset = dice.uniform();
        let loads: Vec<f64> = (-4..4).map(|at| load * self.step.powf(f64::from(at) + offset)).collect();
        let mut seed = || (dice.uniform() * 1e15) as u64;
        let of_rate = |rate: f64, seed: u64| self.system(Load::Open { rate }).run(seed);
        let mut clients: Vec<usize> = loads.iter().map(|load| load.round().max(1.0) as usize).collect();
        clients.dedup();
        let closed = |clients: usize, seed: u64| {
            self.system(Load::Closed { injectors: 1, clients, think: THINK, ramp: 0.0 }).run(seed)
        };
        match self.design {
            Design::Rates => loads.iter().map(|rate| of_rate(*rate, seed())).collect(),
            Design::Repeats => {
                loads.iter().flat_map(|rate| [*rate; 3]).map(|rate| of_rate(rate, seed())).collect()
            }
            Design::Stepped => {
                let steps = (1..loads.len())
                    .map(|at| Fault::Fewer { from: self.lasting * at as f64, share: self.step });
                let system = self.system(Load::Open { rate: loads[0] });
                let lasting = self.lasting * loads.len() as f64;
                vec![System { lasting, faults: steps.collect(), ..system }.run(seed())]
            }
            Design::Clients => clients.iter().map(|clients| closed(*clients, seed())).collect(),
            Design::SteppedClients => {
                let runs: Vec<StoredRun> = clients.iter().map(|clients| closed(*clients, seed())).collect();
                vec![one_after_another(&runs, self.lasting as u32)]
            }
        }
    }
}

/// One run of several, each of which begins so many seconds after the one before.
fn one_after_another(runs: &[StoredRun], lasting: u32) -> StoredRun {
    let mut cells = Vec::new();
    for (place, run) in (0..).zip(runs) {
        for cell in run.cells.between(0, u32::MAX) {
            let (mut key, cell) = cell.unwrap();
            // What begins in the second that is cut belongs to the next level.
            if key.second < lasting {
                key.second += place * lasting;
                cells.push((key, cell));
            }
        }
    }
    let t0_ms = runs[0].info.t0_ms;
    let last = t0_ms + i64::from(lasting) * 1000 * runs.len() as i64 - 1;
    let mut info = RunInfo::new(RunKey::new("simulated", "system"), t0_ms, last);
    info.resolution = runs[0].info.resolution;
    let names = (runs[0].cells.labels.clone(), runs[0].cells.injectors.clone());
    StoredRun::new(info, CellTable::new(names.0, names.1, cells))
}

/// What came of some sweeps.
#[derive(Default, Clone, Copy)]
struct Found {
    contained: Share,
    /// The interval begins above the truth, and ends below it.
    above: Share,
    below: Share,
    two_sided: Share,
    /// Sums over the sweeps with both ends and an estimate: of the width and of the error, as shares of the truth.
    width: f64,
    error: f64,
    estimates: u64,
    /// The levels differ by what the load does.
    axis: Share,
}

impl Found {
    fn of(capacity: &Capacity, truth: f64, axis: LevelAxis) -> Self {
        let (above, below) =
            (capacity.low.is_some_and(|low| low > truth), capacity.high.is_some_and(|high| high < truth));
        let both = capacity.low.zip(capacity.high);
        Self {
            contained: Share::of(!above && !below),
            above: Share::of(above),
            below: Share::of(below),
            two_sided: Share::of(both.is_some()),
            width: both.map_or(0.0, |(low, high)| (high - low) / truth),
            error: capacity.estimate.map_or(0.0, |estimate| (estimate / truth - 1.0).abs()),
            estimates: u64::from(capacity.estimate.is_some()),
            axis: Share::of(capacity.axis == axis),
        }
    }

    fn merged(self, other: Self) -> Self {
        Self {
            contained: self.contained.merged(other.contained),
            above: self.above.merged(other.above),
            below: self.below.merged(other.below),
            two_sided: self.two_sided.merged(other.two_sided),
            width: self.width + other.width,
            error: self.error + other.error,
            estimates: self.estimates + other.estimates,
            axis: self.axis.merged(other.axis),
        }
    }
}

fn found(case: Case, first: u64, sweeps: u64) -> Found {
    let (truth, load) = case.truth();
    let objective = format!("within {}ms >= {}%", case.within, case.share * 100.0);
    let objectives: [Objective; 1] = [objective.parse().unwrap()];
    let axis = if case.design.is_closed() { LevelAxis::Concurrency } else { LevelAxis::Rate };
    let sweep = |at: u64| {
        let mut dice = Dice::new(first.wrapping_add(at).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let count = |run: &StoredRun| LoadRun::new(run, &View::of(&run.info), &objectives).unwrap();
        let runs: Vec<LoadRun> = case.runs(load, &mut dice).iter().map(count).collect();
        let subject = CapacitySubject::new("simulated", "jmeter");
        Found::of(&Capacity::of(subject, &runs, &[], &objectives, None), truth, axis)
    };
    (0..sweeps).into_par_iter().map(sweep).reduce(Found::default, Found::merged)
}

/// Prints the table, and says whether all is as it must be.
fn table(first: u64, sweeps: u64) -> bool {
    println!("\nseeds from {first} on\n");
    println!(
        "| system | objective | levels | true capacity | sweeps | interval contains it | begins above it | ends below it | has both ends | mean width | mean error of the estimate |"
    );
    println!("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut holds = true;
    for case in cases() {
        let (truth, _) = case.truth();
        let found = found(case, first, sweeps);
        let percent = |share: Share| format!("{:.1} %", share.ratio() * 100.0);
        println!(
            "| {} | within {} ms ≥ {} % | × {}, {} s | {truth:.1}/s | {sweeps} | {} | {} | {} | {} | {:.0} % | {:.1} % |",
            case.name,
            case.within,
            case.share * 100.0,
            case.step,
            case.lasting,
            percent(found.contained),
            percent(found.above),
            percent(found.below),
            percent(found.two_sided),
            100.0 * found.width / found.two_sided.count.max(1) as f64,
            100.0 * found.error / found.estimates.max(1) as f64,
        );
        let missed = sweeps - found.contained.count;
        holds &= missed as f64 <= at_most(MISSED, sweeps, CHANCE);
        holds &= found.axis.ratio() >= 0.95;
    }
    holds
}

#[test]
fn share_that_is_answered_in_time_is_that_of_theory() {
    // With one server the time in the system is exponential, of the rate μ − λ.
    let by_found = within_by_found(1, 50.0, 0.2);
    let share = expected(&in_system(1, 50.0, 3000, |_| 35.0), &by_found);
    assert!((share - (1.0 - (-15.0_f64 * 0.2).exp())).abs() < 1e-4, "{share}");
    assert!((ONE.of_one_server(35.0) - share).abs() < 2e-3);
    let (truth, _) = ONE.truth();
    assert!((truth - (50.0 + 0.05_f64.ln() / 0.2)).abs() < 0.02, "{truth}");
    // And it is that of the simulation.
    for case in [
        ONE,
        Case { servers: 4, within: 100.0, ..ONE },
        Case { shape: Shape::Constant, within: 100.0, ..ONE },
    ] {
        let (truth, load) = case.truth();
        let system = System { lasting: 2000.0, ..case.system(Load::Open { rate: load }) };
        let run = system.run(3);
        let within = |(time, _): &&(i32, u64)| f64::from(*time) <= case.within * 1000.0;
        let count = |cell: &[(i32, u64)]| cell.iter().filter(within).map(|(_, samples)| samples).sum::<u64>();
        let good: u64 = run.cells.between(0, u32::MAX).map(|cell| count(&cell.unwrap().1.elapsed)).sum();
        let share = good as f64 / run.info.successes as f64;
        assert!((share - case.share).abs() < 0.02, "{}: {share} at {truth}", case.name);
    }
}

#[test]
fn interval_of_a_capacity_contains_the_true_one() {
    let all = cases();
    let of = |name: &str| *all.iter().find(|case| case.name == name).unwrap();
    for name in ["M/M/1, open", "M/M/1, stepped", "M/M/1, closed", "M/M/1, closed, stepped"] {
        let found = found(of(name), 1, 40);
        let missed = 40 - found.contained.count;
        assert!(missed as f64 <= at_most(MISSED, 40, CHANCE), "{name}: {}", found.contained);
        assert!(found.axis.ratio() >= 0.95, "{name}: {}", found.axis);
        // An interval that is open would contain all.
        assert!(found.two_sided.ratio() >= 0.25, "{name}: {}", found.two_sided);
    }
}

/// Fixed seeds, and a fresh set that nobody tuned anything by.
#[test]
#[ignore = "minutes: .ci/long truth"]
fn rates_of_capacities() {
    let sweeps = std::env::var("PERFPIPE_SWEEPS").map_or(400, |text| text.parse().unwrap());
    let fixed = table(7000, sweeps);
    let fresh = std::env::var_os("PERFPIPE_FIXED_ONLY").is_some() || table(fastrand::u64(..) >> 16, sweeps);
    assert!(fixed && fresh, "see the tables above");
}
