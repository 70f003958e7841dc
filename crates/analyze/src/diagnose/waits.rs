//! Requests that wait much longer than is usual around them: what a pause of the server does to those it holds up.

use super::expected::beside;
use super::facts::Facts;
use super::seconds::span;
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::timeline::selection::Selection;

/// A wait is long from so many times the median of the seconds before it and after it on, and from so many ms on.
const LONG: (f64, f64) = (8.0, 400.0);
/// The longest wait of a stretch that is one of waiting, at least, ms.
pub(super) const LONGEST: f64 = 1000.0;
/// The share of a second's requests, or of its threads, that wait, where all are held up for a part of it.
const MANY: (f64, f64) = (0.3, 0.8);

/// How many of a second's successes wait long.
#[derive(Debug, Clone, Default)]
pub(super) struct Waits {
    pub(super) waiting: f64,
    pub(super) successes: f64,
    /// The longest, ms.
    pub(super) longest: f64,
    /// Whether as many wait as do where all threads are held up for a part of the second.
    pub(super) is_many: bool,
    /// Where they are many: the share of requests that wait long by chance.
    pub(super) likely: f64,
    /// Where they are many: how much less likely their own waits are, the sum of the logarithms.
    pub(super) excess: f64,
    /// The threads that there are, where they are known and do not follow the requests.
    pub(super) threads: Option<f64>,
    /// From when on a wait is long, and the median that is usual around the second, ms.
    long: f64,
    usual: f64,
    /// Where they are many: the waits, ms, each with how many there are.
    waits: Vec<(f64, f64)>,
}

/// The waits of each second of the body, and how long requests take where few wait.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<(Vec<Waits>, Chance)> {
    let rows = facts.body();
    let mut others = Histogram::new();
    let Some(whole) = span(rows) else { return Ok((Vec::new(), Chance::new(&others, facts.scatter()))) };
    let medians: Vec<f64> = rows.iter().map(|row| row.percentile(0).unwrap_or(0.0)).collect();
    let usual = beside(&medians);
    let selection = Selection::new(facts.run, &facts.view)?;
    let mut seconds: Vec<Waits> = Vec::with_capacity(rows.len());
    for ((second, row), usual) in selection.seconds_of(whole).zip(rows).zip(usual) {
        let (_, cells) = second?;
        let mut waits = Waits { usual, long: (LONG.0 * usual).max(LONG.1), ..Waits::default() };
        waits.successes = row.successes as f64;
        selection.averaged(&cells).for_each(|cell| waits.add(&cell.elapsed));
        let threads = row.load.filter(|load| *load > 0.0);
        waits.threads = threads.filter(|_| !facts.load_follows);
        let all = threads.map_or(f64::INFINITY, |threads| MANY.1 * threads);
        waits.is_many = waits.waiting > 0.0 && waits.waiting >= all.min(MANY.0 * waits.successes);
        if !waits.is_many {
            waits.waits = Vec::new();
            selection.averaged(&cells).for_each(|cell| others.add_counts(&cell.elapsed));
        }
        seconds.push(waits);
    }
    let chance = Chance::new(&others, facts.scatter());
    seconds.iter_mut().filter(|waits| waits.is_many).for_each(|waits| waits.weigh(&chance));
    Ok((seconds, chance))
}

impl Waits {
    fn add(&mut self, elapsed: &[(i32, u64)]) {
        for (elapsed, count) in elapsed {
            let (elapsed, count) = (f64::from(*elapsed), *count as f64);
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

/// How often requests take so long where nothing holds them up.
pub(super) struct Chance {
    /// Times, ascending, each with the negative logarithms of the share of requests that take as long or longer, and of
    /// the share of all time that is spent in those.
    seen: Vec<(f64, f64, f64)>,
    /// The deviation of the logarithm of times.
    scatter: f64,
    /// The median of all.
    median: f64,
}

impl Chance {
    fn new(times: &Histogram, scatter: f64) -> Self {
        // One more request might have taken longer than all.
        let (all, spent) = (times.samples() as f64 + 1.0, (times.sum() as f64).max(1.0));
        let (mut left, mut time) = (all, spent);
        let rare = |(value, count): (i32, u64)| {
            let seen = (f64::from(value), (all / left).ln(), (spent / time.max(1.0)).ln());
            left -= count as f64;
            time -= f64::from(value) * count as f64;
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

    /// The negative logarithm of the share of requests that take so long: as seen, or were times distributed lognormally
    /// around a median, whichever share is greater.
    fn rare(&self, elapsed: f64, median: f64) -> f64 {
        let model = beyond((elapsed / median).ln() / self.scatter);
        self.seen(elapsed).map_or(model, |(_, rare, _)| rare.min(model))
    }

    /// The same of the share of all time that is spent in requests which take so long: of a lognormal distribution, that
    /// is the share beyond a point that is one squared deviation lower.
    pub(super) fn held(&self, elapsed: f64) -> f64 {
        let model = beyond((elapsed / self.median).ln() / self.scatter - self.scatter);
        self.seen(elapsed).map_or(model, |(_, _, held)| held.min(model))
    }
}

/// The negative logarithm of the chance that a normal number is so many deviations above its mean (Birnbaum 1942).
fn beyond(deviations: f64) -> f64 {
    let above = deviations.max(0.0);
    let tail = (above + (above * above + 4.0).sqrt()) / 2.0;
    (above * above / 2.0 + (tail * std::f64::consts::TAU.sqrt()).ln()).max(0.0)
}
