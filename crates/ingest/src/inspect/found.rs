//! The result of an inspection, with the rejected records by reason and the first of them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cpu::{CpuInspection, SeriesInspection};
use super::log::LogInspection;
use crate::operations::sub_samples::sub_sample_names;
use perfpipe_model::counts::LabelCount;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::note::Note;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::run::rejects::{Reject, RejectSpool};

/// The facts about a run before it is ingested.
///
/// Counts are those of the sample that was read, which may be the whole run: see [`Inspection::whole`].
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The key under which the run would be stored, as far as the sample shows. Its repeat is 1 if the next free one
    /// was requested. `None` if there is no log.
    pub key: Option<RunKey>,
    /// What was inferred for the key, and from what, as clauses.
    pub inferred: Vec<String>,
    /// True if all logs were read to their end; then nothing is estimated.
    pub whole: bool,
    /// The smallest timeStamp that was found, epoch ms: t0, unless a log that was not read to its end has an earlier
    /// one.
    pub t0_ms: Option<i64>,
    /// The largest timeStamp that was found, epoch ms.
    pub last_ms: Option<i64>,
    /// True if the end of every log was read, so that `last_ms` is the run's.
    pub end_seen: bool,
    /// The number of successful requests in the sample.
    pub successes: u64,
    /// The number of failed requests in the sample.
    pub failures: u64,
    /// The number of transaction controllers' own records in the sample.
    pub transactions: u64,
    /// The number of records in the sample that would be rejected.
    pub rejects: u64,
    /// The number of records in all logs, including rejects: exact if `whole`, otherwise estimated from the sizes of
    /// the logs. `None` if a size is unknown.
    pub records_estimate: Option<u64>,
    /// The number of rejects in all logs, extrapolated from the sample.
    pub rejects_estimate: Option<u64>,
    /// The maximum number of rejects.
    pub max_rejects: u64,
    /// The sample's rejects by reason, the most frequent first.
    pub reject_kinds: Vec<RejectKind>,
    /// The first rejects, cut to 500 characters each.
    pub first_rejects: Vec<Reject>,
    /// The labels of the sample, ascending.
    pub labels: Vec<LabelCount>,
    /// The names of the injectors in the sample.
    pub injectors: Vec<String>,
    /// The logs, in the order in which they would be read.
    pub logs: Vec<LogInspection>,
    /// The CPU export, if any.
    pub cpu: Option<CpuInspection>,
    /// The other series of the server, ascending by name.
    pub series: Vec<SeriesInspection>,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
    /// The damage of the inputs, if they are to be salvaged, as far as the sample shows.
    pub damage: Vec<Damage>,
    /// The error with which an ingest would be refused, as far as the sample shows. It is not serialised: its remedy
    /// depends on the interface.
    #[serde(skip)]
    pub refusal: Option<Error>,
}

impl Inspection {
    /// The share of failures among the requests of the sample, in percent; `None` without requests.
    pub fn failures_percent(&self) -> Option<f64> {
        let requests = self.successes + self.failures;
        (requests > 0).then(|| self.failures as f64 / requests as f64 * 100.0)
    }

    /// The labels of the sample that are named like sub-samples: parts of other samples, as JMeter writes them.
    pub fn sub_sample_names(&self) -> Vec<&str> {
        sub_sample_names(self.labels.iter().map(|label| label.label.as_str()))
    }

    /// Returns true if the estimated number of rejects exceeds the maximum.
    pub fn too_many_rejects(&self) -> bool {
        self.rejects_estimate.is_some_and(|rejects| rejects > self.max_rejects)
    }
}

/// The number of rejects that are shown.
const SHOWN: usize = 5;

/// The maximum length of a shown record, in characters.
const RECORD: usize = 500;

/// The number of rejects with one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectKind {
    /// The reason's code, see [`RejectReason::code`].
    pub code: String,
    /// The reason as a clause, without the offending value.
    pub reason: String,
    /// The number of records.
    pub count: u64,
}

/// The rejects by reason, the most frequent first.
pub(super) fn reject_kinds(counts: &BTreeMap<RejectReason, u64>) -> Vec<RejectKind> {
    let kind = |(reason, count): (&RejectReason, &u64)| RejectKind {
        code: reason.code().to_owned(),
        reason: reason.to_string(),
        count: *count,
    };
    let mut kinds: Vec<_> = counts.iter().map(kind).collect();
    kinds.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.reason.cmp(&b.reason)));
    kinds
}

/// The first rejects, with long records cut.
pub(super) fn first_rejects(rejects: &mut RejectSpool) -> Result<Vec<Reject>> {
    let shown = |mut reject: Reject| {
        if let Some((end, _)) = reject.record.char_indices().nth(RECORD) {
            reject.record.truncate(end);
            reject.record.push('…');
        }
        reject
    };
    rejects.iter()?.take(SHOWN).map(|reject| reject.map(shown)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_the_most_frequent_first() {
        let elapsed = RejectReason::NotANumber { column: "elapsed" };
        let counts = BTreeMap::from([
            (RejectReason::FieldCount { found: 5, expected: 17 }, 1),
            (elapsed, 7),
            (RejectReason::OpenQuote, 1),
        ]);
        let kinds = reject_kinds(&counts);
        let counts: Vec<_> = kinds.iter().map(|kind| (kind.code.as_str(), kind.count)).collect();
        assert_eq!(counts, [("not-a-number", 7), ("field-count", 1), ("open-quote", 1)]);
        assert_eq!(kinds[0].reason, elapsed.to_string());
    }

    #[test]
    fn first_few_are_shown_and_long_records_cut() {
        let mut spool = RejectSpool::default();
        for line in 2..10 {
            let reject = Reject {
                file: "a.csv".into(),
                member: None,
                line,
                byte: 0,
                code: None,
                reason: String::new(),
                record: "é".repeat(501),
            };
            spool.push(&reject).unwrap();
        }
        let first = first_rejects(&mut spool).unwrap();
        assert_eq!(first.iter().map(|reject| reject.line).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(first[0].record.chars().count(), 501);
        assert!(first[0].record.ends_with("é…"));
    }
}
