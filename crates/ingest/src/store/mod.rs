//! The stores, a folder of Parquet files and Postgres, and the types that they share.

pub(crate) mod bounds;
pub(crate) mod commit;
pub(crate) mod counted;
pub(crate) mod held;
#[cfg(feature = "parquet")]
pub mod parquet;
pub(crate) mod parts;
#[cfg(feature = "postgres")]
pub mod postgres;
pub(crate) mod repairer;
pub(crate) mod series_rows;
pub(crate) mod unreadable;

use std::collections::BTreeMap;

use crate::error::{Error, Result};

pub use self::parts::StoredParts;
pub use self::repairer::{Repaired, Repairer};
pub use crate::pipeline::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
pub use crate::pipeline::stage::{CommitStage, Stage};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
pub use crate::run::rejects::RejectSpool;

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
pub(crate) struct Wanted<'a> {
    key: &'a RunKey,
    /// The run's metadata as it was read before.
    row: Option<&'a RunInfo>,
}

impl<'a> Wanted<'a> {
    /// Asks for the run that has the key now.
    pub(crate) fn now(key: &'a RunKey) -> Self {
        Self { key, row: None }
    }

    /// Asks for a run that was read before, and for no later run of its key.
    pub(crate) fn as_it_was(row: &'a RunInfo) -> Self {
        Self { key: &row.key, row: Some(row) }
    }

    pub(crate) fn key(self) -> &'a RunKey {
        self.key
    }

    /// Fails if `found` is another run than the one that was read before.
    pub(crate) fn check(self, found: &RunInfo) -> Result<()> {
        match self.row {
            Some(row) if !row.is_row_of(found) => Err(Error::replaced(self.key)),
            _ => Ok(()),
        }
    }

    /// Returns the error for a run that the store does not have.
    pub(crate) fn missing(self) -> Error {
        match self.row {
            Some(_) => Error::replaced(self.key),
            None => Error::missing_run(self.key),
        }
    }
}
