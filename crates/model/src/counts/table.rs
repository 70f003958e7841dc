//! The cells of a stored run, packed: in memory up to a budget, the rest in a temporary file.

use std::collections::BTreeMap;

use super::pack::{CellParts, keep, pack_sums};
use super::packed_cell::PackedCell;
use super::spill::{CellRun, Gatherer, OrderedCells, SpillFile, collect};
use super::{Cell, CellKey};
use crate::error::Result;

/// The number of bytes of a table that are kept in memory after it is read back.
pub const READ_ROOM: usize = 16 << 20;

/// The cells of a run, ascending by key, with the names that the keys refer to.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
///
/// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
/// let cell = |elapsed| Cell { elapsed, ..Cell::default() };
/// let parts = [(key(7), cell(vec![(12, 2)])), (key(3), cell(vec![(10, 1)])), (key(7), cell(vec![(12, 1), (13, 1)]))];
/// let table = CellTable::new(vec!["Get".into()], vec![], parts);
/// let cells: Vec<(CellKey, Cell)> = table.iter().collect::<Result<_, _>>()?;
/// assert_eq!(cells, [(key(3), cell(vec![(10, 1)])), (key(7), cell(vec![(12, 3), (13, 1)]))]);
/// assert_eq!(table.between(4, 9).count(), 1);
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CellTable {
    /// Labels by index. A log without labels has the one label "".
    pub labels: Vec<String>,
    /// Injectors by index; "" is the unknown one.
    pub injectors: Vec<String>,
    cells: CellRun,
}

/// Two tables are equal if they have the same names and cells and all cells can be read.
impl PartialEq for CellTable {
    fn eq(&self, other: &Self) -> bool {
        self.same(other).unwrap_or(false)
    }
}

impl CellTable {
    /// Creates a table in memory from cells in any order, whose counts may be in any order. Cells of the same key are merged.
    pub fn new(
        labels: Vec<String>,
        injectors: Vec<String>,
        cells: impl IntoIterator<Item = (CellKey, Cell)>,
    ) -> Self {
        let mut merged: BTreeMap<CellKey, Cell> = BTreeMap::new();
        for (key, cell) in cells {
            merged.entry(key).or_default().merge(&cell.ordered());
        }
        Self { labels, injectors, cells: CellRun::in_memory(merged) }
    }

    /// Creates a table from cells that ascend by key, each key once. It is kept in memory up to [`READ_ROOM`], the rest
    /// in a temporary file.
    ///
    /// # Errors
    /// Returns the first error among the cells, and fails when the temporary file can't be written.
    pub fn from_ascending(
        labels: Vec<String>,
        injectors: Vec<String>,
        cells: impl IntoIterator<Item = Result<(CellKey, PackedCell)>>,
    ) -> Result<Self> {
        let cells = collect(cells.into_iter(), &mut SpillFile::new(READ_ROOM, None))?;
        Ok(Self { labels, injectors, cells })
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns true if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the cells, ascending by key, each key once. An item is an error if a temporary file can't be read;
    /// the iteration ends there.
    pub fn iter(&self) -> impl Iterator<Item = Result<(CellKey, Cell)>> + Send + use<'_> {
        self.between(0, u32::MAX)
    }

    /// Iterates over the cells without their counts ([`Cell::elapsed`] is empty), which takes a fraction of the time.
    /// Order and errors are those of [`CellTable::iter`].
    pub fn sums(&self) -> impl Iterator<Item = Result<(CellKey, Cell)>> + Send + use<'_> {
        self.sums_between(0, u32::MAX)
    }

    /// Iterates over the cells of the seconds from `first` to `last`, both inclusive, without their counts, as
    /// [`CellTable::sums`] does.
    pub fn sums_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Result<(CellKey, Cell)>> + Send + use<'_> {
        self.cells.sums_between(first, last)
    }

    /// Iterates over the cells of the seconds from `first` to `last`, both inclusive, ascending by key. Errors are
    /// those of [`CellTable::iter`].
    pub fn between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Result<(CellKey, Cell)>> + Send + use<'_> {
        self.cells.between(first, last)
    }

    /// Iterates over the same cells as [`CellTable::between`], with their counts left packed.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    ///
    /// let key = CellKey { second: 3, label: 0, success: true, transaction: false };
    /// let cell = Cell { elapsed: vec![(10, 1), (12, 4)], ..Cell::default() };
    /// let table = CellTable::new(vec!["Get".into()], vec![], [(key, cell)]);
    /// for cell in table.packed_between(0, 9) {
    ///     let (_, cell) = cell?;
    ///     let mut elapsed = Vec::new();
    ///     cell.each_count(&mut elapsed)?;
    ///     assert_eq!((cell.samples(), elapsed), (5, vec![(10, 1), (12, 4)]));
    /// }
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    pub fn packed_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Result<(CellKey, PackedCell)>> + Send + use<'_> {
        self.cells.packed_between(first, last)
    }

    /// Returns true if another table has the same names and cells.
    ///
    /// # Errors
    /// When a temporary file can't be read.
    pub fn same(&self, other: &Self) -> Result<bool> {
        if self.labels != other.labels || self.injectors != other.injectors || self.len() != other.len() {
            return Ok(false);
        }
        for (one, other) in self.iter().zip(other.iter()) {
            if one? != other? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Builds a table from cells that come nearly in order, as stores return them.
pub struct CellTableBuilder {
    /// The cells of the current second, in any order, each with its samples and the ends of its counts and its sums in
    /// `bytes`.
    of_second: Vec<(CellKey, u64, usize, usize)>,
    bytes: Vec<u8>,
    cells: OrderedCells,
}

impl CellTableBuilder {
    /// Creates an empty builder that keeps up to `room` bytes in memory.
    pub fn new(room: usize) -> Self {
        let cells = OrderedCells::new(SpillFile::new(room, None), Gatherer::new(room, SpillFile::default()));
        Self { of_second: Vec::new(), bytes: Vec::new(), cells }
    }

    /// Adds a cell whose packed counts are at the front of `packed`; `sums` reads all else, given what follows them.
    /// Returns the number of samples; `None`, and nothing is added, if the counts are damaged or there are no sums.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub fn push(
        &mut self,
        key: CellKey,
        mut packed: &[u8],
        sums: impl FnOnce(&[u8]) -> Option<Cell>,
    ) -> Result<Option<u64>> {
        if self.of_second.first().is_some_and(|(first, ..)| first.second != key.second) {
            self.end_second()?;
        }
        let start = self.bytes.len();
        let samples = keep(&mut self.bytes, &mut packed);
        let Some((samples, sums)) = samples.and_then(|samples| Some((samples, sums(packed)?))) else {
            self.bytes.truncate(start);
            return Ok(None);
        };
        let counted = self.bytes.len();
        pack_sums(&mut self.bytes, sums.as_ref());
        self.of_second.push((key, samples, counted, self.bytes.len()));
        Ok(Some(samples))
    }

    /// The number of cells of the current second.
    pub fn of_second(&self) -> usize {
        self.of_second.len()
    }

    /// Adds the cells of another builder. If they are of later seconds than all that were added, they are not even
    /// looked at, except those of the last second.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub fn append(&mut self, other: Self) -> Result<()> {
        if other.of_second.is_empty() {
            // It is new: no cell is added without one of the current second.
            return Ok(());
        }
        self.end_second()?;
        self.cells.append(other.cells)?;
        (self.of_second, self.bytes) = (other.of_second, other.bytes);
        Ok(())
    }

    /// Adds the cells of the current second to the run, in ascending order.
    fn end_second(&mut self) -> Result<()> {
        let (mut start, mut cells) = (0, Vec::with_capacity(self.of_second.len()));
        let bytes = std::mem::take(&mut self.bytes);
        let part = |start, end| bytes.get(start..end).unwrap_or_default();
        for (key, samples, counted, end) in self.of_second.drain(..) {
            cells.push((key, CellParts { samples, counts: part(start, counted), sums: part(counted, end) }));
            start = end;
        }
        cells.sort_by_key(|(key, _)| *key);
        for (key, parts) in cells {
            self.cells.push(key, parts)?;
        }
        self.bytes = bytes;
        self.bytes.clear();
        Ok(())
    }

    /// Completes the table.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub fn finish(mut self, labels: Vec<String>, injectors: Vec<String>) -> Result<CellTable> {
        self.end_second()?;
        Ok(CellTable { labels, injectors, cells: self.cells.finish()? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::counts::pack::pack_counts;
    use crate::fuzz::{Taker, cell};
    use proptest::prelude::*;

    fn parts() -> impl Strategy<Value = Vec<(CellKey, Cell)>> {
        let part = (0..6u32, 0..3u32, any::<bool>(), any::<bool>(), any::<[u8; 32]>());
        let keyed = part.prop_map(|(second, label, success, transaction, bytes)| {
            (CellKey { second, label, success, transaction }, cell(&mut Taker::new(&bytes), 4))
        });
        prop::collection::vec(keyed, 0..40)
    }

    fn push(builder: &mut CellTableBuilder, key: CellKey, cell: &Cell) -> Result<()> {
        let mut packed = Vec::new();
        pack_counts(&mut packed, &cell.elapsed);
        let samples = builder.push(key, &packed, |rest| rest.is_empty().then(|| cell.clone()))?;
        assert_eq!(samples, Some(cell.samples()));
        Ok(())
    }

    /// Builds a table as a store does.
    fn built(parts: &[(CellKey, Cell)], room: usize) -> Result<CellTable> {
        let mut builder = CellTableBuilder::new(room);
        for (key, cell) in parts {
            push(&mut builder, *key, cell)?;
        }
        builder.finish(vec![], vec![])
    }

    /// Builds a table of two builders, as readers of two parts of a store do.
    fn joined(parts: &[(CellKey, Cell)], cut: usize, room: usize) -> Result<CellTable> {
        let (first, second) = parts.split_at(cut.min(parts.len()));
        let mut whole = CellTableBuilder::new(room);
        for part in [first, second, &[]] {
            let mut builder = CellTableBuilder::new(room);
            for (key, cell) in part {
                push(&mut builder, *key, cell)?;
            }
            whole.append(builder)?;
        }
        whole.finish(vec![], vec![])
    }

    /// Opens a packed cell, and checks its number of samples.
    fn opened(packed: &PackedCell) -> Result<Cell> {
        let mut elapsed = Vec::new();
        packed.each_count(&mut elapsed)?;
        let cell = Cell { elapsed, ..packed.sums().clone() };
        assert_eq!(cell.samples(), packed.samples());
        Ok(cell)
    }

    proptest! {
        #[test]
        fn cells_in_any_order_and_parts_are_those_of_a_map(
            parts in parts(),
            cut in 0..41usize,
            sorted in any::<bool>(),
            room in prop_oneof![Just(0), 0..400usize, Just(READ_ROOM)],
            window in (0..6u32, 0..6u32),
        ) {
            let mut parts = parts;
            if sorted {
                parts.sort_by_key(|(key, _)| *key);
            }
            let mut expected: BTreeMap<CellKey, Cell> = BTreeMap::new();
            for (key, cell) in &parts {
                expected.entry(*key).or_default().merge(cell);
            }
            let expected: Vec<(CellKey, Cell)> = expected.into_iter().collect();
            let without = |(key, cell): &(CellKey, Cell)| (*key, Cell { elapsed: vec![], ..cell.clone() });
            let sums: Vec<_> = expected.iter().map(without).collect();
            let inside = expected.iter().filter(|(key, _)| (window.0..=window.1).contains(&key.second));
            let inside: Vec<_> = inside.cloned().collect();
            let joined = joined(&parts, cut, room)?;
            let (built, new) = (built(&parts, room)?, CellTable::new(vec![], vec![], parts));
            let cells = expected.iter().cloned().map(|(key, cell)| Ok((key, PackedCell::of(cell))));
            let ascending = CellTable::from_ascending(vec![], vec![], cells)?;
            for table in [&built, &joined, &new, &ascending] {
                prop_assert_eq!(table.len(), expected.len());
                prop_assert_eq!(&table.iter().collect::<Result<Vec<_>>>()?, &expected);
                prop_assert_eq!(&table.sums().collect::<Result<Vec<_>>>()?, &sums);
                let inside_sums: Vec<_> = inside.iter().map(without).collect();
                let found = table.sums_between(window.0, window.1).collect::<Result<Vec<_>>>()?;
                prop_assert_eq!(found, inside_sums);
                prop_assert_eq!(&table.between(window.0, window.1).collect::<Result<Vec<_>>>()?, &inside);
                let packed = table.packed_between(window.0, window.1).collect::<Result<Vec<_>>>()?;
                let opened = packed.iter().map(|(key, cell)| Ok((*key, opened(cell)?)));
                prop_assert_eq!(opened.collect::<Result<Vec<_>>>()?, inside.clone());
                prop_assert!(table == &new);
            }
        }
    }

    #[test]
    fn counts_in_any_order_are_those_of_their_times() {
        let key = CellKey { second: 0, label: 0, success: true, transaction: false };
        let load = |injector, samples| crate::counts::InjectorLoad { injector, samples, threads: 5 };
        let cell = Cell {
            elapsed: vec![(30, 1), (10, 2), (30, 4), (20, 1)],
            injectors: vec![load(1, 3), load(0, 1), load(1, 4)],
            ..Cell::default()
        };
        let expected = vec![(10, 2), (20, 1), (30, 5)];
        let table = CellTable::new(vec![], vec![], [(key, cell.clone())]);
        let (_, found) = table.iter().next().unwrap().unwrap();
        assert_eq!((found.samples(), &found.elapsed), (8, &expected));
        let loads: Vec<(u32, u64)> =
            found.injectors.iter().map(|load| (load.injector, load.samples)).collect();
        assert_eq!(loads, [(0, 1), (1, 7)]);
        assert_eq!(PackedCell::of(cell).open().unwrap().elapsed, expected);
    }

    #[test]
    fn many_chunks_are_found_by_their_seconds_wherever_they_are() {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cell = |second: u32| Cell {
            elapsed: (0..500).map(|ms| (ms, u64::from(second) + 1)).collect(),
            ..Cell::default()
        };
        let parts: Vec<_> = (0..1000).map(|second| (key(second), cell(second))).collect();
        for room in [0, 300_000, READ_ROOM] {
            let table = built(&parts, room).unwrap();
            for (first, last) in [(0, 0), (499, 501), (998, 2000), (1000, 1000)] {
                let found = table.between(first, last).collect::<Result<Vec<_>>>().unwrap();
                let expected = parts.iter().filter(|(key, _)| (first..=last).contains(&key.second));
                assert!(found.iter().eq(expected), "{room} {first} {last}");
            }
        }
    }
}
