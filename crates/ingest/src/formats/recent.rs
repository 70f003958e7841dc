//! Caches values by a few recent keys.

/// A direct-mapped cache of values by recent keys, indexed by four bytes of the key. Injectors alternate in no
/// predictable order, so comparing one key after another would cost a mispredicted branch for every other sample.
#[derive(Debug, Clone)]
pub(super) struct Recent<T> {
    all: Vec<(Vec<u8>, T)>,
    /// The index of the key that has these bytes, by [`place`].
    by_place: [u8; PLACES],
    /// The index of those bytes in a key, and the number of keys that it was chosen for.
    from: usize,
    chosen_for: usize,
}

/// The maximum number of recent keys: enough for the injectors of most tests, few enough to be compared one by one where
/// their bytes do not distinguish them.
const RECENT: usize = 16;

const PLACES: usize = 64;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_place: [0; PLACES], from: 0, chosen_for: 0 }
    }
}

impl<T> Recent<T> {
    /// Returns the value of the key that `is` accepts for this text. A key is equal to the text, or a prefix of it.
    #[inline]
    pub(super) fn find(&mut self, text: &[u8], is: impl Fn(&[u8], &[u8]) -> bool) -> Option<&mut T> {
        let known = |at: usize| self.all.get(at).is_some_and(|(key, _)| is(text, key));
        let place = place(text, self.from).and_then(|place| self.by_place.get(place));
        let mut at = usize::from(place.copied().unwrap_or_default());
        if !known(at) {
            at = (0..self.all.len()).find(|at| known(*at))?;
        }
        self.all.get_mut(at).map(|(_, value)| value)
    }

    /// Adds a key that is not known. If there are too many, all others are forgotten.
    pub(super) fn add(&mut self, key: &[u8], value: T) {
        if self.all.len() >= RECENT {
            self.all.clear();
        }
        self.all.push((key.to_vec(), value));
        // Once for each number of keys, so that more keys than are remembered cost no choice each.
        if self.all.len() > self.chosen_for {
            self.chosen_for = self.all.len();
            self.choose();
        } else {
            self.put(self.all.len() - 1);
        }
    }

    /// All values.
    pub(super) fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut().map(|(_, value)| value)
    }

    /// Chooses the index of the bytes that distinguish most keys.
    fn choose(&mut self) {
        let longest = self.all.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
        let distinguished = |from: &usize| {
            let places = self.all.iter().filter_map(|(key, _)| place(key, *from));
            places.fold(0_u64, |seen, place| seen | (1 << place)).count_ones()
        };
        // The last of the best, since similar names differ at their ends.
        self.from = (0..longest).max_by_key(distinguished).unwrap_or_default();
        (0..self.all.len()).for_each(|at| self.put(at));
    }

    /// Notes where a key is found.
    fn put(&mut self, at: usize) {
        let place = self.all.get(at).and_then(|(key, _)| place(key, self.from));
        if let Some(by_place) = place.and_then(|place| self.by_place.get_mut(place)) {
            *by_place = at as u8;
        }
    }
}

/// Returns the slot of a text by its four bytes from an index on, if it has them.
#[inline]
fn place(text: &[u8], from: usize) -> Option<usize> {
    let bytes = text.get(from..)?.first_chunk::<4>()?;
    // The upper bits of a product depend on all of its factor's.
    Some((u32::from_le_bytes(*bytes).wrapping_mul(0x9E37_79B1) >> (u32::BITS - PLACES.ilog2())) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::same::begins;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn known_key_is_found_by_how_a_text_begins(
            keys in vec("(a|ab|10\\.0\\.0\\.[0-9]{1,2}|host-[a-f]-[a-z]{0,9})", 0..40),
        ) {
            let mut recent = Recent::default();
            let mut known = Vec::new();
            for key in keys {
                let key = format!("{key} ");
                let text = format!("{key}group 1-7");
                let expected = known.iter().position(|other| *other == key).map(|at| at.to_string());
                prop_assert_eq!(recent.find(text.as_bytes(), begins).cloned(), expected.clone());
                if expected.is_none() {
                    if known.len() == RECENT {
                        known.clear();
                    }
                    recent.add(key.as_bytes(), known.len().to_string());
                    known.push(key);
                }
                prop_assert_eq!(recent.values().count(), known.len());
            }
        }
    }

    #[test]
    fn bytes_that_differ_are_chosen() {
        let mut recent = Recent::default();
        for host in ["10.0.0.1-east ", "setUp ", "10.0.0.2-east ", "10.0.0.3-east ", "10.0.1.1-east "] {
            recent.add(host.as_bytes(), host);
        }
        let found = |host: &str| place(host.as_bytes(), recent.from).map(|place| recent.by_place[place]);
        let hosts = ["10.0.0.1-east 1", "10.0.0.2-east 2", "10.0.0.3-east 3", "10.0.1.1-east 4"];
        assert_eq!(hosts.map(found), [Some(0), Some(2), Some(3), Some(4)]);
    }
}
