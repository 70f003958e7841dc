//! The cells of a run, second by second.

use perfpipe_ingest::{Cell, CellKey};

use crate::error::Result;
use crate::view::phases::Span;

/// A second and its cells.
pub(crate) type CellsOfSecond = (u32, Vec<(CellKey, Cell)>);

/// Every second of a span with its cells, none where it is silent; the cells ascend.
pub(crate) fn by_second(
    cells: impl Iterator<Item = perfpipe_ingest::Result<(CellKey, Cell)>>,
    span: Span,
) -> impl Iterator<Item = Result<CellsOfSecond>> {
    let mut cells = cells.peekable();
    (span.first..=span.last).map(move |second| {
        // An error belongs to the second that asks for it, and nothing follows it.
        let is_next = |cell: &perfpipe_ingest::Result<(CellKey, Cell)>| {
            cell.as_ref().map_or(true, |(key, _)| key.second == second)
        };
        let of_second = std::iter::from_fn(|| cells.next_if(is_next));
        Ok((second, of_second.collect::<perfpipe_ingest::Result<_>>()?))
    })
}
