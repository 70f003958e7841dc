//! Compares what was read of a stored run with the run's totals, so that rows that were deleted, hidden or changed are
//! an error instead of wrong figures.

use crate::counts::LabelCount;
use crate::counts::stored_run::StoredRun;
use crate::counts::table::CellTable;
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::RunInfo;
use crate::sample::batch::SampleBatch;

const REMEDY: &str = "A part of the run was deleted, hidden or changed. Verify the store to see what is \
                      damaged, and repair it; if that does not help, ingest the run again.";

/// The numbers of samples by kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleTotals {
    successes: u64,
    failures: u64,
    transactions: u64,
    failed_transactions: u64,
}

impl SampleTotals {
    /// Adds samples of one kind.
    pub(crate) fn add(&mut self, success: bool, transaction: bool, samples: u64) {
        let sum = match (transaction, success) {
            (true, _) => &mut self.transactions,
            (false, true) => &mut self.successes,
            (false, false) => &mut self.failures,
        };
        *sum = sum.saturating_add(samples);
        if transaction && !success {
            self.failed_transactions = self.failed_transactions.saturating_add(samples);
        }
    }

    /// Adds the samples that were counted elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(true, false, other.successes);
        self.add(false, false, other.failures);
        self.add(true, true, other.transactions.saturating_sub(other.failed_transactions));
        self.add(false, true, other.failed_transactions);
    }

    /// Counts the samples of a batch.
    pub(crate) fn of_batch(batch: &SampleBatch) -> Self {
        let mut counted = Self::default();
        // One loop for each kind, without branches.
        let rows = || batch.success.iter().zip(&batch.transaction);
        let count = |is: fn(bool, bool) -> bool| {
            rows().map(|(success, transaction)| u64::from(is(*success, *transaction))).sum()
        };
        counted.add(true, false, count(|success, transaction| success & !transaction));
        counted.add(false, false, count(|success, transaction| !success & !transaction));
        counted.add(true, true, count(|success, transaction| success & transaction));
        counted.add(false, true, count(|success, transaction| !success & transaction));
        counted
    }

    /// Counts the samples of all cells.
    ///
    /// # Errors
    /// If a cell can't be read.
    pub(crate) fn of(cells: &CellTable) -> Result<Self> {
        let mut counted = Self::default();
        for cell in cells.iter() {
            let (key, cell) = cell?;
            counted.add(key.success, key.transaction, cell.samples());
        }
        Ok(counted)
    }

    /// Counts the samples in whole-run counts by label.
    pub(crate) fn by_label(labels: &[LabelCount]) -> Self {
        let mut counted = Self::default();
        for label in labels {
            counted.add(true, false, label.successes);
            counted.add(false, false, label.failures);
            counted.add(true, true, label.transactions);
        }
        counted
    }

    /// Returns a fault if the failed transactions among the failures of a run are not those of these counts by second.
    pub(crate) fn unlike_transactions(&self, by_message: u64) -> Option<String> {
        let differ = by_message != self.failed_transactions;
        differ.then(|| "its failed transactions by message differ from its counts by second".to_owned())
    }

    /// Returns how these numbers differ from the totals of a run. `what` names the counts in messages.
    pub(crate) fn faults(&self, info: &RunInfo, what: &str) -> impl Iterator<Item = String> + use<> {
        let of = |kind: &str, found, told| unequal(&format!("{kind} in its {what}"), found, told);
        [
            of("successes", self.successes, info.successes),
            of("failures", self.failures, info.failures),
            of("transactions", self.transactions, info.transactions),
        ]
        .into_iter()
        .flatten()
    }
}

/// Returns a fault if two numbers differ: the one found, and the one that the run's totals state.
pub(crate) fn unequal(what: &str, found: u64, told: u64) -> Option<String> {
    (found != told).then(|| format!("it has {found} {what}, but its own row says {told}"))
}

/// Returns a fault if something is of a second that a run does not have.
pub(crate) fn second_fault(what: &str, second: u32, info: &RunInfo) -> Option<String> {
    let seconds = info.seconds;
    (second >= seconds).then(|| format!("it has {what} of second {second}, and has {seconds} seconds"))
}

/// Returns how the counts of a run contradict its totals and each other. `cells` are the samples that its cells count.
pub(crate) fn run_faults(run: &StoredRun, cells: SampleTotals) -> Vec<String> {
    let errors = |transaction: bool| {
        let of = run.errors.iter().filter(|error| error.transaction == transaction);
        of.map(|error| error.count).fold(0, u64::saturating_add)
    };
    cells
        .faults(&run.info, "counts by second")
        .chain(SampleTotals::by_label(&run.labels).faults(&run.info, "counts by label"))
        .chain(unequal("failures by message", errors(false), run.info.failures))
        .chain(cells.unlike_transactions(errors(true)))
        .collect()
}

/// Returns the run, or an error if its counts contradict each other. The second number is the samples in its cells.
pub(crate) fn check_run(read: Option<(StoredRun, SampleTotals)>) -> Result<Option<StoredRun>> {
    let Some((run, cells)) = read else { return Ok(None) };
    refuse_damaged(&run.info, run_faults(&run, cells))?;
    Ok(Some(run))
}

/// Fails if the samples that were read are not all of the run.
pub(crate) fn check_samples_read(info: &RunInfo, read: SampleTotals) -> Result<()> {
    refuse_damaged(info, read.faults(info, "samples"))
}

/// Fails if the rejects that were read are not all of the run.
pub(crate) fn check_rejects_read(info: &RunInfo, read: u64) -> Result<()> {
    refuse_damaged(info, unequal("rejects", read, info.rejects))
}

/// Fails with the first fault, if there is one.
pub(crate) fn refuse_damaged(info: &RunInfo, faults: impl IntoIterator<Item = String>) -> Result<()> {
    match faults.into_iter().next() {
        Some(fault) => {
            Err(Error::failed(ErrorKind::RunDamaged, format!("reading the run {}", info.key), fault, REMEDY))
        }
        None => Ok(()),
    }
}
