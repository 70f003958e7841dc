//! The exact counts of one block, in the names of the block.

use super::{CellRef, InjectorLoad, Sums};
use crate::sample::text_list::TextList;

/// What tells one cell of a block from another; the label is a code of the block, [`crate::Texts::NULL`] for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalKey {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) success: bool,
    pub(crate) transaction: bool,
}

/// One kind of failure in one second, in codes of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalError {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) response_code: u32,
    pub(crate) message: u32,
    pub(crate) transaction: bool,
}

/// The counts of one block. Injectors are codes of the block, [`crate::Texts::NULL`] where one can't be told.
///
/// Where a block has many labels, nearly each sample has a cell of its own: so a cell has no memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Ascending by key.
    cells: Vec<LocalCell>,
    /// The elapsed times of all cells and how often each was seen, those of one cell behind those of the one before it.
    elapsed: Vec<(i32, u64)>,
    /// The injectors of all cells, in the same way.
    loads: Vec<InjectorLoad>,
    /// Failures, ascending.
    pub(crate) errors: Vec<(LocalError, u64)>,
    /// Names that the codes stand for.
    pub(crate) labels: TextList,
    pub(crate) injectors: TextList,
    pub(crate) response_codes: TextList,
    pub(crate) messages: TextList,
}

/// A cell, and where its lists end in those of the block.
#[derive(Debug)]
struct LocalCell {
    key: LocalKey,
    sums: Sums,
    elapsed_end: usize,
    loads_end: usize,
}

impl Tally {
    /// No cells yet, with room for so many.
    pub(crate) fn with_capacity(cells: usize) -> Self {
        Self {
            cells: Vec::with_capacity(cells),
            elapsed: Vec::with_capacity(cells),
            loads: Vec::with_capacity(cells),
            ..Self::default()
        }
    }

    /// Appends a cell, whose lists are ascending; cells come ascending by key.
    pub(crate) fn push(&mut self, key: LocalKey, sums: Sums, elapsed: &[(i32, u64)], loads: &[InjectorLoad]) {
        self.elapsed.extend_from_slice(elapsed);
        self.loads.extend_from_slice(loads);
        let (elapsed_end, loads_end) = (self.elapsed.len(), self.loads.len());
        self.cells.push(LocalCell { key, sums, elapsed_end, loads_end });
    }

    /// The cells, ascending by key.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (LocalKey, CellRef<'_>)> {
        let (mut elapsed, mut loads) = (0, 0);
        self.cells.iter().map(move |cell| {
            let from = (elapsed, loads);
            (elapsed, loads) = (cell.elapsed_end, cell.loads_end);
            let counts = CellRef {
                sums: cell.sums,
                elapsed: self.elapsed.get(from.0..elapsed).unwrap_or_default(),
                injectors: self.loads.get(from.1..loads).unwrap_or_default(),
            };
            (cell.key, counts)
        })
    }
}

#[cfg(test)]
impl Tally {
    /// The counts of these labels' cells.
    pub(crate) fn of(
        mut cells: Vec<(LocalKey, crate::counts::Cell)>,
        labels: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let mut tally = Self { labels: labels.into_iter().collect(), ..Self::default() };
        cells.sort_by_key(|(key, _)| *key);
        for (key, cell) in cells {
            tally.push(key, cell.as_ref().sums, &cell.elapsed, &cell.injectors);
        }
        tally
    }
}
