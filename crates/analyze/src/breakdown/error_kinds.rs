//! The failures of a run by response code and message.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;

use crate::error::Result;
use crate::table::Table;
use crate::timeline::selection::{Selection, in_seconds};
use crate::view::View;

/// The failures of one response code with one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorKind {
    /// The response code; empty where the log has none.
    pub response_code: String,
    /// The message; empty where the log has none, `(other)` for those beyond the number of messages kept separately.
    pub message: String,
    /// The labels of these failures with their number, the most frequent first.
    pub labels: Vec<(String, u64)>,
    /// The number of failures.
    pub count: u64,
    /// The first second with such a failure.
    pub first: u32,
    /// The last second with such a failure.
    pub last: u32,
}

/// Counts the failed requests that a view selects, by response code and message, the most frequent first.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
pub fn error_kinds(run: &StoredRun, view: &View) -> Result<Vec<ErrorKind>> {
    let view = in_seconds(run, view)?;
    let selection = Selection::new(run, &view)?;
    let mut kinds: BTreeMap<(&str, &str), ErrorKind> = BTreeMap::new();
    let mut labels: BTreeMap<(&str, &str), BTreeMap<&str, u64>> = BTreeMap::new();
    for error in run.errors.iter().filter(|error| selection.holds_error(error)) {
        let name = (&*error.response_code, &*error.message);
        let of_label = labels.entry(name).or_default().entry(&error.label).or_default();
        *of_label = of_label.saturating_add(error.count);
        let kind = kinds.entry(name).or_insert_with(|| ErrorKind {
            response_code: error.response_code.to_string(),
            message: error.message.to_string(),
            labels: Vec::new(),
            count: 0,
            first: error.second,
            last: error.second,
        });
        kind.count = kind.count.saturating_add(error.count);
        (kind.first, kind.last) = (kind.first.min(error.second), kind.last.max(error.second));
    }
    for (name, labels) in labels {
        let Some(kind) = kinds.get_mut(&name) else { continue };
        kind.labels = labels.into_iter().map(|(label, count)| (label.to_owned(), count)).collect();
        kind.labels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    let mut kinds: Vec<ErrorKind> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    Ok(kinds)
}

/// Builds a table of failures: `response_code`, `message`, `count`, `first`, `last` (both in seconds of the run).
pub fn error_kind_table(kinds: &[ErrorKind]) -> Table {
    Table::of(kinds)
        .column("response_code", |row| Some(row.response_code.clone()))
        .column("message", |row| Some(row.message.clone()))
        .column("count", |row| Some(row.count))
        .column("first", |row| Some(u64::from(row.first)))
        .unit("s", 0)
        .column("last", |row| Some(u64::from(row.last)))
        .unit("s", 0)
        .done()
}
