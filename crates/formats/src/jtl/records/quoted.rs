//! Finds the fields of a batch of consecutive records of the same width of which some have quotes, so that they are
//! parsed a column at a time.

use fearless_simd::{Level, Simd, dispatch};

use super::fields::RecordRows;
use super::quotes::Quotes;
use super::record::Records;
use super::scan::{FoundFields, differ};
use super::scan::{KeptBytes, Marks, STEP, StepScan, go_through, keep, positions, write};

/// Consecutive records of one block that have as many fields as the log has columns, without their quotes.
#[derive(Debug, Clone, Default)]
pub struct QuotedRecords {
    /// The records without their quotes, otherwise as logged, followed by unused space.
    text: Vec<u8>,
    /// The position in the text before the first record, then the delimiter or line feed after each field. Positions
    /// wrap at 0.
    ends: Vec<u32>,
    width: usize,
    /// The position in the block of each line feed that ends a record, and that before the first one, which wraps.
    feeds: Vec<u32>,
    /// The position in the block of each line feed in a field.
    folds: Vec<u32>,
    rows: usize,
    /// The number of line feeds in the block before each record.
    lines: Vec<u64>,
    /// The records with a line feed in a field.
    folded: Vec<usize>,
    /// True if all of them end in a carriage return and a line feed.
    crlf: bool,
    /// True if there are quotes.
    has_quotes: bool,
}

/// What was found so far.
#[derive(Debug, Clone, Copy, Default)]
struct ScanProgress {
    /// The length of the text.
    text: usize,
    /// The number of fields, and of records, that have ended.
    fields: usize,
    records: usize,
    /// Bits of quotes.
    quotes: u64,
}

/// A search for fields, whose text it copies without their quotes.
struct QuotedSearch<'a> {
    text: &'a mut [u8],
    ends: &'a mut [u32],
    feeds: &'a mut [u32],
    folds: &'a mut Vec<u32>,
    width: usize,
    quotes: Quotes,
    found: ScanProgress,
}

impl StepScan for QuotedSearch<'_> {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, (bytes, at): (&[u8; STEP], usize), marks: Marks) -> bool {
        let found = &mut self.found;
        let text = self.text.get_mut(found.text..).and_then(|room| room.first_chunk_mut());
        let ends = self.ends.get_mut(found.fields + 1..).and_then(|room| room.first_chunk_mut());
        let (Some(text), Some(ends)) = (text, ends) else { return false };
        let step = self.quotes.advance(simd, marks);
        let kept = KeptBytes { bytes: !step.around, ends: step.ends };
        write(simd, keep(simd, bytes, kept, text), found.text, ends);
        let feeds = marks.feeds & step.ends;
        note(self.feeds.get_mut(found.records + 1..).unwrap_or_default(), feeds, at);
        self.folds.extend(positions(marks.feeds & step.inside, at));
        found.text += kept.bytes.count_ones() as usize;
        found.fields += step.ends.count_ones() as usize;
        found.records += feeds.count_ones() as usize;
        found.quotes |= marks.quotes;
        !differ(found.fields, found.records, self.width) && found.fields < QuotedRecords::MOST * self.width
    }
}

/// Notes the line feeds of a step that end records.
#[inline(always)]
fn note(room: &mut [u32], feeds: u64, at: usize) {
    // There is mostly one or none, for which there is room too.
    if let Some((first, others)) = room.split_first_mut() {
        *first = (at as u32).wrapping_add(feeds.trailing_zeros());
        let later = positions(feeds & feeds.wrapping_sub(1), at);
        others.iter_mut().zip(later).for_each(|(into, feed)| *into = feed);
    }
}

impl QuotedRecords {
    /// The largest number of records.
    const MOST: usize = 64;

    /// The length in bytes of the text at which they end.
    const LONG: usize = 64 << 10;

    /// Replaces the records by the next ones of `width` fields. Ends before the first record that is different, and before
    /// a line end that is. There may be none.
    pub fn read(&mut self, records: &mut Records<'_>, width: usize) {
        self.text.resize(Self::LONG + 2 * STEP, 0);
        self.ends.resize(Self::MOST * width + 1 + STEP, 0);
        self.feeds.resize(Self::MOST + 1 + STEP, 0);
        self.folds.clear();
        let (start, line) = records.position();
        if let (Some(end), Some(feed)) = (self.ends.first_mut(), self.feeds.first_mut()) {
            (*end, *feed) = (u32::MAX, (start as u32).wrapping_sub(1));
        }
        self.width = width;
        let block = records.block();
        let found = dispatch!(Level::new(), simd => self.find(simd, block, start, width));
        self.has_quotes = found.quotes != 0;
        self.count_rows(block, found);
        let line = self.count_lines(line);
        records.continue_at((self.place(self.rows).0, line));
    }

    /// Finds the fields of the records that begin at `start`.
    #[inline(always)]
    fn find<S: Simd>(&mut self, simd: S, block: (&[u8], u8), start: usize, width: usize) -> ScanProgress {
        // A local one stays in registers.
        let mut search = QuotedSearch {
            text: &mut self.text,
            ends: &mut self.ends,
            feeds: &mut self.feeds,
            folds: &mut self.folds,
            width,
            quotes: Quotes::FIELD,
            found: ScanProgress::default(),
        };
        go_through(simd, block, start, &mut search);
        search.found
    }

    /// Counts the records up to the first one that is different.
    fn count_rows(&mut self, (bytes, delimiter): (&[u8], u8), found: ScanProgress) {
        let crlf_of = |row: usize| {
            let feed = self.feeds.get(row + 1).copied().unwrap_or_default() as usize;
            delimiter != b'\r' && bytes.get(feed.wrapping_sub(1)) == Some(&b'\r')
        };
        let ScanProgress { fields, records: feeds, .. } = found;
        let fields = FoundFields { text: &self.text, ends: &self.ends, fields, feeds };
        let crlf = crlf_of(0);
        let rows = fields.count_rows(self.width, Self::MOST, |row| crlf_of(row) == crlf);
        (self.rows, self.crlf) = (rows, crlf);
    }

    /// Counts the line feeds before each record, the first of which has `line` of them. Returns those before the next one.
    fn count_lines(&mut self, line: u64) -> u64 {
        self.lines.clear();
        self.folded.clear();
        let (mut row, mut base) = (0, line);
        for fold in &self.folds {
            let feeds = self.feeds.get(row + 1..=self.rows).unwrap_or_default();
            row += feeds.iter().take_while(|feed| *feed < fold).count();
            if row >= self.rows {
                break;
            }
            self.lines.extend((self.lines.len()..=row).map(|row| base + row as u64));
            base += 1;
            if self.folded.last() != Some(&row) {
                self.folded.push(row);
            }
        }
        self.lines.extend((self.lines.len()..self.rows).map(|row| base + row as u64));
        base + self.rows as u64
    }

    /// The position of a record in the block, and the one after it.
    fn place(&self, row: usize) -> (usize, usize) {
        let after = |feed: usize| self.feeds.get(feed).map_or(0, |feed| feed.wrapping_add(1) as usize);
        (after(row), after(row + 1))
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if there are quotes, so that more records with quotes may follow.
    pub fn has_quotes(&self) -> bool {
        self.has_quotes
    }

    /// The number of line feeds in the block before each record.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The records with a line feed in a field: the position of each, the number of line feeds before it, and the record
    /// as logged, without its line end. `block` is the one that they are in.
    pub fn folded<'a>(&'a self, block: &'a [u8]) -> impl Iterator<Item = (usize, u64, &'a [u8])> {
        self.folded.iter().filter_map(|row| {
            let (start, end) = self.place(*row);
            let record = block.get(start..end)?;
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            Some((start, *self.lines.get(*row)?, record.strip_suffix(b"\r").unwrap_or(record)))
        })
    }

    /// The records as rows.
    #[inline]
    pub fn rows(&self) -> RecordRows<'_> {
        let ends = self.ends.get(..=self.rows * self.width).unwrap_or_default();
        RecordRows::new(&self.text, ends, self.width, self.crlf)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;
    use proptest::prelude::*;

    type ReadRecord = (usize, u64, Vec<Vec<u8>>);

    fn fields(rows: RecordRows<'_>, width: usize) -> Vec<Vec<Vec<u8>>> {
        rows.iter().map(|row| (0..width).map(|field| row.field(field).to_vec()).collect()).collect()
    }

    /// The records, read in batches where possible and one by one otherwise, and how many of them were in batches.
    fn read_many(block: &[u8], width: usize) -> (Vec<ReadRecord>, usize) {
        let (mut records, mut quoted) = (Records::new(block, b','), QuotedRecords::default());
        let (mut found, mut many) = (Vec::new(), 0);
        loop {
            quoted.read(&mut records, width);
            let places = (0..quoted.len()).map(|row| quoted.place(row).0).zip(quoted.lines());
            let rows = places.zip(fields(quoted.rows(), width));
            found.extend(rows.map(|((start, line), fields)| (start, *line, fields)));
            many += quoted.len();
            for (start, line, raw) in quoted.folded(block) {
                let mut alone = Records::new(block, b',');
                alone.continue_at((start, line));
                assert_eq!(alone.next_record().map(|record| record.raw), Some(raw));
            }
            let folded: Vec<usize> = quoted.folded(block).map(|(start, ..)| start).collect();
            let feeds_of = |(start, end): (usize, usize)| {
                block[start..end].iter().filter(|byte| **byte == b'\n').count()
            };
            let places = (0..quoted.len()).map(|row| quoted.place(row));
            assert_eq!(
                folded,
                places.filter(|place| feeds_of(*place) > 1).map(|(start, _)| start).collect::<Vec<_>>()
            );
            let Some(record) = records.next_record() else { return (found, many) };
            found.push(alone(&record));
        }
    }

    fn alone(record: &Record<'_>) -> ReadRecord {
        let fields = (0..record.width()).map(|field| record.field(field).to_vec());
        (record.start, record.line, fields.collect())
    }

    fn one_by_one(block: &[u8]) -> Vec<ReadRecord> {
        let mut records = Records::new(block, b',');
        std::iter::from_fn(|| records.next_record().map(|record| alone(&record))).collect()
    }

    fn block() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            6 => Just("ab,\"c\"\"d\",x\n"),
            4 => Just("\"a,b\r\n\",,\"\"\n"),
            4 => Just("1,2,3\n"),
            2 => Just("\"1\",2,\"3\"\r\n"),
            1 => Just("\"1\",2,3\r\r\n"),
            1 => Just("\"a\"b,\"c\",\r\n"),
            1 => Just("\"\"\"\",\"\"\"\"\"\",3\n"),
            1 => Just("a\"b,\"c\"d\"e\",3\n"),
            1 => Just("\"1\",2\n"),
            1 => Just("\"1\",2,3,4\n"),
            1 => "[a,\"\r\n]{0,9}".prop_map(|noise| &*noise.leak()),
            1 => Just("\""),
            1 => "[a-z]{60,70}".prop_map(|long| &*long.leak()),
        ];
        prop::collection::vec(piece, 0..150).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn records_are_those_that_are_read_alone(block in block()) {
            prop_assert_eq!(read_many(&block, 3).0, one_by_one(&block));
        }

        #[test]
        fn so_are_those_of_any_bytes(block in "[ab,\"\r\n]{0,300}", width in 1..4usize) {
            prop_assert_eq!(read_many(block.as_bytes(), width).0, one_by_one(block.as_bytes()));
        }
    }

    #[test]
    fn records_of_writers_are_read_together() {
        let quoted = "\"a \"\"b\"\"\nc\",2,\"x,y\"\r\n".repeat(130);
        let (found, many) = read_many(quoted.as_bytes(), 3);
        // After each batch, one record is read by itself.
        assert_eq!((found.len(), many), (130, 128));
        assert_eq!(found[1].2, [b"a \"b\"\nc".to_vec(), b"2".to_vec(), b"x,y".to_vec()]);
        let mut read = QuotedRecords::default();
        let long = format!("\"{}\",2,3\n", "x".repeat(2 * QuotedRecords::LONG));
        read.read(&mut Records::new(long.as_bytes(), b','), 3);
        assert_eq!(read.len(), 0);
    }
}
