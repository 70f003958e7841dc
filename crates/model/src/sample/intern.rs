//! Interners: each distinct text is kept once.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};

use super::short_text::same;
use super::text_list::TextList;

/// Distinct texts, numbered in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    texts: TextList,
    /// The numbers, hashed by their texts.
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The number of a text, or `None` if it is unknown.
    #[inline]
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.by_text.find(hash, |number| self.is(*number, text)).copied()
    }

    /// The number of a text, which is added if it is unknown.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.find(text.as_bytes()) {
            return number;
        }
        let number = self.texts.len() as u32;
        let hash = self.hasher.hash_one(text.as_bytes());
        self.texts.push(text);
        let (texts, hasher) = (&self.texts, &self.hasher);
        let rehash =
            |number: &u32| hasher.hash_one(texts.get(*number as usize).map_or(&[][..], str::as_bytes));
        self.by_text.insert_unique(hash, number, rehash);
        number
    }

    /// Returns true if `number` is the number of `text`.
    #[inline]
    pub fn is(&self, number: u32, text: &[u8]) -> bool {
        self.texts.get(number as usize).is_some_and(|known| same(known.as_bytes(), text))
    }

    /// The texts, indexed by number.
    #[inline]
    pub fn texts(&self) -> &TextList {
        &self.texts
    }

    /// Returns the texts, indexed by number.
    pub fn into_texts(self) -> TextList {
        self.texts
    }

    /// The texts, indexed by number. Changes must keep them distinct.
    pub fn texts_mut(&mut self) -> &mut TextList {
        &mut self.texts
    }

    /// Removes all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.by_text.clear();
    }
}

/// Returns the same `Arc` for equal texts, so that a million rows with a few distinct texts need little memory. Unlike
/// a number from [`Interner`], the text outlives the interner.
#[derive(Debug, Default)]
pub struct Shared {
    texts: HashSet<Arc<str>>,
    bytes: usize,
}

impl Shared {
    /// Returns the shared copy of a text.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        let bytes = &mut self.bytes;
        Arc::clone(self.texts.get_or_insert_with(text, |text| {
            *bytes += text.len();
            Arc::from(text)
        }))
    }

    /// Keeps a text that is shared already.
    pub fn take(&mut self, text: &Arc<str>) {
        if self.texts.insert(Arc::clone(text)) {
            self.bytes += text.len();
        }
    }

    /// The number of the texts, and their size in bytes.
    pub fn sizes(&self) -> (usize, usize) {
        (self.texts.len(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_as_they_come() {
        let mut texts = Interner::default();
        let numbers = ["b", "", "a", "b"].map(|text| texts.number(text));
        assert_eq!(numbers, [0, 1, 2, 0]);
        assert_eq!(texts.texts().iter().collect::<Vec<_>>(), ["b", "", "a"]);
        assert_eq!((texts.find(b"a"), texts.find(b"c")), (Some(2), None));
        texts.clear();
        assert_eq!((texts.find(b"a"), texts.number("c")), (None, 0));
    }

    #[test]
    fn equal_texts_are_one() {
        let mut shared = Shared::default();
        let (one, other, third) = (shared.text("a"), shared.text("a"), shared.text("b"));
        assert!(Arc::ptr_eq(&one, &other) && !Arc::ptr_eq(&one, &third));
        assert_eq!((&*other, &*third), ("a", "b"));
    }
}
