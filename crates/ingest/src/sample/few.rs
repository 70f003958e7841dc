//! A few short texts, which are told apart without a branch for each.

use std::hint::select_unpredictable;

use fearless_simd::Simd;

use super::same::Short;

/// The maximum number of texts: with more of them, looking one up in a table takes less.
const MOST: usize = 4;

/// The code of no text.
const NONE: u32 = u32::MAX;

/// Up to four texts of up to 64 bytes with their codes; none once there were more.
#[derive(Debug, Clone, Default)]
pub(super) struct Few {
    known: Vec<(Short, u32)>,
    are_many: bool,
}

impl Few {
    /// Adds a text, unless it is too long.
    pub(super) fn add(&mut self, text: &[u8], code: u32) {
        let Some(text) = Short::new(text).filter(|_| !self.are_many) else { return };
        if self.known.iter().any(|(known, _)| *known == text) {
            return;
        }
        if self.known.len() == MOST {
            self.known.clear();
            self.are_many = true;
            return;
        }
        self.known.push((text, code));
    }

    /// Removes all texts.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.are_many = false;
    }

    /// The code of the text that these bytes begin with and that has this length. `None` if it is not among the texts, or
    /// if fewer than 64 bytes are given.
    #[inline(always)]
    pub(super) fn code<S: Simd>(&self, simd: S, bytes: &[u8], length: usize) -> Option<u32> {
        let bytes = bytes.first_chunk()?;
        let mut code = NONE;
        for (known, of_known) in &self.known {
            let is_it = known.begins(simd, bytes) & (known.len() == length);
            // Which of them it is, no processor can foresee.
            code = select_unpredictable(is_it, *of_known, code);
        }
        (code != NONE).then_some(code)
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::*;

    const LONGEST: usize = Short::LONGEST;

    fn code(few: &Few, bytes: &[u8], length: usize) -> Option<u32> {
        dispatch!(Level::new(), simd => few.code(simd, bytes, length))
    }

    proptest! {
        #[test]
        fn texts_are_told_by_their_bytes_and_length(
            texts in prop::collection::vec("[a\0]{0,3}|a{62}[a\0]{0,4}", 1..9), wanted: prop::sample::Index,
            behind in 0..90_usize, fill in prop_oneof![Just(b'a'), Just(0)],
        ) {
            let mut few = Few::default();
            let mut known: Vec<&[u8]> = Vec::new();
            for text in texts.iter().map(String::as_bytes) {
                let at = known.iter().position(|other| *other == text).unwrap_or(known.len());
                known.extend((at == known.len() && text.len() <= LONGEST).then_some(text));
                few.add(text, at as u32);
            }
            let text = texts[wanted.index(texts.len())].as_bytes();
            let bytes = [text, &vec![fill; behind]].concat();
            let at = known.iter().position(|other| *other == text).filter(|_| known.len() <= MOST);
            let expected = at.filter(|_| bytes.len() >= LONGEST).map(|at| at as u32);
            prop_assert_eq!(code(&few, &bytes, text.len()), expected);
        }
    }

    #[test]
    fn texts_are_known_again_when_there_were_too_many() {
        let room = [b'a'; LONGEST];
        let mut few = Few::default();
        few.add(&[b'b'; LONGEST + 1], 9);
        (1..=MOST).for_each(|length| few.add(&room[..length], length as u32));
        // Neither one too long nor one that is known is another.
        few.add(&room[..1], 1);
        assert_eq!(
            [1, 2, MOST].map(|length| code(&few, &room, length)),
            [Some(1), Some(2), Some(MOST as u32)]
        );
        few.add(b"b", 7);
        few.add(b"a", 1);
        assert_eq!(code(&few, &room, 1), None);
        few.clear();
        few.add(b"a", 6);
        assert_eq!(code(&few, &room, 1), Some(6));
    }
}
