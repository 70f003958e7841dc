//! The layouts that this version reads and writes, and what tells a run's rows in each.

use crate::run::key::RunKey;
use crate::store::postgres::copy::encode::RowEncoder;

use super::names::{literal, run_text};

/// A layout of the tables of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Layout 3: a run's rows are told by the run's number.
    Numbered,
    /// Layout 4: a run's rows are told by its key as text.
    Keyed,
}

impl Layout {
    /// The one that new schemas get.
    pub(crate) const NEWEST: Self = Self::Keyed;

    /// The layout of this number, if it is known.
    pub(crate) fn of(version: i32) -> Option<Self> {
        [Self::Numbered, Self::Keyed].into_iter().find(|layout| layout.version() == version)
    }

    /// Its number.
    pub(crate) fn version(self) -> i32 {
        match self {
            Self::Numbered => 3,
            Self::Keyed => 4,
        }
    }

    /// The column of `runs` with a number that no other run has, nor one that was replaced or dropped.
    pub(crate) fn number_column(self) -> &'static str {
        match self {
            Self::Numbered => "run_id",
            Self::Keyed => "generation",
        }
    }

    /// What tells the rows of the run with this key and number.
    pub(crate) fn rows_of(self, key: &RunKey, number: i64) -> RowsOf {
        match self {
            Self::Numbered => RowsOf::Number(number),
            Self::Keyed => RowsOf::Key(run_text(key)),
        }
    }
}

/// What tells the rows of one run in the tables of all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// The run's number.
    Number(i64),
    /// The run's key as text.
    Key(String),
}

impl RowsOf {
    /// The column that it stands in: the first of each table.
    pub(crate) fn column(&self) -> &'static str {
        match self {
            Self::Number(_) => "run_id",
            Self::Key(_) => "run",
        }
    }

    /// The condition that finds the rows.
    pub(crate) fn condition(&self) -> String {
        let value = match self {
            Self::Number(number) => number.to_string(),
            Self::Key(text) => literal(text),
        };
        format!("{} = {value}", self.column())
    }

    /// Encodes it as a row's first field.
    pub(crate) fn put(&self, rows: &mut RowEncoder) {
        match self {
            Self::Number(number) => rows.i64(*number),
            Self::Key(text) => rows.any_text(text),
        }
    }
}
