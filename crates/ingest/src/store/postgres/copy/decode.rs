//! Decodes rows of a binary COPY from a stream in pieces of any size.

use crate::error::{Error, Result};

use super::encode::HEADER;

/// Splits a binary COPY into rows, in whatever pieces it arrives.
#[derive(Debug, Default)]
pub(crate) struct RowDecoder {
    buffer: Vec<u8>,
    /// The position of the first byte that was not returned yet.
    at: usize,
    begun: bool,
    ended: bool,
}

impl RowDecoder {
    /// Adds the next piece.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.at = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// Returns the next row; `None` if more pieces are needed or the COPY has ended.
    pub(crate) fn next_row(&mut self) -> Result<Option<RowFields<'_>>> {
        if self.ended || !self.passed_header()? {
            return Ok(None);
        }
        let Some(head) = self.buffer.get(self.at..).and_then(|rest| rest.first_chunk()) else {
            return Ok(None);
        };
        let count = i16::from_be_bytes(*head);
        if count < 0 {
            self.ended = true;
            return Ok(None);
        }
        let start = self.at + 2;
        let rest = self.buffer.get(start..).unwrap_or_default();
        let Some(length) = row_length(rest, count) else { return Ok(None) };
        self.at = start + length;
        Ok(Some(RowFields::new(self.buffer.get(start..self.at).unwrap_or_default())))
    }

    /// Returns true if the end of the COPY was received.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    fn passed_header(&mut self) -> Result<bool> {
        if self.begun {
            return Ok(true);
        }
        let Some(head) = self.buffer.get(self.at..self.at + HEADER.len()) else { return Ok(false) };
        if head != HEADER {
            return Err(damaged("it does not begin as a binary COPY does"));
        }
        self.at += HEADER.len();
        self.begun = true;
        Ok(true)
    }
}

/// Returns the size of a row's fields in bytes, with their lengths; `None` if they are incomplete.
fn row_length(bytes: &[u8], fields: i16) -> Option<usize> {
    let mut at = 0_usize;
    for _ in 0..fields {
        let length = i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
        at += 4 + usize::try_from(length).unwrap_or(0);
    }
    (at <= bytes.len()).then_some(at)
}

fn damaged(problem: &str) -> Error {
    Error::store("reading rows from Postgres", problem)
}

/// The fields of a row, which are taken in the order of the columns.
#[derive(Debug)]
pub(crate) struct RowFields<'a> {
    rest: &'a [u8],
}

impl<'a> RowFields<'a> {
    /// Wraps the fields of a row without its header.
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Takes the bytes of the next field; `None` if it is null.
    #[inline]
    fn next(&mut self) -> Result<Option<&'a [u8]>> {
        let short = || damaged("a row has fewer fields than asked for");
        let (length, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.rest = rest;
            return Ok(None);
        };
        let (field, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        self.rest = rest;
        Ok(Some(field))
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        match self.next()? {
            None => Ok(None),
            Some(field) => field.try_into().map(Some).map_err(|_| damaged("a field has another size")),
        }
    }

    #[inline]
    pub(crate) fn bool(&mut self) -> Result<bool> {
        Ok(self.fixed::<1>()?.ok_or_else(absent)? != [0])
    }

    /// Takes a time of a request, which is 32 or 64 bits wide.
    #[inline]
    pub(crate) fn maybe_time(&mut self) -> Result<Option<i32>> {
        let Some(field) = self.next()? else { return Ok(None) };
        if let Ok(narrow) = field.try_into() {
            return Ok(Some(i32::from_be_bytes(narrow)));
        }
        let wide = field.try_into().map_err(|_| damaged("a field has another size"))?;
        let time = i32::try_from(i64::from_be_bytes(wide));
        time.map(Some).map_err(|_| damaged("a time is longer than perfpipe stores"))
    }

    #[inline]
    pub(crate) fn maybe_i32(&mut self) -> Result<Option<i32>> {
        Ok(self.fixed()?.map(i32::from_be_bytes))
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.maybe_i32()?.ok_or_else(absent)
    }

    #[inline]
    pub(crate) fn maybe_i64(&mut self) -> Result<Option<i64>> {
        Ok(self.fixed()?.map(i64::from_be_bytes))
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.maybe_i64()?.ok_or_else(absent)
    }

    #[inline]
    pub(crate) fn maybe_f64(&mut self) -> Result<Option<f64>> {
        Ok(self.fixed()?.map(f64::from_be_bytes))
    }

    #[inline]
    pub(crate) fn f64(&mut self) -> Result<f64> {
        self.maybe_f64()?.ok_or_else(absent)
    }

    #[inline]
    pub(crate) fn maybe_bytes(&mut self) -> Result<Option<&'a [u8]>> {
        self.next()
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<&'a str>> {
        self.next()?.map(as_text).transpose()
    }

    #[inline]
    pub(crate) fn text(&mut self) -> Result<&'a str> {
        self.maybe_text()?.ok_or_else(absent)
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.next()?.ok_or_else(absent)
    }
}

fn absent() -> Error {
    damaged("a field that must have a value has none")
}

fn as_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| damaged("a text is not UTF-8"))
}

/// Converts a count between the types of a column and of this program.
pub(crate) fn whole<T: Copy + std::fmt::Display, U: TryFrom<T>>(count: T) -> Result<U> {
    U::try_from(count).map_err(|_| {
        Error::store("converting a count between perfpipe and Postgres", format!("{count} is out of range"))
    })
}
