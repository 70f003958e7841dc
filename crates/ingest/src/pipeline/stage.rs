//! The stage of a commit, for whoever may want to interrupt it.

use std::sync::atomic::{AtomicU8, Ordering};

/// The stage of a commit as its writer knows it, shared between threads.
#[derive(Debug, Default)]
pub struct CommitStage(AtomicU8);

/// The stages of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is stored yet, and nothing will be if the writer is dropped.
    Before,
    /// The store was asked to commit and has not answered. Only the store knows the result.
    Asked,
    /// The run is stored.
    Stored,
}

impl CommitStage {
    /// Returns the current stage.
    pub fn get(&self) -> Stage {
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Before,
            1 => Stage::Asked,
            _ => Stage::Stored,
        }
    }

    /// Sets the current stage.
    pub fn set(&self, stage: Stage) {
        let number = match stage {
            Stage::Before => 0,
            Stage::Asked => 1,
            Stage::Stored => 2,
        };
        self.0.store(number, Ordering::Release);
    }
}
