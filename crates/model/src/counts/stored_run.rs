//! A run that was read back from a store.

use super::table::CellTable;
use super::{Cell, ErrorCount, LabelCount};
use crate::error::Result;
use crate::run::info::RunInfo;
use crate::run::options::measures::Measures;
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;

/// A run read back from a store, without its samples.
#[derive(Debug, Clone, PartialEq)]
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

    /// Returns which measures the run's logs have. Where an earlier version did not store that, they are those that are not
    /// 0 throughout.
    ///
    /// # Errors
    /// If the counts can't be read.
    pub fn measures(&self) -> Result<Measures> {
        if let Some(measures) = self.info.options.measures {
            return Ok(measures);
        }
        let mut measures = Measures::default();
        for cell in self.cells.sums_between(0, u32::MAX) {
            let (_, Cell { connect, bytes, sent_bytes, .. }) = cell?;
            let [connect, bytes, sent_bytes] = [connect, bytes, sent_bytes].map(|sum| sum != 0);
            measures = measures.merged(Measures { connect, bytes, sent_bytes });
            if measures.is_complete() {
                break;
            }
        }
        Ok(measures)
    }

    /// Returns true if a label of the run has no cells of its own but shares those of [`crate::counts::OTHER`].
    pub fn shares_cells(&self, label: &str) -> bool {
        !self.cells.labels.iter().any(|own| own == label)
            && self.labels.iter().any(|counts| counts.label == label)
    }
}
