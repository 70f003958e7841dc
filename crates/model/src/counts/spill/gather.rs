//! Collects cells that arrive in any order, or nearly in ascending order, with bounded memory.

use std::collections::BTreeMap;

use super::merge::{CellResult, CellSource, MergedCells};
use super::{CellRun, ChunkPacker, SpillFile};
use crate::counts::pack::{CellParts, keep, pack, pack_sums, unpack, unpack_parts, unpack_sums};
use crate::counts::{Cell, CellKey, PackedCell};
use crate::error::{Error, Result};

/// The bytes that a packed cell takes besides its own: key, map entry and allocation.
const OVERHEAD: usize = 80;

/// The number of runs of one size. When it is reached, they are merged into one run of the next size.
const RUNS: usize = 64;

/// Collects cells in any order and returns them ascending by key, with the parts of one key added up.
#[derive(Debug, Default)]
pub struct Gatherer {
    /// The most recent cells, packed.
    held: BTreeMap<CellKey, Box<[u8]>>,
    /// The approximate size of the cells in memory, in bytes.
    bytes: usize,
    /// The maximum size of the cells in memory, in bytes. All others are in runs.
    room: usize,
    /// The runs by size, smallest first.
    sizes: Vec<Vec<CellRun>>,
    spill: SpillFile,
}

impl Gatherer {
    /// Creates a gatherer that keeps up to `room` bytes and writes the rest as runs to `spill`.
    pub fn new(room: usize, spill: SpillFile) -> Self {
        Self { room, spill, ..Self::default() }
    }

    /// Returns true if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.sizes.is_empty()
    }

    /// Adds a cell or a part of one.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub fn insert(&mut self, key: CellKey, cell: &Cell) -> Result<()> {
        let packed = match self.remove(key)? {
            Some(mut part) => {
                part.merge(cell);
                pack(&part)
            }
            None => pack(cell),
        };
        self.bytes += packed.len() + OVERHEAD;
        self.held.insert(key, packed);
        if self.bytes > self.room { self.write_run() } else { Ok(()) }
    }

    /// Removes and returns the part of a cell in memory, if there is one.
    ///
    /// # Errors
    /// None for cells that were packed here.
    pub fn remove(&mut self, key: CellKey) -> Result<Option<Cell>> {
        let Some(packed) = self.held.remove(&key) else { return Ok(None) };
        self.bytes = self.bytes.saturating_sub(packed.len() + OVERHEAD);
        opened(&packed).map(Some)
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, as sources that may have parts of the same cells.
    pub(super) fn sources(&self, first: u32, last: u32) -> impl Iterator<Item = CellSource<'_>> {
        let held = self.held.range(CellKey::of_seconds(first, last));
        let held = held.map(|(key, packed)| Ok((*key, split(packed)?)));
        let runs = self.sizes.iter().flatten();
        let runs = runs.map(move |run| -> CellSource<'_> { Box::new(run.packed_between(first, last)) });
        runs.chain([Box::new(held) as CellSource<'_>])
    }

    /// Writes the cells in memory as a run.
    fn write_run(&mut self) -> Result<()> {
        let (mut run, mut packer) = (CellRun::default(), ChunkPacker::default());
        let mut counts = Vec::new();
        for (key, packed) in std::mem::take(&mut self.held) {
            let mut sums = &packed[..];
            counts.clear();
            let samples = keep(&mut counts, &mut sums).ok_or_else(broken)?;
            let parts = CellParts { samples, counts: &counts, sums };
            run.push(&mut packer, &mut self.spill, key, parts)?;
        }
        run.finish(&mut packer, &mut self.spill)?;
        self.bytes = 0;
        self.add_run(run)
    }

    /// Adds the cells of a run.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn add_run(&mut self, run: CellRun) -> Result<()> {
        if run.first().is_none() { Ok(()) } else { self.add_of_size(run, 0) }
    }

    /// Returns all cells as runs, which may have parts of the same cells.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn into_runs(mut self) -> Result<impl Iterator<Item = CellRun>> {
        self.write_run()?;
        Ok(self.sizes.into_iter().flatten())
    }

    /// Adds a run to those of its size, and merges them when they become too many.
    fn add_of_size(&mut self, run: CellRun, size: usize) -> Result<()> {
        if self.sizes.len() <= size {
            self.sizes.resize_with(size + 1, Vec::new);
        }
        let Some(runs) = self.sizes.get_mut(size) else { return Ok(()) };
        runs.push(run);
        if runs.len() < RUNS {
            return Ok(());
        }
        let runs = std::mem::take(runs);
        let sources = runs.iter().map(|run| -> CellSource<'_> { Box::new(run.packed_between(0, u32::MAX)) });
        let merged = collect(MergedCells::new(sources), &mut self.spill)?;
        self.add_of_size(merged, size + 1)
    }
}

/// Writes cells, which must ascend by key, as a run.
///
/// # Errors
/// Returns the first error among the cells, and fails when the temporary file can't be written.
pub fn collect(cells: impl Iterator<Item = CellResult>, spill: &mut SpillFile) -> Result<CellRun> {
    let (mut run, mut packer, mut sums) = (CellRun::default(), ChunkPacker::default(), Vec::new());
    for cell in cells {
        let (key, cell) = cell?;
        sums.clear();
        pack_sums(&mut sums, cell.sums().as_ref());
        let parts = CellParts { samples: cell.samples(), counts: cell.counts(), sums: &sums };
        run.push(&mut packer, spill, key, parts)?;
    }
    run.finish(&mut packer, spill)?;
    Ok(run)
}

fn opened(packed: &[u8]) -> Result<Cell> {
    unpack(packed).ok_or_else(broken)
}

/// Opens all of a cell but its counts.
fn split(packed: &[u8]) -> Result<PackedCell> {
    let (mut sums, mut counts) = (packed, Vec::with_capacity(packed.len()));
    let samples = keep(&mut counts, &mut sums).ok_or_else(broken)?;
    let sums = unpack_sums(sums).ok_or_else(broken)?;
    Ok(PackedCell::new(samples, counts.into(), sums))
}

fn broken() -> Error {
    Error::stopped("opening packed counts")
}

/// Cells that are appended to a run as long as they ascend by key. The others are collected beside it.
#[derive(Debug)]
pub struct OrderedCells {
    run: CellRun,
    packer: ChunkPacker,
    spill: SpillFile,
    /// The last key of the run.
    last: Option<CellKey>,
    /// True if the next cell may begin another run.
    restarted: bool,
    /// The cells that come too late, and the runs before.
    late: Gatherer,
}

impl OrderedCells {
    /// Creates an empty collection. What exceeds the room of `spill` is kept in its file; `late` receives the cells that
    /// come too late.
    pub fn new(spill: SpillFile, late: Gatherer) -> Self {
        Self {
            run: CellRun::default(),
            packer: ChunkPacker::default(),
            spill,
            last: None,
            restarted: false,
            late,
        }
    }

    /// Expects cells that ascend by key once more, from whichever key on.
    pub fn restart(&mut self) {
        self.restarted = true;
    }

    /// Returns true if a key is greater than all before.
    fn is_next(&self, key: CellKey) -> bool {
        self.last.is_none_or(|last| last < key)
    }

    /// Adds a cell or a part of one.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub fn push(&mut self, key: CellKey, parts: CellParts<'_>) -> Result<()> {
        if std::mem::take(&mut self.restarted) && !self.is_next(key) {
            self.end_run()?;
        }
        if self.is_next(key) {
            self.last = Some(key);
            return self.run.push(&mut self.packer, &mut self.spill, key, parts);
        }
        let cell =
            unpack_parts(parts.counts, parts.sums).ok_or_else(|| Error::stopped("opening packed counts"))?;
        self.late.insert(key, &cell)
    }

    /// Ends the run. The next one may begin with any key.
    fn end_run(&mut self) -> Result<()> {
        self.run.finish(&mut self.packer, &mut self.spill)?;
        self.last = None;
        self.late.add_run(std::mem::take(&mut self.run))
    }

    /// Adds cells that ascend by key, beside those so far.
    ///
    /// # Errors
    /// Returns the first error among the cells, and as for [`push`](Self::push).
    pub fn add_cells(&mut self, cells: impl Iterator<Item = CellResult>) -> Result<()> {
        let run = collect(cells, &mut self.spill)?;
        self.late.add_run(run)
    }

    /// Adds the cells of a run, beside those so far.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn add_run(&mut self, run: CellRun) -> Result<()> {
        self.late.add_run(run)
    }

    /// Adds the cells of a run of another collection, and keeps them with those so far.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn keep_run(&mut self, run: CellRun) -> Result<()> {
        let kept = run.kept_in(&mut self.spill)?;
        self.late.add_run(kept)
    }

    /// Returns the cells as runs, each of them ascending by key, which may have parts of the same cells.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn into_runs(mut self) -> Result<impl Iterator<Item = CellRun>> {
        self.end_run()?;
        self.late.into_runs()
    }

    /// Adds the cells of another collection. Where they are of later seconds than all so far, they are not even looked at.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn append(&mut self, mut other: Self) -> Result<()> {
        other.run.finish(&mut other.packer, &mut other.spill)?;
        if other.run.first().is_none_or(|first| self.is_next(first)) {
            self.run.finish(&mut self.packer, &mut self.spill)?;
            self.last = other.last.or(self.last);
            self.run.append(other.run);
        } else {
            self.late.add_run(other.run)?;
        }
        other.late.into_runs()?.try_for_each(|run| self.late.add_run(run))
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, as sources that may have parts of the same cells.
    pub fn sources(&self, first: u32, last: u32) -> impl Iterator<Item = CellSource<'_>> {
        let pending: Vec<CellResult> =
            CellRun::of_pending(&self.packer).packed_between(first, last).collect();
        let run = self.run.packed_between(first, last).chain(pending);
        self.late.sources(first, last).chain([Box::new(run) as CellSource<'_>])
    }

    /// Completes the run.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(mut self) -> Result<CellRun> {
        self.run.finish(&mut self.packer, &mut self.spill)?;
        if self.late.is_empty() {
            return Ok(self.run);
        }
        let in_order: CellSource<'_> = Box::new(self.run.packed_between(0, u32::MAX));
        collect(MergedCells::new(self.late.sources(0, u32::MAX).chain([in_order])), &mut self.spill)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::counts::Cell;
    use crate::counts::pack::CellPacker;
    use crate::counts::spill::{merge, opened};
    use crate::fuzz::{Taker, cell};

    proptest! {
        #[test]
        fn cells_in_any_order_are_those_of_a_map_however_little_room_there_is(
            parts in prop::collection::vec((0..9u32, 0..3u32, any::<[u8; 24]>(), any::<bool>()), 0..200),
            room in prop_oneof![Just(0), 1..2000usize],
            in_memory in prop_oneof![Just(0), 0..2000usize],
        ) {
            let mut gatherer = Gatherer::new(room, SpillFile::new(in_memory, None));
            let mut expected: BTreeMap<CellKey, Cell> = BTreeMap::new();
            for (second, label, bytes, taken) in parts {
                let key = CellKey { second, label, success: label > 0, transaction: second > 7 };
                let cell = cell(&mut Taker::new(&bytes), 4);
                expected.entry(key).or_default().merge(&cell);
                // A part that was taken out and added to must come back as well.
                let mut whole = if taken { gatherer.remove(key)?.unwrap_or_default() } else { Cell::default() };
                whole.merge(&cell);
                gatherer.insert(key, &whole)?;
                prop_assert!(gatherer.bytes <= room);
            }
            let found = MergedCells::new(gatherer.sources(0, u32::MAX)).map(merge::opened).collect::<Result<Vec<_>>>()?;
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_runs_become_few() {
        let mut gatherer = Gatherer::new(0, SpillFile::default());
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let one = Cell { elapsed: vec![(5, 1)], ..Cell::default() };
        for part in 0..5000 {
            gatherer.insert(key(part % 50), &one).unwrap();
        }
        assert!(gatherer.sizes.iter().all(|runs| runs.len() < RUNS));
        let cells = MergedCells::new(gatherer.sources(0, u32::MAX))
            .map(merge::opened)
            .collect::<Result<Vec<_>>>()
            .unwrap();
        assert_eq!(
            cells,
            (0..50)
                .map(|s| (key(s), Cell { elapsed: vec![(5, 100)], ..Cell::default() }))
                .collect::<Vec<_>>()
        );
    }

    proptest! {
        #[test]
        fn cells_between_two_seconds_are_those_of_a_map_before_and_after_the_end(
            parts in prop::collection::vec((0..40u32, any::<bool>(), any::<[u8; 24]>()), 0..120),
            restarts in prop::collection::vec(prop::bool::weighted(0.1), 120),
            sorted in any::<bool>(),
            room in prop_oneof![Just(0), 0..2000usize, Just(1 << 20)],
            window in (0..40u32, 0..40u32),
        ) {
            let mut parts = parts;
            if sorted {
                parts.sort_by_key(|(second, ..)| *second);
            }
            let mut cells = OrderedCells::new(SpillFile::new(room, None), Gatherer::new(room, SpillFile::default()));
            let (mut expected, mut packer) = (BTreeMap::<CellKey, Cell>::new(), CellPacker::default());
            for ((second, success, bytes), restarts) in parts.iter().zip(restarts) {
                if restarts {
                    cells.restart();
                }
                let key = CellKey { second: *second, label: 0, success: *success, transaction: false };
                let cell = cell(&mut Taker::new(bytes), 4);
                expected.entry(key).or_default().merge(&cell);
                cells.push(key, packer.pack(cell.as_ref()))?;
            }
            let inside = expected.range(CellKey::of_seconds(window.0.min(window.1), window.1));
            let inside: Vec<_> = inside.map(|(key, cell)| (*key, cell.clone())).collect();
            let found = MergedCells::new(cells.sources(window.0.min(window.1), window.1)).map(opened);
            prop_assert_eq!(found.collect::<Result<Vec<_>>>()?, inside);
            let whole = cells.finish()?.between(0, u32::MAX).collect::<Result<Vec<_>>>()?;
            prop_assert_eq!(whole, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
