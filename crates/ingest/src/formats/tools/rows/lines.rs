//! Writes the records of JMeter's XML as lines of its CSV, which has the same fields. A further field is the position of
//! the record in the log.

use super::ConvertedRows;
use crate::formats::tools::csv::quoted;
use crate::formats::tools::fields::Fields;
use crate::formats::tools::rejects::RejectCause;

/// Separates the line, the byte and the record in the last field.
const BETWEEN: u8 = b':';

/// A record as it is in the log, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Original {
    /// The line, from 1, and the byte, from 0.
    pub(crate) line: u64,
    pub(crate) byte: u64,
    pub(crate) record: Vec<u8>,
}

impl ConvertedRows {
    /// Writes a request by the texts of all columns, and its position in the log. The record may be empty where its values
    /// can't be rejected.
    pub(in crate::formats::tools) fn fields(&mut self, fields: &[Vec<u8>], origin: &Original) {
        for field in fields {
            self.line += text(field, &mut self.bytes);
            self.bytes.push(b',');
        }
        if origin.record.is_empty() {
            place(origin, &mut self.bytes);
        } else {
            let mut last = Vec::new();
            place(origin, &mut last);
            last.push(BETWEEN);
            last.extend_from_slice(&origin.record);
            quoted(&last, &mut self.bytes);
            self.line += memchr::memchr_iter(b'\n', &origin.record).count() as u64;
        }
        self.end_line();
    }

    /// Writes empty lines until the next line has this number, if it is not past it already.
    pub(in crate::formats::tools) fn catch_up(&mut self, line: u64) {
        while self.line < line {
            self.end_line();
        }
    }

    /// Writes a line that encodes a reject.
    #[cold]
    pub(in crate::formats::tools) fn reject_line(&mut self, cause: RejectCause, record: &[u8]) {
        let before = self.bytes.len();
        self.rejected(cause, None, record).write(&mut self.bytes);
        let written = self.bytes.get(before..).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', written).count() as u64;
    }

    fn end_line(&mut self) {
        self.bytes.push(b'\n');
        self.line += 1;
    }
}

/// Writes the line and the byte of a record.
fn place(origin: &Original, into: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    into.extend_from_slice(number.format(origin.line).as_bytes());
    into.push(BETWEEN);
    into.extend_from_slice(number.format(origin.byte).as_bytes());
}

/// Parses the last field of a line.
pub(super) fn origin(line: &[u8]) -> Option<Original> {
    let mut fields = Fields::default();
    fields.split_csv(line);
    let mut parts = fields.last().splitn(3, |byte| *byte == BETWEEN);
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
    let (line_number, byte) = (number()?, number()?);
    let converted = || line.get(..memchr::memrchr(b',', line)?);
    let record = parts.next().or_else(converted)?.to_vec();
    Some(Original { line: line_number, byte, record })
}

/// Writes a text, in quotes where it needs them. Returns the number of line ends in it.
pub(super) fn text(text: &[u8], into: &mut Vec<u8>) -> u64 {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        into.extend_from_slice(text);
        return 0;
    }
    quoted(text, into);
    memchr::memchr_iter(b'\n', text).count() as u64
}
