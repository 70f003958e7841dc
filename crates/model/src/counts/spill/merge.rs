//! Merges cells of several sources, each ascending by key.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::counts::{Cell, CellKey, PackedCell};
use crate::error::{Error, Result};

/// A cell with its key, or the error that ended the cells.
pub type CellResult = Result<(CellKey, PackedCell)>;

/// Opens the counts of a cell.
pub fn opened(cell: CellResult) -> Result<(CellKey, Cell)> {
    let (key, cell) = cell?;
    Ok((key, cell.open()?))
}

/// Cells that ascend by key.
pub type CellSource<'a> = Box<dyn Iterator<Item = CellResult> + Send + 'a>;

/// All cells of the sources, ascending by key, with the parts of one key added up. Ends after the first error.
pub struct MergedCells<'a> {
    /// The sources, each with its next cell if that was fetched.
    sources: Vec<(CellSource<'a>, Option<PackedCell>)>,
    /// The keys of the cells that were fetched, with their sources.
    fetched: BinaryHeap<Reverse<(CellKey, usize)>>,
    /// The source of the last cell, if its next one was not fetched. Sources often cover times one after another, so that one
    /// stays the first for long.
    current: Option<usize>,
    /// True once each source was asked for its first cell.
    begun: bool,
    /// The counts of the parts of a cell.
    counts: Vec<(i32, u64)>,
    /// Room to add them up, all zero.
    room: Vec<u64>,
}

impl<'a> MergedCells<'a> {
    /// Merges the cells of the given sources.
    pub fn new(sources: impl IntoIterator<Item = CellSource<'a>>) -> Self {
        let sources = sources.into_iter().map(|source| (source, None)).collect();
        let (counts, room) = (Vec::new(), Vec::new());
        Self { sources, fetched: BinaryHeap::new(), current: None, begun: false, counts, room }
    }

    /// Fetches the next cell of a source.
    fn fetch(&mut self, at: usize) -> Result<()> {
        let Some((source, _)) = self.sources.get_mut(at) else { return Ok(()) };
        let next = source.next().transpose()?;
        self.keep(at, next);
        Ok(())
    }

    /// Keeps a cell that was fetched from a source.
    fn keep(&mut self, at: usize, next: Option<(CellKey, PackedCell)>) {
        if let Some((key, cell)) = next
            && let Some((_, fetched)) = self.sources.get_mut(at)
        {
            *fetched = Some(cell);
            self.fetched.push(Reverse((key, at)));
        }
    }

    /// The key of the first cell that was fetched.
    fn first(&self) -> Option<CellKey> {
        self.fetched.peek().map(|Reverse((key, _))| *key)
    }

    /// Removes and returns the first cell that was fetched, with its key and its source.
    fn pop(&mut self) -> Result<Option<(CellKey, usize, PackedCell)>> {
        let Some(Reverse((key, at))) = self.fetched.pop() else { return Ok(None) };
        let cell = self.sources.get_mut(at).and_then(|(_, cell)| cell.take());
        let cell = cell.ok_or_else(|| Error::bug("merging counts", "a source has no cell"))?;
        Ok(Some((key, at, cell)))
    }

    /// Returns the next cell of the current source, unless another has one before it or a part of it.
    fn go_on(&mut self) -> Result<Option<(CellKey, PackedCell)>> {
        let Some(at) = self.current else { return Ok(None) };
        let Some((source, _)) = self.sources.get_mut(at) else { return Ok(None) };
        let next = source.next().transpose()?;
        let first = self.first();
        if next.as_ref().is_some_and(|(key, _)| first.is_none_or(|first| *key < first)) {
            return Ok(next);
        }
        self.current = None;
        self.keep(at, next);
        Ok(None)
    }

    /// Adds up the parts of a cell, the first of which is from this source.
    fn add_parts(&mut self, key: CellKey, (mut at, first): (usize, PackedCell)) -> Result<PackedCell> {
        self.counts.clear();
        let (mut sums, mut most) = (first.into_sums(&mut self.counts)?, MOST);
        loop {
            self.fetch(at)?;
            if self.first() != Some(key) {
                break;
            }
            let Some((_, other, part)) = self.pop()? else { break };
            at = other;
            sums.merge(&part.into_sums(&mut self.counts)?);
            if self.counts.len() > most {
                add_up(&mut self.counts, &mut self.room);
                most = MOST.max(2 * self.counts.len());
            }
        }
        add_up(&mut self.counts, &mut self.room);
        Ok(PackedCell::of_parts(sums, &self.counts))
    }

    fn read(&mut self) -> Result<Option<(CellKey, PackedCell)>> {
        if !std::mem::replace(&mut self.begun, true) {
            (0..self.sources.len()).try_for_each(|at| self.fetch(at))?;
        }
        if let Some(next) = self.go_on()? {
            return Ok(Some(next));
        }
        let Some((key, at, cell)) = self.pop()? else { return Ok(None) };
        if self.first() == Some(key) {
            return Ok(Some((key, self.add_parts(key, (at, cell))?)));
        }
        self.current = Some(at);
        Ok(Some((key, cell)))
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

impl Iterator for MergedCells<'_> {
    type Item = CellResult;

    fn next(&mut self) -> Option<CellResult> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            (self.current, self.sources) = (None, Vec::new());
            self.fetched.clear();
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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

    proptest! {
        #[test]
        fn first_error_ends_the_cells_behind_those_before_it(
            sources in prop::collection::vec((prop::collection::btree_set(0..9u32, 0..7), prop::option::of(0..7usize)), 0..5),
        ) {
            let cell = |second: u32| {
                let key = CellKey { second, label: 0, success: true, transaction: false };
                (key, Cell { elapsed: vec![(5, 1)], ..Cell::default() })
            };
            let mut expected: BTreeMap<CellKey, Cell> = BTreeMap::new();
            for (key, cell) in sources.iter().flat_map(|(seconds, _)| seconds).map(|second| cell(*second)) {
                expected.entry(key).or_default().merge(&cell);
            }
            let made = sources.iter().map(|(seconds, broken)| -> CellSource<'_> {
                let cells = seconds.iter().map(|second| cell(*second)).map(|(key, cell)| Ok((key, PackedCell::of(cell))));
                let mut cells: Vec<CellResult> = cells.collect();
                if let Some(at) = broken {
                    cells.insert((*at).min(cells.len()), Err(Error::stopped("a test")));
                }
                Box::new(cells.into_iter())
            });
            let mut merged = MergedCells::new(made);
            let mut whole = Vec::new();
            let end = loop {
                match merged.next().map(opened) {
                    Some(Ok(cell)) => whole.push(cell),
                    end => break end,
                }
            };
            prop_assert_eq!(end.is_some(), sources.iter().any(|(_, broken)| broken.is_some()));
            prop_assert!(merged.next().is_none());
            prop_assert!(end.is_some() || whole.len() == expected.len());
            prop_assert!(expected.into_iter().take(whole.len()).eq(whole));
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
            |part: Cell| -> CellSource<'_> { Box::new(std::iter::once(Ok((key, PackedCell::of(part))))) };
        let merged: Vec<_> =
            MergedCells::new(parts.into_iter().map(source)).map(|cell| opened(cell).unwrap()).collect();
        assert_eq!(merged, [(key, expected)]);
    }
}
