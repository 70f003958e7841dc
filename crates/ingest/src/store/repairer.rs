//! A repair in progress: its steps are reported and counted.

use std::time::Duration;

use crate::error::Result;

/// How long what belongs to no run stays in a bucket: as by default in Delta Lake.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Result of a repair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of steps that were taken, or would be on a dry run.
    pub steps: usize,
    /// The number of problems that were left as they are.
    pub left: usize,
}

/// Takes or only announces the steps of a repair, and reports them to the caller.
pub struct Repairer<'a> {
    pub(crate) dry_run: bool,
    /// How long what belongs to no run stays in a bucket.
    pub(crate) kept: Duration,
    pub(crate) say: &'a mut (dyn FnMut(String) + Send),
    pub(crate) done: Repaired,
}

impl<'a> Repairer<'a> {
    /// Creates a repairer that passes a description of each step to `say`. With `dry_run` nothing is changed.
    pub fn new(dry_run: bool, say: &'a mut (dyn FnMut(String) + Send)) -> Self {
        Self { dry_run, kept: KEPT, say, done: Repaired::default() }
    }

    /// Sets how long the files of replaced, dropped and interrupted runs stay in a bucket, in the place of 7 days. Writers
    /// and readers that began before are disturbed. In other stores nothing stays.
    pub fn keep_for(mut self, kept: Duration) -> Self {
        self.kept = kept;
        self
    }

    /// Reports a step and takes it, unless this is a dry run.
    pub(crate) fn step(&mut self, what: String, take: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.steps += 1;
        (self.say)(what);
        if self.dry_run { Ok(()) } else { take() }
    }

    /// Reports a problem that is left as it is.
    pub(crate) fn leave(&mut self, what: String) {
        self.done.left += 1;
        (self.say)(format!("left as it is: {what}"));
    }
}
