//! A repair in progress: its steps are reported and counted.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// How long what belongs to no run stays in a bucket: as by default in Delta Lake.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of steps that were taken, or would be on a dry run.
    pub steps: usize,
    /// Those of them, a sentence each, by which a run or the points were changed, moved or set aside.
    pub changes: Vec<String>,
    /// The number of problems that were left as they are.
    pub left: usize,
}

/// Takes or only announces the steps of a repair, and reports them to the caller.
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
    pub(crate) fn check_kept(&self) -> Result<()> {
        if self.is_forced || self.kept >= Self::LEAST_KEPT {
            return Ok(());
        }
        Err(Error::usage(
            ErrorKind::KeptTooShort,
            "files that belong to no run would be removed before they are 6 hours old, and an ingest may be writing them",
            "Keep them for 6 hours or longer (Repairer::keep_for), or force it if nobody writes to the store.",
        ))
    }

    /// Reports a step and takes it, unless this is a dry run.
    pub(crate) fn step(&mut self, what: String, take: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.steps += 1;
        (self.say)(what);
        if self.dry_run { Ok(()) } else { take() }
    }

    /// Reports and takes a step as [`step`](Self::step) does, by which a run or the points are changed, moved or set aside.
    pub(crate) fn change(&mut self, what: String, take: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.changes.push(what.clone());
        self.step(what, take)
    }

    /// Reports a problem that is left as it is.
    pub(crate) fn leave(&mut self, what: String) {
        self.done.left += 1;
        (self.say)(format!("left as it is: {what}"));
    }

    /// Reports something that is not of the store, or of no run: nothing has to be repaired.
    pub(crate) fn pass_over(&mut self, what: String) {
        (self.say)(format!("passed over: {what}"));
    }
}
