//! The totals of cells over many seconds.

use perfpipe_ingest::counts::{Cell, Spread};
use perfpipe_ingest::run::Resolution;

use crate::stats::histogram::Histogram;
use crate::view::goal::Kept;

/// The totals of cells from which averages and percentiles are computed, independent of the order of addition.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) elapsed: Histogram,
    /// The elapsed times of failures, unless they are in `elapsed`.
    pub(crate) failed: Histogram,
    pub(super) latency: Spread,
    pub(super) bytes: i64,
    pub(super) sent_bytes: i64,
    pub(crate) kept: Kept,
}

impl Totals {
    /// Creates empty totals of a run whose times are in this unit.
    pub(crate) fn in_unit(unit: Resolution) -> Self {
        Self { elapsed: Histogram::in_unit(unit), failed: Histogram::in_unit(unit), ..Self::default() }
    }

    /// Adds all of a cell except its elapsed times.
    pub(crate) fn add_sums(&mut self, cell: &Cell) {
        self.latency.merge(&cell.latency);
        self.bytes = self.bytes.saturating_add(cell.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(cell.sent_bytes);
    }

    /// Adds other totals.
    pub(super) fn merge(&mut self, other: &Self) {
        self.elapsed.merge(&other.elapsed);
        self.failed.merge(&other.failed);
        self.latency.merge(&other.latency);
        self.kept.merge(&other.kept);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
    }
}
