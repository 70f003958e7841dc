//! Checks that the counts of a run, taken in several ways, agree before it is committed.

use super::held::{Counted, unequal};
use crate::counts::packed::CellResult;
use crate::counts::{ErrorCount, LabelCount};
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

/// Passes failures on and counts them. Behind the last one stands an error if the requests among them are not so many as the
/// run has, so a writer has to take all of them.
pub(crate) fn checked_failures(
    mut failures: impl Iterator<Item = Result<ErrorCount>>,
    of_run: u64,
) -> impl Iterator<Item = Result<ErrorCount>> {
    let (mut found, mut is_checked) = (0_u64, false);
    std::iter::from_fn(move || {
        let next = failures.next();
        match &next {
            Some(Ok(failure)) if !failure.transaction => found = found.saturating_add(failure.count),
            None if !std::mem::replace(&mut is_checked, true) => {
                let fault = unequal("failures by message", found, of_run);
                return refuse(fault.into_iter()).err().map(Err);
            }
            _ => {}
        }
        next
    })
}

/// Compares the parsed samples of an ingested run and its counts by label with its totals.
///
/// # Errors
/// If they differ.
pub(crate) fn check(info: &RunInfo, parsed: u64, labels: &[LabelCount]) -> Result<()> {
    let samples = info.requests().saturating_add(info.transactions);
    let labels = Counted::by_label(labels).faults(info, "counts by label");
    let parsed = unequal("samples that were parsed", parsed, samples);
    refuse(labels.chain(parsed))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_stands_behind_failures_that_are_not_those_of_the_run() {
        let failure = |transaction: bool, count: u64| ErrorCount {
            second: 0,
            label: "a".into(),
            response_code: "500".into(),
            message: "refused".into(),
            transaction,
            count,
        };
        let all = [failure(false, 2), failure(true, 7), failure(false, 3)];
        let told = |of_run: u64| {
            let mut checked = checked_failures(all.iter().cloned().map(Ok), of_run);
            let told: Vec<Result<ErrorCount>> = checked.by_ref().collect();
            assert!(checked.next().is_none(), "the error is told once");
            told
        };
        let right: Vec<ErrorCount> = told(5).into_iter().collect::<Result<_>>().unwrap();
        assert_eq!(right, all);
        let mut wrong = told(12);
        let error = wrong.pop().unwrap().unwrap_err().to_string();
        assert!(error.contains("it has 5 failures by message, but its own row says 12"), "{error}");
        assert_eq!(wrong.len(), all.len());
    }
}
