//! Finds the structural bytes of a CSV log: delimiters, quotes and line feeds, 64 bytes at a time.

use wide::u8x16;

/// The number of bytes in one step.
const STEP: usize = 64;

/// Iterates over the delimiters of a block, from one quote or line feed to the next.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    delimiter: u8x16,
    /// The offset of the current step.
    base: usize,
    /// Bit `i` is set if `base + i` is a delimiter that was not reported yet.
    delimiters: u64,
    /// Bit `i` is set if `base + i` is a quote or a line feed that was not reported yet.
    stops: u64,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the start of a block.
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let delimiter = u8x16::splat(delimiter);
        let mut scanner = Self { bytes, delimiter, base: 0, delimiters: 0, stops: 0 };
        scanner.classify();
        scanner
    }

    /// Calls `each` with the position of every delimiter up to the next quote or line feed, ascending. Returns the
    /// position of the latter, or `None` at the end of the block.
    #[inline]
    pub(crate) fn next_stop(&mut self, mut each: impl FnMut(usize)) -> Option<usize> {
        loop {
            // All bits below the lowest stop; all bits if there is no stop.
            let before = self.stops.wrapping_sub(1) & !self.stops;
            let mut delimiters = self.delimiters & before;
            while delimiters != 0 {
                // Neither operation wraps: positions fit in usize, and the mask is not 0.
                each(self.base.wrapping_add(delimiters.trailing_zeros() as usize));
                delimiters &= delimiters.wrapping_sub(1);
            }
            self.delimiters &= !before;
            if self.stops != 0 {
                let at = self.base.wrapping_add(self.stops.trailing_zeros() as usize);
                self.stops &= self.stops.wrapping_sub(1);
                return Some(at);
            }
            self.base += STEP;
            if self.base >= self.bytes.len() {
                self.base = self.bytes.len();
                return None;
            }
            self.classify();
        }
    }

    /// Continues at a position, forwards or backwards.
    pub(crate) fn seek(&mut self, position: usize) {
        self.base = position.min(self.bytes.len());
        self.classify();
    }

    /// Finds the structural bytes of the step at `base`.
    #[inline]
    fn classify(&mut self) {
        let rest = self.bytes.get(self.base..).unwrap_or_default();
        (self.delimiters, self.stops) = match rest.first_chunk::<STEP>() {
            Some(step) => self.bits(step),
            None => {
                let mut step = [0; STEP];
                step.iter_mut().zip(rest).for_each(|(into, from)| *into = *from);
                let (delimiters, stops) = self.bits(&step);
                // The delimiter may be the zero byte, so mask out the padding.
                (delimiters & !(u64::MAX << rest.len()), stops)
            }
        };
    }

    /// Returns a bit mask of delimiters, and one of quotes and line feeds.
    #[inline]
    fn bits(&self, step: &[u8; STEP]) -> (u64, u64) {
        let (quote, feed) = (u8x16::splat(b'"'), u8x16::splat(b'\n'));
        let (mut delimiters, mut stops) = (0, 0);
        for (lane, bytes) in step.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            let stop = bytes.simd_eq(quote) | bytes.simd_eq(feed);
            delimiters |= u64::from(bytes.simd_eq(self.delimiter).to_bitmask()) << (16 * lane);
            stops |= u64::from(stop.to_bitmask()) << (16 * lane);
        }
        (delimiters, stops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All positions of delimiters, and all positions of stops.
    fn positions(scanner: &mut Scanner<'_>) -> (Vec<usize>, Vec<usize>) {
        let (mut delimiters, mut stops) = (Vec::new(), Vec::new());
        while let Some(stop) = scanner.next_stop(|at| delimiters.push(at)) {
            assert!(delimiters.iter().all(|at| *at < stop), "a delimiter behind the stop");
            stops.push(stop);
        }
        (delimiters, stops)
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_loop_finds(
            bytes in proptest::collection::vec(prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), any::<u8>()], 0..300),
            seek in 0usize..320, delimiter in prop_oneof![Just(b','), Just(0)],
        ) {
            let plain = |from: usize, wanted: &[u8]| -> Vec<usize> {
                (from..bytes.len()).filter(|i| wanted.contains(&bytes[*i])).collect()
            };
            let mut scanner = Scanner::new(&bytes, delimiter);
            for from in [0, seek] {
                scanner.seek(from);
                let expected = (plain(from, &[delimiter]), plain(from, b"\"\n"));
                prop_assert_eq!(positions(&mut scanner), expected);
            }
        }
    }
}
