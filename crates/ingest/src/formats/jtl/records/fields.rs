//! Views of several records as rows, so that one column is read at a time.

use crate::formats::number::number_in;

/// Records of equal width in one text, without quotes.
#[derive(Clone, Copy)]
pub(crate) struct RecordRows<'a> {
    text: &'a [u8],
    /// The position before the first field, then the one after each field, record by record. One byte is between two
    /// fields. Positions wrap at 0.
    ends: &'a [u32],
    width: usize,
    /// The number of bytes at the end of a record that are not its last field's.
    trailing: u32,
}

impl<'a> RecordRows<'a> {
    /// Creates rows of `width` fields each (at least 1), with a carriage return after the last one if `crlf`.
    #[inline]
    pub(crate) fn new(text: &'a [u8], ends: &'a [u32], width: usize, crlf: bool) -> Self {
        Self { text, ends, width: width.max(1), trailing: u32::from(crlf) }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len().saturating_sub(1) / self.width
    }

    /// The rows, from the first to the last.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = RecordRow<'a>> {
        let Self { text, ends, width, trailing } = self;
        let starts = ends.chunks_exact(width);
        let ends = ends.get(1..).unwrap_or_default().chunks_exact(width);
        starts.zip(ends).map(move |(before, ends)| RecordRow { text, before, ends, trailing })
    }

    /// The fields of a column, from the first row to the last.
    #[inline(always)]
    pub(crate) fn fields(self, column: usize) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.iter().map(move |row| row.field(column))
    }

    /// The text from each field of a column on, and the length of the field.
    #[inline(always)]
    pub(crate) fn beginnings(self, column: usize) -> impl Iterator<Item = (&'a [u8], usize)> {
        let text = self.text;
        self.bounds(column)
            .map(move |(start, end)| (text.get(start..).unwrap_or_default(), end.wrapping_sub(start)))
    }

    /// The start and the end of each field of a column. What does not change from row to row is computed once.
    #[inline(always)]
    pub(super) fn bounds(self, column: usize) -> Bounds<'a> {
        let trailing = if column + 1 == self.width { self.trailing } else { 0 };
        Bounds { ends: self.ends.get(column..).unwrap_or_default(), width: self.width, trailing }
    }

    /// The text that fields are in.
    pub(super) fn text(self) -> &'a [u8] {
        self.text
    }
}

/// The start and the end of each field of a column, row by row.
pub(super) struct Bounds<'a> {
    /// The position before the next field, then that after it.
    ends: &'a [u32],
    width: usize,
    trailing: u32,
}

impl Iterator for Bounds<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let [before, end, ..] = self.ends else { return None };
        self.ends = self.ends.get(self.width..).unwrap_or_default();
        Some((before.wrapping_add(1) as usize, end.wrapping_sub(self.trailing) as usize))
    }
}

/// One of the rows.
#[derive(Clone, Copy)]
pub(crate) struct RecordRow<'a> {
    text: &'a [u8],
    /// The position before each field.
    before: &'a [u32],
    /// The position after each field.
    ends: &'a [u32],
    trailing: u32,
}

impl<'a> RecordRow<'a> {
    /// The start and the end of a field.
    #[inline(always)]
    fn bounds(self, column: usize) -> Option<(usize, usize)> {
        let start = self.before.get(column)?.wrapping_add(1);
        let trailing = if column + 1 == self.ends.len() { self.trailing } else { 0 };
        let end = self.ends.get(column)?.wrapping_sub(trailing);
        Some((start as usize, end as usize))
    }

    /// A field; empty beyond the last one.
    #[inline(always)]
    pub(crate) fn field(self, column: usize) -> &'a [u8] {
        let (start, end) = self.bounds(column).unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }

    /// A field; empty if the log has no such column.
    #[inline(always)]
    pub(crate) fn field_of(self, column: Option<usize>) -> &'a [u8] {
        column.map_or(&[][..], |column| self.field(column))
    }

    /// The whole number in a field, or `None` for anything else.
    #[inline(always)]
    pub(crate) fn number(self, column: usize) -> Option<i64> {
        let (start, end) = self.bounds(column)?;
        number_in(self.text, start, end)
    }
}
