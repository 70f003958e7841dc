//! Collects cells that come nearly in ascending order, with bounded memory.

use super::merge::{CellResult, Merged};
use super::{Gatherer, Packer, Run, Spill, collect};
use crate::counts::pack::{Parts, unpack_parts};
use crate::counts::{Cell, CellKey};
use crate::error::{Error, Result};

/// Cells that are appended to a run as long as they ascend by key. The others are collected beside it.
#[derive(Debug)]
pub(crate) struct Ordered {
    run: Run,
    packer: Packer,
    spill: Spill,
    /// The last key of the run.
    last: Option<CellKey>,
    late: Gatherer,
}

impl Ordered {
    /// Creates an empty collection. What exceeds the room of `spill` is kept in its file; `late` takes the cells that
    /// come too late.
    pub(crate) fn new(spill: Spill, late: Gatherer) -> Self {
        Self { run: Run::default(), packer: Packer::default(), spill, last: None, late }
    }

    /// Returns true if a key is greater than all before.
    pub(crate) fn is_next(&self, key: CellKey) -> bool {
        self.last.is_none_or(|last| last < key)
    }

    /// Adds a cell or a part of one.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(crate) fn push(&mut self, key: CellKey, parts: Parts<'_>) -> Result<()> {
        if self.is_next(key) {
            self.last = Some(key);
            return self.run.push(&mut self.packer, &mut self.spill, key, parts);
        }
        let cell =
            unpack_parts(parts.counts, parts.sums).ok_or_else(|| Error::stopped("opening packed counts"))?;
        self.insert_late(key, &cell)
    }

    /// Adds a part of a cell that is known to come too late, or that others of its key may follow.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn insert_late(&mut self, key: CellKey, cell: &Cell) -> Result<()> {
        self.late.insert(key, cell)
    }

    /// Adds the cells of another collection. Where they are of later seconds than all so far, they are not even looked at.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn append(&mut self, mut other: Self) -> Result<()> {
        other.run.finish(&mut other.packer, &mut other.spill)?;
        if other.run.first().is_none_or(|first| self.is_next(first)) {
            self.run.finish(&mut self.packer, &mut self.spill)?;
            self.last = other.last.or(self.last);
            self.run.append(other.run);
        } else {
            other.run.between(0, u32::MAX).try_for_each(|cell| self.insert(cell?))?;
        }
        other.late.iter().try_for_each(|cell| self.insert(cell?))
    }

    fn insert(&mut self, (key, cell): (CellKey, Cell)) -> Result<()> {
        self.insert_late(key, &cell)
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, ascending by key, each key once.
    pub(crate) fn between(&self, first: u32, last: u32) -> impl Iterator<Item = CellResult> + Send + '_ {
        let pending: Vec<CellResult> = Run::of_pending(&self.packer).between(first, last).collect();
        let run = self.run.between(first, last).chain(pending);
        let late = (!self.late.is_empty()).then(|| self.late.between(first, last));
        let late = late.map(|late| -> Box<dyn Iterator<Item = CellResult> + Send> { Box::new(late) });
        let run: Box<dyn Iterator<Item = CellResult> + Send> = Box::new(run);
        Merged::new(std::iter::once(run).chain(late))
    }

    /// Completes the run.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn finish(mut self) -> Result<Run> {
        self.run.finish(&mut self.packer, &mut self.spill)?;
        if self.late.is_empty() {
            return Ok(self.run);
        }
        let (in_order, late) = (self.run.between(0, u32::MAX), self.late.iter());
        let sources: [Box<dyn Iterator<Item = CellResult> + Send>; 2] = [Box::new(in_order), Box::new(late)];
        collect(Merged::new(sources), &mut self.spill)
    }
}
