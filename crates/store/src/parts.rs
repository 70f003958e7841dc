//! Parts of runs: one machine's share each, kept where no reader of runs sees it until all of them are merged.

use std::collections::BTreeMap;
use std::future::Future;

#[cfg(feature = "parquet")]
use super::parquet::packed::PartFacts;
use crate::sink::{RunStore, RunWriter};
use perfpipe_model::counts::part::PartRow;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

/// The parts of a run that are stored and not yet merged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredParts {
    /// The key of the run.
    pub key: RunKey,
    /// The number of all parts, as the first of them has it.
    pub of: u32,
    /// The numbers of the stored parts, ascending.
    pub numbers: Vec<u32>,
    /// The number of requests in them.
    pub requests: u64,
}

impl StoredParts {
    /// Gathers the parts of each run: the key, number and requests of each part. Sorted by test, framework and repeat.
    pub(crate) fn gather(parts: impl IntoIterator<Item = (RunKey, PartNumber, u64)>) -> Vec<Self> {
        let mut runs: BTreeMap<RunKey, Vec<(PartNumber, u64)>> = BTreeMap::new();
        for (key, number, requests) in parts {
            runs.entry(key).or_default().push((number, requests));
        }
        let of_run = |(key, mut parts): (RunKey, Vec<(PartNumber, u64)>)| {
            parts.sort_unstable();
            Self {
                key,
                of: parts.first().map_or(0, |(number, _)| number.of()),
                numbers: parts.iter().map(|(number, _)| number.number()).collect(),
                requests: parts.iter().map(|(_, requests)| *requests).fold(0, u64::saturating_add),
            }
        };
        let mut found: Vec<Self> = runs.into_iter().map(of_run).collect();
        found.sort_by(|a, b| a.key.in_lists().cmp(&b.key.in_lists()));
        found
    }
}

/// What is known of a stored part without reading its counts.
#[derive(Debug, Clone)]
pub struct StoredPart {
    /// What is stored of the part alone.
    pub row: PartRow,
    /// What is stored of it as of a run.
    pub info: RunInfo,
}

/// A store that keeps parts of runs.
#[cfg(feature = "parquet")]
pub trait PartStore: Sync {
    /// Where one part is written, as a run of a store of its own.
    type Target: RunStore;

    /// The parts of one run, claimed until this is dropped.
    type Claimed: ClaimedParts;

    /// Returns the parts of runs that are not yet merged, sorted by test, framework and repeat.
    fn parts(&self) -> impl Future<Output = Result<Vec<StoredParts>>> + Send;

    /// Returns where a part of a run is written. No merge of the run begins meanwhile, where the store has locks.
    fn part_target(
        &self,
        key: &RunKey,
        number: PartNumber,
    ) -> impl Future<Output = Result<Self::Target>> + Send;

    /// Claims the parts of a run, so that nobody else merges or drops them, where the store has locks.
    ///
    /// # Errors
    /// If there are none, or another perfpipe is writing, merging or dropping parts of the run.
    fn claim_parts(&self, key: &RunKey) -> impl Future<Output = Result<Self::Claimed>> + Send;
}

/// The parts of one run.
#[cfg(feature = "parquet")]
pub trait ClaimedParts: Send + Sync {
    /// The writer of the run that they are merged to.
    type Writer: RunWriter;

    /// Returns the numbers of the parts, whether they can be read or not.
    fn numbers(&self) -> Result<Vec<u32>>;

    /// Reads what is known of the parts, ascending by number.
    fn all(&self) -> impl Future<Output = Result<Vec<StoredPart>>> + Send;

    /// Opens what is stored of a part other than its samples.
    fn facts(&self, part: &StoredPart) -> impl Future<Output = Result<PartFacts>> + Send;

    /// Begins the run, whose samples are those of its parts, in this order.
    fn begin_merged(
        &self,
        key: &RunKey,
        parts: &[StoredPart],
    ) -> impl Future<Output = Result<Self::Writer>> + Send;

    /// Removes the parts that were merged, in one step, unless the commit of the run did.
    fn remove_merged(&self) -> impl Future<Output = Result<()>> + Send;

    /// Removes the parts with these numbers, which are there.
    fn drop_parts(&self, numbers: &[u32]) -> impl Future<Output = Result<()>> + Send;
}

/// The error for a run of which no part is stored.
pub fn no_parts(key: &RunKey) -> Error {
    let problem = format!("the store has no parts of {key}");
    Error::refused(ErrorKind::NoParts, problem, "Ingest them first, each with the number of its part.")
}

/// The error for a part that can't be written, since the parts of its run are being merged.
pub(crate) fn being_merged(key: &RunKey) -> Error {
    busy(format!("the parts of {key} are being merged by another perfpipe"))
}

/// The error for parts that can't be merged or dropped.
pub(crate) fn in_use(key: &RunKey) -> Error {
    busy(format!("parts of {key} are being written or merged by another perfpipe"))
}

fn busy(problem: String) -> Error {
    Error::refused(ErrorKind::PartsBusy, problem, "Wait until it is done.")
}
