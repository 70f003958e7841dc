//! Counts the records of the right width among fields that were found.

/// Fields that were found one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The text that they are in.
    pub(super) text: &'a [u8],
    /// The position before the first one, then the delimiter or line feed behind each.
    pub(super) ends: &'a [u32],
    /// Their number.
    pub(super) fields: usize,
    /// How many of them a line feed ends.
    pub(super) feeds: usize,
}

/// Returns true if one of the records that were found, or the one that goes on, has fewer or more fields than `width`.
/// One more field is told only once all records have as many more as one has.
#[inline(always)]
pub(super) fn differ(fields: usize, records: usize, width: usize) -> bool {
    fields.wrapping_sub(records.wrapping_mul(width)) >= width
}

impl Found<'_> {
    /// Counts the records of `width` fields up to the first one that has another number of them, or that is not
    /// `alike`, but at most `most`.
    #[inline(always)]
    pub(super) fn count_rows(self, width: usize, most: usize, alike: impl Fn(usize) -> bool) -> usize {
        let most = self.fields.checked_div(width).unwrap_or_default().min(most);
        let is_feed = |index: &usize| {
            let end = self.ends.get(*index).copied().unwrap_or_default();
            self.text.get(end as usize) == Some(&b'\n')
        };
        let ends_alike = |row: &usize| is_feed(&((row + 1) * width)) && alike(*row);
        let rows = (0..most).take_while(ends_alike).count();
        let behind = (most * width + 1..=self.fields).filter(is_feed).count();
        if self.feeds == rows + behind {
            return rows;
        }
        // A line feed within a record ends another one.
        let feeds_of = |row: usize| (row * width + 1..=(row + 1) * width).filter(is_feed).count();
        (0..most).take_while(|row| ends_alike(row) && feeds_of(*row) == 1).count()
    }
}
