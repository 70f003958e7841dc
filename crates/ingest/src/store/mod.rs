//! The stores: a folder of Parquet files, and Postgres; and what both say of what they hold.

pub(crate) mod counted;
pub(crate) mod held;
pub mod parquet;
pub mod postgres;
pub(crate) mod repairer;
pub(crate) mod unreadable;

use crate::error::{Error, Result};

pub use self::parquet::{ParquetStore, ParquetWriter};
pub use self::postgres::{MigratedTable, Migration, PostgresConfig, PostgresStore, PostgresWriter};
pub use crate::counts::stored_run::StoredRun;
pub use crate::pipeline::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
pub use crate::pipeline::stage::{CommitStage, Stage};
pub use crate::run::info::{RunInfo, SourceFile};
pub use crate::run::key::{LAST_REPEAT, Repeat, RunKey};
pub use crate::run::replace::Replace;

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
