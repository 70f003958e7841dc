//! Writes the records of JMeter's XML as lines of its CSV, which has the same fields.

use super::Rows;
use crate::formats::tools::csv::quoted;
use crate::formats::tools::told::Wrong;

impl Rows {
    /// Writes a request by the texts of all columns.
    pub(in crate::formats::tools) fn fields(&mut self, fields: &[Vec<u8>]) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.bytes.push(b',');
            }
            self.line += text(field, &mut self.bytes);
        }
        self.end_line();
    }

    /// Writes empty lines until the next line has this number, if it is not past it already.
    pub(in crate::formats::tools) fn catch_up(&mut self, line: u64) {
        while self.line < line {
            self.end_line();
        }
    }

    /// Writes a line that tells a reject.
    #[cold]
    pub(in crate::formats::tools) fn reject_line(&mut self, wrong: Wrong, record: &[u8]) {
        let before = self.bytes.len();
        self.told(wrong, None, record).write(&mut self.bytes);
        let written = self.bytes.get(before..).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', written).count() as u64;
    }

    fn end_line(&mut self) {
        self.bytes.push(b'\n');
        self.line += 1;
    }
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
