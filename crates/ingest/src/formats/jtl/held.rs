//! Gathers records so that they are parsed together, a column at a time.

use super::fields::Rows;
use super::record::Record;

/// Records of one block that are to be parsed together.
///
/// They are few enough to stay in the L1 cache, and enough that work done once per column costs little per record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    bounds: Vec<(u32, u32)>,
    /// The number of line feeds in the block before each record.
    lines: Vec<u64>,
}

impl Held {
    /// The number of records at which they are parsed.
    const FULL: usize = 64;

    /// Adds a record without quotes. All records must have the same number of fields.
    #[inline]
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        self.bounds.extend_from_slice(record.bounds());
        self.lines.push(record.line);
    }

    /// Returns true if the records should be parsed now.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= Self::FULL
    }

    /// The number of line feeds in the block before each record.
    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The records as rows. `text` is the block that they came from.
    pub(crate) fn rows<'a>(&'a self, text: &'a [u8], width: usize) -> Rows<'a> {
        Rows::new(text, &self.bounds, width)
    }

    /// Iterates over the single records. `text` is the block that they came from.
    pub(crate) fn records<'a>(&'a self, text: &'a [u8], width: usize) -> impl Iterator<Item = Record<'a>> {
        let bounds = self.bounds.chunks_exact(width.max(1));
        bounds.zip(&self.lines).map(move |(bounds, line)| Record::plain(text, bounds, *line))
    }

    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        self.bounds.clear();
        self.lines.clear();
    }
}
