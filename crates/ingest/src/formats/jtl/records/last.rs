//! Finds the end of the last record in a buffer.

use fearless_simd::{Level, Simd, dispatch};

use super::scan::{Marks, STEP, below_lowest, up_to_lowest};

/// The end of the last record in a buffer that begins with a record. `None` if no record ends in it.
pub(in crate::formats::jtl) fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut search = Search { bytes, delimiter, end: None, quoted: false, closed: usize::MAX };
    let mut at = 0;
    // Quotes stand close together, or far apart.
    while let Some(quote) = search.skip_plain(at) {
        at = dispatch!(Level::new(), simd => search.take_quotes(simd, quote));
    }
    search.end
}

/// A search for the last line feed outside quotes.
struct Search<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// The position behind the last one that was found.
    end: Option<usize>,
    /// True within quotes.
    quoted: bool,
    /// The position of the quote that was closed last.
    closed: usize,
}

impl Search<'_> {
    /// Takes the bytes from a position outside quotes up to the next quote, and returns its position.
    fn skip_plain(&mut self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        let quote = memchr::memchr(b'"', rest);
        let plain = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        if let Some(feed) = memchr::memrchr(b'\n', plain) {
            self.end = Some(at + feed + 1);
        }
        quote.map(|quote| at + quote)
    }

    /// Takes steps from a position on. Returns the position of the first one outside quotes that has none.
    #[inline(always)]
    fn take_quotes<S: Simd>(&mut self, simd: S, from: usize) -> usize {
        for base in (from..self.bytes.len()).step_by(STEP) {
            let marks = Marks::find(simd, self.bytes, base, self.delimiter);
            if marks.quotes == 0 && !self.quoted {
                return base;
            }
            self.step(base, marks);
        }
        self.bytes.len()
    }

    /// Takes one step.
    #[inline(always)]
    fn step(&mut self, base: usize, marks: Marks) {
        let (mut quotes, mut rest) = (marks.quotes, u64::MAX);
        loop {
            let feeds = marks.feeds & rest & below_lowest(quotes);
            if let Some(last) = feeds.checked_ilog2().filter(|_| !self.quoted) {
                self.end = Some(base + last as usize + 1);
            }
            if quotes == 0 {
                return;
            }
            self.quote(base + quotes.trailing_zeros() as usize);
            rest = !up_to_lowest(quotes);
            quotes &= quotes.wrapping_sub(1);
        }
    }

    /// Takes a quote. It opens a field at its beginning, and stands for itself elsewhere outside quotes, except behind one
    /// that closed a field, which is then not closed.
    #[inline(always)]
    fn quote(&mut self, at: usize) {
        if self.quoted {
            (self.quoted, self.closed) = (false, at);
            return;
        }
        let previous = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        self.quoted = previous.is_none_or(|byte| *byte == self.delimiter || *byte == b'\n')
            || at == self.closed.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::Records;
    use super::*;

    /// The end of the last record that ends in a line feed, read one by one.
    fn expected(bytes: &[u8]) -> Option<usize> {
        let (mut records, mut end) = (Records::new(bytes, b','), None);
        while let Some(record) = records.next() {
            let open = record.open;
            let behind = records.position().0;
            if !open && bytes.get(behind.wrapping_sub(1)) == Some(&b'\n') {
                end = Some(behind);
            }
        }
        end
    }

    proptest! {
        #[test]
        fn last_end_is_that_of_the_records(
            log in "([ab,]|\"\"|,\"|\n\"|\",|\"\n|\n|[a-z]{60,70}){0,60}|[a,\"\n]{0,300}",
        ) {
            prop_assert_eq!(last_record_end(log.as_bytes(), b','), expected(log.as_bytes()), "{:?}", log);
        }
    }
}
