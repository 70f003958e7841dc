//! Reads the records of a block one by one, as fields without their quotes.

use fearless_simd::{Level, dispatch};

use super::fields::{RecordRow, RecordRows};
use super::scan::{Marks, STEP};
use crate::work_count;

/// A record's fields, without quotes.
pub struct Record<'a> {
    rows: RecordRows<'a>,
    /// The number of fields.
    width: usize,
    /// The record's offset in the block.
    pub start: usize,
    /// The record as logged, without its line end.
    pub raw: &'a [u8],
    /// The number of line feeds in the block before the record.
    pub line: u64,
    /// True if a field is quoted; then the rows' text is not the block.
    pub quoted: bool,
    /// True if a quote was still open at the end of the block.
    pub open: bool,
}

impl<'a> Record<'a> {
    /// Creates a record without quotes from the position before it in the block, and those after each of its fields.
    #[inline]
    pub(super) fn plain(block: &'a [u8], ends: &'a [u32], crlf: bool, line: u64) -> Self {
        let start = ends.first().map_or(0, |before| before.wrapping_add(1) as usize);
        let end = ends.last().map_or(0, |end| *end as usize).saturating_sub(usize::from(crlf));
        let raw = block.get(start..end).unwrap_or_default();
        let width = ends.len().saturating_sub(1);
        let rows = RecordRows::new(block, ends, width, crlf);
        Self { rows, width, start, raw, line, quoted: false, open: false }
    }

    /// The record as rows with only one row.
    pub fn rows(&self) -> RecordRows<'a> {
        self.rows
    }

    /// The number of fields.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// A field; empty beyond the last one.
    #[inline]
    pub fn field(&self, index: usize) -> &'a [u8] {
        self.rows.iter().next().map_or(&[][..], |row: RecordRow<'a>| row.field(index))
    }

    /// Shortens `raw` to the first line of the record.
    #[cold]
    pub fn cut_to_first_line(&mut self) {
        let line = self.raw.split(|byte| *byte == b'\n').next().unwrap_or_default();
        self.raw = line.strip_suffix(b"\r").unwrap_or(line);
    }

    /// Returns true if the line is empty.
    pub fn is_blank(&self) -> bool {
        self.raw.is_empty()
    }
}

/// Reads the records of a block. A block consists of whole records; only the last one of the log may lack its line end.
pub struct Records<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    at: usize,
    lines: u64,
    /// The position before the most recent record, then the one after each of its fields.
    ends: Vec<u32>,
    unquoted: Vec<u8>,
    /// The number of line feeds in the block, once a record had a quote open at its end.
    ///
    /// From then on no quote that is open at the end of a line is closed later: at each line end, that record is within
    /// quotes, and so is any that has a quote open there. So no line is read more than once, however many open one.
    all_lines: Option<u64>,
}

impl<'a> Records<'a> {
    /// Creates a reader of a block of at most 4 GiB.
    pub fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let (ends, unquoted) = (Vec::with_capacity(32), Vec::new());
        Self { bytes, delimiter, at: 0, lines: 0, ends, unquoted, all_lines: None }
    }

    /// Creates a reader of what follows the first line of a record that had a quote open at the end of its block.
    pub fn after_open_quote(bytes: &'a [u8], delimiter: u8) -> Self {
        Self { all_lines: Some(0), ..Self::new(bytes, delimiter) }
    }

    /// Returns true once a record had a quote open at the end of the block.
    pub fn had_open_quote(&self) -> bool {
        self.all_lines.is_some()
    }

    /// The number of line feeds seen so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Goes back to the second line of the most recent record, given by its offset and line.
    #[cold]
    pub fn go_back_after_line(&mut self, start: usize, line: u64) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(feed) = memchr::memchr(b'\n', rest) else { return };
        self.at = start + feed + 1;
        self.lines = line + 1;
    }

    /// The block, and its delimiter.
    pub fn block(&self) -> (&'a [u8], u8) {
        (self.bytes, self.delimiter)
    }

    /// The position of the next record, and the number of line feeds before it.
    pub fn position(&self) -> (usize, u64) {
        (self.at, self.lines)
    }

    /// Returns true if no record is left.
    pub fn are_read(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Leaves out what is before a position, with this number of line feeds before it.
    pub fn continue_at(&mut self, (at, lines): (usize, u64)) {
        (self.at, self.lines) = (at, lines);
    }

    /// Reads the next record, or `None` at the end of the block.
    pub fn next_record(&mut self) -> Option<Record<'_>> {
        let (bytes, start) = (self.bytes, self.at);
        if self.are_read() {
            return None;
        }
        self.ends.clear();
        self.ends.push((start as u32).wrapping_sub(1));
        let mut field = start;
        let mut marks = marks(bytes, start, self.delimiter);
        let feed = loop {
            match marks.next() {
                Some((at, b'"')) if at == field => return Some(self.quoted(start)),
                // A quote inside an unquoted field has no special meaning.
                Some((_, b'"')) => {}
                Some((at, b'\n')) => break Some(at),
                Some((at, _)) => {
                    self.ends.push(at as u32);
                    field = at + 1;
                }
                None => break None,
            }
        };
        let end = feed.unwrap_or(bytes.len());
        work_count::count(end - start + 1);
        self.ends.push(end as u32);
        let crlf = end > field && bytes.get(end - 1) == Some(&b'\r');
        self.at = end + usize::from(feed.is_some());
        let line = self.lines;
        self.lines += u64::from(feed.is_some());
        Some(Record::plain(bytes, &self.ends, crlf, line))
    }

    /// Reads the record at `start` byte by byte, since it has a quoted field.
    fn quoted(&mut self, start: usize) -> Record<'_> {
        self.ends.clear();
        self.unquoted.clear();
        let rest = self.bytes.get(start..).unwrap_or_default();
        let line_end = |rest: &[u8]| memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let looked_at = if self.had_open_quote() { line_end(rest) } else { rest.len() };
        let looked_at = rest.get(..looked_at).unwrap_or_default();
        let (length, open) = unquote(looked_at, self.delimiter, &mut self.unquoted, &mut self.ends);
        work_count::count(length);
        let length = if open { rest.len() } else { length };
        let record = rest.get(..length).unwrap_or_default();
        self.at = start + length;
        let line = self.lines;
        self.lines = match self.all_lines {
            Some(all) if open => all,
            _ => line + memchr::memchr_iter(b'\n', record).count() as u64,
        };
        if open {
            self.all_lines = Some(self.lines);
        }
        let raw = record.strip_suffix(b"\n").unwrap_or(record);
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let width = self.ends.len().saturating_sub(1);
        let rows = RecordRows::new(&self.unquoted, &self.ends, width, false);
        Record { rows, width, start, raw, line, quoted: true, open }
    }
}

/// The structural bytes from `start` on, with their positions.
#[inline]
pub fn marks(bytes: &[u8], start: usize, delimiter: u8) -> impl Iterator<Item = (usize, u8)> {
    (start..bytes.len()).step_by(STEP).flat_map(move |base| {
        let marks = dispatch!(Level::new(), simd => Marks::find(simd, bytes, base, delimiter));
        let mut rest = marks.all();
        std::iter::from_fn(move || {
            let at = base + rest.trailing_zeros() as usize;
            (rest != 0).then(|| rest &= rest.wrapping_sub(1))?;
            Some((at, *bytes.get(at)?))
        })
    })
}

/// Removes the quotes of one record: appends its fields to `text`, with a delimiter between them, and to `ends` the
/// position before the first field, which wraps, and the one after each field.
///
/// Returns the record's length including its line end, and true if a quote was still open at the end. A quote opens
/// only at the start of a field. Whatever follows a closing quote within the field is kept unchanged.
fn unquote(bytes: &[u8], delimiter: u8, text: &mut Vec<u8>, ends: &mut Vec<u32>) -> (usize, bool) {
    ends.push(u32::MAX);
    let mut at = 0;
    let mut field = 0;
    let mut open = false;
    let mut at_start = true;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if open {
            if byte != b'"' {
                text.push(byte);
            } else if bytes.get(at) == Some(&b'"') {
                text.push(b'"');
                at += 1;
            } else {
                open = false;
            }
        } else if byte == b'"' && at_start {
            open = true;
            at_start = false;
        } else if byte == delimiter {
            ends.push(text.len() as u32);
            text.push(delimiter);
            field = text.len();
            at_start = true;
        } else if byte == b'\n' {
            break;
        } else {
            text.push(byte);
            at_start = false;
        }
    }
    if !open && text.len() > field && text.last() == Some(&b'\r') && ends_line(bytes, at) {
        text.pop();
    }
    ends.push(text.len() as u32);
    (at, open)
}

/// Returns true if the record ends in a carriage return, before its line feed or the end of the log.
fn ends_line(bytes: &[u8], end: usize) -> bool {
    let record = bytes.get(..end).unwrap_or_default();
    record.strip_suffix(b"\n").unwrap_or(record).ends_with(b"\r")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut records = Records::new(bytes, delimiter);
        let mut all = Vec::new();
        while let Some(record) = records.next_record() {
            if !record.is_blank() {
                all.push((0..record.width()).map(|i| record.field(i).to_vec()).collect());
            }
        }
        all
    }

    /// Reads records with the `csv` crate, with records that end at line feeds and CR LF trimmed by hand.
    fn oracle(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(bytes);
        let mut all = Vec::new();
        for record in reader.byte_records() {
            all.push(record.unwrap().iter().map(<[u8]>::to_vec).collect());
        }
        all
    }

    #[test]
    fn takes_quotes_off_and_keeps_line_breaks() {
        let log = b"1,\"a, \"\"b\"\"\r\nc\",2\r\n\n3,x\"y,\r\n";
        let fields = |list: &[&str]| list.iter().map(|f| f.as_bytes().to_vec()).collect::<Vec<_>>();
        assert_eq!(read(log, b','), [fields(&["1", "a, \"b\"\r\nc", "2"]), fields(&["3", "x\"y", ""])]);
    }

    #[test]
    fn counts_the_lines_before_each_record() {
        let mut records = Records::new(b"a\n\"b\n\n\",1\nc", b',');
        let mut lines = Vec::new();
        while let Some(record) = records.next_record() {
            lines.push((record.line, record.start));
        }
        assert_eq!((lines, records.lines()), (vec![(0, 0), (1, 2), (4, 10)], 4));
    }

    proptest! {
        #[test]
        fn reads_what_the_csv_crate_reads(
            bytes in "([a-z0-9,;\"\n]|\"\"|,\"){0,120}", delimiter in prop_oneof![Just(b','), Just(b';')],
        ) {
            prop_assert_eq!(read(bytes.as_bytes(), delimiter), oracle(bytes.as_bytes(), delimiter));
        }
    }
}
