//! The result of an inspection.

use serde::Serialize;

use super::cpu::{CpuInspection, SeriesInspection};
use super::log::LogInspection;
use super::rejects::RejectKind;
use crate::counts::LabelCount;
use crate::error::Error;
use crate::operations::sub_samples::sub_sample_names;
use crate::run::damage::Damage;
use crate::run::key::RunKey;
use crate::run::note::Note;
use crate::run::rejects::Reject;

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
