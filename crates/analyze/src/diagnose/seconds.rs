//! What is asked of rows of seconds everywhere.

use crate::timeline::Second;
use crate::view::phases::Span;

/// The span of some seconds.
pub(super) fn span(rows: &[Second]) -> Option<Span> {
    Some(Span { first: rows.first()?.second, last: rows.last()?.second })
}

/// All requests of a second.
pub(super) fn requests(row: &Second) -> f64 {
    (row.successes + row.failures) as f64
}
