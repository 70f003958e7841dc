//! The most that a run has of each sort of rows. What is stored by others may claim, and hold, any number.

use crate::counts::{ErrorCount, LabelCount};
use crate::run::info::RunInfo;
use crate::sample::intern::Shared;
use crate::sample::text_list::TextList;

/// Names of a sort, such as labels: those of a part, and the one that others share.
pub(crate) const MAX_NAMES: usize = 100_001;

/// Bytes of all names of a sort: a little more than an ingest distinguishes.
const MAX_NAME_BYTES: usize = 17 << 20;

/// CPU readings, as an export has them.
pub(crate) const MAX_READINGS: u64 = 4_000_000;

/// Readings of all other series together, and the number of series.
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

/// As [`names`], of a list.
pub(crate) fn list_fault(what: &str, list: &TextList) -> Option<String> {
    names_fault(what, list.len(), list.bytes())
}

/// As [`names`], of the labels of whole-run counts.
pub(crate) fn labels_fault(counts: &[LabelCount]) -> Option<String> {
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

    /// Returns a fault if there are more failures or texts so far than a run has. A failure's own texts were taken before.
    pub(crate) fn fault(&mut self, info: &RunInfo) -> Option<String> {
        self.failures += 1;
        let (texts, bytes) = self.known.sizes();
        // Labels, response codes and messages.
        let is_far = texts > 3 * MAX_NAMES || bytes > 3 * MAX_NAME_BYTES;
        let texts = || format!("its failures have {texts} different texts of {bytes} bytes");
        rows_fault("failures", self.failures, max_failures(info)).or_else(|| is_far.then(texts))
    }

    /// Takes the texts of a failure, and returns a fault as [`fault`](Self::fault) does.
    pub(crate) fn take(&mut self, failure: &ErrorCount, info: &RunInfo) -> Option<String> {
        let ErrorCount { label, response_code, message, .. } = failure;
        [label, response_code, message].into_iter().for_each(|text| self.known.take(text));
        self.fault(info)
    }
}
