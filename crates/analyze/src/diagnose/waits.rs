//! Requests that wait much longer than usual around them: the effect of a server pause on the requests it holds up.

use perfpipe_ingest::run::Resolution;

use super::expected::beside;
use super::facts::Facts;
use super::seconds::span;
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::stats::maybe::MaybeF64;
use crate::stats::median::upper_median;
use crate::timeline::selection::Selection;

/// A wait is long from this many times the median around it on, and from this many ms on.
const LONG: (f64, f64) = (8.0, 100.0);
/// The longest wait in a stall is at least this long, in ms, unless stalls are periodic.
pub(super) const LONGEST: f64 = 1000.0;
/// Many wait if they are at least this share of a second's successes, or this share of its threads.
const MANY: (f64, f64) = (0.3, 0.8);

/// The successes of a second that wait long. There may be a million seconds.
#[derive(Debug)]
pub(super) struct Waits {
    /// The longest wait that is long, in ms.
    pub(super) longest: f64,
    /// The longest request of the second and of the one before, in ms.
    pub(super) slowest: f64,
    /// The median of the second, as a multiple of the usual one of the run; 0 without a success.
    pub(super) times: f64,
    /// The number of threads, if it is known and does not follow the requests.
    pub(super) threads: MaybeF64,
    /// If as many wait as when all threads are held up for a part of the second.
    pub(super) many: Option<Box<ManyWaits>>,
}

/// The successes of a second of which many wait long.
#[derive(Debug, Default)]
pub(super) struct ManyWaits {
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
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<(Vec<Waits>, UsualTimes)> {
    let rows = facts.body();
    let unit = facts.run.info.resolution;
    let (mut others, mut every) = (Histogram::in_unit(unit), Histogram::in_unit(unit));
    let Some(whole) = span(rows) else {
        return Ok((Vec::new(), UsualTimes::new(&others, &every, facts.scatter())));
    };
    let medians: Vec<f64> = rows.iter().map(|row| row.median).collect();
    let usual = beside(&medians);
    let median = upper_median(&medians).unwrap_or(0.0);
    let selection = Selection::new(facts.run, &facts.view)?;
    let (mut seconds, mut before) = (Vec::with_capacity(rows.len()), 0.0_f64);
    for ((second, row), usual) in selection.seconds_of(whole).zip(rows).zip(usual) {
        let (_, cells) = second?;
        let mut waits = ManyWaits { usual, long: (LONG.0 * usual).max(LONG.1), ..ManyWaits::default() };
        waits.successes = row.successes as f64;
        selection.averaged(&cells).for_each(|cell| waits.add(&cell.elapsed, unit));
        let threads = row.load().filter(|load| *load > 0.0);
        let all = threads.map_or(f64::INFINITY, |threads| MANY.1 * threads);
        let is_many = waits.waiting > 0.0 && waits.waiting >= all.min(MANY.0 * waits.successes);
        if !is_many {
            selection.averaged(&cells).for_each(|cell| others.add_counts(&cell.elapsed));
            // A request that fails after a time-out holds its thread as well.
            let counted = cells.iter().filter(|(key, _)| selection.is_counted(key));
            counted.for_each(|(_, cell)| every.add_counts(&cell.elapsed));
        }
        let (longest, threads) = (waits.longest, threads.filter(|_| !facts.load_follows).into());
        let slowest = row.elapsed_max.max(std::mem::replace(&mut before, row.elapsed_max));
        let times = if median > 0.0 { row.median / median } else { 0.0 };
        seconds.push(Waits { longest, slowest, times, threads, many: is_many.then(|| Box::new(waits)) });
    }
    let chance = UsualTimes::new(&others, &every, facts.scatter());
    seconds
        .iter_mut()
        .filter_map(|waits: &mut Waits| waits.many.as_mut())
        .for_each(|many| many.weigh(&chance));
    Ok((seconds, chance))
}

impl ManyWaits {
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

    fn weigh(&mut self, chance: &UsualTimes) {
        let usual = self.usual.max(chance.least);
        let rare = |elapsed: f64| chance.rare(elapsed, usual);
        let long = rare(self.long);
        self.likely = (-long).exp();
        self.excess = self.waits.iter().map(|(elapsed, count)| count * (rare(*elapsed) - long)).sum();
        self.waits = Vec::new();
    }
}

/// The distribution of times of requests that nothing holds up.
pub(super) struct UsualTimes {
    /// Times of successes in ms in ascending order, each with −ln of the share that take as long or longer.
    seen: Vec<(f64, f64)>,
    /// Times of all requests in ms in ascending order, each with −ln of the share of the total time spent in those that take
    /// as long or longer.
    spent: Vec<(f64, f64)>,
    /// The standard deviation of the logarithm of times.
    scatter: f64,
    /// The median of all times, in ms.
    median: f64,
    /// One unit of the run's times, in ms.
    least: f64,
}

impl UsualTimes {
    fn new(times: &Histogram, all: &Histogram, scatter: f64) -> Self {
        // One more request might have taken longer than all.
        let (number, spent) =
            (times.samples() as f64 + 1.0, all.unit().ms(all.sum() as f64).max(all.unit().ms(1.0)));
        let (mut left, mut time) = (number, spent);
        let rare = |(value, count): (i32, u64)| {
            let seen = (times.ms(value), (number / left).ln());
            left -= count as f64;
            seen
        };
        let held = |(value, count): (i32, u64)| {
            let seen = (all.ms(value), (spent / time.max(all.unit().ms(1.0))).ln());
            time -= all.ms(value) * count as f64;
            seen
        };
        Self {
            seen: times.counts().map(rare).collect(),
            spent: all.counts().map(held).collect(),
            scatter,
            median: times.percentile(50.0).unwrap_or(0.0).max(times.unit().ms(1.0)),
            least: times.unit().ms(1.0),
        }
    }

    /// Returns −ln of the share of requests that take as long: the observed one, or that of a lognormal distribution
    /// around a median, whichever share is greater.
    fn rare(&self, elapsed: f64, median: f64) -> f64 {
        let model = beyond((elapsed / median).ln() / self.scatter);
        from(&self.seen, elapsed).map_or(model, |rare| rare.min(model))
    }

    /// Returns −ln of the share of the total time that is spent in requests which take as long: the observed one or the
    /// model's. For a lognormal distribution, that is the share beyond a point that is one squared deviation lower.
    pub(super) fn held(&self, elapsed: f64) -> f64 {
        let model = beyond((elapsed / self.median).ln() / self.scatter - self.scatter);
        from(&self.spent, elapsed).map_or(model, |held| held.min(model))
    }
}

/// Returns what stands beside the least time that is as long; `None` if all are shorter.
fn from(times: &[(f64, f64)], elapsed: f64) -> Option<f64> {
    times.get(times.partition_point(|(value, _)| *value < elapsed)).map(|(_, rare)| *rare)
}

/// Returns −ln of the probability that a normal variable is this many deviations above its mean (Birnbaum 1942).
fn beyond(deviations: f64) -> f64 {
    let above = deviations.max(0.0);
    let tail = (above + (above * above + 4.0).sqrt()) / 2.0;
    (above * above / 2.0 + (tail * std::f64::consts::TAU.sqrt()).ln()).max(0.0)
}
