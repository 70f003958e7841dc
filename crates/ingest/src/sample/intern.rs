//! Texts that recur, each kept once.

use std::sync::Arc;

use hashbrown::HashSet;

/// Hands out the same text for equal texts, so that a million rows of a few texts hold few of them.
#[derive(Debug, Default)]
pub(crate) struct Shared(HashSet<Arc<str>>);

impl Shared {
    /// The one copy of a text.
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        Arc::clone(self.0.get_or_insert_with(text, |text| Arc::from(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let mut shared = Shared::default();
        let (one, other, third) = (shared.text("a"), shared.text("a"), shared.text("b"));
        assert!(Arc::ptr_eq(&one, &other) && !Arc::ptr_eq(&one, &third));
        assert_eq!((&*other, &*third), ("a", "b"));
    }
}
