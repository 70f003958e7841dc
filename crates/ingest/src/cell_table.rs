//! The cells of a run read back, packed: a day of busy seconds takes some hundred megabytes, opened it would take ten
//! times as much.

use crate::counts::{Cell, CellKey};
use crate::pack::{pack_counts, pack_sums, unpack, unpack_sums};

/// The cells of a run, ascending by key, with the names that the keys point to.
///
/// ```
/// use perfpipe_ingest::{Cell, CellKey, CellTable};
///
/// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
/// let cell = |elapsed| Cell { elapsed, ..Cell::default() };
/// let parts = [(key(7), cell(vec![(12, 2)])), (key(3), cell(vec![(10, 1)])), (key(7), cell(vec![(12, 1), (13, 1)]))];
/// let table = CellTable::new(vec!["Get".into()], vec![], parts);
/// let cells: Vec<(CellKey, Cell)> = table.iter().collect();
/// assert_eq!(cells, [(key(3), cell(vec![(10, 1)])), (key(7), cell(vec![(12, 3), (13, 1)]))]);
/// assert_eq!(table.between(4, 9).count(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellTable {
    /// Labels by index; a log without labels has the one label "".
    pub labels: Vec<String>,
    /// Injectors by index; "" is the one that can't be told.
    pub injectors: Vec<String>,
    cells: PackedCells,
}

/// Packed cells in the order in which they were pushed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PackedCells {
    /// The keys, each with the place of its cell in `bytes`.
    keys: Vec<(CellKey, Place)>,
    bytes: Vec<u8>,
}

/// Where a cell's sums begin, behind its counts, and where they end. It begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    sums: usize,
    end: usize,
}

impl CellTable {
    /// A table of cells in any order, the parts of one key merged.
    pub fn new(
        labels: Vec<String>,
        injectors: Vec<String>,
        cells: impl IntoIterator<Item = (CellKey, Cell)>,
    ) -> Self {
        let mut packed = PackedCells::default();
        cells.into_iter().for_each(|(key, cell)| packed.push(key, &cell));
        Self::packed(labels, injectors, packed)
    }

    /// The same of cells that are packed already.
    pub(crate) fn packed(labels: Vec<String>, injectors: Vec<String>, cells: PackedCells) -> Self {
        Self { labels, injectors, cells: cells.sorted() }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.keys.is_empty()
    }

    /// The cells, ascending by key, each key once.
    pub fn iter(&self) -> impl Iterator<Item = (CellKey, Cell)> + use<'_> {
        self.between(0, u32::MAX)
    }

    /// The cells without their counts ([`Cell::elapsed`] is empty): for what needs no more, a fraction of the work.
    pub fn sums(&self) -> impl Iterator<Item = (CellKey, Cell)> + use<'_> {
        (0..self.len()).filter_map(|at| self.cells.open_sums(at))
    }

    /// The cells of the seconds from `first` to `last`, both included, ascending by key.
    pub fn between(&self, first: u32, last: u32) -> impl Iterator<Item = (CellKey, Cell)> + use<'_> {
        let keys = &self.cells.keys;
        let from = keys.partition_point(|(key, _)| key.second < first);
        let to = keys.partition_point(|(key, _)| key.second <= last);
        (from..to).filter_map(|at| self.cells.open(at))
    }
}

impl PackedCells {
    /// Adds a cell.
    pub(crate) fn push(&mut self, key: CellKey, cell: &Cell) {
        pack_counts(&mut self.bytes, &cell.elapsed);
        self.push_sums(key, cell);
    }

    /// Adds a cell of which the counts are packed already: they must have been checked.
    pub(crate) fn push_counted(&mut self, key: CellKey, counts: &[u8], sums: &Cell) {
        self.bytes.extend_from_slice(counts);
        self.push_sums(key, sums);
    }

    fn push_sums(&mut self, key: CellKey, cell: &Cell) {
        let sums = self.bytes.len();
        pack_sums(&mut self.bytes, cell);
        self.keys.push((key, Place { sums, end: self.bytes.len() }));
    }

    /// Adds a cell of another as it is.
    fn push_copy(&mut self, other: &Self, at: usize) {
        let (Some((key, place)), start) = (other.keys.get(at), other.start(at)) else { return };
        let sums = self.bytes.len() + (place.sums - start);
        self.bytes.extend_from_slice(other.bytes.get(start..place.end).unwrap_or_default());
        self.keys.push((*key, Place { sums, end: self.bytes.len() }));
    }

    /// A cell with its key. It was packed here or checked when it came, so it opens.
    pub(crate) fn open(&self, at: usize) -> Option<(CellKey, Cell)> {
        let (key, place) = self.keys.get(at)?;
        Some((*key, unpack(self.bytes.get(self.start(at)..place.end)?).unwrap_or_default()))
    }

    /// Where a cell begins.
    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.keys.get(before)).map_or(0, |(_, place)| place.end)
    }

    /// The same without its counts.
    fn open_sums(&self, at: usize) -> Option<(CellKey, Cell)> {
        let (key, place) = self.keys.get(at)?;
        Some((*key, unpack_sums(self.bytes.get(place.sums..place.end)?).unwrap_or_default()))
    }

    /// The same cells, ascending by key, the parts of one key merged.
    fn sorted(self) -> Self {
        if self.keys.is_sorted_by(|(a, _), (b, _)| a < b) {
            return self;
        }
        let mut order: Vec<(CellKey, usize)> = self.keys.iter().map(|(key, _)| *key).zip(0..).collect();
        order.sort_unstable();
        let mut sorted = Self::default();
        for parts in order.chunk_by(|(a, _), (b, _)| a == b) {
            if let [(_, at)] = parts {
                sorted.push_copy(&self, *at);
                continue;
            }
            let mut cells = parts.iter().filter_map(|(_, at)| self.open(*at));
            let Some((key, mut merged)) = cells.next() else { continue };
            cells.for_each(|(_, cell)| merged.merge(&cell));
            sorted.push(key, &merged);
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fuzz::{Taker, cell};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_in_any_order_and_parts_are_those_of_a_map(
            parts in prop::collection::vec((0..6u32, 0..3u32, any::<bool>(), any::<bool>(), any::<[u8; 32]>()), 0..40),
            window in (0..6u32, 0..6u32),
        ) {
            let parts: Vec<(CellKey, Cell)> = parts
                .into_iter()
                .map(|(second, label, success, transaction, bytes)| {
                    (CellKey { second, label, success, transaction }, cell(&mut Taker::new(&bytes), 4))
                })
                .collect();
            let mut expected: BTreeMap<CellKey, Cell> = BTreeMap::new();
            for (key, cell) in &parts {
                expected.entry(*key).or_default().merge(cell);
            }
            let table = CellTable::new(vec![], vec![], parts);
            prop_assert_eq!(table.len(), expected.len());
            let expected: Vec<(CellKey, Cell)> = expected.into_iter().collect();
            prop_assert_eq!(&table.iter().collect::<Vec<_>>(), &expected);
            let without = |(key, cell): &(CellKey, Cell)| (*key, Cell { elapsed: vec![], ..cell.clone() });
            prop_assert_eq!(table.sums().collect::<Vec<_>>(), expected.iter().map(without).collect::<Vec<_>>());
            let inside = expected.into_iter().filter(|(key, _)| (window.0..=window.1).contains(&key.second));
            prop_assert_eq!(table.between(window.0, window.1).collect::<Vec<_>>(), inside.collect::<Vec<_>>());
        }
    }
}
