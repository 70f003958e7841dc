//! Converts formats that have a record a line.

use super::convert::{Convert, Follows};
use super::rows::Rows;
use super::told::Wrong;
use crate::formats::jtl::blocks::{KEPT, RECORD_LIMIT};
use crate::run::fault::Fault;

/// Converts one line after another.
pub(crate) trait ConvertLine: Send {
    /// Converts a line, without its line end, to at most one row or reject.
    fn line(&mut self, line: &[u8], rows: &mut Rows);

    /// Writes the rows of earlier lines that are held back.
    fn release(&mut self, _rows: &mut Rows) {}

    /// Converts what is left when the log ends.
    fn end(&mut self, rows: &mut Rows) {
        self.release(rows);
    }
}

/// Splits a log into lines.
pub(crate) struct LineByLine<T> {
    of: T,
    /// True within a line that was too long.
    is_skipping: bool,
}

impl<T: ConvertLine> LineByLine<T> {
    pub(crate) fn new(of: T) -> Self {
        Self { of, is_skipping: false }
    }

    fn take(&mut self, line: &[u8], rows: &mut Rows) {
        if !std::mem::take(&mut self.is_skipping) {
            self.of.line(line.strip_suffix(b"\r").unwrap_or(line), rows);
        }
    }

    /// Takes what is behind the last line end of the log.
    fn take_rest(&mut self, rest: &[u8], follows: Follows, rows: &mut Rows) {
        match follows {
            Follows::Nothing => self.take(rest, rows),
            Follows::Damage if !self.is_skipping => {
                self.of.release(rows);
                rows.reject(Wrong::Cut, None, rest);
            }
            _ => {}
        }
    }
}

impl<T: ConvertLine> Convert for LineByLine<T> {
    fn convert(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> Result<usize, Fault> {
        let mut at = 0;
        for end in memchr::memchr_iter(b'\n', input) {
            self.take(input.get(at..end).unwrap_or_default(), rows);
            rows.place = (rows.place.0 + 1, rows.place.1 + (end + 1 - at) as u64);
            at = end + 1;
        }
        let rest = input.get(at..).unwrap_or_default();
        if follows != Follows::More {
            if !rest.is_empty() {
                self.take_rest(rest, follows, rows);
            }
            match follows {
                Follows::Nothing => self.of.end(rows),
                Follows::Damage => self.of.release(rows),
                _ => {}
            }
            return Ok(input.len());
        }
        if rest.len() < RECORD_LIMIT {
            return Ok(at);
        }
        if !std::mem::replace(&mut self.is_skipping, true) {
            self.of.release(rows);
            rows.reject(Wrong::Long, None, rest.get(..KEPT).unwrap_or(rest));
        }
        rows.place.1 += rest.len() as u64;
        Ok(input.len())
    }
}
