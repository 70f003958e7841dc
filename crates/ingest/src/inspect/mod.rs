//! What an ingest would find, said after a look at the beginning of each log, with nothing stored.

mod columns;
mod cpu;
mod log;
mod rejects;
mod sampler;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use serde::{Serialize, Serializer};

use crate::counts::LabelCount;
use crate::error::{Error, Result};
use crate::operations::ingest::{IngestOptions, Prepared, check, lacks_log, recognise};
use crate::pipeline::reader::ReadPlan;
use crate::run::damage::Damage;
use crate::run::key::RunKey;
use crate::run::rejects::Reject;

pub use self::columns::MissingColumn;
pub use self::cpu::{ClockGuess, CpuInspection, Gap};
pub use self::log::{InjectorsBy, LogInspection, TimeForm};
pub use self::rejects::RejectKind;
use self::sampler::Sampler;

/// Bytes of a block: small, as the last one of a log that is not read to its end is left out.
const BLOCK: usize = 64 << 10;

/// Bytes that are read of a log at least, however many there are.
const LEAST: u64 = 256 << 10;

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

/// Looks at the files of a run as [`ingest`](crate::ingest()) would read them, and says what it would find.
///
/// All is inferred by the code of the ingest. Of all logs together `options.sizes.look_ahead` bytes are read, unpacked
/// (and at least 256 KiB of each), besides the end of those that are not packed. No store is opened. What is read of
/// standard input or a named pipe is consumed.
///
/// # Errors
/// As `ingest` when the files are recognised: what can't be read, is neither log nor CPU export, or is damaged where
/// that shows. What is found later is told in [`Inspection::refusal`].
///
/// ```
/// use perfpipe_ingest::{IngestOptions, inspect};
/// # let dir = tempfile::tempdir().unwrap();
/// # let log = dir.path().join("perfectnio_2048.csv");
/// # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n").unwrap();
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let found = inspect(&[log], &IngestOptions::default()).await?;
/// assert_eq!(found.key.unwrap().to_string(), "perfectnio_2048");
/// assert_eq!((found.t0_ms, found.successes, found.whole), (Some(1795203738615), 1, true));
/// # Ok::<(), perfpipe_ingest::Error>(())
/// # }).unwrap();
/// ```
pub async fn inspect(files: &[PathBuf], options: &IngestOptions) -> Result<Inspection> {
    check(options)?;
    let inputs = recognise(files.to_vec(), options.source.clone()).await?;
    let refusal = lacks_log(&inputs);
    let prepared = Prepared::of(inputs, options).await?;
    let options = options.clone();
    let mut found = tokio::task::spawn_blocking(move || look(prepared, &options))
        .await
        .map_err(|error| Error::store("looking at the logs", error))??;
    if refusal.is_some() {
        found.refusal = refusal;
    }
    Ok(found)
}

/// Reads the samples, and puts together what they show.
fn look(prepared: Prepared, options: &IngestOptions) -> Result<Inspection> {
    let parser = prepared.parser(options)?;
    let logs = prepared.logs.lock().unwrap_or_else(PoisonError::into_inner).len().max(1) as u64;
    let limit = (options.sizes.look_ahead as u64 / logs).max(LEAST);
    let plan = ReadPlan { limit: Some(limit), block_size: BLOCK, ..prepared.plan(options, options.origin) };
    let mut sampler = Sampler::new(parser.clone(), options, &prepared, limit);
    let read = plan.run(parser, Arc::clone(&sampler.packed), &mut sampler);
    let broken = sampler.refusal.take().or(read.err());
    sampler.look_at_ends(&prepared)?;
    sampler.found(prepared, options, broken)
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
