//! Texts one behind another.

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
