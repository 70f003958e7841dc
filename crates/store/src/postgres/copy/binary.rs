//! Encodes rows for a binary COPY into large chunks, and decodes them from a stream in pieces of any size.

use bytes::Bytes;

use crate::consistency::SampleTotals;
use perfpipe_model::error::{Error, Result};

/// Start of a binary COPY: signature, flags, length of the header extension.
pub(crate) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// End of a binary COPY.
pub(crate) const TRAILER: &[u8] = &[0xff, 0xff];

/// The size in bytes at which encoded rows are sent.
pub(crate) const CHUNK: usize = 1 << 20;

/// Postgres's type OIDs of array elements.
const INT4: u32 = 23;
const INT8: u32 = 20;
const TEXT: u32 = 25;

/// Encoded rows of one table, with their number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Rows {
    pub(crate) bytes: Bytes,
    pub(crate) rows: u64,
    /// The position of each row in the bytes.
    starts: Vec<usize>,
    /// True if times of requests are 64 bits wide.
    pub(crate) wide: bool,
    /// The numbers of samples by kind, if all rows are samples and none was removed.
    pub(crate) counted: SampleTotals,
}

impl Rows {
    /// Changes each row in place, by a function of its number and its bytes, with those after it.
    pub(crate) fn patched(mut self, change: impl Fn(u64, &mut [u8])) -> Self {
        let mut bytes = Vec::from(self.bytes);
        for (number, start) in (0..).zip(&self.starts) {
            change(number, bytes.get_mut(*start..).unwrap_or_default());
        }
        self.bytes = Bytes::from(bytes);
        self
    }

    /// Removes and returns the first `count` rows, or all if there are fewer.
    pub(crate) fn split_to(&mut self, count: u64) -> Self {
        let place = usize::try_from(count).ok().and_then(|at| Some((at, *self.starts.get(at)?)));
        let Some((at, end)) = place else { return std::mem::take(self) };
        let mut rest = self.starts.split_off(at);
        rest.iter_mut().for_each(|start| *start -= end);
        self.rows -= count;
        Self {
            bytes: self.bytes.split_to(end),
            rows: count,
            starts: std::mem::replace(&mut self.starts, rest),
            wide: self.wide,
            counted: SampleTotals::default(),
        }
    }
}

/// Encodes rows. Call `row`, then add its fields in the order of the columns.
#[derive(Debug, Default)]
pub(crate) struct RowEncoder {
    bytes: Vec<u8>,
    /// The position of each row in the bytes.
    starts: Vec<usize>,
    /// True if a field exceeded the maximum length of the format.
    too_long: bool,
}

impl RowEncoder {
    /// Returns the number of bytes that were encoded and not removed yet.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Removes and returns all rows encoded so far.
    pub(crate) fn take(&mut self) -> Result<Rows> {
        if self.too_long {
            return Err(Error::store("encoding rows for Postgres", "a field is longer than 2 GiB"));
        }
        let next = Vec::with_capacity(self.bytes.capacity().min(CHUNK + CHUNK / 4));
        let bytes = std::mem::replace(&mut self.bytes, next);
        let next = Vec::with_capacity(self.starts.len());
        let starts = std::mem::replace(&mut self.starts, next);
        Ok(Rows {
            bytes: Bytes::from(bytes),
            rows: starts.len() as u64,
            starts,
            wide: false,
            counted: SampleTotals::default(),
        })
    }

    /// Reserves space for more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Begins a row.
    #[inline]
    pub(crate) fn row(&mut self, fields: i16) {
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(&fields.to_be_bytes());
    }

    #[inline]
    fn null(&mut self) {
        self.bytes.extend_from_slice(&(-1_i32).to_be_bytes());
    }

    #[inline]
    pub(crate) fn bool(&mut self, value: bool) {
        self.bytes.extend_from_slice(&[0, 0, 0, 1, u8::from(value)]);
    }

    #[inline]
    pub(crate) fn i32(&mut self, value: i32) {
        self.fixed(value.to_be_bytes());
    }

    #[inline]
    pub(crate) fn i64(&mut self, value: i64) {
        self.fixed(value.to_be_bytes());
    }

    #[inline]
    pub(crate) fn f64(&mut self, value: f64) {
        self.fixed(value.to_be_bytes());
    }

    /// Adds a value, or null for `None`.
    #[inline]
    pub(crate) fn maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => put(self, value),
            None => self.null(),
        }
    }

    /// Adds a text that is known to contain no NUL.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds any text. NUL, which Postgres can't store, becomes U+FFFD.
    pub(crate) fn any_text(&mut self, text: &str) {
        if text.contains('\0') {
            self.text(&text.replace('\0', "\u{FFFD}"));
        } else {
            self.text(text);
        }
    }

    pub(crate) fn i32_array(&mut self, values: impl ExactSizeIterator<Item = i32>) {
        self.array(INT4, values, Self::i32);
    }

    pub(crate) fn i64_array(&mut self, values: impl ExactSizeIterator<Item = i64>) {
        self.array(INT8, values, Self::i64);
    }

    pub(crate) fn text_array<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a str>) {
        self.array(TEXT, values, Self::any_text);
    }

    fn array<T>(
        &mut self,
        element: u32,
        values: impl ExactSizeIterator<Item = T>,
        put: impl Fn(&mut Self, T),
    ) {
        let start = self.bytes.len();
        self.length(0);
        let dimensions = i32::from(values.len() > 0);
        self.bytes.extend_from_slice(&dimensions.to_be_bytes());
        self.bytes.extend_from_slice(&0_i32.to_be_bytes());
        self.bytes.extend_from_slice(&element.to_be_bytes());
        if dimensions == 1 {
            self.length(values.len());
            self.bytes.extend_from_slice(&1_i32.to_be_bytes());
            values.for_each(|value| put(self, value));
        }
        let length = self.checked(self.bytes.len() - start - 4);
        if let Some(place) = self.bytes.get_mut(start..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }

    /// Adds a field of fixed size, with its length, in one write.
    #[inline]
    fn fixed<const N: usize>(&mut self, value: [u8; N]) {
        self.bytes.extend_from_slice(&(N as i32).to_be_bytes());
        self.bytes.extend_from_slice(&value);
    }

    #[inline]
    fn length(&mut self, length: usize) {
        let length = self.checked(length);
        self.bytes.extend_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn checked(&mut self, length: usize) -> i32 {
        i32::try_from(length).unwrap_or_else(|_| {
            self.too_long = true;
            0
        })
    }
}

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

/// The fields of a row, which are read in the order of the columns.
#[derive(Debug)]
pub(crate) struct RowFields<'a> {
    rest: &'a [u8],
}

impl<'a> RowFields<'a> {
    /// Wraps the fields of a row without its header.
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// Reads the bytes of the next field; `None` if it is null.
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

    /// Reads a time of a request, which is 32 or 64 bits wide.
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
