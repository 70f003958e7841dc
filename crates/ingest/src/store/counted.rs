//! Checks that the counts of a run, taken in several ways, agree before it is committed.

use super::held::{Counted, unequal};
use crate::counts::LabelCount;
use crate::counts::packed::CellResult;
use crate::error::{Error, Result};
use crate::run::info::RunInfo;

/// The cells of a run on their way into a store. Their samples are counted as they pass.
pub(crate) struct CountedCells<'a> {
    cells: &'a mut (dyn Iterator<Item = CellResult> + Send),
    counted: Counted,
}

impl<'a> CountedCells<'a> {
    /// Wraps cells of which none has passed yet.
    pub(crate) fn new(cells: &'a mut (dyn Iterator<Item = CellResult> + Send)) -> Self {
        Self { cells, counted: Counted::default() }
    }

    /// Compares the counts of all cells with the run's totals. All cells must have passed.
    ///
    /// # Errors
    /// If they differ.
    pub(crate) fn check(&self, info: &RunInfo) -> Result<()> {
        refuse(self.counted.faults(info, "counts by second"))
    }
}

impl Iterator for CountedCells<'_> {
    type Item = CellResult;

    fn next(&mut self) -> Option<CellResult> {
        let cell = self.cells.next()?;
        if let Ok((key, cell)) = &cell {
            self.counted.add(key.success, key.transaction, cell.samples());
        }
        Some(cell)
    }
}

/// Compares all other counts of an ingested run with its totals: parsed samples, labels, failures.
///
/// # Errors
/// If they differ.
pub(crate) fn check(info: &RunInfo, parsed: u64, labels: &[LabelCount], failures: u64) -> Result<()> {
    let samples = info.requests().saturating_add(info.transactions);
    let labels = Counted::by_label(labels).faults(info, "counts by label");
    let parsed = unequal("samples that were parsed", parsed, samples);
    let failures = unequal("failures by message", failures, info.failures);
    refuse(labels.chain(parsed).chain(failures))
}

/// Returns the first fault as an error, if there is one.
fn refuse(mut faults: impl Iterator<Item = String>) -> Result<()> {
    match faults.next() {
        None => Ok(()),
        Some(fault) => {
            Err(Error::bug("checking the counts of the run", format!("{fault}; nothing was stored")))
        }
    }
}
