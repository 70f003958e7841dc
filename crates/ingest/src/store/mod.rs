//! The stores' common face: what a run is once it is stored, and what a writer of one must do.

mod any;
pub(crate) mod counted;
pub(crate) mod held;
pub mod parquet;
pub mod postgres;
mod stage;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::counts::table::CellTable;
use crate::counts::{Cell, CellKey, ErrorCount, LabelCount};
use crate::error::{Error, Result};
use crate::run::damage::Damage;
use crate::run::rejects::RejectSpool;
use crate::sample::batch::SampleBatch;
use crate::series::cpu::CpuSeries;

pub use self::any::Store;
pub use self::parquet::{ParquetStore, ParquetWriter};
pub use self::postgres::{PostgresConfig, PostgresStore, PostgresWriter};
pub use self::stage::{CommitStage, Stage};
pub use crate::run::key::{LAST_REPEAT, Repeat, RunKey};

/// The file name of standard input.
const PIPE: &str = "-";

/// One input file (or zip member) that a run was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The file's name, without folders (`-` is standard input).
    pub file: String,
    /// The member inside a zip.
    pub member: Option<String>,
    /// `log` or `cpu`.
    pub kind: String,
    /// Size in bytes, unpacked.
    pub bytes: u64,
    /// CRC-32 (IEEE) of the unpacked bytes.
    pub crc32: u32,
}

/// A run's own row: what was read, how, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Framework, test and repeat.
    #[serde(flatten)]
    pub key: RunKey,
    /// The smallest timeStamp of all accepted records, epoch ms.
    pub t0_ms: i64,
    /// The largest timeStamp of all accepted records, epoch ms.
    pub last_ms: i64,
    /// The largest timeStamp + elapsed of all requests, failures included, epoch ms; `None` without requests, and of a
    /// run that was stored before this was, without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_end_ms: Option<i64>,
    /// The same of transaction controllers' own records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_end_ms: Option<i64>,
    /// Seconds from the first to the last, silent ones counted: `(last_ms - t0_ms) / 1000 + 1`.
    pub seconds: u32,
    /// Successful requests.
    pub successes: u64,
    /// Failed requests.
    pub failures: u64,
    /// Transaction controllers' own records.
    pub transactions: u64,
    /// Records that were not accepted; records = successes + failures + transactions + rejects.
    pub rejects: u64,
    /// Whether the samples themselves are stored, not only their counts.
    pub samples_stored: bool,
    /// Whether framework or test were inferred, not told.
    pub inferred: bool,
    /// The files the run was made from.
    pub sources: Vec<SourceFile>,
    /// The CPU clock's shift used at ingest, seconds.
    pub cpu_offset: i64,
    /// The CPU look-back used at ingest, seconds.
    pub cpu_lookback: u32,
    /// The other options used, by flag name.
    pub options: BTreeMap<String, String>,
    /// The version of perfpipe that wrote the run.
    pub tool_version: String,
    /// When it was ingested, RFC 3339, UTC.
    pub ingested_at: String,
    /// What of its files was damaged and read as far as it could be; nothing, if the run is whole.
    #[serde(default)]
    pub damage: Vec<Damage>,
}

impl RunInfo {
    /// The row of a run from `t0_ms` to `last_ms` (epoch ms, both inclusive) of which nothing else is known.
    pub fn new(key: RunKey, t0_ms: i64, last_ms: i64) -> Self {
        let seconds = last_ms.saturating_sub(t0_ms).div_euclid(1000).saturating_add(1);
        Self {
            key,
            t0_ms,
            last_ms,
            last_end_ms: None,
            transactions_end_ms: None,
            seconds: u32::try_from(seconds.max(0)).unwrap_or(u32::MAX),
            successes: 0,
            failures: 0,
            transactions: 0,
            rejects: 0,
            samples_stored: false,
            inferred: false,
            sources: Vec::new(),
            cpu_offset: 0,
            cpu_lookback: 0,
            options: BTreeMap::new(),
            tool_version: String::new(),
            ingested_at: String::new(),
            damage: Vec::new(),
        }
    }

    /// Whether the run was made from damaged files, of which a part could be read.
    pub fn is_partial(&self) -> bool {
        !self.damage.is_empty()
    }

    /// Whether this is a stored row, but for ends that were not stored with it and came from its samples.
    pub(crate) fn is_row_of(&self, stored: &Self) -> bool {
        let Self { last_end_ms, transactions_end_ms, .. } = *self;
        match stored.last_end_ms.or(stored.transactions_end_ms) {
            Some(_) => self == stored,
            None => *self == Self { last_end_ms, transactions_end_ms, ..stored.clone() },
        }
    }

    /// All requests: successes and failures.
    pub fn requests(&self) -> u64 {
        self.successes.saturating_add(self.failures)
    }

    /// All records of the log: requests, transactions and rejects.
    pub fn records(&self) -> u64 {
        self.requests().saturating_add(self.transactions).saturating_add(self.rejects)
    }
}

/// A run read back from a store, all but its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The run's own row.
    pub info: RunInfo,
    /// Exact counts by second.
    pub cells: CellTable,
    /// The CPU readings.
    pub cpu: CpuSeries,
    /// Failures by second, label, code and message, ascending.
    pub errors: Vec<ErrorCount>,
    /// Whole-run counts by label, ascending by label.
    pub labels: Vec<LabelCount>,
}

impl StoredRun {
    /// Whether a label of the run has no cells of its own, but shares those of [`crate::OTHER`].
    pub fn shares_cells(&self, label: &str) -> bool {
        !self.cells.labels.iter().any(|own| own == label)
            && self.labels.iter().any(|counts| counts.label == label)
    }
}

/// What a store holds: its runs, and what of it can't be read.
#[derive(Debug, Default)]
pub struct Listing {
    /// The runs, by test, framework and repeat.
    pub runs: Vec<RunInfo>,
    /// Why others, or the store's own file, can't be read; each error names the file.
    pub unread: Vec<Error>,
}

/// Which run a reader is after.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    key: &'a RunKey,
    /// The row of the run that was read before.
    row: Option<&'a RunInfo>,
}

impl<'a> Wanted<'a> {
    /// The run that has the key now.
    pub(crate) fn now(key: &'a RunKey) -> Self {
        Self { key, row: None }
    }

    /// A run that was read before, and no other of its key.
    pub(crate) fn as_it_was(row: &'a RunInfo) -> Self {
        Self { key: &row.key, row: Some(row) }
    }

    pub(crate) fn key(self) -> &'a RunKey {
        self.key
    }

    /// Refuses another run than the one that was read before.
    pub(crate) fn check(self, found: &RunInfo) -> Result<()> {
        match self.row {
            Some(row) if !row.is_row_of(found) => Err(Error::replaced(self.key)),
            _ => Ok(()),
        }
    }

    /// The error that the store has no such run.
    pub(crate) fn missing(self) -> Error {
        match self.row {
            Some(_) => Error::replaced(self.key),
            None => Error::missing_run(self.key),
        }
    }
}

/// A run that has been read to its end and is to be committed.
pub struct FinishedRun<'a> {
    /// The run's own row.
    pub info: &'a RunInfo,
    /// Labels that the cells' keys point to.
    pub labels: &'a [String],
    /// Injectors that the cells point to; "" is the one that can't be told.
    pub injectors: &'a [String],
    /// The cells, ascending by key.
    pub cells: &'a mut (dyn Iterator<Item = Result<(CellKey, Cell)>> + Send),
    /// The CPU readings.
    pub cpu: &'a CpuSeries,
    /// Failures, ascending.
    pub errors: &'a [ErrorCount],
    /// Whole-run counts by label, ascending by label.
    pub label_counts: &'a [LabelCount],
    /// The rejected records.
    pub rejects: &'a mut RejectSpool,
    /// What an earlier run of the same key must be for this one to replace it.
    pub replace: Replace,
    /// Where the writer notes that dropping it can't undo the run any more.
    pub stage: &'a CommitStage,
}

/// How to replace a run on purpose.
const REPLACE: &str = "Name this run with --framework and --test, or give --replace to put it in the old one's place, or --append-repeat \
     to keep both.";

/// What a new run may replace. But for [`Replace::Any`], a partial run never takes the place of a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Any run of the same key: `--replace` was given.
    Any,
    /// Any run of the same key: the key was told.
    SameKey,
    /// Only a run made from log files of the same names, or from a pipe of the same content: the key was inferred.
    SameFile,
}

impl Replace {
    /// Whether `old` may give way to `new`.
    pub fn allows(self, old: &RunInfo, new: &RunInfo) -> bool {
        fn logs(info: &RunInfo) -> Vec<(&str, Option<u32>)> {
            let logs = info.sources.iter().filter(|source| source.kind == "log");
            // A pipe has no name to be known by again, only its content.
            let mut names: Vec<_> =
                logs.map(|log| (log.file.as_str(), (log.file == PIPE).then_some(log.crc32))).collect();
            names.sort_unstable();
            names.dedup();
            names
        }
        match self {
            Self::Any => true,
            _ if new.is_partial() && !old.is_partial() => false,
            Self::SameKey => true,
            Self::SameFile => logs(old) == logs(new),
        }
    }

    /// Whether an earlier run that can't be read may give way to `new`.
    pub(crate) fn allows_unread(self, new: &RunInfo) -> bool {
        self == Self::Any || (self == Self::SameKey && !new.is_partial())
    }

    /// The error that says why `old` may not be replaced by `new`, and which flags help.
    pub fn refusal(old: &RunInfo, new: &RunInfo) -> Error {
        if let Some(damage) = new.damage.first()
            && !old.is_partial()
        {
            let problem =
                format!("the store has the whole run {}, and this one is partial: {damage}", old.key);
            return Error::refused(problem, REPLACE);
        }
        let logs = old.sources.iter().filter(|source| source.kind == "log");
        let mut names: Vec<&str> =
            logs.map(|log| if log.file == PIPE { "standard input" } else { log.file.as_str() }).collect();
        names.dedup();
        let problem = format!("the store already has a run {}, made from {}", old.key, names.join(", "));
        Error::refused(problem, REPLACE)
    }

    /// The refusal where it can't be told what the earlier run is: `what` failed.
    pub(crate) fn refusal_unread(what: &str) -> Error {
        let problem = format!("the store has a run of this key that can't be read: {what} failed");
        Error::refused(problem, REPLACE)
    }
}

/// Turns batches into what its writer stores; each worker thread has one of its own.
pub trait BatchEncoder: Send + 'static {
    /// What the writer takes.
    type Chunk: Send + 'static;

    /// Encodes one batch, if there is anything to be written of it. An encoder keeps nothing of a batch to itself, so
    /// what is written is in the order of the log, whichever encoder had which batch.
    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Self::Chunk>>;
}

/// Writes one run. Dropped before `commit` has returned, it leaves nothing.
pub trait RunWriter: Send {
    /// The encoder of its batches.
    type Encoder: BatchEncoder;

    /// A new encoder, for one worker thread.
    fn encoder(&self) -> Result<Self::Encoder>;

    /// A folder for temporary files, where the writer has one that is swept if it is killed.
    fn scratch(&self) -> Option<PathBuf> {
        None
    }

    /// Writes one encoded chunk; they come in the order of the log.
    fn write(
        &mut self,
        chunk: <Self::Encoder as BatchEncoder>::Chunk,
    ) -> impl Future<Output = Result<()>> + Send;

    /// The same framework and test with the lowest repeat that no run has and no other writer is storing: it is this
    /// writer's alone from now on. A writer that keeps no runs has no others, so it may leave the key as it is.
    ///
    /// # Errors
    /// When the store fails.
    fn claim_next(&mut self, key: RunKey) -> impl Future<Output = Result<RunKey>> + Send {
        std::future::ready(Ok(key))
    }

    /// Leaves nothing, as dropping does; once this has returned, another may begin with the same key.
    ///
    /// # Errors
    /// When the store fails.
    fn give_up(self) -> impl Future<Output = Result<()>> + Send
    where
        Self: Sized,
    {
        drop(self);
        std::future::ready(Ok(()))
    }

    /// Makes the run appear, whole, in the place of any earlier one of its key.
    fn commit(self, run: FinishedRun<'_>) -> impl Future<Output = Result<()>> + Send;
}
