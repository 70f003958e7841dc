//! Determines what is between quotes, 64 bytes at a time.

use fearless_simd::Simd;

use super::scan::up_to_each;
use super::scan::{Marks, up_to_lowest};

/// The state of quotes between two steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotes {
    /// All bits if the step before ends within quotes, otherwise none.
    inside: u64,
    /// The lowest bit if a field or a quote ended with the last byte.
    field: u64,
    closed: u64,
}

/// What is between quotes in one step. Bit `i` of each mask is for byte `i`.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuoteMasks {
    /// The bytes between quotes, with the quote before them.
    pub(super) inside: u64,
    /// The quotes that open and close fields.
    pub(super) around: u64,
    /// The delimiters and line feeds that end fields.
    pub(super) ends: u64,
}

impl Quotes {
    /// The state at the first byte of a field.
    pub(super) const FIELD: Self = Self { inside: 0, field: 1, closed: 0 };

    /// The state before a byte that continues a field without quotes.
    pub(super) const TEXT: Self = Self { inside: 0, field: 0, closed: 0 };

    /// Advances by one step. A quote opens only at the beginning of a field. Two of them within a field are text, and one of
    /// the two counts as one that closes it. Outside quotes, any other quote is text.
    #[inline(always)]
    pub(super) fn advance<S: Simd>(&mut self, simd: S, marks: Marks) -> QuoteMasks {
        let mut quotes = marks.quotes;
        loop {
            let inside = up_to_each(simd, quotes) ^ self.inside;
            let (opening, closing) = (quotes & inside, quotes & !inside);
            let ends = (marks.delimiters | marks.feeds) & !inside;
            let again = opening & (closing << 1 | self.closed);
            let stray = opening & !again & !(ends << 1 | self.field);
            if stray == 0 {
                self.inside = (inside as i64 >> 63) as u64;
                (self.field, self.closed) = (ends >> 63, closing >> 63);
                return QuoteMasks { inside, around: quotes & !again, ends };
            }
            // The masks after a quote that is text are wrong.
            quotes &= !(stray & up_to_lowest(stray));
        }
    }
}

/// The state of quotes between two steps where each opens a field, closes one, or is doubled within one, as in the
/// output of CSV writers. It is computed faster than [`Quotes`].
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenQuotes {
    /// All bits if the step before ends within quotes, otherwise none.
    inside: u64,
    /// The lowest bit if a quote may follow the last byte, outside quotes.
    may_open: u64,
    /// Bits of quotes that are none of these.
    stray: u64,
}

impl WrittenQuotes {
    /// The state at the first byte of a field.
    pub(super) const FIELD: Self = Self { inside: 0, may_open: 1, stray: 0 };
}

/// A state of quotes between two steps.
pub(super) trait QuoteState: Copy {
    /// Advances by one step. Returns the bytes outside quotes: a quote that opens is not among them, one that closes is.
    fn outside<S: Simd>(&mut self, simd: S, marks: Marks) -> u64;

    /// Returns true within quotes.
    fn are_open(self) -> bool;

    /// Returns true if there were quotes of a kind that this state does not handle, so that its results may be wrong.
    fn has_stray(self) -> bool;
}

impl QuoteState for Quotes {
    #[inline(always)]
    fn outside<S: Simd>(&mut self, simd: S, marks: Marks) -> u64 {
        !self.advance(simd, marks).inside
    }

    #[inline(always)]
    fn are_open(self) -> bool {
        self.inside != 0
    }

    #[inline(always)]
    fn has_stray(self) -> bool {
        false
    }
}

impl QuoteState for WrittenQuotes {
    #[inline(always)]
    fn outside<S: Simd>(&mut self, simd: S, marks: Marks) -> u64 {
        let inside = up_to_each(simd, marks.quotes) ^ self.inside;
        let all = marks.all();
        self.stray |= marks.quotes & inside & !(all << 1 | self.may_open);
        (self.inside, self.may_open) = ((inside as i64 >> 63) as u64, all >> 63);
        !inside
    }

    #[inline(always)]
    fn are_open(self) -> bool {
        self.inside != 0
    }

    #[inline(always)]
    fn has_stray(self) -> bool {
        self.stray != 0
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::super::scan::STEP;
    use super::*;

    /// Determines byte by byte which are between quotes, which quotes are around fields, and what ends fields.
    fn expected(bytes: &[u8]) -> Vec<(bool, bool, bool)> {
        let (mut inside, mut start, mut closed) = (false, true, false);
        let states = bytes.iter().map(|byte| {
            let is_quote = *byte == b'"';
            let again = is_quote && closed;
            let opens = is_quote && !inside && (start || again);
            let closes = is_quote && inside;
            inside = opens || (inside && !closes);
            let ends = !inside && matches!(byte, b',' | b'\n');
            (start, closed) = (ends, closes);
            (inside, (opens && !again) || closes, ends)
        });
        states.collect()
    }

    proptest! {
        #[test]
        fn steps_tell_what_single_bytes_do(log in "([ab,]|\"\"|,\"|\n\"|\",|\"\n|\n|[a-z]{60,70}){0,60}|[a,\"\n]{0,300}") {
            let mut quotes = Quotes::FIELD;
            let mut found = Vec::new();
            for base in (0..log.len()).step_by(STEP) {
                let marks = dispatch!(Level::new(), simd => Marks::find(simd, log.as_bytes(), base, b','));
                let step = dispatch!(Level::new(), simd => quotes.advance(simd, marks));
                let is = |mask: u64, at: usize| mask >> at & 1 == 1;
                found.extend((0..STEP).map(|at| (is(step.inside, at), is(step.around, at), is(step.ends, at))));
                prop_assert_eq!(quotes.are_open(), is(step.inside, STEP - 1));
            }
            found.truncate(log.len());
            prop_assert_eq!(found, expected(log.as_bytes()));
        }

        #[test]
        fn quotes_of_writers_are_told_as_any(
            log in "((\"([a,\n]|\"\")*\"|[a-z]{0,70})[,\n]){0,40}|([ab,]|\"\"|,\"|\n\"|\",|\n|[a-z]{60,70}){0,60}|[a,\"\n]{0,300}",
        ) {
            let states = expected(log.as_bytes());
            // One that neither opens nor closes a field, nor is doubled, so that the results after it may be wrong.
            let stray = log.bytes().zip(&states).position(|(byte, (inside, around, _))| byte == b'"' && !inside && !around);
            let mut written = WrittenQuotes::FIELD;
            for base in (0..log.len()).step_by(STEP) {
                let marks = dispatch!(Level::new(), simd => Marks::find(simd, log.as_bytes(), base, b','));
                let outside = dispatch!(Level::new(), simd => written.outside(simd, marks));
                prop_assert_eq!(written.has_stray(), stray.is_some_and(|stray| stray < base + STEP));
                if written.has_stray() {
                    break;
                }
                for (at, states) in states.iter().enumerate().skip(base).take(STEP) {
                    prop_assert_eq!(outside >> (at - base) & 1 == 0, states.0, "{}", at);
                }
            }
        }
    }
}
