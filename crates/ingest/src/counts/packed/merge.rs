//! Merges cells of several sources, each ascending by key.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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
    /// The key of the next cell, with its source.
    first: Option<(CellKey, usize)>,
    /// The keys of the next cells of the other sources.
    others: BinaryHeap<Reverse<(CellKey, usize)>>,
    /// The only source that is left, if its next cell is not fetched before it is asked for.
    only: Option<usize>,
    /// True once each source was asked for its first cell.
    begun: bool,
    /// The counts of the parts of a cell.
    counts: Vec<(i32, u64)>,
    /// Room to add them up, all zero.
    room: Vec<u64>,
}

impl<'a> Merged<'a> {
    /// Merges the cells of the given sources.
    pub(crate) fn new(sources: impl IntoIterator<Item = Source<'a>>) -> Self {
        let sources = sources.into_iter().map(|source| (source, None)).collect();
        let (counts, room) = (Vec::new(), Vec::new());
        Self { sources, first: None, others: BinaryHeap::new(), only: None, begun: false, counts, room }
    }

    /// Fetches the next cell of a source. Returns its key, with the source.
    fn ask(&mut self, at: usize) -> Result<Option<(CellKey, usize)>> {
        let Some((source, cell)) = self.sources.get_mut(at) else { return Ok(None) };
        let Some((key, next)) = source.next().transpose()? else { return Ok(None) };
        *cell = Some(next);
        Ok(Some((key, at)))
    }

    /// Fetches the first cell of each source.
    fn begin(&mut self) -> Result<()> {
        for at in 0..self.sources.len() {
            let asked = self.ask(at)?;
            self.others.extend(asked.map(Reverse));
        }
        self.first = self.others.pop().map(|Reverse(first)| first);
        Ok(())
    }

    /// Takes the next cell of all sources.
    fn take(&mut self) -> Result<Option<(CellKey, PackedCell)>> {
        let Some((key, at)) = self.first else { return Ok(None) };
        let cell = self.sources.get_mut(at).and_then(|(_, cell)| cell.take());
        if self.others.is_empty() {
            (self.first, self.only) = (None, Some(at));
        } else {
            let asked = self.ask(at)?;
            self.first = match (asked, self.others.peek_mut()) {
                // Sources often tell of times one after another, so that one stays the first for long.
                (Some(next), Some(mut other)) if other.0 < next => {
                    Some(std::mem::replace(&mut *other, Reverse(next)).0)
                }
                (None, Some(other)) => Some(PeekMut::pop(other).0),
                (next, _) => next,
            };
        }
        cell.map(|cell| Some((key, cell))).ok_or_else(|| Error::bug("merging counts", "a source has no cell"))
    }

    /// Takes the next cell if it has this key.
    fn take_of(&mut self, key: CellKey) -> Result<Option<PackedCell>> {
        match self.first.is_some_and(|(next, _)| next == key) {
            true => Ok(self.take()?.map(|(_, cell)| cell)),
            false => Ok(None),
        }
    }

    fn read(&mut self) -> Result<Option<(CellKey, PackedCell)>> {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin()?;
        }
        // Each key of a source is greater than those before, so no other part of its cells is left.
        if let Some((source, _)) = self.only.and_then(|at| self.sources.get_mut(at)) {
            return source.next().transpose();
        }
        let Some((key, cell)) = self.take()? else { return Ok(None) };
        let Some(other) = self.take_of(key)? else { return Ok(Some((key, cell))) };
        self.counts.clear();
        let (mut sums, mut most) = (cell.into_sums(&mut self.counts)?, MOST);
        let mut next = Some(other);
        while let Some(other) = next {
            sums.merge(&other.into_sums(&mut self.counts)?);
            if self.counts.len() > most {
                add_up(&mut self.counts, &mut self.room);
                most = MOST.max(2 * self.counts.len());
            }
            next = self.take_of(key)?;
        }
        add_up(&mut self.counts, &mut self.room);
        Ok(Some((key, PackedCell::of_parts(sums, &self.counts))))
    }
}

/// The number of counts from which on those of a cell are added up before all of its parts are there: 1 MiB of them. So what
/// is held are not many times as many as the cell has in the end.
const MOST: usize = 64 << 10;

/// The number of neighbouring times whose counts are added up in an array, which then fits a common L1 cache.
const DENSE: usize = 4096;

/// Sorts counts, none of which is zero, and adds up those of the same time. The room is all zero before and after the call.
fn add_up(counts: &mut Vec<(i32, u64)>, room: &mut Vec<u64>) {
    let (least, largest) =
        counts.iter().fold((i32::MAX, i32::MIN), |(a, b), (time, _)| (a.min(*time), b.max(*time)));
    let span = i64::from(largest) - i64::from(least);
    match usize::try_from(span).ok().filter(|span| *span < DENSE.min(counts.len() * 8)) {
        Some(span) => add_up_dense(counts, least, room, span + 1),
        None => add_up_sorted(counts),
    }
}

/// Adds up counts whose times are the `times` ones from `least` on.
fn add_up_dense(counts: &mut Vec<(i32, u64)>, least: i32, room: &mut Vec<u64>, times: usize) {
    room.resize(room.len().max(times), 0);
    for (time, count) in counts.drain(..) {
        if let Some(sum) = room.get_mut(time.wrapping_sub(least) as usize) {
            *sum = sum.saturating_add(count);
        }
    }
    let summed = room.iter_mut().take(times).enumerate().filter(|(_, sum)| **sum > 0);
    counts.extend(summed.map(|(at, sum)| (least.wrapping_add(at as i32), std::mem::take(sum))));
}

fn add_up_sorted(counts: &mut Vec<(i32, u64)>) {
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
            (self.first, self.only, self.sources) = (None, None, Vec::new());
            self.others.clear();
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_add_up_as_they_do_sorted(
            cells in prop::collection::vec(prop::collection::vec((
                prop_oneof![8 => 0..9i32, 4 => -90..900i32, 1 => i32::MAX - 90..=i32::MAX, 1 => any::<i32>()], prop_oneof![9 => 1..9u64, 1 => Just(u64::MAX)],
            ), 0..60), 1..4),
        ) {
            let mut room = Vec::new();
            for mut counts in cells {
                let mut expected = counts.clone();
                add_up_sorted(&mut expected);
                add_up(&mut counts, &mut room);
                prop_assert_eq!(counts, expected);
                prop_assert!(room.iter().all(|sum| *sum == 0));
            }
        }
    }

    #[test]
    fn parts_of_many_times_are_added_up_on_the_way() {
        let key = CellKey { second: 0, label: 0, success: true, transaction: false };
        let times = |from: i32| (from..).step_by(7).take(MOST * 2 / 3).map(|time| (time, 1)).collect();
        let parts: Vec<Cell> =
            [0, 7, 1, 0].map(|from| Cell { elapsed: times(from), ..Cell::default() }).into();
        let mut expected = Cell::default();
        parts.iter().for_each(|part| expected.merge(part));
        let source =
            |part: Cell| -> Source<'_> { Box::new(std::iter::once(Ok((key, PackedCell::of(part))))) };
        let merged: Vec<_> =
            Merged::new(parts.into_iter().map(source)).map(|cell| opened(cell).unwrap()).collect();
        assert_eq!(merged, [(key, expected)]);
    }
}
