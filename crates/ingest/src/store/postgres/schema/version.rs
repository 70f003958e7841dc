//! The layout versions that are supported, and how each identifies a run's rows.

use crate::run::key::RunKey;
use crate::store::postgres::copy::encode::RowEncoder;

use super::names::{literal, run_text};

/// A layout of the tables that all runs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaLayout {
    /// Layout 3: a run's rows have the run's number.
    Numbered,
    /// Layout 4: a run's rows have its key as text.
    Keyed,
}

impl SchemaLayout {
    /// The layout of new schemas.
    pub(crate) const NEWEST: Self = Self::Keyed;

    /// Returns the layout with this version number, if it is supported.
    pub(crate) fn of(version: i32) -> Option<Self> {
        [Self::Numbered, Self::Keyed].into_iter().find(|layout| layout.version() == version)
    }

    /// Returns the version number.
    pub(crate) fn version(self) -> i32 {
        match self {
            Self::Numbered => 3,
            Self::Keyed => 4,
        }
    }

    /// Returns the column of `runs` with a number that is unique among all runs, including replaced and dropped ones.
    pub(crate) fn number_column(self) -> &'static str {
        match self {
            Self::Numbered => "run_id",
            Self::Keyed => "generation",
        }
    }

    /// Returns the identification of the rows of the run with this key and number.
    pub(crate) fn rows_of(self, key: &RunKey, number: i64) -> RowsOf {
        match self {
            Self::Numbered => RowsOf::Number(number),
            Self::Keyed => RowsOf::Key(run_text(key)),
        }
    }
}

/// The identification of one run's rows in the shared tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// The run's number.
    Number(i64),
    /// The run's key as text.
    Key(String),
}

impl RowsOf {
    /// Returns the column that holds it, the first one of each table.
    pub(crate) fn column(&self) -> &'static str {
        match self {
            Self::Number(_) => "run_id",
            Self::Key(_) => "run",
        }
    }

    /// Returns the SQL condition that selects the rows.
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
