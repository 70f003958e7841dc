//! Requests that wait much longer than is usual around them: what a pause of the server does to those it holds up.

use super::expected::beside;
use super::facts::{Facts, loads, span};
use crate::error::Result;
use crate::selection::Selection;

/// A wait is long from so many times the median of the seconds before it and after it on, and from so many ms on.
const LONG: (f64, f64) = (5.0, 400.0);
/// The longest wait of a stretch that is one of waiting, at least, ms.
pub(super) const LONGEST: f64 = 1000.0;
/// The share of a second's requests, or of its threads, that wait.
const MANY: f64 = 0.5;

/// How many of a second's successes wait long.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waits {
    pub(super) waiting: f64,
    pub(super) successes: f64,
    /// The longest, ms.
    pub(super) longest: f64,
    /// How unlikely such long waits are, summed up: the negative logarithms of the share of requests that are so much
    /// longer than those that are just long, were times distributed lognormally.
    pub(super) excess: f64,
    /// Whether as many wait as do where all threads are held up.
    pub(super) is_many: bool,
}

/// The waits of each second of the body.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<Vec<Waits>> {
    let rows = facts.body();
    let Some(whole) = span(rows) else { return Ok(Vec::new()) };
    let medians: Vec<f64> = rows.iter().map(|row| row.percentile(0).unwrap_or(0.0)).collect();
    let usual = beside(&medians);
    let scatter = facts.scatter();
    let selection = Selection::new(facts.run, &facts.view)?;
    let seconds = selection.seconds_of(whole).zip(rows).zip(loads(rows).into_iter().zip(usual));
    seconds
        .map(|((second, row), (load, usual))| {
            let (_, cells) = second?;
            let long = (LONG.0 * usual).max(LONG.1);
            let rare = |elapsed: f64| beyond((elapsed / usual.max(1.0)).ln() / scatter);
            let mut waits = Waits { successes: row.successes as f64, ..Waits::default() };
            for (elapsed, count) in selection.averaged(&cells).flat_map(|cell| &cell.elapsed) {
                let (elapsed, count) = (f64::from(*elapsed), *count as f64);
                if elapsed >= long {
                    waits.waiting += count;
                    waits.longest = waits.longest.max(elapsed);
                    waits.excess += count * (rare(elapsed) - rare(long));
                }
            }
            let all = load.filter(|load| *load > 0.0).unwrap_or(waits.successes).min(waits.successes);
            waits.is_many = waits.waiting > 0.0 && waits.waiting >= MANY * all;
            Ok(waits)
        })
        .collect()
}

/// The negative logarithm of a bound on the chance that a normal value is so many deviations above its mean.
fn beyond(deviations: f64) -> f64 {
    let above = deviations.max(0.0);
    above * above / 2.0 + (1.0 + above).ln()
}
