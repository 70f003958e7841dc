//! Views of several records as rows, so that one column is read at a time.

use crate::formats::number::{Digits, number_in};

/// Records of equal width in one text. A quoted record is always the only row.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    text: &'a [u8],
    /// The start and the end of each field, record by record.
    bounds: &'a [(u32, u32)],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Creates rows of `width` fields each (at least 1).
    pub(crate) fn new(text: &'a [u8], bounds: &'a [(u32, u32)], width: usize) -> Self {
        Self { text, bounds, width }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len() / self.width.max(1)
    }

    /// The rows, from the first to the last.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        let Self { text, bounds, width } = self;
        bounds.chunks_exact(width.max(1)).map(move |bounds| Row { text, bounds })
    }

    /// The number in a column, if it is the same in all rows and has up to 8 digits.
    ///
    /// Requests, and often responses, have the same size throughout a test, so the comparison pays off.
    #[inline]
    pub(crate) fn repeated(&self, column: usize) -> Option<i64> {
        let digits = |bounds: &[(u32, u32)]| {
            let (start, end) = *bounds.get(column)?;
            Digits::of(self.text, start as usize, end as usize)
        };
        let mut rows = self.bounds.chunks_exact(self.width.max(1));
        let first = digits(rows.next()?)?;
        rows.all(|row| digits(row) == Some(first)).then(|| first.number())?
    }
}

/// One of the rows.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    text: &'a [u8],
    bounds: &'a [(u32, u32)],
}

impl<'a> Row<'a> {
    /// A field; empty beyond the last one.
    #[inline(always)]
    pub(crate) fn field(self, column: usize) -> &'a [u8] {
        let (start, end) = self.bounds.get(column).copied().unwrap_or_default();
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// A field; empty if the log has no such column.
    #[inline(always)]
    pub(crate) fn field_of(self, column: Option<usize>) -> &'a [u8] {
        column.map_or(&[][..], |column| self.field(column))
    }

    /// The whole number in a field, or `None` for anything else.
    #[inline(always)]
    pub(crate) fn number(self, column: usize) -> Option<i64> {
        let (start, end) = *self.bounds.get(column)?;
        number_in(self.text, start as usize, end as usize)
    }
}
