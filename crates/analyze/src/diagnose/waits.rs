//! Requests that wait much longer than is usual around them: what a pause of the server does to those it holds up.

use super::expected::beside;
use super::facts::{Facts, loads, span};
use crate::error::Result;
use crate::histogram::Histogram;
use crate::selection::Selection;

/// A wait is long from so many times the median of the seconds before it and after it on, and from so many ms on.
const LONG: (f64, f64) = (8.0, 400.0);
/// The longest wait of a stretch that is one of waiting, at least, ms.
pub(super) const LONGEST: f64 = 1000.0;
/// The share of a second's requests, or of its threads, that wait.
const MANY: f64 = 0.3;

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
    /// From when on a wait is long, and the median that is usual around the second, ms.
    long: f64,
    usual: f64,
    /// Where they are many: the waits, ms, each with how many there are.
    waits: Vec<(f64, f64)>,
}

/// The waits of each second of the body.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<Vec<Waits>> {
    let rows = facts.body();
    let Some(whole) = span(rows) else { return Ok(Vec::new()) };
    let medians: Vec<f64> = rows.iter().map(|row| row.percentile(0).unwrap_or(0.0)).collect();
    let usual = beside(&medians);
    let selection = Selection::new(facts.run, &facts.view)?;
    let mut others = Histogram::new();
    let mut seconds: Vec<Waits> = Vec::with_capacity(rows.len());
    for ((second, row), (load, usual)) in
        selection.seconds_of(whole).zip(rows).zip(loads(rows).into_iter().zip(usual))
    {
        let (_, cells) = second?;
        let mut waits = Waits { usual, long: (LONG.0 * usual).max(LONG.1), ..Waits::default() };
        waits.successes = row.successes as f64;
        selection.averaged(&cells).for_each(|cell| waits.add(&cell.elapsed));
        let all = load.filter(|load| *load > 0.0).unwrap_or(waits.successes).min(waits.successes);
        waits.is_many = waits.waiting > 0.0 && waits.waiting >= MANY * all;
        if !waits.is_many {
            waits.waits = Vec::new();
            selection.averaged(&cells).for_each(|cell| others.add_counts(&cell.elapsed));
        }
        seconds.push(waits);
    }
    let chance = Chance::new(&others, facts.scatter());
    seconds.iter_mut().filter(|waits| waits.is_many).for_each(|waits| waits.weigh(&chance));
    Ok(seconds)
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
struct Chance {
    /// Times, ascending, each with the negative logarithm of the share of requests that take as long or longer.
    seen: Vec<(f64, f64)>,
    /// The same of one that is longer than all.
    never: f64,
    /// The deviation of the logarithm of times.
    scatter: f64,
}

impl Chance {
    fn new(times: &Histogram, scatter: f64) -> Self {
        let all = times.samples() as f64 + 1.0;
        let mut left = all;
        let rare = |(value, count): (i32, u64)| {
            let seen = (f64::from(value), (all / left).ln());
            left -= count as f64;
            seen
        };
        Self { seen: times.counts().map(rare).collect(), never: all.ln(), scatter }
    }

    /// The negative logarithm of the share of requests that take so long: as seen, or were times distributed lognormally
    /// around a median, whichever share is greater.
    fn rare(&self, elapsed: f64, median: f64) -> f64 {
        let at = self.seen.partition_point(|(value, _)| *value < elapsed);
        let seen = self.seen.get(at).map_or(self.never, |(_, rare)| *rare);
        let deviations = ((elapsed / median).ln() / self.scatter).max(0.0);
        // The tail of the normal distribution, after Birnbaum (1942).
        let tail = (deviations + (deviations * deviations + 4.0).sqrt()) / 2.0;
        let model = deviations * deviations / 2.0 + (tail * std::f64::consts::TAU.sqrt()).ln();
        if at < self.seen.len() { seen.min(model) } else { model.max(0.0) }
    }
}
