//! Counts the records of the right width among fields that were found.

/// The fields that a search found.
#[derive(Clone, Copy)]
pub(super) struct FoundFields<'a> {
    /// The text that they are in.
    pub(super) text: &'a [u8],
    /// The position before the first one, then the delimiter or line feed after each.
    pub(super) ends: &'a [u32],
    /// Their number.
    pub(super) fields: usize,
    /// How many of them a line feed ends.
    pub(super) feeds: usize,
}

/// Returns true if one of the records that were found, or the unfinished one, has fewer or more fields than `width`.
/// Surplus fields are noticed only once they add up to `width`.
#[inline(always)]
pub(super) fn differ(fields: usize, records: usize, width: usize) -> bool {
    fields.wrapping_sub(records.wrapping_mul(width)) >= width
}

impl FoundFields<'_> {
    /// Counts the records of `width` fields up to the first one that has another number of them, or that is not
    /// `fits`, but at most `most`.
    #[inline(always)]
    pub(super) fn count_rows(self, width: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
        let most = self.fields.checked_div(width).unwrap_or_default().min(most);
        let is_feed = |index: &usize| {
            let end = self.ends.get(*index).copied().unwrap_or_default();
            self.text.get(end as usize) == Some(&b'\n')
        };
        let ends_and_fits = |row: &usize| is_feed(&((row + 1) * width)) && fits(*row);
        let rows = (0..most).take_while(ends_and_fits).count();
        let behind = (most * width + 1..=self.fields).filter(is_feed).count();
        if self.feeds == rows + behind {
            return rows;
        }
        // A line feed within a record ends another one.
        let feeds_of = |row: usize| (row * width + 1..=(row + 1) * width).filter(is_feed).count();
        (0..most).take_while(|row| ends_and_fits(row) && feeds_of(*row) == 1).count()
    }
}
