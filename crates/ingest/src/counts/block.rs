//! The exact counts of one block, keyed by the block's own text codes.

use super::{CellRef, InjectorLoad, Sums};
use crate::sample::batch::SampleBatch;
use crate::sample::text_list::TextList;

/// The key of a cell in a block. The label is a code of the block, or [`crate::sample::Texts::NULL`] if absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalKey {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) success: bool,
    pub(crate) transaction: bool,
}

impl LocalKey {
    /// The key of a row's cell.
    #[inline]
    pub(crate) fn of(batch: &SampleBatch, row: usize) -> Option<Self> {
        Some(Self {
            second: u32::try_from(batch.t_ms.get(row)?.div_euclid(1000)).ok()?,
            label: *batch.label.codes().get(row)?,
            success: *batch.success.get(row)?,
            transaction: *batch.transaction.get(row)?,
        })
    }
}

/// One kind of failure in one second. The texts are codes of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalError {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) response_code: u32,
    pub(crate) message: u32,
    pub(crate) transaction: bool,
}

/// The counts of one block. Injectors are codes of the block, or [`crate::sample::Texts::NULL`] if unknown.
///
/// In a block with many labels, nearly every sample has its own cell. So all cells share a few lists, and no cell
/// allocates memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Ascending by key.
    cells: Vec<LocalCell>,
    /// The elapsed times of all cells with their numbers of samples, cell after cell.
    elapsed: Vec<(i32, u64)>,
    /// The injectors of all cells, cell after cell.
    loads: Vec<InjectorLoad>,
    /// Failures, ascending.
    pub(crate) errors: Vec<(LocalError, u64)>,
    /// The texts that the codes stand for.
    pub(crate) labels: TextList,
    pub(crate) injectors: TextList,
    pub(crate) response_codes: TextList,
    pub(crate) messages: TextList,
}

/// A cell, and the ends of its parts in the lists of the block.
#[derive(Debug)]
struct LocalCell {
    key: LocalKey,
    sums: Sums,
    elapsed_end: usize,
    loads_end: usize,
}

impl Tally {
    /// Creates a tally without cells, with capacity for `cells` of them.
    pub(crate) fn with_capacity(cells: usize) -> Self {
        Self {
            cells: Vec::with_capacity(cells),
            elapsed: Vec::with_capacity(cells),
            loads: Vec::with_capacity(cells),
            ..Self::default()
        }
    }

    /// Appends a cell. Its lists must be ascending, and cells must come in ascending order of their keys.
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
    /// Creates a tally of the given cells and labels.
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
