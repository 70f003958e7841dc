//! Finds the bytes that give a CSV log its structure: delimiters, quotes and line feeds, 64 bytes at a step.

use wide::u8x16;

/// The width of one step.
const STEP: usize = 64;

/// Walks over the positions of a delimiter, a quote and the line feed in a block.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    wanted: [u8x16; 3],
    /// Where the current step begins.
    base: usize,
    /// Bit `i` is set where `base + i` is still to be handed out.
    mask: u64,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of a block.
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let wanted = [delimiter, b'"', b'\n'].map(u8x16::splat);
        let mut scanner = Self { bytes, wanted, base: 0, mask: 0 };
        scanner.mask = scanner.classify();
        scanner
    }

    /// The next position, ascending, or `None` at the end of the block.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            self.base += STEP;
            if self.base >= self.bytes.len() {
                self.base = self.bytes.len();
                return None;
            }
            self.mask = self.classify();
        }
        let at = self.base + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(at)
    }

    /// Goes on at a position, forwards or back.
    pub(crate) fn seek(&mut self, position: usize) {
        self.base = position.min(self.bytes.len());
        self.mask = self.classify();
    }

    /// Bit `i` for each wanted byte `base + i`.
    #[inline]
    fn classify(&self) -> u64 {
        let rest = self.bytes.get(self.base..).unwrap_or_default();
        match rest.first_chunk::<STEP>() {
            Some(step) => self.bits(step),
            None => {
                // Zero is none of the wanted bytes, so the padding adds nothing.
                let mut step = [0; STEP];
                step[..rest.len()].copy_from_slice(rest);
                self.bits(&step)
            }
        }
    }

    #[inline]
    fn bits(&self, step: &[u8; STEP]) -> u64 {
        let mut bits = 0;
        for (lane, bytes) in step.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            let [delimiter, quote, feed] = self.wanted.map(|wanted| bytes.simd_eq(wanted));
            bits |= u64::from((delimiter | quote | feed).to_bitmask()) << (16 * lane);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_loop_finds(
            bytes in proptest::collection::vec(prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), any::<u8>()], 0..300),
            seek in 0usize..320,
        ) {
            let plain = |from: usize| -> Vec<usize> {
                (from..bytes.len()).filter(|i| matches!(bytes[*i], b',' | b'"' | b'\n')).collect()
            };
            let mut scanner = Scanner::new(&bytes, b',');
            prop_assert_eq!(std::iter::from_fn(|| scanner.next()).collect::<Vec<_>>(), plain(0));
            scanner.seek(seek);
            prop_assert_eq!(std::iter::from_fn(|| scanner.next()).collect::<Vec<_>>(), plain(seek));
        }
    }
}
