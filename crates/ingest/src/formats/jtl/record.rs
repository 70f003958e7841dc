//! Reads the records of a block one by one, as fields without their quotes.

use super::fields::Rows;
use super::scan::Scanner;

/// A record's fields, without quotes.
pub(crate) struct Record<'a> {
    /// The text that `bounds` refers to.
    text: &'a [u8],
    bounds: &'a [(u32, u32)],
    /// The record's offset in the block.
    pub(crate) start: usize,
    /// The record as logged, without its line end.
    pub(crate) raw: &'a [u8],
    /// The number of line feeds in the block before the record.
    pub(crate) line: u64,
    /// True if a field is quoted; then `text` is not the block.
    pub(crate) quoted: bool,
    /// True if a quote was still open at the end of the block.
    pub(crate) open: bool,
}

impl<'a> Record<'a> {
    /// Creates a record without quotes from the bounds of its fields in the block.
    #[inline]
    pub(crate) fn plain(block: &'a [u8], bounds: &'a [(u32, u32)], line: u64) -> Self {
        let start = bounds.first().map_or(0, |(start, _)| *start as usize);
        let end = bounds.last().map_or(0, |(_, end)| *end as usize);
        let raw = block.get(start..end).unwrap_or_default();
        Self { text: block, bounds, start, raw, line, quoted: false, open: false }
    }

    /// The record as rows with only one row.
    pub(crate) fn rows(&self) -> Rows<'a> {
        Rows::new(self.text, self.bounds, self.bounds.len())
    }

    /// The start and the end of each field.
    #[inline]
    pub(crate) fn bounds(&self) -> &'a [(u32, u32)] {
        self.bounds
    }

    /// The number of fields.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// A field; empty beyond the last one.
    #[inline]
    pub(crate) fn field(&self, index: usize) -> &'a [u8] {
        match self.bounds.get(index) {
            Some((start, end)) => self.text.get(*start as usize..*end as usize).unwrap_or_default(),
            None => &[],
        }
    }

    /// Shortens `raw` to the first line of the record.
    #[cold]
    pub(crate) fn cut_to_first_line(&mut self) {
        let line = self.raw.split(|byte| *byte == b'\n').next().unwrap_or_default();
        self.raw = line.strip_suffix(b"\r").unwrap_or(line);
    }

    /// Returns true if the line is empty.
    pub(crate) fn is_blank(&self) -> bool {
        self.raw.is_empty()
    }
}

/// Reads the records of a block. A block holds whole records; only the last one of the log may lack its line end.
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    scanner: Scanner<'a>,
    at: usize,
    lines: u64,
    bounds: Vec<(u32, u32)>,
    unquoted: Vec<u8>,
}

impl<'a> Records<'a> {
    /// Creates a reader of a block of at most 4 GiB.
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Self {
            bytes,
            delimiter,
            scanner: Scanner::new(bytes, delimiter),
            at: 0,
            lines: 0,
            bounds: Vec::with_capacity(32),
            unquoted: Vec::new(),
        }
    }

    /// The number of line feeds seen so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Goes back to the second line of the most recent record, given by its offset and line.
    #[cold]
    pub(crate) fn go_back_behind_line(&mut self, start: usize, line: u64) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(feed) = memchr::memchr(b'\n', rest) else { return };
        self.at = start + feed + 1;
        self.lines = line + 1;
        self.scanner.seek(self.at);
    }

    /// Reads the next record, or `None` at the end of the block.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Record<'_>> {
        let start = self.at;
        if start >= self.bytes.len() {
            return None;
        }
        self.bounds.clear();
        let mut field = start;
        let bounds = &mut self.bounds;
        let end = loop {
            let stop = self.scanner.next_stop(|at| {
                bounds.push((field as u32, at as u32));
                field = at.wrapping_add(1);
            });
            match stop {
                Some(at) if self.bytes.get(at) == Some(&b'"') => {
                    if at == field {
                        return Some(self.quoted(start));
                    }
                    // A quote inside an unquoted field has no special meaning.
                }
                stop => break stop,
            }
        };
        let position = end.unwrap_or(self.bytes.len());
        let stop = without_carriage_return(self.bytes, field, position);
        self.bounds.push((field as u32, stop as u32));
        self.at = position + usize::from(end.is_some());
        let line = self.lines;
        self.lines += u64::from(end.is_some());
        Some(Record::plain(self.bytes, &self.bounds, line))
    }

    /// Reads the record at `start` byte by byte, since it has a quoted field.
    fn quoted(&mut self, start: usize) -> Record<'_> {
        self.bounds.clear();
        self.unquoted.clear();
        let rest = self.bytes.get(start..).unwrap_or_default();
        let (length, open) = unquote(rest, self.delimiter, &mut self.unquoted, &mut self.bounds);
        let record = rest.get(..length).unwrap_or_default();
        self.at = start + length;
        self.scanner.seek(self.at);
        let line = self.lines;
        self.lines += memchr::memchr_iter(b'\n', record).count() as u64;
        let raw = record.strip_suffix(b"\n").unwrap_or(record);
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        Record { text: &self.unquoted, bounds: &self.bounds, start, raw, line, quoted: true, open }
    }
}

/// The end of a line's last field, without the carriage return of a CR LF.
#[inline]
fn without_carriage_return(bytes: &[u8], field: usize, end: usize) -> usize {
    if end > field && bytes.get(end - 1) == Some(&b'\r') { end - 1 } else { end }
}

/// Removes the quotes of one record: appends its fields to `text` and their bounds to `bounds`.
///
/// Returns the record's length including its line end, and true if a quote was still open at the end. A quote opens
/// only at the start of a field. Whatever follows a closing quote within the field is kept unchanged.
fn unquote(bytes: &[u8], delimiter: u8, text: &mut Vec<u8>, bounds: &mut Vec<(u32, u32)>) -> (usize, bool) {
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
            bounds.push((field, text.len() as u32));
            field = text.len() as u32;
            at_start = true;
        } else if byte == b'\n' {
            break;
        } else {
            text.push(byte);
            at_start = false;
        }
    }
    if !open && text.len() as u32 > field && text.last() == Some(&b'\r') && ends_line(bytes, at) {
        text.pop();
    }
    bounds.push((field, text.len() as u32));
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
        while let Some(record) = records.next() {
            if !record.is_blank() {
                all.push((0..record.len()).map(|i| record.field(i).to_vec()).collect());
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
        while let Some(record) = records.next() {
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
