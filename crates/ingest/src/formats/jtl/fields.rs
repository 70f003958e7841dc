//! Records that lie side by side, so that a column of them is read at a time.

use crate::formats::number::{Digits, number_in};

/// Records of one width in one text, none of them quoted unless it is alone.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    text: &'a [u8],
    /// Where the fields begin and end, record by record.
    bounds: &'a [(u32, u32)],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Rows of `width` fields each, from 1.
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

    /// The number that stands in every row of a column, where that is the same one of up to 8 digits.
    ///
    /// What a request sends, and often what it gets, is of one size throughout a test, so comparing pays.
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

/// One of several records that lie side by side.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    text: &'a [u8],
    bounds: &'a [(u32, u32)],
}

impl<'a> Row<'a> {
    /// A field, or the empty one beyond the end.
    #[inline(always)]
    pub(crate) fn field(self, column: usize) -> &'a [u8] {
        let (start, end) = self.bounds.get(column).copied().unwrap_or_default();
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// A field, or the empty one where the log has no such column.
    #[inline(always)]
    pub(crate) fn field_of(self, column: Option<usize>) -> &'a [u8] {
        column.map_or(&[][..], |column| self.field(column))
    }

    /// A field's whole number, or `None` for anything else.
    #[inline(always)]
    pub(crate) fn number(self, column: usize) -> Option<i64> {
        let (start, end) = *self.bounds.get(column)?;
        number_in(self.text, start as usize, end as usize)
    }
}
