//! What an inspection finds.

use serde::{Serialize, Serializer};

use super::cpu::CpuInspection;
use super::log::LogInspection;
use super::rejects::RejectKind;
use crate::counts::LabelCount;
use crate::error::Error;
use crate::run::damage::Damage;
use crate::run::key::RunKey;
use crate::run::rejects::Reject;

/// What is known of a run before it is ingested.
///
/// Counts are those of the sample that was read, which may be all of the run: see [`Inspection::whole`].
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The key under which the run would be stored, as far as the sample tells; its repeat is 1 where the next free
    /// one was asked for. `None` where there is no log.
    pub key: Option<RunKey>,
    /// What of the key was inferred, and from what, as sentences.
    pub inferred: Vec<String>,
    /// Whether all logs were read to their end: then nothing here is an estimate.
    pub whole: bool,
    /// The smallest timeStamp that was seen, epoch ms: t0, unless a log that was not read to its end has an earlier one.
    pub t0_ms: Option<i64>,
    /// The largest timeStamp that was seen, epoch ms.
    pub last_ms: Option<i64>,
    /// Whether the end of every log was seen, so that `last_ms` is the run's.
    pub end_seen: bool,
    /// Successful requests in the sample.
    pub successes: u64,
    /// Failed requests in the sample.
    pub failures: u64,
    /// Transaction controllers' own records in the sample.
    pub transactions: u64,
    /// Records of the sample that would be rejected.
    pub rejects: u64,
    /// Records of all logs, rejects among them: exact if `whole`, else estimated by the sizes of the logs. `None` where
    /// a size is not known.
    pub records_estimate: Option<u64>,
    /// Rejects of all logs, at the rate of the sample.
    pub rejects_estimate: Option<u64>,
    /// How many records may be rejected.
    pub max_rejects: u64,
    /// The sample's rejects by reason, the most frequent first.
    pub reject_kinds: Vec<RejectKind>,
    /// The first rejects, of at most 500 characters each.
    pub first_rejects: Vec<Reject>,
    /// The labels of the sample, ascending.
    pub labels: Vec<LabelCount>,
    /// The injectors that the sample tells apart.
    pub injectors: Vec<String>,
    /// The logs, in the order in which they would be read.
    pub logs: Vec<LogInspection>,
    /// The CPU export.
    pub cpu: Option<CpuInspection>,
    /// What the user should know, as sentences.
    pub notes: Vec<String>,
    /// What is damaged of the inputs, where they are to be salvaged, as far as the sample tells.
    pub damage: Vec<Damage>,
    /// Why an ingest would be refused, as far as the sample tells; `problem` and `remedy` where it is serialised.
    #[serde(serialize_with = "problem_and_remedy")]
    pub refusal: Option<Error>,
}

fn problem_and_remedy<S: Serializer>(error: &Option<Error>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Refusal<'a> {
        problem: String,
        remedy: Option<&'a str>,
    }
    let refusal = error.as_ref().map(|error| Refusal { problem: error.to_string(), remedy: error.remedy() });
    refusal.serialize(serializer)
}

impl Inspection {
    /// The share of failures among the requests of the sample, in percent; `None` where there is no request.
    pub fn failures_percent(&self) -> Option<f64> {
        let requests = self.successes + self.failures;
        (requests > 0).then(|| self.failures as f64 / requests as f64 * 100.0)
    }

    /// Whether more records would be rejected than may be, at the rate of the sample.
    pub fn too_many_rejects(&self) -> bool {
        self.rejects_estimate.is_some_and(|rejects| rejects > self.max_rejects)
    }
}
