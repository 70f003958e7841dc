//! Requests that wait much longer than usual around them: the effect of a server pause on the requests it holds up.

use perfpipe_ingest::run::Resolution;

use super::expected::beside;
use super::facts::Facts;
use super::seconds::span;
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::stats::maybe::MaybeF64;
use crate::timeline::selection::Selection;

/// A wait is long from this many times the median around it on, and from this many ms on.
const LONG: (f64, f64) = (8.0, 400.0);
/// The longest wait in a stall is at least this long, in ms.
pub(super) const LONGEST: f64 = 1000.0;
/// Many wait if they are at least this share of a second's successes, or this share of its threads.
const MANY: (f64, f64) = (0.3, 0.8);

/// The successes of a second that wait long. There may be a million seconds.
#[derive(Debug)]
pub(super) struct Waits {
    /// The longest wait, in ms.
    pub(super) longest: f64,
    /// The number of threads, if it is known and does not follow the requests.
    pub(super) threads: MaybeF64,
    /// If as many wait as when all threads are held up for a part of the second.
    pub(super) many: Option<Box<Many>>,
}

/// The successes of a second of which many wait long.
#[derive(Debug, Default)]
pub(super) struct Many {
    pub(super) waiting: f64,
    pub(super) successes: f64,
    /// The share of requests that wait long by chance.
    pub(super) likely: f64,
    /// The sum over the waits of −ln of the share that wait as long, relative to the shortest long wait.
    pub(super) excess: f64,
    /// The longest wait, in ms.
    longest: f64,
    /// A wait is long from this time on, in ms.
    long: f64,
    /// The usual median around the second, in ms.
    usual: f64,
    /// The waits in ms, each with its count.
    waits: Vec<(f64, f64)>,
}

/// Returns the waits of each second of the body, and the distribution of times over the seconds in which few wait.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<(Vec<Waits>, Chance)> {
    let rows = facts.body();
    let unit = facts.run.info.resolution;
    let mut others = Histogram::in_unit(unit);
    let Some(whole) = span(rows) else { return Ok((Vec::new(), Chance::new(&others, facts.scatter()))) };
    let usual = beside(&rows.iter().map(|row| row.median).collect::<Vec<f64>>());
    let selection = Selection::new(facts.run, &facts.view)?;
    let mut seconds: Vec<Waits> = Vec::with_capacity(rows.len());
    for ((second, row), usual) in selection.seconds_of(whole).zip(rows).zip(usual) {
        let (_, cells) = second?;
        let mut waits = Many { usual, long: (LONG.0 * usual).max(LONG.1), ..Many::default() };
        waits.successes = row.successes as f64;
        selection.averaged(&cells).for_each(|cell| waits.add(&cell.elapsed, unit));
        let threads = row.load().filter(|load| *load > 0.0);
        let all = threads.map_or(f64::INFINITY, |threads| MANY.1 * threads);
        let is_many = waits.waiting > 0.0 && waits.waiting >= all.min(MANY.0 * waits.successes);
        if !is_many {
            selection.averaged(&cells).for_each(|cell| others.add_counts(&cell.elapsed));
        }
        let (longest, threads) = (waits.longest, threads.filter(|_| !facts.load_follows).into());
        seconds.push(Waits { longest, threads, many: is_many.then(|| Box::new(waits)) });
    }
    let chance = Chance::new(&others, facts.scatter());
    seconds.iter_mut().filter_map(|waits| waits.many.as_mut()).for_each(|many| many.weigh(&chance));
    Ok((seconds, chance))
}

impl Many {
    fn add(&mut self, elapsed: &[(i32, u64)], unit: Resolution) {
        for (elapsed, count) in elapsed {
            let (elapsed, count) = (unit.ms((*elapsed).into()), *count as f64);
            if elapsed >= self.long {
                self.waiting += count;
                self.longest = self.longest.max(elapsed);
                self.waits.push((elapsed, count));
            }
        }
    }

    fn weigh(&mut self, chance: &Chance) {
        let usual = self.usual.max(1.0);
        let rare = |elapsed: f64| chance.rare(elapsed, usual);
        let long = rare(self.long);
        self.likely = (-long).exp();
        self.excess = self.waits.iter().map(|(elapsed, count)| count * (rare(*elapsed) - long)).sum();
        self.waits = Vec::new();
    }
}

/// The distribution of times of requests that nothing holds up.
pub(super) struct Chance {
    /// Times in ms in ascending order, each with −ln of the share of requests that take as long or longer, and −ln of
    /// the share of the total time spent in those.
    seen: Vec<(f64, f64, f64)>,
    /// The standard deviation of the logarithm of times.
    scatter: f64,
    /// The median of all times, in ms.
    median: f64,
}

impl Chance {
    fn new(times: &Histogram, scatter: f64) -> Self {
        // One more request might have taken longer than all.
        let (all, spent) = (times.samples() as f64 + 1.0, times.unit().ms(times.sum() as f64).max(1.0));
        let (mut left, mut time) = (all, spent);
        let rare = |(value, count): (i32, u64)| {
            let seen = (times.ms(value), (all / left).ln(), (spent / time.max(1.0)).ln());
            left -= count as f64;
            time -= times.ms(value) * count as f64;
            seen
        };
        Self {
            seen: times.counts().map(rare).collect(),
            scatter,
            median: times.percentile(50.0).unwrap_or(0.0).max(1.0),
        }
    }

    fn seen(&self, elapsed: f64) -> Option<&(f64, f64, f64)> {
        self.seen.get(self.seen.partition_point(|(value, _, _)| *value < elapsed))
    }

    /// Returns −ln of the share of requests that take as long: the observed one, or that of a lognormal distribution
    /// around a median, whichever share is greater.
    fn rare(&self, elapsed: f64, median: f64) -> f64 {
        let model = beyond((elapsed / median).ln() / self.scatter);
        self.seen(elapsed).map_or(model, |(_, rare, _)| rare.min(model))
    }

    /// Returns −ln of the share of the total time that is spent in requests which take as long: the observed one or the
    /// model's. For a lognormal distribution, that is the share beyond a point that is one squared deviation lower.
    pub(super) fn held(&self, elapsed: f64) -> f64 {
        let model = beyond((elapsed / self.median).ln() / self.scatter - self.scatter);
        self.seen(elapsed).map_or(model, |(_, _, held)| held.min(model))
    }
}

/// Returns −ln of the probability that a normal variable is this many deviations above its mean (Birnbaum 1942).
fn beyond(deviations: f64) -> f64 {
    let above = deviations.max(0.0);
    let tail = (above + (above * above + 4.0).sqrt()) / 2.0;
    (above * above / 2.0 + (tail * std::f64::consts::TAU.sqrt()).ln()).max(0.0)
}
