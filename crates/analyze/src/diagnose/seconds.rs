//! The seconds that the rules look at. A run may have a million of them, so a row has only what the rules need.

use crate::stats::maybe::MaybeF64;
use crate::timeline;
use crate::view::phases::Span;

/// A second of a run. Times are in ms, and 0 without a request.
pub(super) struct RuleSecond {
    pub(super) second: u32,
    pub(super) successes: u64,
    pub(super) failures: u64,
    load: MaybeF64,
    pub(super) elapsed_mean: f64,
    pub(super) elapsed_max: f64,
    pub(super) median: f64,
    pub(super) has_cpu: bool,
}

impl RuleSecond {
    /// Copies what the rules need. The first percentile must be the median.
    pub(super) fn of(row: timeline::Second) -> Self {
        Self {
            second: row.second,
            successes: row.successes,
            failures: row.failures,
            load: row.load,
            elapsed_mean: row.elapsed_mean.get().unwrap_or_default(),
            elapsed_max: row.elapsed_max.get().unwrap_or_default(),
            median: row.percentile(0).unwrap_or_default(),
            has_cpu: row.cpu.get().is_some(),
        }
    }

    /// Returns the load, if it is known.
    pub(super) fn load(&self) -> Option<f64> {
        self.load.get()
    }
}

/// Returns the first and the last second of some rows; `None` if there are none.
pub(super) fn span(rows: &[RuleSecond]) -> Option<Span> {
    Some(Span { first: rows.first()?.second, last: rows.last()?.second })
}

/// Returns the number of all requests of a second.
pub(super) fn requests(row: &RuleSecond) -> f64 {
    (row.successes + row.failures) as f64
}
