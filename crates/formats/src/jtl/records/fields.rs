//! Views of several records as rows, so that one column is read at a time. Columns in which all rows share a value or a
//! prefix, as most texts of a test do, are detected without parsing them.

use std::hint::select_unpredictable;

use fearless_simd::{Level, Simd, dispatch};

use crate::number::number_in;
use perfpipe_model::sample::short_text::Short;

/// Records of equal width in one text, without quotes.
#[derive(Clone, Copy)]
pub struct RecordRows<'a> {
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
    pub fn new(text: &'a [u8], ends: &'a [u32], width: usize, crlf: bool) -> Self {
        Self { text, ends, width: width.max(1), trailing: u32::from(crlf) }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.ends.len().saturating_sub(1) / self.width
    }

    /// The rows, from the first to the last.
    #[inline(always)]
    pub fn iter(self) -> impl ExactSizeIterator<Item = RecordRow<'a>> {
        let Self { text, ends, width, trailing } = self;
        let starts = ends.chunks_exact(width);
        let ends = ends.get(1..).unwrap_or_default().chunks_exact(width);
        starts.zip(ends).map(move |(before, ends)| RecordRow { text, before, ends, trailing })
    }

    /// The fields of a column, from the first row to the last.
    #[inline(always)]
    pub fn fields(self, column: usize) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.iter().map(move |row| row.field(column))
    }

    /// The text from each field of a column on, and the length of the field.
    #[inline(always)]
    pub fn beginnings(self, column: usize) -> impl Iterator<Item = (&'a [u8], usize)> {
        let text = self.text;
        self.bounds(column)
            .map(move |(start, end)| (text.get(start..).unwrap_or_default(), end.wrapping_sub(start)))
    }

    /// The start and the end of each field of a column. What does not change from row to row is computed once.
    #[inline(always)]
    pub(super) fn bounds(self, column: usize) -> FieldBounds<'a> {
        let trailing = if column + 1 == self.width { self.trailing } else { 0 };
        FieldBounds { ends: self.ends.get(column..).unwrap_or_default(), width: self.width, trailing }
    }

    /// The text that fields are in.
    pub(super) fn text(self) -> &'a [u8] {
        self.text
    }
}

/// The start and the end of each field of a column, row by row.
pub(super) struct FieldBounds<'a> {
    /// The position before the next field, then that after it.
    ends: &'a [u32],
    width: usize,
    trailing: u32,
}

impl Iterator for FieldBounds<'_> {
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
pub struct RecordRow<'a> {
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
    pub fn field(self, column: usize) -> &'a [u8] {
        let (start, end) = self.bounds(column).unwrap_or_default();
        self.text.get(start..end).unwrap_or_default()
    }

    /// A field; empty if the log has no such column.
    #[inline(always)]
    pub fn field_of(self, column: Option<usize>) -> &'a [u8] {
        column.map_or(&[][..], |column| self.field(column))
    }

    /// The whole number in a field, or `None` for anything else.
    #[inline(always)]
    pub fn number(self, column: usize) -> Option<i64> {
        let (start, end) = self.bounds(column)?;
        number_in(self.text, start, end)
    }
}

impl<'a> RecordRows<'a> {
    /// The field that all rows have in a column; `None` if they differ, or if there are no rows.
    #[inline]
    pub fn shared_field(self, column: usize) -> Option<&'a [u8]> {
        let first = self.iter().next()?.field(column);
        self.have(column, first, |start, end| end.wrapping_sub(start) == first.len()).then_some(first)
    }

    /// Returns true if all fields of a column have the same first bytes, and that many of them. False if there are no rows.
    #[inline]
    pub fn share_prefix(self, column: usize, length: usize) -> bool {
        let first = self.iter().next().and_then(|row| row.field(column).get(..length));
        first.is_some_and(|first| self.begin_with(column, first))
    }

    /// Returns true if all fields of a column begin with this text.
    #[inline]
    pub fn begin_with(self, column: usize, text: &[u8]) -> bool {
        self.have(column, text, |start, end| end.wrapping_sub(start) >= text.len())
    }

    /// Returns true if all fields of a column begin with this text, and each either ends there or continues with one of these
    /// bytes.
    #[inline]
    pub fn begin_before(self, column: usize, text: &[u8], next: [u8; 2]) -> bool {
        let (bytes, own, [one, other]) = (self.text(), text.len(), next);
        self.have(column, text, move |start, end| {
            let following = bytes.get(start.wrapping_add(own)).copied().unwrap_or_default();
            let goes_on = (following == one) | (following == other);
            let length = end.wrapping_sub(start);
            // No processor can predict which of the two is true.
            length >= own && select_unpredictable(length == own, true, goes_on)
        })
    }

    /// Returns true if the fields of a column begin with this text, and their starts and ends fit. A text of up to 16 bytes is
    /// compared by two loads each that may overlap, whose size is chosen once for all rows.
    #[inline(always)]
    fn have(self, column: usize, text: &[u8], fits: impl Fn(usize, usize) -> bool) -> bool {
        match text.len() {
            0 => self.bounds(column).all(|(start, end)| fits(start, end)),
            1 => self.have_ends::<1>(column, text, fits),
            2..=3 => self.have_ends::<2>(column, text, fits),
            4..=7 => self.have_ends::<4>(column, text, fits),
            8..=16 => self.have_ends::<8>(column, text, fits),
            _ => match Short::new(text) {
                Some(text) => dispatch!(Level::new(), simd => self.have_short(simd, column, text, fits)),
                None => self
                    .bounds(column)
                    .all(|(start, end)| fits(start, end) && self.rest(start).starts_with(text)),
            },
        }
    }

    /// What is in the text from a position on.
    #[inline(always)]
    fn rest(self, start: usize) -> &'a [u8] {
        self.text().get(start..).unwrap_or_default()
    }

    /// Returns true if the fields begin with a short text, and their starts and ends fit.
    #[inline(always)]
    fn have_short<S: Simd>(
        self,
        simd: S,
        column: usize,
        text: Short,
        fits: impl Fn(usize, usize) -> bool,
    ) -> bool {
        for (start, end) in self.bounds(column) {
            let rest = self.rest(start);
            let has = match rest.first_chunk() {
                Some(bytes) => text.begins(simd, bytes),
                None => rest.starts_with(text.bytes()),
            };
            if !(has && fits(start, end)) {
                return false;
            }
        }
        true
    }

    /// Returns true if the fields have the first and the last `N` bytes of a text that is not shorter than that.
    #[inline(always)]
    fn have_ends<const N: usize>(
        self,
        column: usize,
        text: &[u8],
        fits: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let (Some(head), Some(tail)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else {
            return false;
        };
        let (head, tail, to_tail, bytes) = (*head, *tail, text.len() - N, self.text());
        let has = |position: usize, wanted: [u8; N]| {
            let found = bytes.get(position..).and_then(|rest| rest.first_chunk::<N>());
            found.is_some_and(|found| *found == wanted)
        };
        for (start, end) in self.bounds(column) {
            if !(fits(start, end) && has(start, head) && has(start + to_tail, tail)) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::jtl::records::plain::PlainRecords;
    use crate::jtl::records::record::Records;

    proptest! {
        #[test]
        fn fields_are_alike_if_each_is_the_first(
            same in "[ab]{0,40}|[ab]{60,70}", other in "[ab]{0,40}|[ab]{60,70}", at in proptest::option::of(0..12_usize), changed: bool,
            n in 1..12_usize, length in 0..70_usize,
        ) {
            let mut other = other;
            if changed {
                // One byte is another.
                other = same.char_indices().map(|(i, c)| if i == length { 'c' } else { c }).collect();
            }
            let field = |row| if at == Some(row) { &other } else { &same };
            let fields: Vec<&String> = (0..n).map(field).collect();
            let log: String = fields.iter().map(|field| format!("1,{field}\n")).collect();
            let (mut records, mut plain) = (Records::new(log.as_bytes(), b','), PlainRecords::default());
            plain.read(&mut records, 2);
            let rows = plain.rows(log.as_bytes());
            prop_assert_eq!(rows.count(), n);
            let same = Some(fields[0].as_bytes()).filter(|_| fields.iter().all(|field| field == &fields[0]));
            prop_assert_eq!(rows.shared_field(1), same);
            let heads: Vec<_> = fields.iter().map(|field| field.get(..length)).collect();
            let expected = heads[0].is_some() && heads.iter().all(|head| head == &heads[0]);
            prop_assert_eq!(rows.share_prefix(1, length), expected);
            let Some(head) = heads[0] else { return Ok(()) };
            let goes_on = |field: &&String| {
                field.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with(['b', '?']))
            };
            prop_assert_eq!(rows.begin_before(1, head.as_bytes(), *b"?b"), fields.iter().all(goes_on));
        }
    }
}
