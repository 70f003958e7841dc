//! One run of a campaign: its files, its key, and what becomes of it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::planned_cpu::PlannedCpu;
use crate::error::{Error, Result};
use crate::operations::ingest::Ingested;
use crate::run::info::{RunInfo, SourceFile};
use crate::run::key::{Repeat, RunKey};
use crate::source::LogSource;

use super::file::LogFile;
use super::pairing::Paired;
use super::status::{Candidate, Stand, are_logs_of};

/// Packed bytes from which on a run is ingested by itself: such a one keeps all cores busy, and each of its counts may
/// be of many different times.
const LARGE: u64 = 512 << 20;

/// Counts from which on a run is ingested by itself: they take some 150 bytes each, and more.
const MANY_CELLS: u64 = 100_000;

/// One run of a campaign.
pub struct CampaignRun {
    /// The file with its logs; of a file that can't be read, that one.
    pub log: PathBuf,
    /// Its CPU export.
    pub cpu: Option<PlannedCpu>,
    /// What it will be called, as its log's head says; then what it is called. None of a file that can't be read.
    pub key: Option<RunKey>,
    /// The smallest timeStamp of its log's head, epoch ms.
    pub t0_ms: Option<i64>,
    /// How it stands to what the store has.
    pub stand: Stand,
    /// What came of its ingest, once it was stored.
    pub ingested: Option<Ingested>,
    /// What the user should know, as sentences.
    pub notes: Vec<String>,
    pub(super) place: Place,
    sources: Vec<LogSource>,
    /// About how many counts its ingest will hold.
    cells: u64,
}

/// Where in the store a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) repeat: Repeat,
    /// Whether it may replace what is there, the logs being the same.
    pub(super) replace: bool,
}

impl CampaignRun {
    /// The run of a file's logs, of which nothing else is known yet.
    pub(super) fn of(log: &LogFile) -> Self {
        Self { t0_ms: log.t0_ms, ..Self::at(log.path.clone(), Stand::New) }
    }

    /// A file that can't be read.
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
            place: Place { repeat: Repeat::default(), replace: false },
            sources: Vec::new(),
            cells: 0,
        }
    }

    /// The run with its logs, to be read.
    pub(super) fn with(self, log: LogFile) -> Self {
        Self { sources: log.sources, cells: log.cells, ..self }
    }

    /// The files to ingest.
    pub fn files(&self) -> Vec<PathBuf> {
        let cpu = self.cpu.iter().filter(|cpu| cpu.paired != Paired::File).map(|cpu| cpu.file.clone());
        std::iter::once(self.log.clone()).chain(cpu).collect()
    }

    /// Whether it is to be read: it is new, has changed, or only reading it tells whether it has.
    pub fn is_due(&self) -> bool {
        !matches!(self.stand, Stand::Unchanged(_) | Stand::Failed(_))
    }

    /// Size of its logs in bytes, packed.
    pub fn packed_size(&self) -> u64 {
        self.sources.iter().filter_map(LogSource::packed_size).sum()
    }

    /// Whether it is ingested by itself, so that memory keeps within its bounds.
    pub(super) fn is_large(&self) -> bool {
        self.cells >= MANY_CELLS || self.packed_size() >= LARGE
    }

    /// Takes the place of the stored run that has the same logs, as far as can be told, or for `sure`.
    pub(super) fn found(&mut self, stored: &RunInfo, sure: bool, change: Option<String>) {
        self.key = Some(stored.key.clone());
        self.place = Place { repeat: Repeat::Number(stored.key.repeat), replace: sure };
        self.stand = match change {
            Some(why) => Stand::Changed(why),
            None if sure => Stand::Unchanged(Box::new(stored.clone())),
            None => Stand::Unread(Box::new(stored.clone())),
        };
    }

    /// Takes the place of an earlier state of it, or one of its own.
    pub(super) fn place(
        &mut self,
        candidate: &Candidate<'_>,
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
                    // Another run of the folder has that place: which of the two, is asked of all of them together.
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
            None => key,
        };
        taken.insert(key.clone());
        self.key = Some(key);
    }

    /// Compares the logs with those of the stored run from which nothing but their content may tell them; reads them
    /// whole.
    ///
    /// # Errors
    /// When they can't be read.
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

/// Reads logs to their end.
fn digests(mut sources: Vec<LogSource>, packed: &Arc<AtomicU64>) -> Result<Vec<SourceFile>> {
    let mut digests = Vec::new();
    for source in &mut sources {
        let mut stream = source.open(Arc::clone(packed))?;
        while let Some(log) = stream.next_log()? {
            digests.push(log.finish()?);
        }
    }
    Ok(digests)
}
