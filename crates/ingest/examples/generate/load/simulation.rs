//! Simulates the threads: when each starts, how long its requests take, and when it stops.

use std::io::{self, Write};

use super::log::{Group, Log, Sample};
use super::outcome::{Outcomes, Timing};
use super::random::{Random, Times};
use super::wheel::Wheel;
use super::{Plan, Tally};

/// The number of requests in a transaction.
const CHILDREN: u32 = 3;
/// The load, as a fraction of all threads, beyond which more threads only make each request slower.
const KNEE: f64 = 0.5;
/// The client's timeout, as a multiple of the mean response time.
const PATIENCE: f64 = 8.0;
/// The factor by which a refused client returns sooner than a served one during an outage.
const HASTE: f64 = 3.0;
/// The time in ms by which the other threads start after an unusually slow first request.
const HEAD_START: i64 = 250;

/// A client with its current request.
#[derive(Debug, Clone, Default)]
struct Thread {
    sample: Option<Sample>,
    /// The index of the next label.
    label: u32,
    group: Group,
    started: bool,
}

struct Simulation<'a, W> {
    plan: &'a Plan,
    outcomes: Outcomes,
    times: Times,
    random: Random,
    wheel: Wheel,
    threads: Vec<Thread>,
    log: Log<'a, W>,
    /// The mean response time with all threads active, in ms.
    mean: f64,
    active: u32,
    /// The number of records that may still be started.
    left: u64,
}

/// Writes the log of a plan and returns its content.
pub(crate) fn write_log(plan: &Plan, out: &mut impl Write) -> io::Result<Tally> {
    Simulation::new(plan, out).run()
}

impl<'a, W: Write> Simulation<'a, W> {
    fn new(plan: &'a Plan, out: &'a mut W) -> Self {
        let label = |thread| (u64::from(thread) * u64::from(plan.labels) / u64::from(plan.threads)) as u32;
        Self {
            plan,
            outcomes: Outcomes::new(plan),
            times: Times::new(),
            random: Random::new(plan.seed),
            wheel: Wheel::new(),
            threads: (0..plan.threads).map(|at| Thread { label: label(at), ..Thread::default() }).collect(),
            log: Log::new(plan, out),
            mean: f64::from(plan.threads) * 1000.0 / plan.rate,
            active: 0,
            left: plan.records,
        }
    }

    fn run(mut self) -> io::Result<Tally> {
        for thread in 0..self.plan.threads {
            let at = self.arrival(thread);
            self.wheel.wake(thread, at);
        }
        while let Some((now, thread)) = self.wheel.next() {
            match self.threads[thread as usize].sample.take() {
                Some(sample) => self.end(now, thread, &sample)?,
                None => self.arrive(now, thread),
            }
        }
        self.log.finish()
    }

    /// Returns when a thread starts. The first one starts at 0, so the run's first timeStamp is the plan's.
    fn arrival(&mut self, thread: u32) -> i64 {
        if thread == 0 {
            return 0;
        }
        let share = |part: u32, of: u32| self.plan.ramp * i64::from(part) / i64::from(of.max(1));
        let up = match self.plan.steps {
            0 => share(thread, self.plan.threads),
            steps => {
                let step = u64::from(thread) * u64::from(steps) / u64::from(self.plan.threads);
                share(step as u32, steps)
            }
        };
        let delay = if self.plan.late_first.is_some() { HEAD_START } else { 1 };
        up + delay + self.random.below(8) as i64
    }

    fn arrive(&mut self, now: i64, thread: u32) {
        self.active += 1;
        self.log.count_thread(thread, 1);
        self.begin(now, thread);
    }

    /// Starts a thread's next request, or stops the thread.
    #[inline]
    fn begin(&mut self, now: i64, thread: u32) {
        if self.left == 0 || now >= self.plan.duration {
            self.active -= 1;
            self.log.count_thread(thread, -1);
            return;
        }
        self.left -= 1;
        let sample = self.request(now, thread);
        let state = &mut self.threads[thread as usize];
        state.sample = Some(sample);
        state.started = true;
        state.label = if state.label + 1 == self.plan.labels { 0 } else { state.label + 1 };
        let lag = self.lag();
        self.wheel.wake(thread, now + sample.elapsed + lag);
    }

    /// Simulates a thread's next request.
    #[inline]
    fn request(&mut self, now: i64, thread: u32) -> Sample {
        let outage = self.plan.outage.as_ref().is_some_and(|outage| outage.contains(&now));
        let outcome = self.outcomes.draw(outage, &mut self.random);
        let mut sample = Sample {
            start: now,
            elapsed: 0,
            latency: 0,
            connect: 0,
            outcome,
            label: self.threads[thread as usize].label,
        };
        match self.outcomes.all[outcome].timing {
            Timing::Served => self.serve(thread, &mut sample),
            Timing::TimedOut => {
                sample.elapsed = (self.mean * PATIENCE) as i64 + self.random.below(8) as i64;
            }
            Timing::Refused => {
                sample.elapsed = i64::from(self.random.below(4) == 0);
                sample.connect = sample.elapsed;
            }
        }
        sample
    }

    /// Sets the times of a request that is answered.
    #[inline]
    fn serve(&mut self, thread: u32, sample: &mut Sample) {
        let load = f64::from(self.active) / f64::from(self.plan.threads);
        sample.elapsed = self.times.draw(self.mean * load.max(KNEE), &mut self.random);
        let bits = self.random.bits();
        if !self.threads[thread as usize].started {
            // The very first request also waits for the client to warm up, and so is rarely logged first.
            let warm_up = if thread == 0 { 16 } else { 0 };
            sample.connect = 9 + warm_up + (bits % 16) as i64;
            sample.elapsed += sample.connect + 5;
            if let (0, Some(elapsed)) = (thread, self.plan.late_first) {
                sample.elapsed = elapsed;
                sample.connect = sample.connect.min(elapsed);
            }
        } else if bits.is_multiple_of(8) {
            sample.connect = sample.elapsed.min(1);
        }
        let body = if bits.is_multiple_of(64) { 1 + (bits >> 32) as i64 % 4 } else { 0 };
        sample.latency = (sample.elapsed - body).max(0);
    }

    /// Returns how long a finished thread waits before it logs, in ms.
    #[inline]
    fn lag(&mut self) -> i64 {
        let bits = self.random.bits();
        if bits.is_multiple_of(256) { 1 + (bits >> 32) as i64 % 5 } else { 0 }
    }

    /// Logs a request, and its transaction if it was the last of one.
    #[inline]
    fn end(&mut self, now: i64, thread: u32, sample: &Sample) -> io::Result<()> {
        let outcome = &self.outcomes.all[sample.outcome];
        self.log.request(now, thread, sample, outcome)?;
        if self.plan.transactions {
            let group = &mut self.threads[thread as usize].group;
            group.add(sample, outcome);
            if group.children == CHILDREN && self.left > 0 {
                self.left -= 1;
                let group = std::mem::take(group);
                self.log.transaction(now, thread, &group)?;
            }
        }
        let pause = match outcome.timing {
            Timing::Refused => self.times.draw(self.mean / HASTE, &mut self.random),
            _ => 0,
        };
        self.begin(now + pause, thread);
        Ok(())
    }
}
