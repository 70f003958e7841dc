//! How far a commit has come, for whoever may want to stop it.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a run is stored, as far as its writer knows; shared between threads.
#[derive(Debug, Default)]
pub struct CommitStage(AtomicU8);

/// The stages of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing of the run is stored yet, and nothing will be if its writer is dropped.
    Before,
    /// The store was told to commit, and has not answered: only it knows.
    Asked,
    /// The run is stored.
    Stored,
}

impl CommitStage {
    /// Where it is now.
    pub fn get(&self) -> Stage {
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Before,
            1 => Stage::Asked,
            _ => Stage::Stored,
        }
    }

    /// Says where it is.
    pub fn set(&self, stage: Stage) {
        let number = match stage {
            Stage::Before => 0,
            Stage::Asked => 1,
            Stage::Stored => 2,
        };
        self.0.store(number, Ordering::Release);
    }
}
