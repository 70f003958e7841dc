//! Helpers for rows of seconds.

use crate::timeline::Second;
use crate::view::phases::Span;

/// Returns the first and the last second of some rows; `None` if there are none.
pub(super) fn span(rows: &[Second]) -> Option<Span> {
    Some(Span { first: rows.first()?.second, last: rows.last()?.second })
}

/// Returns the number of all requests of a second.
pub(super) fn requests(row: &Second) -> f64 {
    (row.successes + row.failures) as f64
}
