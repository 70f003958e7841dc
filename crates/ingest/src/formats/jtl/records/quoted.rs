//! Finds the fields of consecutive records of the same width of which most have quotes, so that they are parsed together,
//! a column at a time.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};

use super::fields::Rows;
use super::record::Records;
use super::scan::{Marks, STEP, below_lowest, up_to_lowest, write};

/// Consecutive records of one block that have as many fields as the log has columns, without their quotes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quoted {
    /// The records without their quotes, otherwise as logged.
    text: Vec<u8>,
    /// The position in the text before the first record, then the delimiter or line feed behind each field. Positions
    /// wrap at 0.
    ends: Vec<u32>,
    /// The number of positions that are written.
    written: usize,
    width: usize,
    /// The positions of the records in the block, with their line ends.
    places: Vec<Range<usize>>,
    /// The number of line feeds in the block before each record.
    lines: Vec<u64>,
    /// The records with a line feed in a field.
    folded: Vec<usize>,
    /// True if all of them end in a carriage return and a line feed.
    crlf: bool,
}

/// A record whose end is looked for.
struct Open {
    /// Its position in the block.
    start: usize,
    /// The position of the current field in the block.
    field: usize,
    /// The position up to which bytes are copied, or left out.
    copied: usize,
    /// True within quotes.
    quoted: bool,
    /// The position of the quote that was closed last.
    closed: usize,
    /// True if a field has quotes.
    has_quotes: bool,
    /// The number of line feeds before it, and in its fields.
    line: u64,
    feeds: u64,
    /// The number of records without quotes right before it.
    plain: usize,
}

impl Open {
    fn at(start: usize, line: u64) -> Self {
        let (field, copied) = (start, start);
        Self {
            start,
            field,
            copied,
            quoted: false,
            closed: usize::MAX,
            has_quotes: false,
            line,
            feeds: 0,
            plain: 0,
        }
    }
}

impl Quoted {
    /// The largest number of records.
    const MOST: usize = 64;

    /// The number of records in a row without quotes from which on they are not worth a copy.
    const PLAIN: usize = 4;

    /// The length in bytes of the text at which they end.
    const LONG: usize = 64 << 10;

    /// Replaces the records by the next ones of `width` fields. Ends before the first record that is different, or that
    /// has quotes where no writer puts them, and behind a few that have none. There may be none.
    pub(crate) fn read(&mut self, records: &mut Records<'_>, width: usize) {
        self.text.clear();
        self.places.clear();
        self.lines.clear();
        self.folded.clear();
        self.ends.resize(Self::MOST * width + 1 + STEP, 0);
        if let Some(first) = self.ends.first_mut() {
            *first = u32::MAX;
        }
        (self.width, self.written) = (width, 1);
        let from = records.position();
        let block = records.block();
        let behind = dispatch!(Level::new(), simd => self.find(simd, block, from));
        records.continue_at(behind);
    }

    /// Finds the records from a position on, with this number of line feeds before it. Returns those of the record behind
    /// them.
    #[inline(always)]
    fn find<S: Simd>(
        &mut self,
        simd: S,
        (bytes, delimiter): (&[u8], u8),
        (start, line): (usize, u64),
    ) -> (usize, u64) {
        let mut open = Open::at(start, line);
        for base in (start..bytes.len()).step_by(STEP) {
            let marks = Marks::find(simd, bytes, base, delimiter);
            let goes_on = self.step(simd, (bytes, base), marks, &mut open);
            if !goes_on || self.text.len() + base.saturating_sub(open.copied) > Self::LONG {
                break;
            }
        }
        self.copy(bytes, open.start, &mut open);
        (open.start, open.line)
    }

    /// Takes the step that begins at `base`: what is between two quotes at once. Returns false if the records end in it.
    #[inline(always)]
    fn step<S: Simd>(
        &mut self,
        simd: S,
        (bytes, base): (&[u8], usize),
        marks: Marks,
        open: &mut Open,
    ) -> bool {
        let (mut quotes, mut rest) = (marks.quotes, u64::MAX);
        loop {
            let between = rest & below_lowest(quotes);
            let feeds = marks.feeds & between;
            if open.quoted {
                open.feeds += u64::from(feeds.count_ones());
            } else if !self.end_fields(simd, (bytes, base), (marks.delimiters & between, feeds), open) {
                return false;
            }
            if quotes == 0 {
                return true;
            }
            if !self.quote(bytes, base + quotes.trailing_zeros() as usize, open) {
                return false;
            }
            rest = !up_to_lowest(quotes);
            quotes &= quotes.wrapping_sub(1);
        }
    }

    /// Takes a quote, which opens or closes a field, or stands for itself behind another one. Returns false if it is where
    /// no writer puts one.
    #[inline(always)]
    fn quote(&mut self, bytes: &[u8], at: usize, open: &mut Open) -> bool {
        if open.quoted {
            open.closed = at;
        } else if at != open.field {
            // The second of two quotes within a field is text.
            open.quoted = at == open.closed.wrapping_add(1);
            return open.quoted;
        }
        open.quoted = !open.quoted;
        open.has_quotes = true;
        self.copy(bytes, at, open);
        open.copied = at + 1;
        true
    }

    /// Ends the fields, and records, that end at these bits of a step. Returns false if a record is too wide or of another
    /// kind, or the last one that is wanted.
    #[inline(always)]
    fn end_fields<S: Simd>(
        &mut self,
        simd: S,
        (bytes, base): (&[u8], usize),
        (delimiters, mut feeds): (u64, u64),
        open: &mut Open,
    ) -> bool {
        let ends = delimiters | feeds;
        if ends == 0 {
            return true;
        }
        let room = self.ends.get_mut(self.written..).and_then(|room| room.first_chunk_mut());
        let Some(room) = room else { return false };
        // What is left out before is not in the text.
        write(simd, ends, base.wrapping_add(self.text.len()).wrapping_sub(open.copied), room);
        while feeds != 0 {
            if let Some(last) = (ends & below_lowest(feeds)).checked_ilog2() {
                open.field = open.field.max(base + last as usize + 1);
            }
            let fields = (ends & up_to_lowest(feeds)).count_ones() as usize;
            let at = base + feeds.trailing_zeros() as usize;
            if !self.end_record(bytes, at, self.written + fields, open) {
                return false;
            }
            feeds &= feeds.wrapping_sub(1);
        }
        self.written += ends.count_ones() as usize;
        if let Some(last) = ends.checked_ilog2() {
            open.field = base + last as usize + 1;
        }
        true
    }

    /// Ends a record, with which `written` positions are written. Returns false if it is of another kind, or the last one
    /// that is wanted.
    #[inline(always)]
    fn end_record(&mut self, bytes: &[u8], at: usize, written: usize, open: &mut Open) -> bool {
        let crlf = at > open.field && bytes.get(at - 1) == Some(&b'\r');
        let has_width = written == (self.places.len() + 1) * self.width + 1;
        if !has_width || (crlf != self.crlf && !self.places.is_empty()) {
            return false;
        }
        self.crlf = crlf;
        if open.feeds > 0 {
            self.folded.push(self.places.len());
        }
        self.places.push(open.start..at + 1);
        self.lines.push(open.line);
        let plain = if open.has_quotes { 0 } else { open.plain + 1 };
        let next = Open::at(at + 1, open.line + open.feeds + 1);
        *open = Open { plain, copied: open.copied, ..next };
        self.places.len() < Self::MOST && plain < Self::PLAIN
    }

    /// Copies the bytes up to a position.
    #[inline(always)]
    fn copy(&mut self, bytes: &[u8], to: usize, open: &mut Open) {
        let from = std::mem::replace(&mut open.copied, to);
        let (length, rest) = (to.wrapping_sub(from), bytes.get(from..).unwrap_or_default());
        match rest.first_chunk::<STEP>() {
            // What is between quotes is mostly short: a copy of a fixed length takes less time than a call.
            Some(step) if length <= STEP => {
                let copied = self.text.len() + length;
                self.text.extend_from_slice(step);
                self.text.truncate(copied);
            }
            _ => self.text.extend_from_slice(rest.get(..length).unwrap_or_default()),
        }
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if there may be more of the kind behind them.
    pub(crate) fn is_full(&self) -> bool {
        self.places.len() == Self::MOST
    }

    /// The number of line feeds in the block before each record.
    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The records with a line feed in a field: the position of each, the number of line feeds before it, and the record
    /// as logged, without its line end. `block` is the one that they are in.
    pub(crate) fn folded<'a>(&'a self, block: &'a [u8]) -> impl Iterator<Item = (usize, u64, &'a [u8])> {
        self.folded.iter().filter_map(|row| {
            let place = self.places.get(*row)?;
            let record = block.get(place.clone())?;
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            Some((place.start, *self.lines.get(*row)?, record.strip_suffix(b"\r").unwrap_or(record)))
        })
    }

    /// The records as rows.
    #[inline]
    pub(crate) fn rows(&self) -> Rows<'_> {
        let ends = self.ends.get(..=self.places.len() * self.width).unwrap_or_default();
        Rows::new(&self.text, ends, self.width, self.crlf)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;
    use proptest::prelude::*;

    type Told = (usize, u64, Vec<Vec<u8>>);

    fn fields(rows: Rows<'_>, width: usize) -> Vec<Vec<Vec<u8>>> {
        rows.iter().map(|row| (0..width).map(|field| row.field(field).to_vec()).collect()).collect()
    }

    /// The records as they are read together where they can be, and alone otherwise, and how many of them were together.
    fn together(block: &[u8], width: usize) -> (Vec<Told>, usize) {
        let (mut records, mut quoted) = (Records::new(block, b','), Quoted::default());
        let (mut told, mut many) = (Vec::new(), 0);
        loop {
            quoted.read(&mut records, width);
            let places = quoted.places.iter().map(|place| place.start).zip(quoted.lines());
            let rows = places.zip(fields(quoted.rows(), width));
            told.extend(rows.map(|((start, line), fields)| (start, *line, fields)));
            many += quoted.len();
            for (start, line, raw) in quoted.folded(block) {
                let mut alone = Records::new(block, b',');
                alone.continue_at((start, line));
                assert_eq!(alone.next().map(|record| record.raw), Some(raw));
                assert!(raw.contains(&b'\n'));
            }
            let Some(record) = records.next() else { return (told, many) };
            told.push(alone(&record));
        }
    }

    fn alone(record: &Record<'_>) -> Told {
        let fields = (0..record.len()).map(|field| record.field(field).to_vec());
        (record.start, record.line, fields.collect())
    }

    fn one_by_one(block: &[u8]) -> Vec<Told> {
        let mut records = Records::new(block, b',');
        std::iter::from_fn(|| records.next().map(|record| alone(&record))).collect()
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
            prop_assert_eq!(together(&block, 3).0, one_by_one(&block));
        }

        #[test]
        fn so_are_those_of_any_bytes(block in "[ab,\"\r\n]{0,300}", width in 1..4usize) {
            prop_assert_eq!(together(block.as_bytes(), width).0, one_by_one(block.as_bytes()));
        }
    }

    #[test]
    fn records_of_writers_are_read_together_until_few_have_quotes() {
        let quoted = "\"a \"\"b\"\"\nc\",2,\"x,y\"\r\n".repeat(130);
        let (told, many) = together(quoted.as_bytes(), 3);
        // Between two that are full, one is read alone.
        assert_eq!((told.len(), many), (130, 128));
        assert_eq!(told[1].2, [b"a \"b\"\nc".to_vec(), b"2".to_vec(), b"x,y".to_vec()]);
        let mut read = Quoted::default();
        let plain = format!("\"1\",2,3\n{}", "1,2,3\n".repeat(30));
        read.read(&mut Records::new(plain.as_bytes(), b','), 3);
        assert_eq!(read.len(), 1 + Quoted::PLAIN);
        let long = format!("\"{}\",2,3\n", "x".repeat(2 * Quoted::LONG));
        read.read(&mut Records::new(long.as_bytes(), b','), 3);
        assert_eq!(read.len(), 0);
    }
}
