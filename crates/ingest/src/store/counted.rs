//! Compares the parts of a run with its row before it is committed, so that nothing is stored that reading would refuse.

use super::bounds::{self, FailureTexts};
use super::held::{self, SampleTotals, unequal};
use crate::counts::packed::CellResult;
use crate::counts::{CellKey, ErrorCount, InjectorLoad, LabelCount};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::sink::FinishedRun;
use crate::run::info::RunInfo;
use crate::series::cpu::TimeSeries;
use crate::series::server;

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
    let (rows, series) = bounds::MAX_SERIES;
    [
        bounds::names_fault("labels", run.labels.len(), bytes(run.labels)),
        bounds::names_fault("injectors", run.injectors.len(), bytes(run.injectors)),
        bounds::labels_fault(run.label_counts),
        bounds::rows_fault("CPU readings", readings(run.cpu), bounds::MAX_READINGS),
        bounds::rows_fault("readings", run.series.iter().map(|of| readings(&of.readings)).sum(), rows),
        bounds::rows_fault("series", run.series.len() as u64, series as u64),
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
        } else if let Some(fault) = held::second_fault("counts", second, self.info) {
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

/// The failures of a run on their way into a store, which are counted as they pass. Behind the last one stands an error if
/// the requests among them are not so many as the run has, so a writer has to take all of them.
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
        let fault = held::second_fault("failures", found.second, self.info);
        match fault.or_else(|| self.texts.take(found, self.info)) {
            None => Some(failure),
            Some(fault) => Some(Err(contradictory(self.info, fault))),
        }
    }
}

/// Compares the samples that a writer took with the run's row.
///
/// # Errors
/// If they differ.
pub(crate) fn check_samples_written(info: &RunInfo, taken: SampleTotals) -> Result<()> {
    refuse_contradictory(info, taken.faults(info, "samples"))
}

/// Compares the parsed samples of an ingested run and its counts by label with its totals.
///
/// # Errors
/// If they differ.
pub(crate) fn check_parsed(info: &RunInfo, parsed: u64, labels: &[LabelCount]) -> Result<()> {
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
        "Its row, its counts, its failures and its samples have to tell of the same requests. Nothing was stored.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::key::RunKey;

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
            let mut info = RunInfo::new(RunKey::new("go", "t"), 0, 0);
            info.failures = of_run;
            let mut checked = CountedFailures::new(Box::new(all.iter().cloned().map(Ok)), &info);
            let told: Vec<Result<ErrorCount>> = checked.by_ref().collect();
            assert!(checked.next().is_none(), "the error is told once");
            assert_eq!(checked.transactions(), 7);
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
