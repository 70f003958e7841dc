//! The cells of a run, grouped by second.

use perfpipe_model::counts::{Cell, CellKey};

use crate::error::Result;
use crate::view::phases::Span;

/// The number of seconds that a thread reads at a time: few enough that a run of a day keeps all threads busy, many
/// enough that the histogram of up to 512 KiB per stretch is small beside the cells.
pub(crate) const STRETCH: u32 = 4096;

/// The maximum number of stretches that are read in parallel.
pub(crate) const AT_A_TIME: usize = 32;

/// A second and its cells.
pub(crate) type CellsOfSecond<C = Cell> = (u32, Vec<(CellKey, C)>);

/// Groups cells, which must be in ascending order, by the seconds of a span. A silent second has no cells.
pub(crate) fn by_second<C>(
    cells: impl Iterator<Item = perfpipe_model::Result<(CellKey, C)>>,
    span: Span,
) -> impl Iterator<Item = Result<CellsOfSecond<C>>> {
    let mut cells = cells.peekable();
    (span.first..=span.last).map(move |second| {
        // An error goes to the second that is being read, and ends the iteration of cells.
        let is_next = |cell: &perfpipe_model::Result<(CellKey, C)>| {
            cell.as_ref().map_or(true, |(key, _)| key.second == second)
        };
        let of_second = std::iter::from_fn(|| cells.next_if(is_next));
        Ok((second, of_second.collect::<perfpipe_model::Result<_>>()?))
    })
}
