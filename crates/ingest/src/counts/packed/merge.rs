//! Cells of several sources, each ascending by key, as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::counts::{Cell, CellKey};
use crate::error::Result;

/// A cell, or why there is none.
pub(crate) type CellResult = Result<(CellKey, Cell)>;

type Source<'a> = Box<dyn Iterator<Item = CellResult> + Send + 'a>;

/// All cells of the sources, ascending by key, the parts of one key added. Nothing follows an error.
pub(crate) struct Merged<'a> {
    /// The sources, each with its next cell.
    sources: Vec<(Source<'a>, Option<Cell>)>,
    /// The keys of the next cells, with their sources.
    next: BinaryHeap<Reverse<(CellKey, usize)>>,
    /// Whether the sources were asked for their first cells.
    begun: bool,
}

impl<'a> Merged<'a> {
    /// The cells of these sources.
    pub(crate) fn new(sources: impl IntoIterator<Item = Source<'a>>) -> Self {
        let sources = sources.into_iter().map(|source| (source, None)).collect();
        Self { sources, next: BinaryHeap::new(), begun: false }
    }

    /// Asks a source for its next cell.
    fn ask(&mut self, at: usize) -> Result<()> {
        let Some((source, cell)) = self.sources.get_mut(at) else { return Ok(()) };
        if let Some((key, next)) = source.next().transpose()? {
            *cell = Some(next);
            self.next.push(Reverse((key, at)));
        }
        Ok(())
    }

    /// The next cell of a source, which is asked for another.
    fn take(&mut self, at: usize) -> Result<Cell> {
        let cell = self.sources.get_mut(at).and_then(|(_, cell)| cell.take()).unwrap_or_default();
        self.ask(at)?;
        Ok(cell)
    }

    fn read(&mut self) -> Result<Option<(CellKey, Cell)>> {
        if !std::mem::replace(&mut self.begun, true) {
            (0..self.sources.len()).try_for_each(|at| self.ask(at))?;
        }
        let Some(Reverse((key, at))) = self.next.pop() else { return Ok(None) };
        let mut cell = self.take(at)?;
        while let Some(Reverse((_, at))) =
            self.next.peek().filter(|Reverse((other, _))| *other == key).copied()
        {
            self.next.pop();
            cell.merge(&self.take(at)?);
        }
        Ok(Some((key, cell)))
    }
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
