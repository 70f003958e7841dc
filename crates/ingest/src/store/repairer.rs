//! A repair under way: the steps that are taken, and what is left as it is.

use crate::error::Result;

/// What came of a repair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Steps that were taken, or would be.
    pub steps: usize,
    /// What could not be repaired, and was left as it is.
    pub left: usize,
}

/// What a repair is given to work with: whether it only says what it would do, and who is told each step.
pub struct Repairer<'a> {
    pub(crate) dry_run: bool,
    pub(crate) say: &'a mut (dyn FnMut(String) + Send),
    pub(crate) done: Repaired,
}

impl<'a> Repairer<'a> {
    /// One that tells each step to `say`; with `dry_run` nothing is changed.
    pub fn new(dry_run: bool, say: &'a mut (dyn FnMut(String) + Send)) -> Self {
        Self { dry_run, say, done: Repaired::default() }
    }

    /// Takes a step and tells it; on a dry run, only tells it.
    pub(crate) fn step(&mut self, what: String, take: impl FnOnce() -> Result<()>) -> Result<()> {
        self.done.steps += 1;
        (self.say)(what);
        if self.dry_run { Ok(()) } else { take() }
    }

    /// Tells what is left as it is.
    pub(crate) fn leave(&mut self, what: String) {
        self.done.left += 1;
        (self.say)(format!("left as it is: {what}"));
    }
}
