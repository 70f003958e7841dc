//! A run that was read back from a store.

use super::table::CellTable;
use super::{ErrorCount, LabelCount};
use crate::run::info::RunInfo;
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;

/// A run read back from a store, without its samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredRun {
    /// The run's metadata.
    pub info: RunInfo,
    /// Exact counts per second, label and outcome. Their times are in the run's unit, `info.resolution`.
    pub cells: CellTable,
    /// The CPU readings.
    pub cpu: TimeSeries,
    /// Other series of the server, ascending by name.
    pub series: Vec<ServerSeries>,
    /// Failures by second, label, code and message, ascending.
    pub errors: Vec<ErrorCount>,
    /// Whole-run counts by label, ascending by label.
    pub labels: Vec<LabelCount>,
}

impl StoredRun {
    /// Creates a run from its metadata and its counts. All else is empty.
    pub fn new(info: RunInfo, cells: CellTable) -> Self {
        Self {
            info,
            cells,
            cpu: TimeSeries::default(),
            series: Vec::new(),
            errors: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Returns true if a label of the run has no cells of its own but shares those of [`crate::counts::OTHER`].
    pub fn shares_cells(&self, label: &str) -> bool {
        !self.cells.labels.iter().any(|own| own == label)
            && self.labels.iter().any(|counts| counts.label == label)
    }
}
