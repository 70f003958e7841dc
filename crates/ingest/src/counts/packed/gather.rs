//! Collects cells that arrive in any order, with bounded memory.

use std::collections::BTreeMap;

use super::merge::{CellResult, Merged, Source};
use super::{Packer, Run, Spill};
use crate::counts::pack::{Parts, keep, pack, pack_sums, unpack, unpack_sums};
use crate::counts::{Cell, CellKey, PackedCell};
use crate::error::{Error, Result};

/// The bytes that a packed cell takes besides its own: key, map entry and allocation.
const OVERHEAD: usize = 80;

/// The number of runs of one size. When it is reached, they are merged into one run of the next size.
const RUNS: usize = 64;

/// Collects cells in any order and returns them ascending by key, with the parts of one key added up.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    /// The most recent cells, packed.
    held: BTreeMap<CellKey, Box<[u8]>>,
    /// The approximate size of the held cells, in bytes.
    bytes: usize,
    /// The maximum size of the held cells, in bytes. All others are in runs.
    room: usize,
    /// The runs by size, smallest first.
    sizes: Vec<Vec<Run>>,
    spill: Spill,
}

impl Gatherer {
    /// Creates a gatherer that holds up to `room` bytes and writes the rest as runs to `spill`.
    pub(crate) fn new(room: usize, spill: Spill) -> Self {
        Self { room, spill, ..Self::default() }
    }

    /// Returns true if there are no cells.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.sizes.is_empty()
    }

    /// Adds a cell or a part of one.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(crate) fn insert(&mut self, key: CellKey, cell: &Cell) -> Result<()> {
        let packed = match self.take(key)? {
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

    /// Removes and returns the held part of a cell, if there is one.
    ///
    /// # Errors
    /// None for cells that were packed here.
    pub(crate) fn take(&mut self, key: CellKey) -> Result<Option<Cell>> {
        let Some(packed) = self.held.remove(&key) else { return Ok(None) };
        self.bytes = self.bytes.saturating_sub(packed.len() + OVERHEAD);
        opened(&packed).map(Some)
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, as sources that may have parts of the same cells.
    pub(super) fn sources(&self, first: u32, last: u32) -> impl Iterator<Item = Source<'_>> {
        let held = self.held.range(CellKey::of_seconds(first, last));
        let held = held.map(|(key, packed)| Ok((*key, split(packed)?)));
        let runs = self.sizes.iter().flatten();
        let runs = runs.map(move |run| -> Source<'_> { Box::new(run.packed_between(first, last)) });
        runs.chain([Box::new(held) as Source<'_>])
    }

    /// Writes the held cells as a run.
    fn write_run(&mut self) -> Result<()> {
        let (mut run, mut packer) = (Run::default(), Packer::default());
        let mut counts = Vec::new();
        for (key, packed) in std::mem::take(&mut self.held) {
            let mut sums = &packed[..];
            counts.clear();
            let samples = keep(&mut counts, &mut sums).ok_or_else(broken)?;
            let parts = Parts { samples, counts: &counts, sums };
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
    pub(super) fn add_run(&mut self, run: Run) -> Result<()> {
        if run.first().is_none() { Ok(()) } else { self.add_of_size(run, 0) }
    }

    /// Returns all cells as runs, which may have parts of the same cells.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(super) fn into_runs(mut self) -> Result<impl Iterator<Item = Run>> {
        self.write_run()?;
        Ok(self.sizes.into_iter().flatten())
    }

    /// Adds a run to those of its size, and merges them when they become too many.
    fn add_of_size(&mut self, run: Run, size: usize) -> Result<()> {
        if self.sizes.len() <= size {
            self.sizes.resize_with(size + 1, Vec::new);
        }
        let Some(runs) = self.sizes.get_mut(size) else { return Ok(()) };
        runs.push(run);
        if runs.len() < RUNS {
            return Ok(());
        }
        let runs = std::mem::take(runs);
        let sources = runs.iter().map(|run| -> Source<'_> { Box::new(run.packed_between(0, u32::MAX)) });
        let merged = collect(Merged::new(sources), &mut self.spill)?;
        self.add_of_size(merged, size + 1)
    }
}

/// Writes cells, which must ascend by key, as a run.
///
/// # Errors
/// Returns the first error among the cells, and fails when the temporary file can't be written.
pub(crate) fn collect(cells: impl Iterator<Item = CellResult>, spill: &mut Spill) -> Result<Run> {
    let (mut run, mut packer, mut sums) = (Run::default(), Packer::default(), Vec::new());
    for cell in cells {
        let (key, cell) = cell?;
        sums.clear();
        pack_sums(&mut sums, cell.sums().as_ref());
        let parts = Parts { samples: cell.samples(), counts: cell.counts(), sums: &sums };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::packed::merge;
    use crate::fuzz::{Taker, cell};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_in_any_order_are_those_of_a_map_however_little_room_there_is(
            parts in prop::collection::vec((0..9u32, 0..3u32, any::<[u8; 24]>(), any::<bool>()), 0..200),
            room in prop_oneof![Just(0), 1..2000usize],
            in_memory in prop_oneof![Just(0), 0..2000usize],
        ) {
            let mut gatherer = Gatherer::new(room, Spill::new(in_memory, None));
            let mut expected: BTreeMap<CellKey, Cell> = BTreeMap::new();
            for (second, label, bytes, taken) in parts {
                let key = CellKey { second, label, success: label > 0, transaction: second > 7 };
                let cell = cell(&mut Taker::new(&bytes), 4);
                expected.entry(key).or_default().merge(&cell);
                // A part that was taken out and added to must come back as well.
                let mut whole = if taken { gatherer.take(key)?.unwrap_or_default() } else { Cell::default() };
                whole.merge(&cell);
                gatherer.insert(key, &whole)?;
                prop_assert!(gatherer.bytes <= room);
            }
            let found = Merged::new(gatherer.sources(0, u32::MAX)).map(merge::opened).collect::<Result<Vec<_>>>()?;
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_runs_become_few() {
        let mut gatherer = Gatherer::new(0, Spill::default());
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let one = Cell { elapsed: vec![(5, 1)], ..Cell::default() };
        for part in 0..5000 {
            gatherer.insert(key(part % 50), &one).unwrap();
        }
        assert!(gatherer.sizes.iter().all(|runs| runs.len() < RUNS));
        let cells = Merged::new(gatherer.sources(0, u32::MAX))
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
}
