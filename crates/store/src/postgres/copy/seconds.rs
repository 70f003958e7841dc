//! Encodes and decodes the rows of the counts by second.
//!
//! The cells of neighbouring seconds are packed into one value ([`PagedCells`]), since the server sends a few long rows in a
//! fraction of the time that it takes for many short ones. A page is in the `packed` column of the row of its last cell, and
//! the rows of its other cells have no bytes there. So `where packed <> '' order by second` gives the pages in order: one
//! that has cells of several seconds ends with a second, and no other page ends in that second. [`CellTally`] adds up the rows,
//! to compare them with the pages.

use std::collections::BTreeMap;
use std::iter::Peekable;

use hashbrown::HashMap;

use super::binary::{RowEncoder, RowFields, whole};
use crate::consistency::SampleTotals;
use crate::postgres::schema::layout::RowsOf;
use perfpipe_model::counts::pack::{pack_sums, unpack_sums};
use perfpipe_model::counts::table::CellTableBuilder;
use perfpipe_model::counts::{Cell, CellKey, InjectorLoad, PackedCell, Spread};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::varint::{read_unsigned, unsigned};

/// The columns after the one that identifies the run, in the order in which rows are encoded.
pub(crate) const COLUMNS: &str = "second, label, success, transaction, samples, elapsed, counts, latency_n, \
     latency_sum, latency_min, latency_max, connect_sum, bytes_sum, sent_bytes_sum, before_boundary, \
     injectors, injector_samples, injector_threads, packed";

/// The number of columns, with the one that identifies the run.
const FIELDS: i16 = 20;

/// The columns that are read back. Without arrays, the server sends them several times as fast.
pub(crate) const PACKED: &str = "second, label, success, transaction, samples, packed";

/// The names that cells refer to by index.
#[derive(Clone, Copy)]
pub(crate) struct NameLists<'a> {
    pub(crate) labels: &'a [String],
    pub(crate) injectors: &'a [String],
}

/// Encodes one cell of a run, with the page that ends with it.
pub(crate) fn put(
    rows: &mut RowEncoder,
    run: &RowsOf,
    names: NameLists<'_>,
    (key, cell, page): (CellKey, &Cell, &[u8]),
) -> Result<()> {
    rows.row(FIELDS);
    run.put(rows);
    rows.i32(whole(key.second)?);
    rows.any_text(named(names.labels, key.label)?);
    rows.bool(key.success);
    rows.bool(key.transaction);
    rows.i64(whole(cell.samples())?);
    put_elapsed(rows, &cell.elapsed)?;
    put_latency(rows, &cell.latency)?;
    rows.i64(cell.connect);
    rows.i64(cell.bytes);
    rows.i64(cell.sent_bytes);
    rows.i64(whole(cell.before_boundary)?);
    put_injectors(rows, names.injectors, &cell.injectors)?;
    rows.bytes(page);
    Ok(())
}

fn put_elapsed(rows: &mut RowEncoder, elapsed: &[(i32, u64)]) -> Result<()> {
    let counts = elapsed.iter().map(|(_, count)| whole(*count)).collect::<Result<Vec<i32>>>()?;
    rows.i32_array(elapsed.iter().map(|(elapsed, _)| *elapsed));
    rows.i32_array(counts.into_iter());
    Ok(())
}

fn put_latency(rows: &mut RowEncoder, latency: &Spread) -> Result<()> {
    let some = latency.n > 0;
    rows.i64(whole(latency.n)?);
    rows.i64(latency.sum);
    rows.maybe(some.then_some(latency.min), RowEncoder::i32);
    rows.maybe(some.then_some(latency.max), RowEncoder::i32);
    Ok(())
}

fn put_injectors(rows: &mut RowEncoder, names: &[String], loads: &[InjectorLoad]) -> Result<()> {
    let found = loads.iter().map(|load| named(names, load.injector)).collect::<Result<Vec<&str>>>()?;
    let samples = loads.iter().map(|load| whole(load.samples)).collect::<Result<Vec<i64>>>()?;
    rows.text_array(found.into_iter());
    rows.i64_array(samples.into_iter());
    rows.i64_array(loads.iter().map(|load| load.threads));
    Ok(())
}

fn named(names: &[String], index: u32) -> Result<&str> {
    names.get(index as usize).map(String::as_str).ok_or_else(|| {
        Error::store("storing the counts by second", format!("name {index} is not in its list"))
    })
}

/// Decodes cells and converts labels to indexes.
pub(crate) struct CellReader<'a> {
    labels: HashMap<&'a str, u32>,
    injectors: usize,
}

impl<'a> CellReader<'a> {
    /// Creates a reader for a run with these names.
    pub(crate) fn new(names: NameLists<'a>) -> Self {
        let labels = names.labels.iter().map(String::as_str).zip(0..).collect();
        Self { labels, injectors: names.injectors.len() }
    }

    /// Decodes a row of the columns [`PACKED`], and adds its cell, or the cells of its page, which are tallied.
    pub(crate) fn get(
        &self,
        fields: &mut RowFields<'_>,
        cells: &mut CellTableBuilder,
        counted: &mut SampleTotals,
        tally: &mut CellTally,
    ) -> Result<()> {
        let key = CellKey {
            second: whole(fields.i32()?)?,
            label: self.label(fields.text()?)?,
            success: fields.bool()?,
            transaction: fields.bool()?,
        };
        let samples: u64 = whole(fields.i64()?)?;
        let packed = fields.bytes()?;
        let mut add = |key, packed: &[u8]| {
            let samples = self.add(key, packed, cells)?;
            samples.iter().for_each(|samples| counted.add(key.success, key.transaction, *samples));
            Ok(samples)
        };
        let read = match as_page(packed) {
            Some(page) => {
                each_cell(page, |key, packed| Ok(add(key, packed)?.map(|samples| tally.add(key, samples))))?
            }
            None => add(key, packed)?.filter(|found| *found == samples).map(drop),
        };
        read.ok_or_else(|| damaged(format!("the counts of second {} are damaged", key.second)))
    }

    /// Adds a packed cell. Returns the number of its samples; `None` if it is damaged.
    fn add(&self, key: CellKey, packed: &[u8], cells: &mut CellTableBuilder) -> Result<Option<u64>> {
        if key.label as usize >= self.labels.len() {
            return Ok(None);
        }
        let listed = |load: &InjectorLoad| (load.injector as usize) < self.injectors;
        let sums = |packed: &[u8]| unpack_sums(packed).filter(|cell| cell.injectors.iter().all(listed));
        cells.push(key, packed, sums)
    }

    fn label(&self, name: &str) -> Result<u32> {
        let missing = || damaged(format!("the run's row does not list the label {name:?}"));
        self.labels.get(name).copied().ok_or_else(missing)
    }
}

fn damaged(problem: String) -> Error {
    Error::store("reading the counts by second", format!("{problem} (ingest the run again)"))
}

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
            // The next second is assumed to be as large as this one.
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
fn as_page(packed: &[u8]) -> Option<&[u8]> {
    packed.strip_prefix(&MARK)
}

/// Passes the key and the packed bytes of each of a page's cells to `each`. `None` if the page is damaged, or if `each`
/// says so.
fn each_cell(
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

/// The sums that [`CellTally::get`] decodes, by kind of sample.
pub(crate) const SUMS: &str =
    "success, transaction, count(*), sum(samples)::bigint, sum(second * samples)::bigint";

/// The kinds of samples that [`SUMS`] are separate for.
pub(crate) const KINDS: &str = "success, transaction";

/// The numbers of rows and samples of each kind, and the sum of the samples' seconds, which is another if a row is moved
/// to another second.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CellTally(BTreeMap<(bool, bool), [u64; 3]>);

impl CellTally {
    /// Adds a cell.
    fn add(&mut self, key: CellKey, samples: u64) {
        self.add_sums(
            key.success,
            key.transaction,
            [1, samples, u64::from(key.second).wrapping_mul(samples)],
        );
    }

    /// Decodes a row of [`SUMS`] and adds it.
    pub(crate) fn get(&mut self, fields: &mut RowFields<'_>) -> Result<()> {
        let (success, transaction) = (fields.bool()?, fields.bool()?);
        let sums = [whole(fields.i64()?)?, whole(fields.i64()?)?, whole(fields.i64()?)?];
        self.add_sums(success, transaction, sums);
        Ok(())
    }

    /// Returns true if nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add_sums(&mut self, success: bool, transaction: bool, more: [u64; 3]) {
        let sums = self.0.entry((success, transaction)).or_default();
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use perfpipe_model::counts::pack::unpack;

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
