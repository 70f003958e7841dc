//! The stores of perfpipe: a folder or a bucket of Parquet files, and PostgreSQL; and what they share: the traits of a store
//! and its writer, the checks of what is read, and the steps of a repair.
//!
//! Programs use these types by their paths in `perfpipe-ingest`, which documents them; this crate is internal to perfpipe, and
//! its paths may change with any version.

// No input may cause a panic, so the lint forbids indexing that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]
// Much is there for the stores alone, and idle where one of them is left out.
#![cfg_attr(not(all(feature = "parquet", feature = "postgres")), allow(dead_code, unused_imports))]

#[cfg(feature = "postgres")]
pub mod connection;
pub mod consistency;
pub mod parallel;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parts;
#[cfg(feature = "postgres")]
pub mod postgres;
mod series_rows;
pub mod sink;

use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::parts::StoredParts;
pub use crate::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
pub use crate::sink::{CommitStage, Stage};
pub use perfpipe_model::run::rejects::RejectSpool;

use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;

/// The contents of a store.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The readable runs, sorted by test, framework and repeat.
    pub runs: Vec<RunInfo>,
    /// The sizes of their files in bytes; empty for a database, whose runs have no files of their own.
    pub sizes: BTreeMap<RunKey, u64>,
    /// The errors of runs, or of the store's own file, that can't be read. Each names the file.
    pub unread: Vec<Error>,
}

/// What was found of a store itself, as opposed to its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCheck {
    /// What is damaged, each as a sentence.
    pub faults: Vec<String>,
    /// What may mean that something is lost, or merely that an ingest is in progress or was stopped.
    pub notes: Vec<String>,
}

/// Which run is meant: the one that has a key now, or one whose row was read before, and no later one of its key.
///
/// ```
/// # extern crate perfpipe_store as perfpipe_ingest;
/// # use perfpipe_model::run::{info::RunInfo, key::RunKey};
/// use perfpipe_ingest::RunRef;
///
/// let row = RunInfo::new(RunKey::new("go", "flaky"), 0, 0);
/// assert_eq!(RunRef::from(&row.key).key(), RunRef::from(&row).key());
/// ```
#[derive(Debug, Clone, Copy)]
pub enum RunRef<'a> {
    /// The run that has this key now.
    Current(&'a RunKey),
    /// The run with this row: if another one has replaced it, [`Error::Replaced`] says so.
    Read(&'a RunInfo),
}

impl<'a> From<&'a RunKey> for RunRef<'a> {
    fn from(key: &'a RunKey) -> Self {
        Self::Current(key)
    }
}

impl<'a> From<&'a RunInfo> for RunRef<'a> {
    fn from(row: &'a RunInfo) -> Self {
        Self::Read(row)
    }
}

impl<'a> RunRef<'a> {
    /// The run's key.
    pub fn key(self) -> &'a RunKey {
        match self {
            Self::Current(key) => key,
            Self::Read(row) => &row.key,
        }
    }

    /// Fails if `found` is another run than the one that was read before.
    fn check(self, found: &RunInfo) -> Result<()> {
        match self {
            Self::Read(row) if !row.is_row_of(found) => Err(Error::replaced(&row.key)),
            _ => Ok(()),
        }
    }

    /// Returns the error for a run that the store does not have.
    fn missing(self) -> Error {
        match self {
            Self::Current(key) => Error::missing_run(key),
            Self::Read(row) => Error::replaced(&row.key),
        }
    }
}

/// How long what belongs to no run stays in a bucket: as by default in Delta Lake.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of steps that were performed, or would be on a dry run.
    pub steps: usize,
    /// Those of them, a sentence each, by which a run or the points were changed, moved or set aside.
    pub changes: Vec<String>,
    /// The number of problems that were left as they are.
    pub left: usize,
}

/// Something that a repair reports.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairStep {
    /// The run that is being repaired; `None` for the store itself and its points.
    pub run: Option<RunKey>,
    /// What was done about it.
    pub outcome: RepairOutcome,
    /// A sentence about it.
    pub what: String,
}

/// What a repair did about something that it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairOutcome {
    /// A step was performed, or would be on a dry run.
    Repaired,
    /// A problem was left as it is.
    Left,
    /// It is nothing that has to be repaired.
    PassedOver,
}

impl RepairOutcome {
    /// Returns its name: `repaired`, `left` or `passed-over`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Left => "left",
            Self::PassedOver => "passed-over",
        }
    }
}

/// Performs or only announces the steps of a repair, and reports them to the caller.
pub struct Repairer<'a> {
    /// True if steps are only announced.
    pub dry_run: bool,
    /// How long what belongs to no run stays in a bucket.
    pub(crate) kept: Duration,
    /// True if that may be shorter than an ingest takes.
    is_forced: bool,
    /// The run that is being repaired.
    run: Option<RunKey>,
    pub(crate) say: &'a mut (dyn FnMut(RepairStep) + Send),
    pub(crate) done: Repaired,
}

impl<'a> Repairer<'a> {
    /// Creates a repairer that passes a description of each step to `say`. With `dry_run` nothing is changed.
    pub fn new(dry_run: bool, say: &'a mut (dyn FnMut(RepairStep) + Send)) -> Self {
        Self { dry_run, kept: KEPT, is_forced: false, run: None, say, done: Repaired::default() }
    }

    /// Sets the run that the next steps are of; `None` for the store itself and its points.
    pub fn set_run(&mut self, run: Option<&RunKey>) {
        self.run = run.cloned();
    }

    fn report(&mut self, outcome: RepairOutcome, what: String) {
        (self.say)(RepairStep { run: self.run.clone(), outcome, what });
    }

    /// The shortest time for which files stay in a bucket, unless it is [forced](Self::force): an ingest may be writing what
    /// is younger.
    pub const LEAST_KEPT: Duration = Duration::from_secs(6 * 3_600);

    /// Sets how long the files of replaced, dropped and interrupted runs stay in a bucket, in the place of 7 days, by the
    /// clock of the bucket. At least [`LEAST_KEPT`](Self::LEAST_KEPT). Writers and readers that began before are
    /// disturbed. In other stores nothing stays.
    pub fn keep_for(mut self, kept: Duration) -> Self {
        self.kept = kept;
        self
    }

    /// Allows files to stay for less than [`LEAST_KEPT`](Self::LEAST_KEPT), for a store that nobody writes to. An ingest whose
    /// files are removed all the same is refused at its end.
    pub fn force(mut self) -> Self {
        self.is_forced = true;
        self
    }

    /// Fails if files would be removed that an ingest may be writing.
    fn check_kept(&self) -> Result<()> {
        if self.is_forced || self.kept >= Self::LEAST_KEPT {
            return Ok(());
        }
        Err(Error::usage(
            ErrorKind::KeptTooShort,
            "files that belong to no run would be removed before they are 6 hours old, and an ingest may be writing them",
            "Keep them for 6 hours or longer (Repairer::keep_for), or force it if nobody writes to the store.",
        ))
    }

    /// Reports a step and performs it, unless this is a dry run.
    fn step(&mut self, what: String, perform: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.steps += 1;
        self.report(RepairOutcome::Repaired, what);
        if self.dry_run { Ok(()) } else { perform() }
    }

    /// Reports and performs a step by which a run or the points are changed, moved or set aside.
    pub fn change(&mut self, what: String, perform: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.changes.push(what.clone());
        self.step(what, perform)
    }

    /// Reports a problem that is left as it is.
    pub fn leave(&mut self, what: String) {
        self.done.left += 1;
        self.report(RepairOutcome::Left, format!("left as it is: {what}"));
    }

    /// Returns the result of the repair.
    pub fn done(self) -> Repaired {
        self.done
    }

    /// Reports something that is not of the store, or of no run: nothing has to be repaired.
    fn pass_over(&mut self, what: String) {
        self.report(RepairOutcome::PassedOver, format!("passed over: {what}"));
    }
}
