//! The cells of a run: those of recent seconds are open, so that more blocks can be added to them; the others are packed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::counting::block::{BlockTally, LocalKey};
use perfpipe_model::counts::pack::CellPacker;
use perfpipe_model::counts::spill::{
    CellResult, CellRun, CellSource, Gatherer, MergedCells, OrderedCells, SpillFile,
};
use perfpipe_model::counts::{Cell, CellKey, CellRef, InjectorLoad, PackedCell};
use perfpipe_model::error::Result;

/// Cells whose keys and loads have indexes of names.
#[derive(Debug)]
pub(super) struct TotalCells {
    open: BTreeMap<CellKey, Cell>,
    /// The approximate size of the open cells, and its limit, both in bytes.
    open_bytes: usize,
    open_room: usize,
    packed: OrderedCells,
    packing: CellPacker,
    spare: SpareCells,
    /// The newest second.
    newest: u32,
    /// A second is packed when it is over. What comes later is added as a further part.
    lateness: Lateness,
}

/// The indexes that the names of a block have among those of the cells.
pub(super) struct NameIndexes {
    pub(super) labels: Vec<u32>,
    /// The index of the label that samples without one have.
    pub(super) no_label: u32,
    pub(super) injectors: Vec<u32>,
    /// The index of the unknown injector.
    pub(super) unknown_injector: u32,
}

impl NameIndexes {
    /// The index of a label, given as a code of the block.
    pub(super) fn label(&self, local: u32) -> u32 {
        self.labels.get(local as usize).copied().unwrap_or(self.no_label)
    }

    fn key(&self, local: LocalKey) -> CellKey {
        let LocalKey { second, label, success, transaction } = local;
        CellKey { second, label: self.label(label), success, transaction }
    }
}

impl TotalCells {
    /// Creates an empty collection. A fifth of `memory` (bytes) is for cells, the others go to a temporary file in
    /// `folder`, or in the system's temporary folder if `None`.
    pub(super) fn new(memory: usize, folder: Option<PathBuf>) -> Self {
        Self {
            open: BTreeMap::new(),
            open_bytes: 0,
            open_room: memory / 12,
            packed: OrderedCells::new(
                SpillFile::new(memory / 32, folder.clone()),
                Gatherer::new(memory / 12, SpillFile::new(0, folder)),
            ),
            packing: CellPacker::default(),
            spare: SpareCells::default(),
            newest: 0,
            lateness: Lateness::default(),
        }
    }

    /// Returns true if the open cells have no more than the memory that is meant for them and for one more cell.
    #[cfg(test)]
    pub(super) fn is_within(&self, one: &Cell) -> bool {
        self.open_bytes <= self.open_room.max(open_bytes(one))
    }

    /// The number of open cells.
    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Adds the cells of a block.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn add(&mut self, tally: &BlockTally, indexes: &NameIndexes) -> Result<()> {
        let mut cells: Vec<(CellKey, CellRef<'_>)> =
            tally.cells().map(|(local, cell)| (indexes.key(local), cell)).collect();
        cells.sort_by_key(|(key, _)| *key);
        if let Some((earliest, latest)) = tally.seconds() {
            // Before the second block of a log, there is none to be later than.
            if self.newest > 0 {
                self.lateness.learn(earliest, self.newest);
            }
            self.newest = self.newest.max(latest);
        }
        let mut loads = Vec::new();
        // Labels beyond the limit share a cell.
        for parts in cells.chunk_by(|(key, _), (next, _)| key == next) {
            for (key, cell) in parts {
                loads.clear();
                loads.extend(cell.injectors.iter().map(|load| {
                    let injector = indexes.injectors.get(load.injector as usize);
                    load.of(*injector.unwrap_or(&indexes.unknown_injector))
                }));
                join_loads(&mut loads);
                let cell = CellRef { injectors: &loads, ..*cell };
                if parts.len() > 1 { self.merge(*key, cell) } else { self.add_cell(*key, cell) }?;
            }
        }
        self.pack_past()
    }

    /// The second before which everything is past.
    pub(super) fn past(&self) -> u32 {
        self.newest.saturating_sub(self.lateness.expected())
    }

    /// Adds a cell of a block, whose other cells have other keys.
    fn add_cell(&mut self, key: CellKey, cell: CellRef<'_>) -> Result<()> {
        if self.is_past(key) {
            while self.open.first_key_value().is_some_and(|(first, _)| *first < key) {
                self.pack_first()?;
            }
            // Most cells of a block of many seconds are in no other.
            if self.open.first_key_value().is_none_or(|(first, _)| *first > key) {
                return self.packed.push(key, self.packing.pack(cell));
            }
        }
        self.merge(key, cell)
    }

    /// Returns true if the cell of a key is packed, because no more of it is expected.
    fn is_past(&self, key: CellKey) -> bool {
        key.second < self.past()
    }

    /// Adds a part of a cell.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn add_part(&mut self, key: CellKey, cell: &Cell) -> Result<()> {
        self.newest = self.newest.max(key.second);
        self.merge(key, cell.as_ref())?;
        self.pack_past()
    }

    /// Adds a cell, of which other blocks may have a part.
    fn merge(&mut self, key: CellKey, cell: CellRef<'_>) -> Result<()> {
        if let Some(open) = self.open.get_mut(&key) {
            self.open_bytes -= open_bytes(open);
            open.add(cell);
            self.open_bytes += open_bytes(open);
            return Ok(());
        }
        let mut merged = self.spare.reuse(cell.elapsed.len());
        merged.add(cell);
        self.open_bytes += open_bytes(&merged);
        self.open.insert(key, merged);
        Ok(())
    }

    /// Packs all cells, and expects those of any second.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(super) fn restart(&mut self) -> Result<()> {
        while !self.open.is_empty() {
            self.pack_first()?;
        }
        self.newest = 0;
        self.packed.restart();
        Ok(())
    }

    /// Packs past seconds. If the open cells exceed their budget, packs the oldest of them too.
    fn pack_past(&mut self) -> Result<()> {
        while let Some((key, _)) = self.open.first_key_value()
            && (self.is_past(*key) || self.open_bytes > self.open_room)
        {
            self.pack_first()?;
        }
        Ok(())
    }

    /// Packs the first open cell.
    fn pack_first(&mut self) -> Result<()> {
        let Some((key, cell)) = self.open.pop_first() else { return Ok(()) };
        self.open_bytes -= open_bytes(&cell);
        self.packed.push(key, self.packing.pack(cell.as_ref()))?;
        self.spare.put(cell);
        Ok(())
    }

    /// Adds cells that ascend by key, beside those so far.
    ///
    /// # Errors
    /// Returns the first error among the cells, and fails when the temporary file can't be written or read.
    pub(super) fn add_ascending(&mut self, cells: impl Iterator<Item = CellResult>) -> Result<()> {
        self.packed.add_cells(cells)
    }

    /// Adds a run of another collection beside the cells so far, and keeps it with them.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(super) fn keep_run(&mut self, run: CellRun) -> Result<()> {
        self.packed.keep_run(run)
    }

    /// Returns all cells as runs, each of them ascending by key, which may have parts of the same cells.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn into_runs(mut self) -> Result<impl Iterator<Item = CellRun>> {
        self.restart()?;
        self.packed.into_runs()
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, ascending by key, with their counts packed.
    pub(super) fn between(&self, first: u32, last: u32) -> impl Iterator<Item = CellResult> + Send + '_ {
        let open = self.open.range(CellKey::of_seconds(first, last));
        let open = open.map(|(key, cell)| Ok((*key, PackedCell::of(cell.clone()))));
        let open: CellSource<'_> = Box::new(open);
        MergedCells::new(self.packed.sources(first, last).chain([open]))
    }
}

/// Adds up the loads with the same injector index, and sorts them. Injectors beyond the limit share an index.
pub(super) fn join_loads(loads: &mut Vec<InjectorLoad>) {
    loads.sort_by_key(|load| load.injector);
    loads.dedup_by(|from, into| {
        let same = from.injector == into.injector;
        if same {
            into.samples += from.samples;
            into.threads += from.threads;
        }
        same
    });
}

/// The approximate size of an open cell, in bytes.
fn open_bytes(cell: &Cell) -> usize {
    let lists = size_of_val(cell.elapsed.as_slice()) + size_of_val(cell.injectors.as_slice());
    size_of::<(CellKey, Cell)>() + 2 * lists
}

/// More of a second is expected at most until one comes that is more than this many seconds newer.
const MOST: u32 = 60;

/// The number of blocks from which it is known how late records come. Until then, the maximum is expected.
const BLOCKS: u32 = 8;

/// How far blocks went back from the newest second before them.
#[derive(Debug, Clone, Copy, Default)]
struct Lateness {
    /// The number of blocks seen.
    blocks: u32,
    /// The most that one of them went back, in seconds.
    most: u32,
}

impl Lateness {
    /// Learns from a block whose earliest second this is, where `newest` is the newest one of the blocks before.
    fn learn(&mut self, earliest: u32, newest: u32) {
        self.blocks = self.blocks.saturating_add(1);
        self.most = self.most.max(newest.saturating_sub(earliest));
    }

    /// More of a second is expected until one comes that is more than this many seconds newer: twice what was needed so far,
    /// and two.
    fn expected(self) -> u32 {
        // A cell that stays open costs more than one that is packed at once. But one that comes too late, which is added to
        // those packed before, costs the most.
        if self.blocks < BLOCKS { MOST } else { self.most.saturating_mul(2).saturating_add(2).min(MOST) }
    }
}

/// The number of cells whose memory is kept for others.
const SPARE: usize = 64;

/// Empty cells, whose memory others reuse.
#[derive(Debug, Default)]
struct SpareCells(Vec<Cell>);

impl SpareCells {
    /// Keeps the memory of a cell.
    fn put(&mut self, Cell { mut elapsed, mut injectors, .. }: Cell) {
        if self.0.len() < SPARE {
            elapsed.clear();
            injectors.clear();
            self.0.push(Cell { elapsed, injectors, ..Cell::default() });
        }
    }

    /// Returns an empty cell, with memory that is not far too large for so many elapsed times.
    fn reuse(&mut self, times: usize) -> Cell {
        self.0.pop().filter(|spare| spare.elapsed.capacity() <= 2 * times + 8).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_as_late_as_any_before_is_expected_but_no_more_than_a_minute() {
        let mut lateness = Lateness::default();
        for block in 0..BLOCKS {
            assert_eq!(lateness.expected(), MOST);
            lateness.learn(10 * block + 7, 10 * block + 10);
        }
        assert_eq!(lateness.expected(), 8);
        lateness.learn(100, 90);
        assert_eq!(lateness.expected(), 8);
        lateness.learn(0, u32::MAX);
        assert_eq!(lateness.expected(), MOST);
    }
}
