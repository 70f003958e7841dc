//! Dictionary columns of texts, with a branch-free lookup among a few short ones.

use std::borrow::Cow;
use std::hint::select_unpredictable;

use fearless_simd::{Level, Simd, dispatch};

use super::intern::Interner;
use super::reserved::set_apart;
use super::short_text::{Short, same};
use super::text_list::TextList;

/// A dictionary column of texts: each distinct text is stored once, and each row contains its code.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    codes: Vec<u32>,
    /// The distinct texts, indexed by code.
    values: Interner,
    /// Those that rows were extended by, if they are few.
    few: Few,
    /// Recent lookups, by [`TextEnds::slot`]; empty before the first one.
    recent: Vec<Known>,
    /// The number of times that they were forgotten.
    epoch: u32,
}

/// A text that was looked up, and its code.
#[derive(Debug, Clone, Copy)]
struct Known {
    ends: TextEnds,
    code: u32,
    /// The epoch of the lookup. Those of other epochs are forgotten.
    epoch: u32,
}

/// The length of a text and its ends, 8 bytes each or less where it is shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextEnds {
    length: usize,
    first: u64,
    last: u64,
}

impl TextEnds {
    /// The most bytes of a text that is identified by its ends alone.
    const WHOLE: usize = 16;

    #[inline]
    fn of(text: &[u8]) -> Self {
        let (first, last) = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => Self::of_few(text),
        };
        Self { length: text.len(), first, last }
    }

    /// The ends of less than 8 bytes.
    #[inline]
    fn of_few(text: &[u8]) -> (u64, u64) {
        match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
            }
            _ => {
                // Of up to three bytes, each is one of these.
                let at = |at: usize| text.get(at).copied().unwrap_or_default();
                let all = [at(0), at(text.len() / 2), at(text.len().saturating_sub(1)), 0];
                (u32::from_le_bytes(all).into(), 0)
            }
        }
    }

    /// The place of a text among the recent lookups. Texts that share a place only cost time.
    #[inline]
    fn slot(self) -> usize {
        let mixed =
            (self.first ^ self.last.rotate_left(13) ^ self.length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 55) as usize % RECENT
    }
}

/// The first two of some texts, which are not looked up again: often there are no others.
#[derive(Default)]
pub struct Turns<'a> {
    first: TextTurn<'a>,
    second: TextTurn<'a>,
    /// True if there are others, or if the two have the same ends.
    are_many: bool,
}

/// A text with its ends and its code.
#[derive(Clone, Copy)]
struct TextTurn<'a> {
    ends: TextEnds,
    text: &'a [u8],
    code: u32,
}

impl Default for TextTurn<'_> {
    /// What no text is.
    fn default() -> Self {
        Self { ends: TextEnds { length: usize::MAX, first: 0, last: 0 }, text: &[], code: Texts::NULL }
    }
}

impl<'a> Turns<'a> {
    /// Does what [`Texts::code`] does. All texts must be of one column, which keeps its distinct texts meanwhile.
    #[inline]
    pub fn code(&mut self, texts: &mut Texts, text: &'a [u8]) -> u32 {
        if self.are_many {
            return texts.code(text);
        }
        let ends = TextEnds::of(text);
        let is_first = ends == self.first.ends;
        // Which of the two it is, no processor can foresee.
        let code = select_unpredictable(is_first, self.first.code, self.second.code);
        let known = select_unpredictable(is_first, self.first.text, self.second.text);
        if (is_first | (ends == self.second.ends)) && (text.len() <= TextEnds::WHOLE || same(known, text)) {
            return code;
        }
        let code = texts.code(text);
        self.keep(TextTurn { ends, text, code });
        code
    }

    #[cold]
    fn keep(&mut self, turn: TextTurn<'a>) {
        match (self.first.code, self.second.code) {
            (Texts::NULL, _) => self.first = turn,
            (_, Texts::NULL) => self.second = turn,
            _ => self.are_many = true,
        }
    }
}

/// The number of recent lookups that are kept: enough that few of a test's labels share a place.
const RECENT: usize = 512;

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len()
            && (0..self.codes.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Texts {
    /// The code of an absent text.
    pub const NULL: u32 = u32::MAX;

    /// Appends a text as logged. Bytes that are not UTF-8, and NUL, become U+FFFD.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        let code = self.code(text);
        self.codes.push(code);
    }

    /// Appends an absent text.
    #[inline]
    pub fn push_null(&mut self) {
        self.codes.push(Self::NULL);
    }

    /// Appends `n` absent texts.
    pub fn push_nulls(&mut self, n: usize) {
        self.push_run(Self::NULL, n);
    }

    /// Appends `n` rows with a code from [`Texts::code`], or [`Texts::NULL`].
    pub fn push_run(&mut self, code: u32, n: usize) {
        self.codes.resize(self.codes.len() + n, code);
    }

    /// Appends texts as logged. Each is the beginning, of this length, of the bytes.
    pub fn extend<'a>(&mut self, texts: impl Iterator<Item = (&'a [u8], usize)>) {
        dispatch!(Level::new(), simd => self.extend_by(simd, texts));
    }

    #[inline(always)]
    fn extend_by<'a, S: Simd>(&mut self, simd: S, texts: impl Iterator<Item = (&'a [u8], usize)>) {
        for (bytes, length) in texts {
            let code = match self.few.code(simd, bytes, length) {
                Some(code) => code,
                None => self.code_of_other(bytes.get(..length).unwrap_or_default()),
            };
            self.codes.push(code);
        }
    }

    /// The code of a text that may not be among the few yet.
    #[inline]
    fn code_of_other(&mut self, text: &[u8]) -> u32 {
        let code = self.code(text);
        self.few.add(text, code);
        code
    }

    /// Returns the code of a text and adds the text to the dictionary if needed, without appending a row.
    #[inline]
    pub fn code(&mut self, text: &[u8]) -> u32 {
        let ends = TextEnds::of(text);
        match self.recent.get(ends.slot()) {
            Some(known) if self.is(*known, ends, text) => known.code,
            _ => self.search(ends, text),
        }
    }

    /// Returns true if `known` is `text`, which has these ends.
    #[inline]
    fn is(&self, known: Known, ends: TextEnds, text: &[u8]) -> bool {
        (known.ends == ends) & (known.epoch == self.epoch)
            && (text.len() <= TextEnds::WHOLE || self.values.is(known.code, text))
    }

    /// Looks a text up among all, and keeps it among the recent ones.
    #[inline(never)]
    fn search(&mut self, ends: TextEnds, text: &[u8]) -> u32 {
        // Different invalid bytes can clean to the same text.
        let code = self.values.find(text).unwrap_or_else(|| self.values.number(&clean_text(text)));
        let known = Known { ends, code, epoch: self.epoch };
        if self.recent.is_empty() {
            self.recent.resize(RECENT, Known { epoch: self.epoch.wrapping_sub(1), ..known });
        }
        if let Some(recent) = self.recent.get_mut(ends.slot()) {
            *recent = known;
        }
        code
    }

    /// Forgets the few texts and the recent lookups, since their codes may be those of other texts.
    fn forget(&mut self) {
        self.few.clear();
        self.epoch = self.epoch.wrapping_add(1);
        // What was looked up as many epochs ago must not be found.
        if self.epoch == 0 {
            self.recent.clear();
        }
    }

    /// The number of bytes of the distinct texts.
    pub fn bytes(&self) -> usize {
        self.values.texts().bytes()
    }

    /// Appends a row with a code from [`Texts::code`].
    #[inline]
    pub fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// The text of a row, or `None` if it is absent or the row does not exist.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.value(*self.codes.get(row)?)
    }

    /// The text of a code, or `None` for [`Texts::NULL`] and unknown codes.
    pub fn value(&self, code: u32) -> Option<&str> {
        self.values.texts().get(code as usize)
    }

    /// The codes, one for each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The distinct texts, indexed by code.
    pub fn values(&self) -> &TextList {
        self.values.texts()
    }

    /// Removes and returns the distinct texts, indexed by code. The column keeps only the codes until it is cleared.
    pub fn take_values(&mut self) -> TextList {
        self.forget();
        std::mem::take(self.values.texts_mut())
    }

    /// Renames texts that equal the `reserved` one, see [`set_apart`].
    pub fn set_apart(&mut self, reserved: &str) {
        self.forget();
        let texts = self.values.texts_mut();
        if texts.iter().any(|value| matches!(set_apart(value, reserved), Cow::Owned(_))) {
            *texts = texts.iter().map(|value| set_apart(value, reserved)).collect();
        }
    }

    /// Returns a column of the given rows only.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut texts = Self::default();
        for row in rows {
            match self.get(*row) {
                Some(text) => texts.push(text.as_bytes()),
                None => texts.push_null(),
            }
        }
        texts
    }

    /// Removes all rows and texts.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.values.clear();
        self.forget();
    }
}

/// Converts a text to what the stores can store: UTF-8 without NUL. Every invalid part becomes U+FFFD.
pub fn clean_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text.into_owned() }
}

/// The maximum number of texts: with more of them, looking one up in a table takes less.
const MOST: usize = 4;

/// The code of no text.
const NONE: u32 = u32::MAX;

/// Up to four texts of up to 64 bytes with their codes; none once there were more.
#[derive(Debug, Clone, Default)]
struct Few {
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

    #[test]
    fn texts_share_codes_and_replace_what_is_not_text() {
        let mut texts = Texts::default();
        for text in [&b"a"[..], b"b", b"a", b"\xff\0", b"\0\xfe"] {
            texts.push(text);
        }
        texts.push_null();
        assert_eq!(texts.codes(), [0, 1, 0, 2, 2, Texts::NULL]);
        assert_eq!(texts.bytes(), 8);
        assert_eq!(texts.get(3), Some("\u{FFFD}\u{FFFD}"));
        assert_eq!(texts.get(5), None);
    }

    #[test]
    fn texts_that_were_taken_have_new_codes() {
        // The last epoch before the number of epochs wraps around.
        let mut texts = Texts { epoch: u32::MAX - 1, ..Texts::default() };
        for order in [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]] {
            assert_eq!(order.map(|text| texts.code(text.as_bytes())), [0, 1]);
            texts.clear();
        }
    }

    proptest! {
        #[test]
        fn texts_have_the_codes_of_a_map(
            pushed in proptest::collection::vec("[ab]{0,10}|a{7}[ab]{0,4}a{7}|\\PC{0,3}", 0..100),
            kinds in 1..100_usize,
        ) {
            let pushed: Vec<&String> = pushed.iter().take(kinds).cycle().take(pushed.len()).collect();
            let mut known = Vec::new();
            let mut texts = Texts::default();
            for text in &pushed {
                let code = known.iter().position(|other| other == *text).unwrap_or(known.len());
                known.extend((code == known.len()).then(|| (*text).clone()));
                prop_assert_eq!(texts.code(text.as_bytes()), code as u32, "{}", text);
            }
            let mut others = Texts::default();
            let mut turns = Turns::default();
            for text in &pushed {
                prop_assert_eq!(turns.code(&mut others, text.as_bytes()), texts.code(text.as_bytes()));
            }
            prop_assert_eq!(others.values(), texts.values());
            prop_assert!(texts.values().iter().eq(known.iter().map(String::as_str)));
        }

        #[test]
        fn columns_are_extended_as_texts_are_pushed(
            batches in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 0..20), 0..4_u8), 0..5),
            kinds in prop::collection::vec(bytes(), 1..7), behind in 0..70_usize,
        ) {
            let (mut pushed, mut extended) = (Texts::default(), Texts::default());
            for (rows, then) in batches {
                let rows: Vec<&Vec<u8>> = rows.iter().map(|row| &kinds[row.index(kinds.len())]).collect();
                let all = [rows.iter().copied().flatten().copied().collect(), vec![0; behind]].concat();
                let mut at = 0;
                extended.extend(rows.iter().map(|text| {
                    at += text.len();
                    (&all[at - text.len()..], text.len())
                }));
                rows.iter().for_each(|text| pushed.push(text));
                prop_assert_eq!(extended.codes(), pushed.codes());
                prop_assert_eq!(extended.values(), pushed.values());
                for texts in [&mut pushed, &mut extended] {
                    match then {
                        0 => texts.clear(),
                        1 => {
                            texts.take_values();
                            texts.clear();
                        }
                        2 => texts.set_apart("a"),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Texts as logged, some of which are equal once cleaned.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let long = (62..67_usize, any::<bool>()).prop_map(|(length, other)| {
            let mut text = vec![b'a'; length];
            text[length / 2] += u8::from(other);
            text
        });
        let few = prop::collection::vec(prop::sample::select(&b"a\xff\xfe\0"[..]), 0..4);
        prop_oneof![few, Just(b"a".to_vec()), long]
    }

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
