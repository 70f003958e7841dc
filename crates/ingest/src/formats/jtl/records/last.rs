//! Finds the end of the last record in a buffer.

use fearless_simd::{Level, Simd, dispatch};

use super::quotes::{Between, Quotes, Written};
use super::scan::{Marks, STEP, Scan, go_through};
use crate::formats::steps;

/// The end of the last record in a buffer that begins with a record. `None` if no record ends in it.
pub(in crate::formats::jtl) fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut search = Search { bytes, delimiter, end: None };
    let mut at = 0;
    // Quotes stand close together, or far apart.
    while let Some(quote) = search.skip_plain(at) {
        at = dispatch!(Level::new(), simd => search.take_quotes(simd, quote));
    }
    search.end
}

/// The number of steps after which, if none of them has quotes, the search goes on faster, with the last of them.
const QUIET: usize = 8;

/// A search for the last line feed outside quotes.
struct Search<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// The position behind the last one that was found.
    end: Option<usize>,
}

impl Search<'_> {
    /// Takes the bytes from a position outside quotes up to the next quote, and returns its position.
    fn skip_plain(&mut self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        let quote = memchr::memchr(b'"', rest);
        steps::count(quote.unwrap_or(rest.len()));
        let plain = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        if let Some(feed) = memchr::memrchr(b'\n', plain) {
            self.end = Some(at + feed + 1);
        }
        quote.map(|quote| at + quote)
    }

    /// Takes steps from a quote on. Returns the position of one outside quotes behind some that have none.
    #[inline(always)]
    fn take_quotes<S: Simd>(&mut self, simd: S, quote: usize) -> usize {
        let previous = quote.checked_sub(1).and_then(|before| self.bytes.get(before));
        let opens = previous.is_none_or(|byte| *byte == self.delimiter || *byte == b'\n');
        let written = opens.then(|| self.go_through(simd, quote, Written::FIELD));
        let (feed, end) = match written.filter(|written| !written.quotes.has_stray()) {
            Some(written) => written.told(),
            None => {
                let before = if opens { Quotes::FIELD } else { Quotes::TEXT };
                self.go_through(simd, quote, before).told()
            }
        };
        if let Some(feed) = feed {
            self.end = Some(feed + 1);
        }
        end
    }

    /// Takes steps from a quote outside quotes on, before which there is none in the field.
    #[inline(always)]
    fn go_through<S: Simd, Q: Between>(&self, simd: S, quote: usize, quotes: Q) -> AmongQuotes<Q> {
        let end = self.bytes.len();
        let mut among = AmongQuotes { quotes, steps: 0, found: 0, feeds: 0, at: 0, end };
        go_through(simd, (self.bytes, self.delimiter), quote, &mut among);
        among
    }
}

/// A search where quotes are close together.
struct AmongQuotes<Q> {
    quotes: Q,
    /// The number of steps, and the bits of quotes since it was last a multiple of [`QUIET`].
    steps: usize,
    found: u64,
    /// The line feeds outside quotes in the last step that has some, and its position.
    feeds: u64,
    at: usize,
    /// The position at which the search ended.
    end: usize,
}

impl<Q> AmongQuotes<Q> {
    /// The position of the last line feed outside quotes, if there is one, and that at which the search ended.
    fn told(&self) -> (Option<usize>, usize) {
        (self.feeds.checked_ilog2().map(|last| self.at + last as usize), self.end)
    }
}

impl<Q: Between> Scan for AmongQuotes<Q> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, (_, at): (&[u8; STEP], usize), marks: Marks) -> bool {
        let feeds = marks.feeds & self.quotes.outside(simd, marks);
        (self.feeds, self.at) = if feeds == 0 { (self.feeds, self.at) } else { (feeds, at) };
        // Whether a single step has quotes, no processor can foresee.
        self.found |= marks.quotes;
        self.steps += 1;
        if self.steps.is_multiple_of(QUIET) {
            if self.quotes.has_stray() {
                return false;
            }
            if self.found == 0 && !self.quotes.are_open() {
                self.end = at;
                return false;
            }
            self.found = 0;
        }
        true
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
            log in "([ab,]|\"\"|,\"|\n\"|\",|\"\n|\n|[a-z]{60,70}|[a-z,]{600}){0,60}|[a,\"\n]{0,300}",
        ) {
            prop_assert_eq!(last_record_end(log.as_bytes(), b','), expected(log.as_bytes()), "{:?}", log);
        }
    }
}
