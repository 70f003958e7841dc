//! The cells of a run: those of recent seconds are open, so that more blocks can be added to them; the others are packed.

use super::Totals;
use crate::counts::packed::{CellResult, Merged, Source};
use crate::counts::{Cell, CellKey, CellRef, PackedCell};
use crate::error::Result;

/// A second is packed when it is this many seconds older than the newest one. What comes later is added as a further part.
const OPEN_SECONDS: u32 = 60;

impl Totals {
    /// Adds a cell of a block, whose other cells have other keys.
    pub(super) fn add_cell(&mut self, key: CellKey, cell: CellRef<'_>) -> Result<()> {
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
        key.second.saturating_add(OPEN_SECONDS) < self.newest
    }

    /// Adds a cell, of which other blocks may have a part.
    pub(super) fn merge(&mut self, key: CellKey, cell: CellRef<'_>) -> Result<()> {
        if let Some(open) = self.open.get_mut(&key) {
            self.open_bytes -= open_bytes(open);
            open.add(cell);
            self.open_bytes += open_bytes(open);
            return Ok(());
        }
        let mut merged = self.spare.take(cell.elapsed.len());
        merged.add(cell);
        self.open_bytes += open_bytes(&merged);
        self.open.insert(key, merged);
        Ok(())
    }

    /// Goes on to another log, whose seconds may be those of the logs before once more. Its counts are packed by
    /// themselves, and added to the others when they are read.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(crate) fn begin_log(&mut self) -> Result<()> {
        while !self.open.is_empty() {
            self.pack_first()?;
        }
        self.newest = 0;
        self.packed.begin_anew();
        Ok(())
    }

    /// Packs past seconds. If the open cells exceed their budget, packs the oldest of them too.
    pub(super) fn pack_past(&mut self) -> Result<()> {
        self.errors.end_before(self.newest.saturating_sub(OPEN_SECONDS));
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

    /// The cells, ascending by key, with their counts packed.
    pub(crate) fn cells(&self) -> impl Iterator<Item = CellResult> + Send + '_ {
        self.cells_between(0, u32::MAX)
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, ascending by key.
    pub(crate) fn cells_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = CellResult> + Send + '_ {
        let open = self.open.range(CellKey::of_seconds(first, last));
        let open = open.map(|(key, cell)| Ok((*key, PackedCell::of(cell.clone()))));
        let open: Source<'_> = Box::new(open);
        Merged::new(self.packed.sources(first, last).chain([open]))
    }
}

/// The approximate size of an open cell, in bytes.
pub(super) fn open_bytes(cell: &Cell) -> usize {
    let lists = size_of_val(cell.elapsed.as_slice()) + size_of_val(cell.injectors.as_slice());
    size_of::<(CellKey, Cell)>() + 2 * lists
}
