//! Converts formats that have a record a line.

use super::convert::{Convert, Follows};
use super::fields::is_quoted_after;
use super::rows::Rows;
use super::told::Wrong;
use crate::formats::jtl::blocks::{KEPT, RECORD_LIMIT};
use crate::formats::steps;
use crate::run::fault::Fault;

/// The most bytes of lines that are given as they are together. A longer line is converted.
const TOGETHER: usize = 16 << 10;

/// Converts one line after another.
pub(crate) trait ConvertLine: Send {
    /// Returns true for a line that begins a record, in a format of which texts in quotes may have line ends. Where a quote
    /// was never closed, the record ends before such a line.
    const BEGINS: Option<fn(&[u8]) -> bool> = None;

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

/// Where a record stands that has begun.
#[derive(Debug, Default)]
struct Begun {
    /// The byte at which it begins, and its latest line.
    at: usize,
    line: usize,
    /// The number of its line ends so far.
    lines: u64,
    /// True if a quote is open before its latest line.
    is_quoted: bool,
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

    /// Takes the record whose line ends at `end`, unless it goes on behind that.
    fn end_line(&mut self, input: &[u8], end: usize, begun: &mut Begun, rows: &mut Rows) {
        self.end_unclosed(input, end, begun, rows);
        let line = input.get(begun.line..end).unwrap_or_default();
        steps::count(line.len() + 1);
        begun.is_quoted = T::BEGINS.is_some() && is_quoted_after(line, begun.is_quoted);
        begun.line = end + 1;
        begun.lines += 1;
        if !begun.is_quoted {
            self.take_to(input, end, begun, rows);
        }
    }

    /// Takes the record before the line that ends at `end`, if that begins another one.
    fn end_unclosed(&mut self, input: &[u8], end: usize, begun: &mut Begun, rows: &mut Rows) {
        let line = input.get(begun.line..end).unwrap_or_default();
        if begun.is_quoted && T::BEGINS.is_some_and(|begins| begins(line)) {
            self.take_to(input, begun.line.saturating_sub(1), begun, rows);
        }
    }

    /// Takes the record that ends at the line end at `end`.
    fn take_to(&mut self, input: &[u8], end: usize, begun: &mut Begun, rows: &mut Rows) {
        self.take(input.get(begun.at..end).unwrap_or_default(), rows);
        rows.place = (rows.place.0 + begun.lines, rows.place.1 + (end + 1 - begun.at) as u64);
        *begun = Begun { at: end + 1, line: end + 1, lines: 0, is_quoted: false };
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
        let kept = if rows.keeps_lines { self.keep(input, follows, rows) } else { 0 };
        self.convert_lines(input.get(kept..).unwrap_or_default(), follows, rows).map(|taken| kept + taken)
    }
}

impl<T: ConvertLine> LineByLine<T> {
    /// Gives lines as they are, as long as that goes. Returns the number of their bytes.
    fn keep(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> usize {
        let mut at = 0;
        while !self.is_skipping
            && let Some(rest) = input.get(at..).filter(|rest| !rest.is_empty())
        {
            let room = rest.get(..TOGETHER).unwrap_or(rest);
            let is_last = follows == Follows::Nothing && room.len() == rest.len();
            let end =
                if is_last { Some(rest.len()) } else { memchr::memrchr(b'\n', room).map(|end| end + 1) };
            let Some(lines) = end.and_then(|end| rest.get(..end)) else { break };
            rows.keep(lines);
            at += lines.len();
        }
        at
    }

    /// Converts lines.
    fn convert_lines(&mut self, input: &[u8], follows: Follows, rows: &mut Rows) -> Result<usize, Fault> {
        let mut begun = Begun::default();
        for end in memchr::memchr_iter(b'\n', input) {
            if rows.are_enough() && begun.at == begun.line && begun.at > 0 {
                return Ok(begun.at);
            }
            self.end_line(input, end, &mut begun, rows);
        }
        if follows != Follows::More {
            self.end_unclosed(input, input.len(), &mut begun, rows);
            let rest = input.get(begun.at..).unwrap_or_default();
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
        let rest = input.get(begun.at..).unwrap_or_default();
        if rest.len() < RECORD_LIMIT {
            return Ok(begun.at);
        }
        if !std::mem::replace(&mut self.is_skipping, true) {
            self.of.release(rows);
            rows.reject(Wrong::Long, None, rest.get(..KEPT).unwrap_or(rest));
        }
        rows.place = (rows.place.0 + begun.lines, rows.place.1 + rest.len() as u64);
        Ok(input.len())
    }
}
