//! Tells columns whose fields are all alike, as most texts of a test are, without a look at what they are.

use super::fields::Rows;

impl<'a> Rows<'a> {
    /// The field that all rows have in a column; `None` if they differ, or if there are no rows.
    #[inline]
    pub(crate) fn alike(self, column: usize) -> Option<&'a [u8]> {
        let first = self.iter().next()?.field(column);
        self.have(column, first, |length| length == first.len()).then_some(first)
    }

    /// Returns true if all fields of a column have the same first bytes, and that many of them. False if there are no rows.
    #[inline]
    pub(crate) fn begin_alike(self, column: usize, length: usize) -> bool {
        let first = self.iter().next().and_then(|row| row.field(column).get(..length));
        first.is_some_and(|first| self.begin_with(column, first))
    }

    /// Returns true if all fields of a column begin with this text.
    #[inline]
    pub(crate) fn begin_with(self, column: usize, text: &[u8]) -> bool {
        self.have(column, text, |length| length >= text.len())
    }

    /// Returns true if the fields of a column begin with this text, and their lengths fit. A text of up to 32 bytes is
    /// compared by two loads each that may overlap, whose size is chosen once for all rows.
    #[inline(always)]
    fn have(self, column: usize, text: &[u8], fits: impl Fn(usize) -> bool) -> bool {
        match text.len() {
            0 => self.bounds(column).all(|(start, end)| fits(end.wrapping_sub(start))),
            1 => self.have_ends::<1>(column, text, fits),
            2..=3 => self.have_ends::<2>(column, text, fits),
            4..=7 => self.have_ends::<4>(column, text, fits),
            8..=16 => self.have_ends::<8>(column, text, fits),
            17..=32 => self.have_ends::<16>(column, text, fits),
            length => self.bounds(column).all(|(start, end)| {
                fits(end.wrapping_sub(start)) && self.text().get(start..start + length) == Some(text)
            }),
        }
    }

    /// Returns true if the fields have the first and the last `N` bytes of a text that is not shorter than that.
    #[inline(always)]
    fn have_ends<const N: usize>(self, column: usize, text: &[u8], fits: impl Fn(usize) -> bool) -> bool {
        let (head, tail) = (text.first_chunk::<N>(), text.last_chunk::<N>());
        let to_tail = text.len() - N;
        let at = |position: usize| self.text().get(position..).and_then(|rest| rest.first_chunk::<N>());
        self.bounds(column).all(|(start, end)| {
            fits(end.wrapping_sub(start)) && at(start) == head && at(start + to_tail) == tail
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::plain::Plain;
    use super::super::record::Records;

    proptest! {
        #[test]
        fn fields_are_alike_if_each_is_the_first(
            same in "[ab]{0,40}", other in "[ab]{0,40}", at in proptest::option::of(0..12_usize), changed: bool,
            n in 1..12_usize, length in 0..40_usize,
        ) {
            let mut other = other;
            if changed {
                // One byte is another.
                other = same.char_indices().map(|(i, c)| if i == length { 'c' } else { c }).collect();
            }
            let field = |row| if at == Some(row) { &other } else { &same };
            let fields: Vec<&String> = (0..n).map(field).collect();
            let log: String = fields.iter().map(|field| format!("1,{field}\n")).collect();
            let (mut records, mut plain) = (Records::new(log.as_bytes(), b','), Plain::default());
            plain.read(&mut records, 2);
            let rows = plain.rows(log.as_bytes());
            prop_assert_eq!(rows.len(), n);
            let same = Some(fields[0].as_bytes()).filter(|_| fields.iter().all(|field| field == &fields[0]));
            prop_assert_eq!(rows.alike(1), same);
            let heads: Vec<_> = fields.iter().map(|field| field.get(..length)).collect();
            let expected = heads[0].is_some() && heads.iter().all(|head| head == &heads[0]);
            prop_assert_eq!(rows.begin_alike(1, length), expected);
        }
    }
}
