//! Packs the cells of neighbouring seconds into one value, since the server sends a few long rows in a fraction of the
//! time that it takes for many short ones.
//!
//! A page stands in the `packed` column of the row of its last cell, and the rows of its other cells have no bytes there.
//! So `where packed <> '' order by second` gives the pages in order: one that has cells of several seconds ends with a
//! second, and no other page ends in that second.

use std::iter::Peekable;

use crate::counts::pack::pack_sums;
use crate::counts::{CellKey, PackedCell};
use crate::error::Result;
use crate::sample::varint::{read_unsigned, unsigned};

/// Begins a page, and no cell that is packed alone: it reads as a number that is longer than it need be.
const MARK: [u8; 3] = [0x80, 0x80, 0];

/// The size in bytes that a page has at most, unless a second has more. The server keeps a row of up to 8 KB in one piece.
const FULL: usize = 4096;

/// Cells, each with the page that ends with it, or with no bytes.
pub(crate) struct PagedCells<I: Iterator<Item = Result<(CellKey, PackedCell)>>> {
    cells: Peekable<I>,
    page: Vec<u8>,
    /// Where sums are packed.
    sums: Vec<u8>,
    /// The first second of the page, and the last one so far.
    seconds: Option<(u32, u32)>,
    /// The size of the page when its last second began.
    before: usize,
}

impl<I: Iterator<Item = Result<(CellKey, PackedCell)>>> PagedCells<I> {
    /// Packs cells that are in the order of their seconds.
    pub(crate) fn new(cells: I) -> Self {
        Self { cells: cells.peekable(), page: Vec::new(), sums: Vec::new(), seconds: None, before: 0 }
    }

    fn add(&mut self, key: CellKey, cell: &PackedCell) {
        let last = self.seconds.map_or(0, |(_, last)| last);
        if self.page.is_empty() {
            self.page.extend_from_slice(&MARK);
        }
        if self.seconds.is_none() || last != key.second {
            self.before = self.page.len();
        }
        unsigned(&mut self.page, u64::from(key.second.wrapping_sub(last)));
        unsigned(&mut self.page, u64::from(key.label));
        self.page.push(u8::from(key.success) | u8::from(key.transaction) << 1);
        self.sums.clear();
        pack_sums(&mut self.sums, cell.sums().as_ref());
        unsigned(&mut self.page, (cell.counts().len() + self.sums.len()) as u64);
        self.page.extend_from_slice(cell.counts());
        self.page.extend_from_slice(&self.sums);
        self.seconds = Some((self.seconds.map_or(key.second, |(first, _)| first), key.second));
    }

    /// Returns true if the page ends with the cell that was added last.
    fn is_full(&mut self) -> bool {
        let Some((first, last)) = self.seconds else { return false };
        match self.cells.peek() {
            // The next second is taken to be as large as this one.
            Some(Ok((next, _))) if next.second != last => self.page.len() * 2 - self.before > FULL,
            Some(Ok(_)) => first == last && self.page.len() > FULL,
            _ => true,
        }
    }
}

impl<I: Iterator<Item = Result<(CellKey, PackedCell)>>> Iterator for PagedCells<I> {
    type Item = Result<(CellKey, PackedCell, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (key, cell) = match self.cells.next()? {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        self.add(key, &cell);
        let page = if self.is_full() {
            self.seconds = None;
            std::mem::take(&mut self.page)
        } else {
            Vec::new()
        };
        Some(Ok((key, cell, page)))
    }
}

/// Returns the bytes of a page's cells. `None` if it is no page, but a cell that is packed alone, as earlier versions
/// stored each.
pub(crate) fn as_page(packed: &[u8]) -> Option<&[u8]> {
    packed.strip_prefix(&MARK)
}

/// Passes the key and the packed bytes of each of a page's cells to `each`. `None` if the page is damaged, or if `each`
/// says so.
pub(crate) fn each_cell(
    mut page: &[u8],
    mut each: impl FnMut(CellKey, &[u8]) -> Result<Option<()>>,
) -> Result<Option<()>> {
    let mut second = 0_u32;
    while !page.is_empty() {
        let Some((key, packed)) = next_cell(&mut page, second) else { return Ok(None) };
        second = key.second;
        if each(key, packed)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

fn next_cell<'a>(page: &mut &'a [u8], last: u32) -> Option<(CellKey, &'a [u8])> {
    let second = last.checked_add(read_unsigned(page)?.try_into().ok()?)?;
    let label = read_unsigned(page)?.try_into().ok()?;
    let (&flags, rest) = page.split_first().filter(|(flags, _)| **flags < 4)?;
    *page = rest;
    let length = usize::try_from(read_unsigned(page)?).ok()?;
    let (packed, rest) = page.split_at_checked(length)?;
    *page = rest;
    Some((CellKey { second, label, success: flags & 1 != 0, transaction: flags & 2 != 0 }, packed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Cell;
    use crate::counts::pack::unpack;
    use proptest::prelude::*;

    fn cell(values: usize) -> Cell {
        Cell { elapsed: (0..values).map(|value| (value as i32 * 300, 2)).collect(), ..Cell::default() }
    }

    /// Checks that all pages in order give the cells, and that no page that crosses seconds shares its last one.
    fn check(cells: &[(CellKey, Cell)]) {
        let mut back = Vec::new();
        let mut pages: Vec<(u32, Vec<u32>)> = Vec::new();
        for paged in PagedCells::new(cells.iter().cloned().map(|(key, cell)| Ok((key, PackedCell::of(cell)))))
        {
            let (key, _, page) = paged.unwrap();
            let Some(page) = as_page(&page) else {
                assert!(page.is_empty());
                continue;
            };
            let mut seconds = Vec::new();
            let read = each_cell(page, |key, packed| {
                back.push((key, unpack(packed).unwrap()));
                seconds.push(key.second);
                Ok(Some(()))
            });
            assert_eq!(read.unwrap(), Some(()));
            assert_eq!(seconds.last(), Some(&key.second));
            pages.push((key.second, seconds));
        }
        assert_eq!(back, cells);
        for (ends, seconds) in &pages {
            let crosses = seconds.first() != Some(ends);
            let others = pages.iter().filter(|(other, _)| other == ends).count();
            assert!(!crosses || others == 1, "{seconds:?}");
        }
    }

    proptest! {
        #[test]
        fn pages_hold_all_cells_in_order(
            seconds in proptest::collection::vec((0_u32..9, proptest::collection::vec(1_usize..900, 1..9)), 0..40)
        ) {
            let mut second = 0;
            let mut cells = Vec::new();
            for (silent, sizes) in seconds {
                for (label, values) in (0..).zip(sizes) {
                    let key = CellKey { second, label, success: label % 2 == 0, transaction: label % 3 == 0 };
                    cells.push((key, cell(values)));
                }
                second += 1 + silent;
            }
            check(&cells);
        }

        #[test]
        fn other_bytes_are_told_from_a_page(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = each_cell(&bytes, |_, _| Ok(Some(())));
        }
    }

    #[test]
    fn small_seconds_share_a_page_and_large_ones_have_their_own() {
        let pages = |values: usize| {
            let cells = (0..100).map(|second| {
                Ok((
                    CellKey { second, label: 0, success: true, transaction: false },
                    PackedCell::of(cell(values)),
                ))
            });
            PagedCells::new(cells).filter(|paged| !paged.as_ref().unwrap().2.is_empty()).count()
        };
        assert_eq!(pages(2000), 100);
        assert!((5..20).contains(&pages(100)), "{}", pages(100));
    }
}
