//! Checks that the parts of a run agree with its row: before it is committed, so that nothing is stored that reading would
//! refuse, and after it was read, so that rows that were deleted, hidden or changed are an error instead of wrong figures.
//!
//! Also the most rows of each sort that a run has, since what others stored may claim, and contain, any number; and which
//! errors mean damaged data.

use crate::sink::FinishedRun;
use perfpipe_model::counts::spill::CellResult;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::counts::{CellKey, ErrorCount, InjectorLoad, LabelCount};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::intern::Shared;
use perfpipe_model::sample::text_list::TextList;
use perfpipe_model::series::cpu::TimeSeries;
use perfpipe_model::series::server;

const REMEDY: &str = "A part of the run was deleted, hidden or changed. Verify the store to see what is \
                      damaged, and repair it; if that does not help, ingest the run again.";

/// The numbers of samples by kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SampleTotals {
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
    pub fn of(cells: &CellTable) -> Result<Self> {
        let mut counted = Self::default();
        for cell in cells.iter() {
            let (key, cell) = cell?;
            counted.add(key.success, key.transaction, cell.samples());
        }
        Ok(counted)
    }

    /// Counts the samples in whole-run counts by label.
    fn by_label(labels: &[LabelCount]) -> Self {
        let mut counted = Self::default();
        for label in labels {
            counted.add(true, false, label.successes);
            counted.add(false, false, label.failures);
            counted.add(true, true, label.transactions);
        }
        counted
    }

    /// Returns a fault if the failed transactions among the failures of a run are not those of these counts by second.
    fn unlike_transactions(&self, by_message: u64) -> Option<String> {
        let differ = by_message != self.failed_transactions;
        differ.then(|| "its failed transactions by message differ from its counts by second".to_owned())
    }

    /// Returns how these numbers differ from the totals of a run. `what` names the counts in messages.
    fn faults(&self, info: &RunInfo, what: &str) -> impl Iterator<Item = String> + use<> {
        let of = |kind: &str, found, stated| unequal(&format!("{kind} in its {what}"), found, stated);
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
pub fn unequal(what: &str, found: u64, stated: u64) -> Option<String> {
    (found != stated).then(|| format!("it has {found} {what}, but its own row says {stated}"))
}

/// Returns a fault if something is of a second that a run does not have.
pub(crate) fn second_fault(what: &str, second: u32, info: &RunInfo) -> Option<String> {
    let seconds = info.seconds;
    (second >= seconds).then(|| format!("it has {what} of second {second}, and has {seconds} seconds"))
}

/// Returns how the counts of a run contradict its totals and each other. `cells` are the samples that its cells count.
pub fn run_faults(run: &StoredRun, cells: SampleTotals) -> Vec<String> {
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

/// Refuses a run whose row, whole-run counts or rejects contradict each other, or are no run's. Its cells and failures are
/// compared as they pass: [`CountedCells`] and [`CountedFailures`].
///
/// # Errors
/// If reading the run would fail.
pub(crate) fn check_finished(run: &FinishedRun<'_>) -> Result<()> {
    let info = run.info;
    let ascend = run.label_counts.is_sorted_by(|one, next| one.label < next.label);
    let faults = info
        .fault()
        .into_iter()
        .chain(sizes(run))
        .chain((!ascend).then(|| "its counts by label do not ascend by label".to_owned()))
        .chain(SampleTotals::by_label(run.label_counts).faults(info, "counts by label"))
        .chain(unequal("rejects", run.rejects.len(), info.rejects));
    refuse_contradictory(info, faults)?;
    server::check(run.series.iter().map(|series| (series.name.as_str(), series.unit.as_str())))
}

/// Returns what a run has more of than can be read.
fn sizes(run: &FinishedRun<'_>) -> impl Iterator<Item = String> + use<> {
    let bytes = |names: &[String]| names.iter().map(String::len).sum();
    let readings = |readings: &TimeSeries| readings.readings().len() as u64;
    let (rows, series) = MAX_SERIES;
    [
        names_fault("labels", run.labels.len(), bytes(run.labels)),
        names_fault("injectors", run.injectors.len(), bytes(run.injectors)),
        labels_fault(run.label_counts),
        rows_fault("CPU readings", readings(run.cpu), MAX_READINGS),
        rows_fault("readings", run.series.iter().map(|of| readings(&of.readings)).sum(), rows),
        rows_fault("series", run.series.len() as u64, series as u64),
    ]
    .into_iter()
    .flatten()
}

/// The cells of a run on their way into a store. Their samples are counted as they pass.
pub(crate) struct CountedCells<'a> {
    cells: &'a mut (dyn Iterator<Item = CellResult> + Send),
    info: &'a RunInfo,
    /// The numbers of labels and of injectors.
    names: (usize, usize),
    last: Option<CellKey>,
    counted: SampleTotals,
}

impl<'a> CountedCells<'a> {
    /// Wraps cells of which none has passed yet, with the run's row, its labels and its injectors.
    pub(crate) fn new(
        cells: &'a mut (dyn Iterator<Item = CellResult> + Send),
        info: &'a RunInfo,
        (labels, injectors): (&[String], &[String]),
    ) -> Self {
        let names = (labels.len(), injectors.len());
        Self { cells, info, names, last: None, counted: SampleTotals::default() }
    }

    /// Compares the counts of all cells with the run's totals, and with the failed transactions among its failures. All
    /// cells must have passed.
    ///
    /// # Errors
    /// If they differ.
    pub(crate) fn check(&self, failed_transactions: u64) -> Result<()> {
        let transactions = self.counted.unlike_transactions(failed_transactions);
        refuse_contradictory(
            self.info,
            self.counted.faults(self.info, "counts by second").chain(transactions),
        )
    }

    /// Returns why a cell can't come next.
    fn fault(&self, key: CellKey, loads: &[InjectorLoad]) -> Option<String> {
        let (labels, injectors) = self.names;
        let CellKey { second, label, .. } = key;
        if self.last.is_some_and(|last| last >= key) {
            Some(format!("its cells do not ascend by key, in second {second}"))
        } else if let Some(fault) = second_fault("counts", second, self.info) {
            Some(fault)
        } else if label as usize >= labels {
            Some(format!("a cell is of label {label}, and there are {labels}"))
        } else {
            let unknown = loads.iter().find(|load| load.injector as usize >= injectors)?;
            Some(format!("a cell is of injector {}, and there are {injectors}", unknown.injector))
        }
    }
}

impl Iterator for CountedCells<'_> {
    type Item = CellResult;

    fn next(&mut self) -> Option<CellResult> {
        let cell = self.cells.next()?;
        if let Ok((key, cell)) = &cell {
            if let Some(fault) = self.fault(*key, &cell.sums().injectors) {
                return Some(Err(contradictory(self.info, fault)));
            }
            self.last = Some(*key);
            self.counted.add(key.success, key.transaction, cell.samples());
        }
        Some(cell)
    }
}

/// The failures of a run on their way into a store, which are counted as they pass. Yields an error at the end if the
/// requests among them do not add up to the run's total, so writers must drain it.
pub(crate) struct CountedFailures<'a> {
    failures: Box<dyn Iterator<Item = Result<ErrorCount>> + Send + 'a>,
    info: &'a RunInfo,
    texts: FailureTexts,
    requests: u64,
    transactions: u64,
    is_checked: bool,
}

impl<'a> CountedFailures<'a> {
    /// Wraps failures of which none has passed yet, with the run's row.
    pub(crate) fn new(
        failures: Box<dyn Iterator<Item = Result<ErrorCount>> + Send + 'a>,
        info: &'a RunInfo,
    ) -> Self {
        Self {
            failures,
            info,
            texts: FailureTexts::default(),
            requests: 0,
            transactions: 0,
            is_checked: false,
        }
    }

    /// The number of failed transactions that have passed.
    pub(crate) fn transactions(&self) -> u64 {
        self.transactions
    }

    fn end(&mut self) -> Option<Result<ErrorCount>> {
        if std::mem::replace(&mut self.is_checked, true) {
            return None;
        }
        let fault = unequal("failures by message", self.requests, self.info.failures);
        refuse_contradictory(self.info, fault).err().map(Err)
    }
}

impl Iterator for CountedFailures<'_> {
    type Item = Result<ErrorCount>;

    fn next(&mut self) -> Option<Result<ErrorCount>> {
        let Some(failure) = self.failures.next() else { return self.end() };
        let Ok(found) = &failure else { return Some(failure) };
        let sum = if found.transaction { &mut self.transactions } else { &mut self.requests };
        *sum = sum.saturating_add(found.count);
        let fault = second_fault("failures", found.second, self.info);
        match fault.or_else(|| self.texts.add(found, self.info)) {
            None => Some(failure),
            Some(fault) => Some(Err(contradictory(self.info, fault))),
        }
    }
}

/// Compares the samples that a writer received with the run's row.
///
/// # Errors
/// If they differ.
pub(crate) fn check_samples_written(info: &RunInfo, received: SampleTotals) -> Result<()> {
    refuse_contradictory(info, received.faults(info, "samples"))
}

/// Compares the parsed samples of an ingested run and its counts by label with its totals.
///
/// # Errors
/// If they differ.
pub fn check_parsed(info: &RunInfo, parsed: u64, labels: &[LabelCount]) -> Result<()> {
    let samples = info.requests().saturating_add(info.transactions);
    let labels = SampleTotals::by_label(labels).faults(info, "counts by label");
    let parsed = unequal("samples that were parsed", parsed, samples);
    refuse_contradictory(info, labels.chain(parsed))
}

/// Refuses a row that does not say whether its writer was begun with samples.
pub(crate) fn check_samples_stored(info: &RunInfo, kept: bool) -> Result<()> {
    if info.samples_stored == kept {
        return Ok(());
    }
    Err(Error::usage(
        ErrorKind::WriterMismatch,
        format!(
            "the run's row says samples_stored {}, and its writer was begun with {kept}",
            info.samples_stored
        ),
        "Give both the same answer.",
    ))
}

/// Returns the first fault as an error, if there is one.
fn refuse_contradictory(info: &RunInfo, faults: impl IntoIterator<Item = String>) -> Result<()> {
    faults.into_iter().next().map_or(Ok(()), |fault| Err(contradictory(info, fault)))
}

fn contradictory(info: &RunInfo, fault: String) -> Error {
    Error::refused(
        ErrorKind::RunContradictory,
        format!("the run {} can't be stored: {fault}", info.key),
        "Its row, its counts, its failures and its samples have to be of the same requests. Nothing was stored.",
    )
}

/// Names of a sort, such as labels: those of a part, and the one that others share.
pub(crate) const MAX_NAMES: usize = 100_001;

/// Bytes of all names of a sort: a little more than an ingest distinguishes.
const MAX_NAME_BYTES: usize = 17 << 20;

/// CPU readings, as an export has them.
pub(crate) const MAX_READINGS: u64 = 4_000_000;

/// Readings of all other series in total, and the number of series.
pub(crate) const MAX_SERIES: (u64, usize) = (8_000_000, 1000);

/// Cells of a second: of each label its successes, failures, and transactions of both kinds.
pub(crate) const MAX_CELLS: usize = 4 * MAX_NAMES;

/// Kinds of failure by second that are counted separately, and two a second for all others.
pub(crate) fn max_failures(info: &RunInfo) -> u64 {
    500_000 + 2 * u64::from(info.seconds)
}

/// Returns a fault if there are more names of a sort, or longer ones, than a run has.
pub(crate) fn names_fault(what: &str, names: usize, bytes: usize) -> Option<String> {
    let is_far = names > MAX_NAMES || bytes > MAX_NAME_BYTES;
    is_far.then(|| {
        format!(
            "it has {names} {what} of {bytes} bytes; a run has at most {MAX_NAMES}, of {MAX_NAME_BYTES} bytes"
        )
    })
}

/// As [`names_fault`], of a list.
pub(crate) fn list_fault(what: &str, list: &TextList) -> Option<String> {
    names_fault(what, list.len(), list.bytes())
}

/// As [`names_fault`], of the labels of whole-run counts.
fn labels_fault(counts: &[LabelCount]) -> Option<String> {
    names_fault("labels", counts.len(), counts.iter().map(|count| count.label.len()).sum())
}

/// Returns a fault if there are more rows than `most`.
pub(crate) fn rows_fault(what: &str, rows: u64, most: u64) -> Option<String> {
    (rows > most).then(|| format!("it has {rows} {what}, and a run has at most {most}"))
}

/// The texts of failures, each kept once.
#[derive(Debug, Default)]
pub(crate) struct FailureTexts {
    known: Shared,
    failures: u64,
}

impl FailureTexts {
    /// Returns the shared copy of a text.
    pub(crate) fn text(&mut self, text: &str) -> std::sync::Arc<str> {
        self.known.text(text)
    }

    /// Returns a fault if there are more failures or texts so far than a run has. A failure's own texts were added before.
    pub(crate) fn fault(&mut self, info: &RunInfo) -> Option<String> {
        self.failures += 1;
        let (texts, bytes) = self.known.sizes();
        // Labels, response codes and messages.
        let is_far = texts > 3 * MAX_NAMES || bytes > 3 * MAX_NAME_BYTES;
        let texts = || format!("its failures have {texts} different texts of {bytes} bytes");
        rows_fault("failures", self.failures, max_failures(info)).or_else(|| is_far.then(texts))
    }

    /// Adds the texts of a failure, and returns a fault as [`fault`](Self::fault) does.
    fn add(&mut self, failure: &ErrorCount, info: &RunInfo) -> Option<String> {
        let ErrorCount { label, response_code, message, .. } = failure;
        [label, response_code, message].into_iter().for_each(|text| self.known.take(text));
        self.fault(info)
    }
}

/// Returns the message of an error that means damage to what is stored.
///
/// # Errors
/// The error itself, if it means anything else.
pub fn damage_message(error: Error) -> Result<String> {
    match error {
        // A link, or something else, is where a file of the store should be.
        error if [ErrorKind::LinkInStore, ErrorKind::OtherInStore].contains(&error.kind()) => {
            Ok(error.to_string())
        }
        Error::Store { ref source, .. } if source.downcast_ref::<std::io::Error>().is_none_or(is_damage) => {
            Ok(error.to_string())
        }
        Error::Io { ref source, .. } if is_damage(source) => Ok(error.to_string()),
        error => Err(error),
    }
}

/// Returns true if a read failed because the file is missing, invalid or too short.
fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_model::run::key::RunKey;

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
        let pass = |of_run: u64| {
            let mut info = RunInfo::new(RunKey::new("go", "t"), 0, 0);
            info.failures = of_run;
            let mut checked = CountedFailures::new(Box::new(all.iter().cloned().map(Ok)), &info);
            let passed: Vec<Result<ErrorCount>> = checked.by_ref().collect();
            assert!(checked.next().is_none(), "the error is reported once");
            assert_eq!(checked.transactions(), 7);
            passed
        };
        let right: Vec<ErrorCount> = pass(5).into_iter().collect::<Result<_>>().unwrap();
        assert_eq!(right, all);
        let mut wrong = pass(12);
        let error = wrong.pop().unwrap().unwrap_err().to_string();
        assert!(error.contains("it has 5 failures by message, but its own row says 12"), "{error}");
        assert_eq!(wrong.len(), all.len());
    }
}
