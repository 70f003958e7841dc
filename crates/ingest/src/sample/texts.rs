//! Texts one behind another, and columns of them.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::reserved::set_apart;

/// Texts by their numbers, one behind another in one piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextList {
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl TextList {
    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
    }

    /// The text of a number, or `None` beyond the end.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let begin = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.texts.get(begin.unwrap_or_default()..end)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number).unwrap_or_default())
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.texts.len()
    }

    /// Empties the list, keeping its memory.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut list = Self::default();
        texts.into_iter().for_each(|text| list.push(text.as_ref()));
        list
    }
}

/// A column of texts, each distinct one kept once and named by a code.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    codes: Vec<u32>,
    values: TextList,
    /// The codes, by the hash of their texts.
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The code that was looked up last, if any.
    last: Option<u32>,
}

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

    /// Appends an absence.
    #[inline]
    pub fn push_null(&mut self) {
        self.codes.push(Self::NULL);
    }

    /// The code of a text, without appending it.
    #[inline]
    pub fn code(&mut self, text: &[u8]) -> u32 {
        match self.last.filter(|last| is_text(&self.values, *last, text)) {
            Some(last) => last,
            None => self.look_up(text),
        }
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let code = match self.find(text) {
            Some(code) => code,
            None => self.add(clean_text(text)),
        };
        self.last = Some(code);
        code
    }

    fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.by_text.find(hash, |code| is_text(&self.values, *code, text)).copied()
    }

    /// Adds a text that may be there already, since different bytes can come to the same text.
    fn add(&mut self, text: String) -> u32 {
        if let Some(code) = self.find(text.as_bytes()) {
            return code;
        }
        let code = self.values.len() as u32;
        let hash = self.hasher.hash_one(text.as_bytes());
        self.values.push(&text);
        let (values, hasher) = (&self.values, &self.hasher);
        let rehash = |code: &u32| hasher.hash_one(values.get(*code as usize).map_or(&[][..], str::as_bytes));
        self.by_text.insert_unique(hash, code, rehash);
        code
    }

    /// Bytes of the distinct texts.
    pub(crate) fn bytes(&self) -> usize {
        self.values.bytes()
    }

    /// Appends a code got from [`Texts::code`].
    #[inline]
    pub fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// The text of a row, or `None` where it is absent or beyond the end.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.value(*self.codes.get(row)?)
    }

    /// The text of a code, or `None` for [`Texts::NULL`].
    pub fn value(&self, code: u32) -> Option<&str> {
        self.values.get(code as usize)
    }

    /// A code a row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The distinct texts, by code.
    pub fn values(&self) -> &TextList {
        &self.values
    }

    /// The distinct texts, by code; the column keeps the codes only, until it is cleared.
    pub(crate) fn take_values(&mut self) -> TextList {
        std::mem::take(&mut self.values)
    }

    /// Sets the texts apart from one that has a meaning of its own.
    pub(crate) fn set_apart(&mut self, reserved: &str) {
        if self.values.iter().any(|value| matches!(set_apart(value, reserved), Cow::Owned(_))) {
            self.values = self.values.iter().map(|value| set_apart(value, reserved)).collect();
        }
    }

    /// The same column, of these rows only.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut texts = Self::default();
        for row in rows {
            match self.get(*row) {
                Some(text) => texts.push(text.as_bytes()),
                None => texts.push_null(),
            }
        }
        texts
    }

    /// Empties the column.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.values.clear();
        self.by_text.clear();
        self.last = None;
    }
}

/// Whether a code is that of a text.
#[inline]
fn is_text(values: &TextList, code: u32, text: &[u8]) -> bool {
    values.get(code as usize).is_some_and(|value| value.as_bytes() == text)
}

/// A text as the stores can hold it: UTF-8 without NUL, U+FFFD in the place of what is not.
pub fn clean_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
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
}
