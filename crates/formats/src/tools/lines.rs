//! Converts formats that have a record a line.

use super::fields::is_quoted_after;
use super::format::{Convert, NextBytes};
use super::rejects::RejectCause;
use super::rows::ConvertedRows;
use crate::jtl::blocks::{KEPT, RECORD_LIMIT};
use crate::work_count;
use perfpipe_model::run::damage::Fault;

/// The most bytes of lines that are passed on as they are in one frame. A longer line is converted.
const MOST_KEPT: usize = 16 << 10;

/// Converts one line after another.
pub(super) trait ConvertLine: Send {
    /// Returns true for a line that begins a record, in a format of which texts in quotes may have line ends. Where a quote
    /// was never closed, the record ends before such a line.
    const BEGINS: Option<fn(&[u8]) -> bool> = None;

    /// Converts a line, without its line end, to at most one row or reject.
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows);

    /// Writes the rows of earlier lines that are still pending.
    fn release(&mut self, _rows: &mut ConvertedRows) {}

    /// Converts what is left when the log ends.
    fn end(&mut self, rows: &mut ConvertedRows) {
        self.release(rows);
    }
}

/// Splits a log into lines.
pub(super) struct LineByLine<T> {
    inner: T,
    /// True within a line that was too long.
    is_skipping: bool,
}

/// The record that has begun.
#[derive(Debug, Default)]
struct OpenRecord {
    /// The byte at which it begins, and its latest line.
    at: usize,
    line: usize,
    /// The number of its line ends so far.
    lines: u64,
    /// True if a quote is open before its latest line.
    is_quoted: bool,
}

impl<T: ConvertLine> LineByLine<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, is_skipping: false }
    }

    fn convert_record(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if !std::mem::take(&mut self.is_skipping) {
            self.inner.line(line.strip_suffix(b"\r").unwrap_or(line), rows);
        }
    }

    /// Converts the record whose line ends at `end`, unless it continues after that.
    fn end_line(&mut self, input: &[u8], end: usize, begun: &mut OpenRecord, rows: &mut ConvertedRows) {
        self.end_unclosed(input, end, begun, rows);
        let line = input.get(begun.line..end).unwrap_or_default();
        work_count::count(line.len() + 1);
        begun.is_quoted = T::BEGINS.is_some() && is_quoted_after(line, begun.is_quoted);
        begun.line = end + 1;
        begun.lines += 1;
        if !begun.is_quoted {
            self.convert_to(input, end, begun, rows);
        }
    }

    /// Converts the record before the line that ends at `end`, if that begins another one.
    fn end_unclosed(&mut self, input: &[u8], end: usize, begun: &mut OpenRecord, rows: &mut ConvertedRows) {
        let line = input.get(begun.line..end).unwrap_or_default();
        if begun.is_quoted && T::BEGINS.is_some_and(|begins| begins(line)) {
            self.convert_to(input, begun.line.saturating_sub(1), begun, rows);
        }
    }

    /// Converts the record that ends at the line end at `end`.
    fn convert_to(&mut self, input: &[u8], end: usize, begun: &mut OpenRecord, rows: &mut ConvertedRows) {
        self.convert_record(input.get(begun.at..end).unwrap_or_default(), rows);
        rows.place = (rows.place.0 + begun.lines, rows.place.1 + (end + 1 - begun.at) as u64);
        *begun = OpenRecord { at: end + 1, line: end + 1, lines: 0, is_quoted: false };
    }

    /// Converts what follows the last line end of the log.
    fn convert_rest(&mut self, rest: &[u8], follows: NextBytes, rows: &mut ConvertedRows) {
        match follows {
            NextBytes::Nothing => self.convert_record(rest, rows),
            NextBytes::Damage if !self.is_skipping => {
                self.inner.release(rows);
                rows.reject(RejectCause::Cut, None, rest);
            }
            _ => {}
        }
    }
}

impl<T: ConvertLine> Convert for LineByLine<T> {
    fn convert(
        &mut self,
        input: &[u8],
        follows: NextBytes,
        rows: &mut ConvertedRows,
    ) -> Result<usize, Fault> {
        let kept = if rows.keeps_lines { self.keep(input, follows, rows) } else { 0 };
        self.convert_lines(input.get(kept..).unwrap_or_default(), follows, rows)
            .map(|converted| kept + converted)
    }
}

impl<T: ConvertLine> LineByLine<T> {
    /// Passes lines on as they are, while that is possible. Returns the number of their bytes.
    fn keep(&mut self, input: &[u8], follows: NextBytes, rows: &mut ConvertedRows) -> usize {
        let mut at = 0;
        while !self.is_skipping
            && let Some(rest) = input.get(at..).filter(|rest| !rest.is_empty())
        {
            let room = rest.get(..MOST_KEPT).unwrap_or(rest);
            let is_last = follows == NextBytes::Nothing && room.len() == rest.len();
            let end =
                if is_last { Some(rest.len()) } else { memchr::memrchr(b'\n', room).map(|end| end + 1) };
            let Some(lines) = end.and_then(|end| rest.get(..end)) else { break };
            rows.keep(lines);
            at += lines.len();
        }
        at
    }

    /// Converts lines.
    fn convert_lines(
        &mut self,
        input: &[u8],
        follows: NextBytes,
        rows: &mut ConvertedRows,
    ) -> Result<usize, Fault> {
        let mut begun = OpenRecord::default();
        for end in memchr::memchr_iter(b'\n', input) {
            if rows.are_enough() && begun.at == begun.line && begun.at > 0 {
                return Ok(begun.at);
            }
            self.end_line(input, end, &mut begun, rows);
        }
        if follows != NextBytes::More {
            self.end_unclosed(input, input.len(), &mut begun, rows);
            let rest = input.get(begun.at..).unwrap_or_default();
            if !rest.is_empty() {
                self.convert_rest(rest, follows, rows);
            }
            match follows {
                NextBytes::Nothing => self.inner.end(rows),
                NextBytes::Damage => self.inner.release(rows),
                _ => {}
            }
            return Ok(input.len());
        }
        let rest = input.get(begun.at..).unwrap_or_default();
        if rest.len() < RECORD_LIMIT {
            return Ok(begun.at);
        }
        if !std::mem::replace(&mut self.is_skipping, true) {
            self.inner.release(rows);
            rows.reject(RejectCause::Long, None, rest.get(..KEPT).unwrap_or(rest));
        }
        rows.place = (rows.place.0 + begun.lines, rows.place.1 + rest.len() as u64);
        Ok(input.len())
    }
}
