//! Systems under load, simulated: clients who ask, wait and think, or requests that come by chance, before servers that
//! take their time, and the faults that are planted in them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use perfpipe_ingest::counts::{Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LabelCount, Spread};
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};

use crate::dice::Dice;

/// The epoch second in which every run begins.
const BEGIN: i64 = 1_700_000_000;

/// A system and the load on it. Times are in seconds, but for `service` (ms).
#[derive(Debug, Clone)]
pub(crate) struct System {
    /// How long requests are sent.
    pub(crate) lasting: f64,
    pub(crate) load: Load,
    /// Servers, each of which serves one request at a time; 0 for as many as there are requests.
    pub(crate) servers: usize,
    /// The mean time that a server takes for a request, ms.
    pub(crate) service: f64,
    pub(crate) shape: Shape,
    /// The share of the requests that fail.
    pub(crate) failing: f64,
    /// How the time that servers take wanders from second to second, and, of an open load, how its rate does.
    pub(crate) wander: Option<Wander>,
    pub(crate) faults: Vec<Fault>,
    /// The unit in which times are logged.
    pub(crate) resolution: Resolution,
    /// Readings of the CPU: one a second, of the busy servers in percent of one core each; none with 0 servers.
    pub(crate) cpu: bool,
}

/// Who sends requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Load {
    /// So many clients on each of some injectors: each asks, waits for the answer, thinks (exponential, this mean) and
    /// asks again. They begin one after another over `ramp`.
    Closed { injectors: usize, clients: usize, think: f64, ramp: f64 },
    /// So many clients, each of which asks for a page and its parts one after another, thinks (`think`, more or less by up
    /// to this share of it) and asks again. All begin at once.
    Pages { clients: usize, parts: usize, think: f64, spread: f64 },
    /// Requests that come by chance, so many a second on average, whether or not earlier ones were answered.
    Open { rate: f64 },
    /// Requests at equal distances, so many a second, whether or not earlier ones were answered.
    Paced { rate: f64 },
}

/// How the times that servers take are distributed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Constant,
    Exponential,
    /// With this deviation of the logarithm.
    Lognormal(f64),
    /// With this exponent, above 1.
    Pareto(f64),
    /// So large a share takes so many times as long as the others, all of them spread a little.
    Bimodal {
        share: f64,
        times: f64,
    },
}

/// A factor that wanders: the exponential of an AR(1) process a second, exp(x), x = ρ·x + √(1−ρ²)·N(0, sd).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wander {
    pub(crate) correlation: f64,
    pub(crate) deviation: f64,
}

/// What is planted in a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// No server does anything for a while.
    Stall { at: f64, lasting: f64 },
    /// The same, again and again, from this second on.
    Stalls { from: f64, every: f64, lasting: f64 },
    /// Servers take so many times as long from this second on.
    Slower { from: f64, times: f64 },
    /// Servers take so many times as long from one second to another.
    SlowerFor { from: f64, until: f64, times: f64 },
    /// Servers take so many times as long at the beginning, which fades exponentially.
    Fading { times: f64, over: f64 },
    /// So large a share of the requests gets no answer, and fails after so many seconds.
    TimeOuts { share: f64, after: f64 },
    /// Clients send nothing for a while, and none of their requests waits: they paused, or their clock was set.
    Silence { at: f64, lasting: f64 },
    /// Servers take ever longer, at the end so many times as long as at the beginning.
    Drift { times: f64 },
    /// Servers take so many times as long at the beginning, and ever less of it, until this second.
    WarmUp { until: f64, times: f64 },
    /// One injector's requests take so many times as long.
    SlowInjector { injector: usize, times: f64 },
    /// One injector's clock goes wrong by so many seconds.
    Skew { injector: usize, by: f64 },
    /// Clients go on, or the rate does, at this share of what it was.
    Fewer { from: f64, share: f64 },
    /// Clients leave one by one from one second to another.
    Leaving { from: f64, until: f64 },
    /// So large a share of the requests takes so many times as long from this second on.
    Tail { from: f64, share: f64, times: f64 },
    /// All requests of a while fail.
    Failing { at: f64, lasting: f64 },
}

/// One request as it was logged, in microseconds.
struct Request {
    start: u64,
    end: u64,
    injector: usize,
    threads: usize,
    success: bool,
}

impl Default for System {
    /// 20 clients without think time before four servers that take 20 ms, for a minute.
    fn default() -> Self {
        Self {
            lasting: 60.0,
            load: Load::Closed { injectors: 1, clients: 20, think: 0.0, ramp: 0.0 },
            servers: 4,
            service: 20.0,
            shape: Shape::Exponential,
            failing: 0.0,
            wander: None,
            faults: Vec::new(),
            resolution: Resolution::MILLISECOND,
            cpu: false,
        }
    }
}

impl System {
    /// What a test of it leaves in a store, by chance of a seed.
    pub(crate) fn run(&self, seed: u64) -> StoredRun {
        let mut dice = Dice::new(seed);
        let requests = Simulation::new(self, &mut dice).requests(&mut dice);
        self.stored(&requests)
    }

    fn injectors(&self) -> usize {
        match self.load {
            Load::Closed { injectors, .. } => injectors,
            Load::Pages { .. } | Load::Open { .. } | Load::Paced { .. } => 1,
        }
    }

    /// A request's start and end by the injector's clock, µs from the run's true begin.
    fn stamps(&self, request: &Request) -> (i64, i64) {
        let start = request.start as f64 / 1e6;
        let late = self.faults.iter().fold(start, |now, fault| fault.delayed(now)) - start;
        let by: f64 = self.faults.iter().map(|fault| fault.skew(request.injector)).sum();
        let by = ((by + late) * 1e6) as i64;
        (request.start as i64 + by, request.end as i64 + by)
    }

    /// The counts of these requests.
    fn stored(&self, requests: &[Request]) -> StoredRun {
        // Stamps are whole ms; elapsed is the difference of two.
        let stamps = |request| {
            let (start, end) = self.stamps(request);
            (start.div_euclid(1000), end.div_euclid(1000))
        };
        let first = requests.iter().map(|request| stamps(request).0).min().unwrap_or_default();
        let last = requests.iter().map(|request| stamps(request).0).max().unwrap_or_default();
        let t0_ms = BEGIN * 1000 + first;
        let mut counts: BTreeMap<(u32, bool), Counts> = BTreeMap::new();
        for request in requests {
            let (start, end) = stamps(request);
            let t_ms = start - first;
            let second = u32::try_from(t_ms.div_euclid(1000)).unwrap();
            let counts =
                counts.entry((second, request.success)).or_insert_with(|| Counts::of(self.injectors()));
            let before = (t0_ms + t_ms).div_euclid(1000) == t0_ms.div_euclid(1000) + i64::from(second);
            let elapsed = if self.resolution.is_fine() {
                (request.end - request.start) as i64 / i64::from(self.resolution.microseconds())
            } else {
                end - start
            };
            counts.add(request, i32::try_from(elapsed).unwrap(), before);
        }
        let failed = |(second, success): &(u32, bool), counts: &Counts| {
            (!success).then(|| error(*second, counts.elapsed.len() as u64))
        };
        let errors: Vec<ErrorCount> = counts.iter().filter_map(|(key, counts)| failed(key, counts)).collect();
        let cells = counts.into_iter().map(|((second, success), counts)| {
            (CellKey { second, label: 0, success, transaction: false }, counts.cell())
        });
        let names = match self.load {
            Load::Closed { injectors, .. } if injectors > 1 => {
                (1..=injectors).map(|at| format!("10.0.0.{at}")).collect()
            }
            _ => vec![String::new()],
        };
        let cells = CellTable::new(vec!["Get".to_owned()], names, cells.collect::<Vec<_>>());
        let failures: u64 = errors.iter().map(|error| error.count).sum();
        let successes = requests.len() as u64 - failures;
        let mut info = RunInfo::new(RunKey::new("simulated", "system"), t0_ms, BEGIN * 1000 + last);
        (info.successes, info.failures, info.resolution) = (successes, failures, self.resolution);
        let mut run = StoredRun::new(info, cells);
        run.labels = vec![LabelCount { label: "Get".into(), successes, failures, transactions: 0 }];
        (run.cpu, run.errors) = (self.readings(requests), errors);
        run
    }

    /// The share of each second in which servers were busy.
    fn readings(&self, requests: &[Request]) -> TimeSeries {
        if !self.cpu || self.servers == 0 {
            return TimeSeries::default();
        }
        // By Little's law: the time that requests spent in the system, but no more than the servers there are.
        let mut busy: BTreeMap<i64, f64> = BTreeMap::new();
        for request in requests {
            for second in request.start / 1_000_000..=request.end / 1_000_000 {
                let (begin, end) = (second * 1_000_000, (second + 1) * 1_000_000);
                let share = request.end.min(end).saturating_sub(request.start.max(begin));
                *busy.entry(second as i64).or_default() += share as f64 / 1e4;
            }
        }
        let most = 100.0 * self.servers as f64;
        TimeSeries::new(busy.into_iter().map(|(second, busy)| (BEGIN + second, busy.min(most))).collect())
    }
}

impl Fault {
    fn skew(&self, of: usize) -> f64 {
        match self {
            Self::Skew { injector, by } if *injector == of => *by,
            _ => 0.0,
        }
    }

    /// What the time of a request of an injector that is begun now is multiplied by.
    fn factor(&self, now: f64, lasting: f64, of: usize) -> f64 {
        match *self {
            Self::Slower { from, times } if now >= from => times,
            Self::SlowerFor { from, until, times } if (from..until).contains(&now) => times,
            Self::Fading { times, over } => 1.0 + (times - 1.0) * (-now / over).exp(),
            Self::Drift { times } => 1.0 + (times - 1.0) * now / lasting,
            Self::WarmUp { until, times } if now < until => 1.0 + (times - 1.0) * (1.0 - now / until),
            Self::SlowInjector { injector, times } if injector == of => times,
            _ => 1.0,
        }
    }

    /// What the time of a request that is begun now is multiplied by, by chance.
    fn tail(&self, now: f64, dice: &mut Dice) -> f64 {
        match *self {
            Self::Tail { from, share, times } if now >= from && dice.uniform() < share => times,
            _ => 1.0,
        }
    }

    /// How long a request takes that gets no answer, by chance, in seconds.
    fn time_out(&self, dice: &mut Dice) -> Option<f64> {
        match *self {
            Self::TimeOuts { share, after } if dice.uniform() < share => Some(after),
            _ => None,
        }
    }

    /// What a clock shows later that is set forward.
    fn delayed(&self, now: f64) -> f64 {
        match *self {
            Self::Silence { at, lasting } if now >= at => now + lasting,
            _ => now,
        }
    }

    fn fails(&self, now: f64) -> bool {
        matches!(*self, Self::Failing { at, lasting } if (at..at + lasting).contains(&now))
    }

    /// The share of the load that there is now.
    fn share(&self, now: f64) -> f64 {
        match *self {
            Self::Fewer { from, share } if now >= from => share,
            Self::Leaving { from, until } => 1.0 - ((now - from) / (until - from)).clamp(0.0, 1.0),
            _ => 1.0,
        }
    }

    /// The stalls of a run of this length.
    fn stalls(&self, run: f64) -> Vec<(f64, f64)> {
        match *self {
            Self::Stall { at, lasting } => vec![(at, at + lasting)],
            Self::Stalls { from, every, lasting } => {
                let number = ((run - from) / every).max(0.0) as usize;
                (0..number).map(|number| from + every * number as f64).map(|at| (at, at + lasting)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A system at work.
struct Simulation<'a> {
    system: &'a System,
    /// The factor of each second.
    wander: Vec<f64>,
    /// When servers do nothing, ascending.
    stalls: Vec<(f64, f64)>,
    /// When each server is free, µs.
    free: BinaryHeap<Reverse<u64>>,
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

impl<'a> Simulation<'a> {
    fn new(system: &'a System, dice: &mut Dice) -> Self {
        let seconds = system.lasting.ceil() as usize + 1;
        let mut stalls: Vec<(f64, f64)> =
            system.faults.iter().flat_map(|fault| fault.stalls(system.lasting)).collect();
        stalls.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wander = system.wander.map_or(Vec::new(), |wander| wander.factors(seconds, dice));
        Self { system, wander, stalls, free: (0..system.servers).map(|_| Reverse(0)).collect() }
    }

    /// All requests, in the order in which they began.
    fn requests(mut self, dice: &mut Dice) -> Vec<Request> {
        match self.system.load {
            Load::Closed { injectors, clients, think, ramp } => {
                self.closed(dice, injectors, clients, think, ramp)
            }
            Load::Pages { clients, parts, think, spread } => self.pages(dice, clients, parts, think, spread),
            Load::Open { rate } | Load::Paced { rate } => self.open(dice, rate),
        }
    }

    fn closed(
        &mut self,
        dice: &mut Dice,
        injectors: usize,
        clients: usize,
        think: f64,
        ramp: f64,
    ) -> Vec<Request> {
        let begins = |client: usize| ramp * client as f64 / clients as f64;
        // Clients begin within a second of each other's turn, or else all would ask at once.
        let mut asking: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
        for client in 0..clients {
            for injector in 0..injectors {
                let first = begins(client) + dice.uniform() * think.max(self.system.service / 1000.0);
                asking.push(Reverse((micros(first), client, injector)));
            }
        }
        let mut requests = Vec::new();
        while let Some(Reverse((start, client, injector))) = asking.pop() {
            let now = start as f64 / 1e6;
            let share: f64 = self.system.faults.iter().map(|fault| fault.share(now)).product();
            if now >= self.system.lasting || client as f64 >= clients as f64 * share {
                continue;
            }
            let end = self.served(start, injector, dice);
            let then = end as f64 / 1e6;
            // All have begun at once where there is no ramp; counting them for each request takes most of the time.
            let has_begun = |client: &usize| begins(*client) <= then;
            let begun = if ramp > 0.0 { (0..clients).take_while(has_begun).count() } else { clients };
            let threads = begun.min((clients as f64 * share).ceil() as usize);
            requests.push(self.request(start, end, injector, threads, dice));
            let pause = if think > 0.0 { dice.exponential(think) } else { 0.0 };
            asking.push(Reverse((end + micros(pause), client, injector)));
        }
        requests
    }

    fn pages(
        &mut self,
        dice: &mut Dice,
        clients: usize,
        parts: usize,
        think: f64,
        spread: f64,
    ) -> Vec<Request> {
        let mut asking: BinaryHeap<Reverse<(u64, usize, usize)>> =
            (0..clients).map(|client| Reverse((0, client, 1))).collect();
        let mut requests = Vec::new();
        while let Some(Reverse((start, client, part))) = asking.pop() {
            if start as f64 / 1e6 >= self.system.lasting {
                continue;
            }
            let end = self.served(start, 0, dice);
            requests.push(self.request(start, end, 0, clients, dice));
            let is_last = part == parts;
            let pause = if is_last { think * (1.0 + spread * (2.0 * dice.uniform() - 1.0)) } else { 0.0 };
            asking.push(Reverse((end + micros(pause), client, if is_last { 1 } else { part + 1 })));
        }
        requests
    }

    fn open(&mut self, dice: &mut Dice, rate: f64) -> Vec<Request> {
        let mut requests: Vec<Request> = Vec::new();
        // Who is in the system, by when they leave: the threads that such a load takes.
        let mut inside: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        let mut now = 0.0;
        loop {
            let share: f64 = self.system.faults.iter().map(|fault| fault.share(now)).product();
            let distance = 1.0 / (rate * share * self.wandered(now));
            now += match self.system.load {
                Load::Paced { .. } => distance,
                _ => dice.exponential(distance),
            };
            if now >= self.system.lasting {
                return requests;
            }
            let start = micros(now);
            let end = self.served(start, 0, dice);
            while inside.peek().is_some_and(|Reverse(left)| *left <= start) {
                inside.pop();
            }
            inside.push(Reverse(end));
            requests.push(self.request(start, end, 0, inside.len(), dice));
        }
    }

    fn request(&self, start: u64, end: u64, injector: usize, threads: usize, dice: &mut Dice) -> Request {
        let now = start as f64 / 1e6;
        let fails = self.system.faults.iter().any(|fault| {
            fault.fails(now)
                || matches!(*fault, Fault::TimeOuts { after, .. } if end - start >= micros(after))
        });
        let success = !fails && (self.system.failing == 0.0 || dice.uniform() >= self.system.failing);
        Request { start, end, injector, threads, success }
    }

    fn wandered(&self, now: f64) -> f64 {
        self.wander.get(now as usize).copied().unwrap_or(1.0)
    }

    /// When a request that comes now is answered, first come, first served.
    fn served(&mut self, start: u64, injector: usize, dice: &mut Dice) -> u64 {
        let free = self.free.pop().map_or(start, |Reverse(free)| free.max(start));
        let now = free as f64 / 1e6;
        let System { service, shape, lasting, faults, .. } = self.system;
        let time = match *shape {
            Shape::Constant => *service,
            Shape::Exponential => dice.exponential(*service),
            Shape::Lognormal(sigma) => dice.lognormal(*service, sigma),
            Shape::Pareto(alpha) => {
                service * (alpha - 1.0) / alpha * (1.0 - dice.uniform()).powf(-1.0 / alpha)
            }
            Shape::Bimodal { share, times } => {
                let fast = service / (1.0 - share + share * times);
                let mode = if dice.uniform() < share { times * fast } else { fast };
                dice.lognormal(mode, 0.2)
            }
        };
        let factor: f64 = faults.iter().map(|fault| fault.factor(now, *lasting, injector)).product();
        let tail: f64 = faults.iter().map(|fault| fault.tail(now, dice)).product();
        let slower = match self.system.load {
            Load::Closed { .. } | Load::Pages { .. } => self.wandered(now),
            Load::Open { .. } | Load::Paced { .. } => 1.0,
        };
        let work = time / 1000.0 * factor * tail * slower;
        let work = faults.iter().find_map(|fault| fault.time_out(dice)).unwrap_or(work);
        let end = micros(self.done(now, work));
        if self.system.servers > 0 {
            self.free.push(Reverse(end));
        }
        end
    }

    /// When work that is begun is done, stalls left out.
    fn done(&self, mut begin: f64, work: f64) -> f64 {
        let mut left = work;
        for (stall, over) in &self.stalls {
            if *over <= begin {
                continue;
            }
            let before = (stall - begin).max(0.0);
            if before >= left {
                break;
            }
            left -= before;
            begin = *over;
        }
        begin + left
    }
}

impl Wander {
    fn factors(self, seconds: usize, dice: &mut Dice) -> Vec<f64> {
        let Self { correlation, deviation } = self;
        let mut x = deviation * dice.normal();
        let mut next = || {
            let now = x;
            x = correlation * x + (1.0 - correlation * correlation).sqrt() * deviation * dice.normal();
            now.exp()
        };
        (0..seconds).map(|_| next()).collect()
    }
}

/// The counts of a cell while they come in.
struct Counts {
    elapsed: Vec<i32>,
    before_boundary: u64,
    loads: Vec<InjectorLoad>,
}

impl Counts {
    fn of(injectors: usize) -> Self {
        let load = |injector| InjectorLoad { injector, samples: 0, threads: 0 };
        Self { elapsed: Vec::new(), before_boundary: 0, loads: (0..injectors as u32).map(load).collect() }
    }

    fn add(&mut self, request: &Request, elapsed: i32, before: bool) {
        self.elapsed.push(elapsed);
        self.before_boundary += u64::from(before);
        let load = &mut self.loads[request.injector];
        load.samples += 1;
        load.threads += request.threads as i64;
    }

    fn cell(mut self) -> Cell {
        self.elapsed.sort_unstable();
        let runs = self.elapsed.chunk_by(|a, b| a == b);
        let elapsed: Vec<(i32, u64)> = runs.map(|run| (run[0], run.len() as u64)).collect();
        let sum = self.elapsed.iter().map(|ms| i64::from(*ms)).sum();
        let (min, max) = (elapsed[0].0, elapsed[elapsed.len() - 1].0);
        self.loads.retain(|load| load.samples > 0);
        Cell {
            latency: Spread { n: self.elapsed.len() as u64, sum, min, max },
            elapsed,
            before_boundary: self.before_boundary,
            injectors: self.loads,
            ..Cell::default()
        }
    }
}

fn error(second: u32, count: u64) -> ErrorCount {
    let (label, code, message) = (Arc::from("Get"), Arc::from("500"), Arc::from("Internal Server Error"));
    ErrorCount { second, label, response_code: code, message, transaction: false, count }
}

/// The throughput of so many clients before one server, both times exponential, by mean value analysis (Reiser and
/// Lavenberg, "Mean-value analysis of closed multichain queuing networks", 1980), in requests a second.
fn mean_value_analysis(clients: usize, service: f64, think: f64) -> f64 {
    let (mut queue, mut throughput) = (0.0, 0.0);
    for clients in 1..=clients {
        let response = service * (1.0 + queue);
        throughput = clients as f64 / (response + think);
        queue = throughput * response;
    }
    throughput
}

#[test]
fn closed_loop_keeps_to_theory() {
    for (clients, think) in [(1, 0.0), (3, 0.05), (10, 0.2), (40, 0.2)] {
        let load = Load::Closed { injectors: 1, clients, think, ramp: 0.0 };
        let system = System { lasting: 600.0, load, servers: 1, service: 10.0, ..System::default() };
        let found = system.run(1).info.successes as f64 / 600.0;
        let expected = mean_value_analysis(clients, 0.010, think);
        assert!((found / expected - 1.0).abs() < 0.03, "{clients} clients: {found} for {expected}");
    }
}

#[test]
fn requests_come_at_their_rate_and_stalls_hold_them_up() {
    let load = Load::Open { rate: 50.0 };
    let faults = vec![Fault::Stall { at: 100.0, lasting: 2.0 }];
    let system =
        System { lasting: 200.0, load, servers: 0, faults, shape: Shape::Constant, ..System::default() };
    let run = system.run(3);
    assert!((run.info.successes as f64 - 10_000.0).abs() < 400.0);
    let longest = run.cells.sums().map(|cell| cell.unwrap().1.latency.max).max().unwrap();
    assert!((1_950..=2_020).contains(&longest), "{longest}");
}

#[test]
fn same_seed_is_the_same_run() {
    let wander = Some(Wander { correlation: 0.9, deviation: 0.05 });
    let load = Load::Closed { injectors: 3, clients: 10, think: 0.1, ramp: 5.0 };
    let system = System { load, wander, failing: 0.05, cpu: true, ..System::default() };
    assert_eq!(system.run(5), system.run(5));
    assert!(system.run(5) != system.run(6));
}
