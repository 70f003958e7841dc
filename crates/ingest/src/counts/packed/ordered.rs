//! Collects cells that come nearly in ascending order, with bounded memory.

use super::merge::{CellResult, Merged, Source};
use super::{Gatherer, Packer, Run, Spill, collect};
use crate::counts::CellKey;
use crate::counts::pack::{Parts, unpack_parts};
use crate::error::{Error, Result};

/// Cells that are appended to a run as long as they ascend by key. The others are collected beside it.
#[derive(Debug)]
pub(crate) struct Ordered {
    run: Run,
    packer: Packer,
    spill: Spill,
    /// The last key of the run.
    last: Option<CellKey>,
    /// True if the next cell may begin another run.
    anew: bool,
    /// The cells that come too late, and the runs before.
    late: Gatherer,
}

impl Ordered {
    /// Creates an empty collection. What exceeds the room of `spill` is kept in its file; `late` takes the cells that
    /// come too late.
    pub(crate) fn new(spill: Spill, late: Gatherer) -> Self {
        Self { run: Run::default(), packer: Packer::default(), spill, last: None, anew: false, late }
    }

    /// Expects cells that ascend by key once more, from whichever key on.
    pub(crate) fn begin_anew(&mut self) {
        self.anew = true;
    }

    /// Returns true if a key is greater than all before.
    fn is_next(&self, key: CellKey) -> bool {
        self.last.is_none_or(|last| last < key)
    }

    /// Adds a cell or a part of one.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(crate) fn push(&mut self, key: CellKey, parts: Parts<'_>) -> Result<()> {
        if std::mem::take(&mut self.anew) && !self.is_next(key) {
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
    pub(crate) fn add_cells(&mut self, cells: impl Iterator<Item = CellResult>) -> Result<()> {
        let run = collect(cells, &mut self.spill)?;
        self.late.add_run(run)
    }

    /// Adds the cells of a run, beside those so far.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn add_run(&mut self, run: Run) -> Result<()> {
        self.late.add_run(run)
    }

    /// Adds the cells of a run of another collection, and keeps them with those so far.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn keep_run(&mut self, run: Run) -> Result<()> {
        let kept = run.kept_in(&mut self.spill)?;
        self.late.add_run(kept)
    }

    /// Returns the cells as runs, each of them ascending by key, which may have parts of the same cells.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn into_runs(mut self) -> Result<impl Iterator<Item = Run>> {
        self.end_run()?;
        self.late.into_runs()
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
            self.late.add_run(other.run)?;
        }
        other.late.into_runs()?.try_for_each(|run| self.late.add_run(run))
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, as sources that may have parts of the same cells.
    pub(crate) fn sources(&self, first: u32, last: u32) -> impl Iterator<Item = Source<'_>> {
        let pending: Vec<CellResult> = Run::of_pending(&self.packer).packed_between(first, last).collect();
        let run = self.run.packed_between(first, last).chain(pending);
        self.late.sources(first, last).chain([Box::new(run) as Source<'_>])
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
        let in_order: Source<'_> = Box::new(self.run.packed_between(0, u32::MAX));
        collect(Merged::new(self.late.sources(0, u32::MAX).chain([in_order])), &mut self.spill)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::counts::Cell;
    use crate::counts::pack::CellPacker;
    use crate::counts::packed::opened;
    use crate::fuzz::{Taker, cell};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_between_two_seconds_are_those_of_a_map_before_and_after_the_end(
            parts in prop::collection::vec((0..40u32, any::<bool>(), any::<[u8; 24]>()), 0..120),
            anew in prop::collection::vec(prop::bool::weighted(0.1), 120),
            sorted in any::<bool>(),
            room in prop_oneof![Just(0), 0..2000usize, Just(1 << 20)],
            window in (0..40u32, 0..40u32),
        ) {
            let mut parts = parts;
            if sorted {
                parts.sort_by_key(|(second, ..)| *second);
            }
            let mut cells = Ordered::new(Spill::new(room, None), Gatherer::new(room, Spill::default()));
            let (mut expected, mut packer) = (BTreeMap::<CellKey, Cell>::new(), CellPacker::default());
            for ((second, success, bytes), anew) in parts.iter().zip(anew) {
                if anew {
                    cells.begin_anew();
                }
                let key = CellKey { second: *second, label: 0, success: *success, transaction: false };
                let cell = cell(&mut Taker::new(bytes), 4);
                expected.entry(key).or_default().merge(&cell);
                cells.push(key, packer.pack(cell.as_ref()))?;
            }
            let inside = expected.range(CellKey::of_seconds(window.0.min(window.1), window.1));
            let inside: Vec<_> = inside.map(|(key, cell)| (*key, cell.clone())).collect();
            let found = Merged::new(cells.sources(window.0.min(window.1), window.1)).map(opened);
            prop_assert_eq!(found.collect::<Result<Vec<_>>>()?, inside);
            let whole = cells.finish()?.between(0, u32::MAX).collect::<Result<Vec<_>>>()?;
            prop_assert_eq!(whole, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
