//! Finds the end of the last record in a buffer.

use fearless_simd::{Level, Simd, dispatch};

use super::quotes::{QuoteState, Quotes, WrittenQuotes};
use super::scan::{Marks, STEP, StepScan, go_through};
use crate::work_count;

/// The end of the last record in a buffer that begins with a record. `None` if no record ends in it.
pub(crate) fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut search = EndSearch { bytes, delimiter, end: None };
    let mut at = 0;
    // Quotes come in clusters, with long stretches without any between.
    while let Some(quote) = search.skip_plain(at) {
        at = dispatch!(Level::new(), simd => search.search_quotes(simd, quote));
    }
    search.end
}

/// The number of steps without quotes after which the search continues faster, from the last of them.
const QUIET: usize = 8;

/// A search for the last line feed outside quotes.
struct EndSearch<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// The position after the last one that was found.
    end: Option<usize>,
}

impl EndSearch<'_> {
    /// Searches from a position outside quotes up to the next quote, and returns its position.
    fn skip_plain(&mut self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        let quote = memchr::memchr(b'"', rest);
        work_count::count(quote.unwrap_or(rest.len()));
        let plain = rest.get(..quote.unwrap_or(rest.len())).unwrap_or_default();
        if let Some(feed) = memchr::memrchr(b'\n', plain) {
            self.end = Some(at + feed + 1);
        }
        quote.map(|quote| at + quote)
    }

    /// Searches step by step from a quote on. Returns the position of a step outside quotes, after some without any.
    #[inline(always)]
    fn search_quotes<S: Simd>(&mut self, simd: S, quote: usize) -> usize {
        let previous = quote.checked_sub(1).and_then(|before| self.bytes.get(before));
        let opens = previous.is_none_or(|byte| *byte == self.delimiter || *byte == b'\n');
        let written = opens.then(|| self.go_through(simd, quote, WrittenQuotes::FIELD));
        let (feed, end) = match written.filter(|written| !written.quotes.has_stray()) {
            Some(written) => written.result(),
            None => {
                let before = if opens { Quotes::FIELD } else { Quotes::TEXT };
                self.go_through(simd, quote, before).result()
            }
        };
        if let Some(feed) = feed {
            self.end = Some(feed + 1);
        }
        end
    }

    /// Searches step by step from a quote outside quotes on, before which there is none in the field.
    #[inline(always)]
    fn go_through<S: Simd, Q: QuoteState>(&self, simd: S, quote: usize, quotes: Q) -> AmongQuotes<Q> {
        let end = self.bytes.len();
        let mut among = AmongQuotes { quotes, steps: 0, found: 0, feeds: 0, at: 0, end };
        go_through(simd, (self.bytes, self.delimiter), quote, &mut among);
        among
    }
}

/// A search where quotes are dense.
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
    fn result(&self) -> (Option<usize>, usize) {
        (self.feeds.checked_ilog2().map(|last| self.at + last as usize), self.end)
    }
}

impl<Q: QuoteState> StepScan for AmongQuotes<Q> {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, (_, at): (&[u8; STEP], usize), marks: Marks) -> bool {
        let feeds = marks.feeds & self.quotes.outside(simd, marks);
        (self.feeds, self.at) = if feeds == 0 { (self.feeds, self.at) } else { (feeds, at) };
        // No processor can predict whether a single step has quotes.
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
        while let Some(record) = records.next_record() {
            let open = record.open;
            let after = records.position().0;
            if !open && bytes.get(after.wrapping_sub(1)) == Some(&b'\n') {
                end = Some(after);
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
