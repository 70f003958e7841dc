//! Records that wait to be read together, a column at a time.

use super::fields::Rows;
use super::record::Record;

/// Records of one block that wait to be read together.
///
/// They are few enough to stay in the processor's nearest cache, and enough that what is done once for a column costs
/// nothing for a record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    bounds: Vec<(u32, u32)>,
    /// Line feeds in the block before each record.
    lines: Vec<u64>,
}

impl Held {
    /// The number of records at which they are to be read.
    const FULL: usize = 64;

    /// Takes a record without quotes; all must be of one width.
    #[inline]
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        self.bounds.extend_from_slice(record.bounds());
        self.lines.push(record.line);
    }

    /// Whether it is time to read them.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= Self::FULL
    }

    /// Line feeds in the block before each record.
    pub(crate) fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The records as rows; `text` is the block they came from.
    pub(crate) fn rows<'a>(&'a self, text: &'a [u8], width: usize) -> Rows<'a> {
        Rows::new(text, &self.bounds, width)
    }

    /// The records one by one.
    pub(crate) fn records<'a>(&'a self, text: &'a [u8], width: usize) -> impl Iterator<Item = Record<'a>> {
        let bounds = self.bounds.chunks_exact(width.max(1));
        bounds.zip(&self.lines).map(move |(bounds, line)| Record::plain(text, bounds, *line))
    }

    /// Lets go of all.
    pub(crate) fn clear(&mut self) {
        self.bounds.clear();
        self.lines.clear();
    }
}
