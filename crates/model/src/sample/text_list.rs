//! A list of texts in one allocation.

/// A list of texts, stored one after the other in one allocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextList {
    texts: String,
    /// The end of each text, as a byte offset.
    ends: Vec<usize>,
}

impl TextList {
    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
    }

    /// The text at an index, or `None` beyond the end.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let begin = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.texts.get(begin.unwrap_or_default()..end)
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over the texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number).unwrap_or_default())
    }

    /// The total bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.texts.len()
    }

    /// Empties the list and keeps its memory.
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
