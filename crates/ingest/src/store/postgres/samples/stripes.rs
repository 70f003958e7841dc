//! How a run's samples lie in several tables.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The place of each sample. Each table keeps its own in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Stripes {
    /// The first samples are in the run's own table. Those after them are dealt out in stripes: one for the run's own
    /// table, one for each of the others, and so on.
    Dealt {
        /// The number of samples before the first stripe.
        first: u64,
        /// The number of samples in a stripe. The last one may be shorter.
        rows: u64,
        /// The tables beside the run's own one.
        tables: Vec<String>,
    },
    /// The samples in the run's own table come first, then those of each other table.
    Chained {
        /// The tables after the run's own one.
        then: Vec<String>,
    },
    /// All samples are in the run's own table, and a column of it tells their order.
    Sorted {
        /// The column.
        by: RowOrder,
    },
}

/// The column that tells the order of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowOrder {
    /// The number of the sample in the log, from 0.
    #[serde(rename = "line")]
    Line,
}

impl Stripes {
    /// Parses the value of a run's row.
    pub(crate) fn parse(text: serde_json::Value) -> Result<Self> {
        let bad = |problem: String| Error::store("reading how the run's samples are striped", problem);
        let stripes: Self = serde_json::from_value(text).map_err(|error| bad(error.to_string()))?;
        match stripes {
            Self::Dealt { rows: 0, .. } => Err(bad("its stripes have no rows".into())),
            stripes => Ok(stripes),
        }
    }

    /// Returns the tables beside the run's own one.
    fn others(&self) -> &[String] {
        match self {
            Self::Dealt { tables, .. } => tables,
            Self::Chained { then } => then,
            Self::Sorted { .. } => &[],
        }
    }
}

/// A run's own table and those of its other stripes, if there are any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleTables {
    pub(crate) own: String,
    pub(crate) stripes: Option<Stripes>,
}

impl SampleTables {
    /// Returns the names of all tables, the run's own one first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let others = self.stripes.iter().flat_map(Stripes::others);
        std::iter::once(&self.own).chain(others).map(String::as_str).collect()
    }
}
