//! The exact counts of one block, keyed by the block's own text codes; also of a block of intervals.

use std::collections::BTreeMap;

use perfpipe_formats::histogram::Histogram;
use perfpipe_formats::jtl::parsed::Clock;
use perfpipe_model::counts::{Cell, CellRef, CellSums, InjectorLoad, LabelCount};
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::text_list::TextList;

/// The key of a cell in a block. The label is a code of the block, or [`perfpipe_model::sample::Texts::NULL`] if absent.
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

/// The counts of one block. Injectors are codes of the block, or [`perfpipe_model::sample::Texts::NULL`] if unknown.
///
/// In a block with many labels, nearly every sample has its own cell. So all cells share a few lists, and no cell
/// allocates memory of its own.
#[derive(Debug, Default)]
pub(crate) struct BlockTally {
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
    sums: CellSums,
    elapsed_end: usize,
    loads_end: usize,
}

impl BlockTally {
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
    pub(crate) fn push(
        &mut self,
        key: LocalKey,
        sums: CellSums,
        elapsed: &[(i32, u64)],
        loads: &[InjectorLoad],
    ) {
        self.elapsed.extend_from_slice(elapsed);
        self.loads.extend_from_slice(loads);
        let (elapsed_end, loads_end) = (self.elapsed.len(), self.loads.len());
        self.cells.push(LocalCell { key, sums, elapsed_end, loads_end });
    }

    /// The numbers of samples by the code of their label, at last those of samples without one. The counts have no names.
    pub(crate) fn of_labels(&self) -> Vec<LabelCount> {
        let mut of_labels = vec![LabelCount::default(); self.labels.len() + 1];
        for (key, cell) in self.cells() {
            if let Some(count) = of_labels.get_mut((key.label as usize).min(self.labels.len())) {
                *count.of(key.success, key.transaction) += cell.samples();
            }
        }
        of_labels
    }

    /// The sum of the bytes received and sent.
    pub(crate) fn bytes(&self) -> u64 {
        let of_cell = |sums: &CellSums| [sums.bytes, sums.sent_bytes].map(i64::unsigned_abs).into_iter();
        self.cells().flat_map(|(_, cell)| of_cell(&cell.sums)).fold(0, u64::saturating_add)
    }

    /// The earliest and the latest second.
    pub(crate) fn seconds(&self) -> Option<(u32, u32)> {
        let ends = self.cells.first().zip(self.cells.last());
        ends.map(|(first, last)| (first.key.second, last.key.second))
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
impl BlockTally {
    /// Creates a tally of the given cells and labels.
    pub(crate) fn of(
        mut cells: Vec<(LocalKey, perfpipe_model::counts::Cell)>,
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

/// Counts the requests of each row, which is an interval, in the second in which it begins.
pub(super) fn tally_intervals(batch: &SampleBatch, histograms: &[Histogram], clock: &Clock) -> BlockTally {
    let boundary = 1000 - clock.origin.rem_euclid(1000);
    let mut cells: BTreeMap<LocalKey, Cell> = BTreeMap::new();
    for ((row, histogram), t_ms) in histograms.iter().enumerate().zip(&batch.t_ms) {
        let Some(key) = LocalKey::of(batch, row) else { continue };
        let is_before = t_ms.rem_euclid(1000) < boundary;
        cells.entry(key).or_default().merge(&Cell {
            elapsed: histogram.counts.clone(),
            before_boundary: if is_before { histogram.requests() } else { 0 },
            ..Cell::default()
        });
    }
    let mut tally = BlockTally::with_capacity(cells.len());
    for (key, cell) in &cells {
        tally.push(*key, cell.as_ref().sums, &cell.elapsed, &cell.injectors);
    }
    tally
}
