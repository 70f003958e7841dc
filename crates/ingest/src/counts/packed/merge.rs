//! Merges cells of several sources, each ascending by key.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::counts::{Cell, CellKey, PackedCell};
use crate::error::{Error, Result};

/// A cell with its key, or the error that ended the cells.
pub(crate) type CellResult = Result<(CellKey, PackedCell)>;

/// Opens the counts of a cell.
pub(crate) fn opened(cell: CellResult) -> Result<(CellKey, Cell)> {
    let (key, cell) = cell?;
    Ok((key, cell.open()?))
}

/// Cells that ascend by key.
pub(crate) type Source<'a> = Box<dyn Iterator<Item = CellResult> + Send + 'a>;

/// All cells of the sources, ascending by key, with the parts of one key added up. Ends after the first error.
pub(crate) struct Merged<'a> {
    /// The sources, each with its next cell.
    sources: Vec<(Source<'a>, Option<PackedCell>)>,
    /// The keys of the next cells, with their sources.
    next: BinaryHeap<Reverse<(CellKey, usize)>>,
    /// True once each source was asked for its first cell.
    begun: bool,
    /// The counts of the parts of a cell.
    counts: Vec<(i32, u64)>,
}

impl<'a> Merged<'a> {
    /// Merges the cells of the given sources.
    pub(crate) fn new(sources: impl IntoIterator<Item = Source<'a>>) -> Self {
        let sources = sources.into_iter().map(|source| (source, None)).collect();
        Self { sources, next: BinaryHeap::new(), begun: false, counts: Vec::new() }
    }

    /// Fetches the next cell of a source.
    fn ask(&mut self, at: usize) -> Result<()> {
        let Some((source, cell)) = self.sources.get_mut(at) else { return Ok(()) };
        if let Some((key, next)) = source.next().transpose()? {
            *cell = Some(next);
            self.next.push(Reverse((key, at)));
        }
        Ok(())
    }

    /// Returns the pending cell of a source and fetches its next one.
    fn take(&mut self, at: usize) -> Result<PackedCell> {
        let cell = self.sources.get_mut(at).and_then(|(_, cell)| cell.take());
        self.ask(at)?;
        cell.ok_or_else(|| Error::bug("merging counts", "a source has no cell"))
    }

    /// Removes the least of the next keys if it is this one. Returns its source.
    fn next_of(&mut self, key: CellKey) -> Option<usize> {
        self.next.peek().filter(|Reverse((next, _))| *next == key)?;
        self.next.pop().map(|Reverse((_, at))| at)
    }

    fn read(&mut self) -> Result<Option<(CellKey, PackedCell)>> {
        if !std::mem::replace(&mut self.begun, true) {
            (0..self.sources.len()).try_for_each(|at| self.ask(at))?;
        }
        let Some(Reverse((key, at))) = self.next.pop() else { return Ok(None) };
        let cell = self.take(at)?;
        let Some(mut other) = self.next_of(key) else { return Ok(Some((key, cell))) };
        self.counts.clear();
        let mut sums = cell.into_sums(&mut self.counts)?;
        loop {
            sums.merge(&self.take(other)?.into_sums(&mut self.counts)?);
            match self.next_of(key) {
                Some(at) => other = at,
                None => break,
            }
        }
        add_up(&mut self.counts);
        Ok(Some((key, PackedCell::of_parts(sums, &self.counts))))
    }
}

/// Sorts counts, and adds up those of the same time.
fn add_up(counts: &mut Vec<(i32, u64)>) {
    // This sort makes use of parts that ascend.
    counts.sort_by_key(|(time, _)| *time);
    counts.dedup_by(|from, into| {
        let same = from.0 == into.0;
        if same {
            into.1 = into.1.saturating_add(from.1);
        }
        same
    });
}

impl Iterator for Merged<'_> {
    type Item = CellResult;

    fn next(&mut self) -> Option<CellResult> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.next.clear();
        }
        read
    }
}
