//! Finds the fields of a batch of consecutive records of the same width without quotes, so that they are parsed a column
//! at a time.

use fearless_simd::{Level, Simd, dispatch};

use super::fields::RecordRows;
use super::record::{Record, Records};
use super::scan::{FoundFields, differ};
use super::scan::{Marks, STEP, StepScan, below_lowest, go_through, write};

/// Consecutive records of one block that have as many fields as the log has columns, and no quotes.
///
/// They are few enough to stay in the L1 cache, and enough that work done once per column costs little per record.
#[derive(Debug, Clone, Default)]
pub struct PlainRecords {
    /// The position before the first record, then the delimiter or line feed after each field. Positions wrap at 0.
    ends: Vec<u32>,
    width: usize,
    rows: usize,
    /// True if all of them end in a carriage return and a line feed.
    crlf: bool,
    /// The number of line feeds in the block before each record.
    lines: Vec<u64>,
}

/// A search for fields without quotes.
struct PlainSearch<'a> {
    ends: &'a mut [u32],
    width: usize,
    /// The numbers of fields and of line feeds.
    fields: usize,
    feeds: usize,
}

impl StepScan for PlainSearch<'_> {
    /// Writes positions without a branch for each field or record. Their number is checked in each step, and the ends of
    /// all records once they are found.
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, (_, at): (&[u8; STEP], usize), marks: Marks) -> bool {
        let plain = below_lowest(marks.quotes);
        let ends = (marks.delimiters | marks.feeds) & plain;
        let room = self.ends.get_mut(self.fields + 1..).and_then(|room| room.first_chunk_mut());
        let Some(room) = room else { return false };
        write(simd, ends, at, room);
        self.fields += ends.count_ones() as usize;
        self.feeds += (marks.feeds & plain).count_ones() as usize;
        !differ(self.fields, self.feeds, self.width)
            && marks.quotes == 0
            && self.fields < PlainRecords::MOST * self.width
    }
}

impl PlainRecords {
    /// The largest number of records.
    const MOST: usize = 64;

    /// Replaces the records by the next ones of `width` fields. Ends before the first record that is different, and before
    /// a line end that is. There may be none.
    pub fn read(&mut self, records: &mut Records<'_>, width: usize) {
        let (start, line) = records.position();
        let block = records.block();
        dispatch!(Level::new(), simd => self.find(simd, block, start, width));
        let end = line + self.rows as u64;
        self.lines.clear();
        self.lines.extend(line..end);
        records.continue_at((self.end(), end));
    }

    /// Finds the records that begin at `start` in a block of at most 4 GiB.
    #[inline(always)]
    fn find<S: Simd>(&mut self, simd: S, block: (&[u8], u8), start: usize, width: usize) {
        self.ends.resize(Self::MOST * width + 1 + STEP, 0);
        self.width = width;
        if let Some(first) = self.ends.first_mut() {
            *first = (start as u32).wrapping_sub(1);
        }
        let mut search = PlainSearch { ends: &mut self.ends, width, fields: 0, feeds: 0 };
        go_through(simd, block, start, &mut search);
        let PlainSearch { fields, feeds, .. } = search;
        self.count_rows(block.0, fields, feeds);
    }

    /// Counts the records up to the first one that is different, given the numbers of fields and line feeds that were found.
    #[inline(always)]
    fn count_rows(&mut self, text: &[u8], fields: usize, feeds: usize) {
        let width = self.width;
        let crlf = self.has_carriage_return(text, width);
        let found = FoundFields { text, ends: &self.ends, fields, feeds };
        let same_end = |row: usize| self.has_carriage_return(text, (row + 1) * width) == crlf;
        let rows = found.count_rows(width, Self::MOST, same_end);
        (self.rows, self.crlf) = (rows, crlf);
    }

    /// Returns true if the field that ends at this index ends in a carriage return.
    #[inline(always)]
    fn has_carriage_return(&self, bytes: &[u8], index: usize) -> bool {
        let end = |index: usize| self.ends.get(index).copied().unwrap_or_default();
        let last = end(index).wrapping_sub(1);
        bytes.get(last as usize) == Some(&b'\r') && last != end(index.wrapping_sub(1))
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if more such records may follow.
    pub fn is_full(&self) -> bool {
        self.rows == Self::MOST
    }

    /// The number of line feeds in the block before each record.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The position after the last record.
    fn end(&self) -> usize {
        self.ends.get(self.rows * self.width).map_or(0, |end| end.wrapping_add(1) as usize)
    }

    /// The records as rows. `text` is the block that they are in.
    #[inline]
    pub fn rows<'a>(&'a self, text: &'a [u8]) -> RecordRows<'a> {
        let ends = self.ends.get(..=self.rows * self.width).unwrap_or_default();
        RecordRows::new(text, ends, self.width, self.crlf)
    }

    /// Iterates over the single records. `text` is the block that they are in.
    pub fn records<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Record<'a>> {
        let ends = |row: usize| self.ends.get(row * self.width..=(row + 1) * self.width);
        let records = (0..self.rows).zip(&self.lines);
        records.map(move |(row, line)| Record::plain(text, ends(row).unwrap_or_default(), self.crlf, *line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type FoundRecords = (Vec<Vec<Vec<u8>>>, Vec<Vec<u8>>, Vec<u64>, usize);

    fn found(bytes: &[u8], start: usize, width: usize) -> FoundRecords {
        let mut plain = PlainRecords::default();
        let mut records = Records::new(bytes, b',');
        records.continue_at((start, 7));
        plain.read(&mut records, width);
        assert_eq!(records.position(), (plain.end(), 7 + plain.rows as u64));
        let fields = |record: &Record<'_>| (0..record.width()).map(|at| record.field(at).to_vec()).collect();
        let rows = plain.rows(bytes).iter().map(|row| (0..width).map(|at| row.field(at).to_vec()).collect());
        let alone: Vec<Vec<Vec<u8>>> = plain.records(bytes).map(|record| fields(&record)).collect();
        assert_eq!(rows.collect::<Vec<Vec<Vec<u8>>>>(), alone);
        let raw = plain.records(bytes).map(|record| record.raw.to_vec()).collect();
        (alone, raw, plain.lines().to_vec(), plain.end())
    }

    /// The records of the same form, read one by one.
    fn expected(bytes: &[u8], start: usize, width: usize) -> FoundRecords {
        let mut records = Records::new(bytes.get(start..).unwrap_or_default(), b',');
        let (mut found, mut crlf): (FoundRecords, _) = ((vec![], vec![], vec![], start), None);
        while found.0.len() < PlainRecords::MOST
            && let Some(record) = records.next_record()
        {
            let end = start + record.start + record.raw.len();
            let line_end = match bytes.get(end..).unwrap_or_default() {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => break,
            };
            let has_quotes = record.raw.contains(&b'"');
            if has_quotes || record.width() != width || *crlf.get_or_insert(line_end) != line_end {
                break;
            }
            found.0.push((0..width).map(|at| record.field(at).to_vec()).collect());
            found.1.push(record.raw.to_vec());
            found.2.push(7 + record.line);
            found.3 = end + line_end;
        }
        found
    }

    proptest! {
        #[test]
        fn finds_the_records_that_are_read_one_by_one(
            log in "(([a-z]{0,9},){2}[a-z]{0,9}(\n|\n|\n|\r\n)){0,12}[a,\r\n\"]{0,9}(,,(\r\n|\n)){0,90}", start in 0..40_usize,
            width in 1..4_usize,
        ) {
            prop_assert_eq!(found(log.as_bytes(), start.min(log.len()), width), expected(log.as_bytes(), start.min(log.len()), width));
        }
    }

    #[test]
    fn record_that_is_too_wide_ends_the_search() {
        let log = ["a,b\n", &",".repeat(10_000), "\n"].concat();
        assert_eq!(found(log.as_bytes(), 0, 2).0.len(), 1);
    }
}
