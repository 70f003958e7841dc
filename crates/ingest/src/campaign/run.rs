//! One run of a campaign: its files, its key and its status.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::file::{LogFile, PlannedCpu};
use super::file_names::FileName;
use super::pairing::Paired;
use super::status::{RunCandidate, Stand, are_logs_of};
use crate::operations::ingest::Ingested;
use crate::source::LogSource;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::{RunInfo, SourceFile};
use perfpipe_model::run::key::{Repeat, RunKey};
use perfpipe_model::run::note::Note;

/// The packed size in bytes from which a run is ingested alone: such a run keeps all cores busy, and its cells may have
/// many distinct times.
const LARGE: u64 = 512 << 20;

/// The number of cells from which a run is ingested alone: a cell takes 150 bytes or more.
const MANY_CELLS: u64 = 100_000;

/// One run of a campaign.
#[non_exhaustive]
pub struct CampaignRun {
    /// The file with the run's logs, or the file that can't be read.
    pub log: PathBuf,
    /// The run's CPU export, if any.
    pub cpu: Option<PlannedCpu>,
    /// The key inferred from the beginning of the log; after the ingest the final key. `None` for a file that can't be
    /// read.
    pub key: Option<RunKey>,
    /// The smallest timeStamp in the log's beginning, epoch ms.
    pub t0_ms: Option<i64>,
    /// The status of the run compared with the store.
    pub stand: Stand,
    /// The result of the ingest, once the run is stored.
    pub ingested: Option<Ingested>,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
    pub(super) place: RunPlace,
    /// The parts of the key in the log's name, if names are used.
    pub(super) name: FileName,
    sources: Vec<LogSource>,
    /// An estimate of the number of cells of its ingest.
    cells: u64,
}

/// The place of a run in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunPlace {
    pub(super) repeat: Repeat,
    /// True if it may replace the stored run, because the logs are the same.
    pub(super) replace: bool,
}

impl CampaignRun {
    /// Creates a run from a file's logs. All else is unknown.
    pub(super) fn of(log: &LogFile) -> Self {
        Self { t0_ms: log.t0_ms, ..Self::at(log.path.clone(), Stand::New) }
    }

    /// Creates a failed run for a file that can't be read.
    pub(super) fn failed(path: PathBuf, error: Error) -> Self {
        Self::at(path, Stand::Failed(error))
    }

    fn at(log: PathBuf, stand: Stand) -> Self {
        Self {
            log,
            cpu: None,
            key: None,
            t0_ms: None,
            stand,
            ingested: None,
            notes: Vec::new(),
            place: RunPlace { repeat: Repeat::default(), replace: false },
            name: FileName::default(),
            sources: Vec::new(),
            cells: 0,
        }
    }

    /// Adds the logs to read.
    pub(super) fn with(self, log: LogFile) -> Self {
        Self { sources: log.sources, cells: log.cells, name: log.name, ..self }
    }

    /// The files to ingest: the log and, unless it is in the same zip or asked for, the CPU export.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_file = |cpu: &&PlannedCpu| !matches!(cpu.paired, Paired::File | Paired::Asked);
        let cpu = self.cpu.iter().filter(is_file).map(|cpu| cpu.file.clone());
        std::iter::once(self.log.clone()).chain(cpu).collect()
    }

    /// Returns true if the run has to be read: it is new or has changed, or only reading it shows whether it has.
    pub fn is_due(&self) -> bool {
        !matches!(self.stand, Stand::Unchanged(_) | Stand::Failed(_))
    }

    /// The packed size of the run's logs, in bytes.
    pub fn packed_size(&self) -> u64 {
        self.sources.iter().filter_map(LogSource::packed_size).sum()
    }

    /// Returns true if the run must be ingested alone, to keep memory within its limits.
    pub(super) fn is_large(&self) -> bool {
        self.cells >= MANY_CELLS || self.packed_size() >= LARGE
    }

    /// Assigns the place of the stored run with the same logs. With `sure`, their content is known to be the same.
    /// `change` is the reason to ingest the run again, if any.
    pub(super) fn found(&mut self, stored: &RunInfo, sure: bool, change: Option<String>) {
        self.key = Some(stored.key.clone());
        self.place = RunPlace { repeat: Repeat::Number(stored.key.repeat), replace: sure };
        self.stand = match change {
            Some(why) => Stand::Changed(why),
            None if sure => Stand::Unchanged(Box::new(stored.clone())),
            None => Stand::Unread(Box::new(stored.clone())),
        };
    }

    /// Assigns the place of an earlier state of the run, or else a free one.
    pub(super) fn place(
        &mut self,
        candidate: &RunCandidate<'_>,
        stored: &[RunInfo],
        taken: &mut HashSet<RunKey>,
    ) {
        let Some(key) = candidate.keys.first().cloned() else { return };
        let repeats = candidate.options.repeat == Repeat::Next;
        let at = |key: &RunKey| stored.iter().find(|info| info.key == *key);
        let earlier = candidate.earlier_state(stored, taken);
        let earlier = earlier.or_else(|| at(&key).filter(|_| !repeats));
        let key = match earlier {
            Some(earlier) => {
                self.stand = match candidate.refusal(earlier) {
                    // Another run of the campaign has that place. `Campaign::check` reports it for all runs together.
                    _ if taken.contains(&earlier.key) => Stand::New,
                    Some(error) => Stand::Failed(error),
                    None => Stand::Changed("its log has changed".into()),
                };
                self.place.repeat = Repeat::Number(earlier.key.repeat);
                earlier.key.clone()
            }
            None if repeats => {
                self.place.repeat = Repeat::Next;
                let is_free = |key: &RunKey| at(key).is_none() && !taken.contains(key);
                let mut numbers = (1..).map(|repeat| key.clone().with_repeat(repeat));
                numbers.find(is_free).unwrap_or(key)
            }
            None => {
                self.place.repeat = Repeat::Number(key.repeat);
                key
            }
        };
        taken.insert(key.clone());
        self.key = Some(key);
    }

    /// Compares the content of the logs with the stored run, if nothing else shows whether they differ. Reads the logs
    /// to their end.
    ///
    /// # Errors
    /// When a log can't be read.
    pub(super) async fn compare(&mut self, packed: Arc<AtomicU64>) -> Result<()> {
        let Stand::Unread(stored) = &self.stand else { return Ok(()) };
        let sources = std::mem::take(&mut self.sources);
        let reading = tokio::task::spawn_blocking(move || digests(sources, &packed));
        let now = reading.await.map_err(|error| Error::store("comparing a log", error))??;
        self.stand = match are_logs_of(&now, stored) {
            true => Stand::Unchanged(stored.clone()),
            false => Stand::Changed("its log has changed".into()),
        };
        Ok(())
    }
}

/// Reads logs to their end and returns their sizes and checksums.
fn digests(mut sources: Vec<LogSource>, packed: &Arc<AtomicU64>) -> Result<Vec<SourceFile>> {
    let mut digests = Vec::new();
    for source in &mut sources {
        let mut stream = source.open_counted(Arc::clone(packed))?;
        while let Some(log) = stream.next_log()? {
            digests.push(log.finish()?);
        }
    }
    Ok(digests)
}
