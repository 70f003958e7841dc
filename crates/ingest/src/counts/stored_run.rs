//! A run read back: its own row, its counts and its CPU readings.

use super::table::CellTable;
use super::{ErrorCount, LabelCount};
use crate::run::info::RunInfo;
use crate::series::cpu::CpuSeries;

/// A run read back from a store, all but its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The run's own row.
    pub info: RunInfo,
    /// Exact counts by second.
    pub cells: CellTable,
    /// The CPU readings.
    pub cpu: CpuSeries,
    /// Failures by second, label, code and message, ascending.
    pub errors: Vec<ErrorCount>,
    /// Whole-run counts by label, ascending by label.
    pub labels: Vec<LabelCount>,
}

impl StoredRun {
    /// Whether a label of the run has no cells of its own, but shares those of [`crate::OTHER`].
    pub fn shares_cells(&self, label: &str) -> bool {
        !self.cells.labels.iter().any(|own| own == label)
            && self.labels.iter().any(|counts| counts.label == label)
    }
}
