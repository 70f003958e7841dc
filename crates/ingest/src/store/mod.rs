//! The stores, a folder of Parquet files and Postgres, and the types and steps that they share: what a store contains, the
//! commit of a run, and repairs.

pub(crate) mod consistency;
#[cfg(feature = "parquet")]
pub mod parquet;
pub(crate) mod parts;
#[cfg(feature = "postgres")]
pub mod postgres;
pub(crate) mod series_rows;

use std::collections::BTreeMap;
use std::time::Duration;

pub use self::parts::StoredParts;
pub use crate::pipeline::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
pub use crate::pipeline::sink::{CommitStage, Stage};
pub use crate::run::rejects::RejectSpool;

use crate::counts::coverage::Coverage;
use crate::counts::success_times::SuccessTimes;
use crate::counts::totals::Totals;
use crate::counts::totals::part::{PartNamesRef, PartRow};
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::replace::Replace;
use crate::series::cpu::{CpuJoin, TimeSeries};
use crate::series::server::ServerSeries;

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

/// The run that a reader asks for.
#[derive(Clone, Copy)]
struct WantedRun<'a> {
    key: &'a RunKey,
    /// The run's metadata as it was read before.
    row: Option<&'a RunInfo>,
}

impl<'a> WantedRun<'a> {
    /// Asks for the run that has the key now.
    fn now(key: &'a RunKey) -> Self {
        Self { key, row: None }
    }

    /// Asks for a run that was read before, and for no later run of its key.
    fn as_it_was(row: &'a RunInfo) -> Self {
        Self { key: &row.key, row: Some(row) }
    }

    fn key(self) -> &'a RunKey {
        self.key
    }

    /// Fails if `found` is another run than the one that was read before.
    fn check(self, found: &RunInfo) -> Result<()> {
        match self.row {
            Some(row) if !row.is_row_of(found) => Err(Error::replaced(self.key)),
            _ => Ok(()),
        }
    }

    /// Returns the error for a run that the store does not have.
    fn missing(self) -> Error {
        match self.row {
            Some(_) => Error::replaced(self.key),
            None => Error::missing_run(self.key),
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

/// Performs or only announces the steps of a repair, and reports them to the caller.
pub struct Repairer<'a> {
    pub(crate) dry_run: bool,
    /// How long what belongs to no run stays in a bucket.
    pub(crate) kept: Duration,
    /// True if that may be shorter than an ingest takes.
    is_forced: bool,
    pub(crate) say: &'a mut (dyn FnMut(String) + Send),
    pub(crate) done: Repaired,
}

impl<'a> Repairer<'a> {
    /// Creates a repairer that passes a description of each step to `say`. With `dry_run` nothing is changed.
    pub fn new(dry_run: bool, say: &'a mut (dyn FnMut(String) + Send)) -> Self {
        Self { dry_run, kept: KEPT, is_forced: false, say, done: Repaired::default() }
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
        (self.say)(what);
        if self.dry_run { Ok(()) } else { perform() }
    }

    /// Reports and performs a step as [`step`](Self::step) does, by which a run or the points are changed, moved or set aside.
    pub(crate) fn change(&mut self, what: String, perform: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.changes.push(what.clone());
        self.step(what, perform)
    }

    /// Reports a problem that is left as it is.
    pub(crate) fn leave(&mut self, what: String) {
        self.done.left += 1;
        (self.say)(format!("left as it is: {what}"));
    }

    /// Reports something that is not of the store, or of no run: nothing has to be repaired.
    fn pass_over(&mut self, what: String) {
        (self.say)(format!("passed over: {what}"));
    }
}

/// A run whose logs were read to their ends.
pub(crate) struct CountedRun<'a> {
    pub(crate) info: &'a RunInfo,
    pub(crate) totals: &'a Totals,
    /// The number of samples that were parsed.
    pub(crate) samples: u64,
    pub(crate) rejects: &'a mut RejectSpool,
    pub(crate) cpu: (&'a TimeSeries, CpuJoin),
    pub(crate) series: &'a [ServerSeries],
    pub(crate) replace: Replace,
    pub(crate) stage: &'a CommitStage,
    pub(crate) part: Option<(PartRow, PartNamesRef<'a>)>,
}

/// What was found while a run was stored.
pub(crate) struct CommittedRun {
    /// The number of seconds that have a CPU reading.
    pub(crate) cpu_seconds: u32,
    /// The number of successful requests of each time, ascending; see [`SuccessTimes::ascending`].
    pub(crate) elapsed: Vec<(i32, u64)>,
    /// The names of the injectors, without the unknown one.
    pub(crate) injectors: Vec<String>,
}

/// Commits a run, once its counts were found to agree.
///
/// # Errors
/// If the counts differ, when a temporary file can't be read, and as for [`RunWriter::commit`].
pub(crate) async fn commit<W: RunWriter>(writer: W, run: CountedRun<'_>) -> Result<CommittedRun> {
    let CountedRun { info, totals, samples, rejects, cpu: (cpu, join), series, replace, stage, part } = run;
    let label_counts = totals.label_counts();
    let (labels, injectors) = (totals.labels(), totals.injectors());
    consistency::check_parsed(info, samples, &label_counts)?;
    let (mut coverage, mut elapsed) = (Coverage::new(info.t0_ms, cpu, join), SuccessTimes::default());
    // The counts of several logs are added up as they pass, which is best done once.
    let mut cells = totals.cells().inspect(|cell| {
        coverage.see(cell);
        elapsed.see(cell);
    });
    writer
        .commit(FinishedRun {
            info,
            labels: &labels,
            injectors: &injectors,
            cells: &mut cells,
            cpu,
            series,
            errors: Box::new(totals.errors()),
            label_counts: &label_counts,
            rejects,
            replace,
            stage,
            part: part.as_ref(),
        })
        .await?;
    drop(cells);
    let injectors = injectors.into_iter().filter(|injector| !injector.is_empty()).collect();
    let cpu_seconds = coverage.covered(info.seconds);
    Ok(CommittedRun { cpu_seconds, elapsed: elapsed.ascending(), injectors })
}
