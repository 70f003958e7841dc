//! Requests that wait much longer than is usual around them: what a pause of the server does to those it holds up.

use super::expected::around;
use super::facts::{Facts, loads, span};
use crate::error::Result;
use crate::selection::Selection;
use crate::timeline::Second;

/// A wait is long from so many times the median of the seconds around it on, and from so many ms on.
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
    /// Whether as many wait as do where all threads are held up.
    pub(super) is_many: bool,
}

/// The waits of each second of the body.
pub(super) fn of_seconds(facts: &Facts<'_>) -> Result<Vec<Waits>> {
    let rows = facts.body();
    let Some(whole) = span(rows) else { return Ok(Vec::new()) };
    let medians: Vec<f64> = rows.iter().map(|row| row.percentile(0).unwrap_or(0.0)).collect();
    let usual = around(&medians, |at| medians.get(at).is_some_and(|median| *median > 0.0));
    let selection = Selection::new(facts.run, &facts.view)?;
    let seconds = selection.seconds_of(whole).zip(rows).zip(loads(rows).into_iter().zip(usual));
    seconds
        .map(|((second, row), (load, usual))| {
            let (_, cells) = second?;
            let long = (LONG.0 * usual).max(LONG.1);
            let counts = selection.averaged(&cells).flat_map(|cell| &cell.elapsed);
            let slow = counts.filter(|(elapsed, _)| f64::from(*elapsed) >= long);
            let (waiting, longest) = slow.fold((0.0, 0.0), |(sum, longest): (f64, f64), (elapsed, count)| {
                (sum + *count as f64, longest.max(f64::from(*elapsed)))
            });
            Ok(waits(row, waiting, longest, load))
        })
        .collect()
}

fn waits(row: &Second, waiting: f64, longest: f64, load: Option<f64>) -> Waits {
    let successes = row.successes as f64;
    let all = load.filter(|load| *load > 0.0).unwrap_or(successes).min(successes);
    Waits { waiting, successes, longest, is_many: waiting > 0.0 && waiting >= MANY * all }
}
