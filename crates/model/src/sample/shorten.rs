//! Shortens texts that are too long to keep: the log decides how many distinct texts there are, so their length needs a
//! limit.

use std::borrow::Cow;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::texts::clean_text;

/// The maximum length of a label, in bytes.
pub const LABEL_BYTES: usize = 4 << 10;

/// The maximum length of any other text of a sample, in bytes.
pub const TEXT_BYTES: usize = 64 << 10;

/// The maximum length of a message, in characters.
pub const MESSAGE_LIMIT: usize = 500;

/// Separates the beginning of a shortened text from the hash of the whole text.
const ELLIPSIS: char = '…';

/// The number of hash bytes that are shown. With 128 bits, different texts stay different.
const HASH: usize = 16;

/// The number of bytes that follow the beginning of a shortened text.
const TAIL: usize = ELLIPSIS.len_utf8() + 2 * HASH;

/// Cuts a message or a response code to the length that is kept with failures.
pub fn short(text: &str) -> Cow<'_, str> {
    // No character takes less than a byte.
    if text.len() <= MESSAGE_LIMIT { text.into() } else { text.chars().take(MESSAGE_LIMIT).collect() }
}

/// Shortens a text that takes more than `limit` bytes: its beginning, `…` and a hash of the whole text. Returns `None`
/// if the text is kept as it is.
#[inline]
pub fn shortened(text: &[u8], limit: usize) -> Option<String> {
    if may_be_cut(text, limit) { cut(text, limit) } else { None }
}

/// Returns false if a text surely takes no more than `limit` bytes.
#[inline]
pub fn may_be_cut(text: &[u8], limit: usize) -> bool {
    // An invalid byte becomes U+FFFD, which takes three bytes.
    text.len() * 3 > limit
}

#[cold]
fn cut(text: &[u8], limit: usize) -> Option<String> {
    let whole = clean_text(text);
    if whole.len() <= limit && !looks_cut(&whole, limit) {
        return None;
    }
    let mut end = limit.saturating_sub(TAIL).min(whole.len());
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let mut kept = whole.get(..end).unwrap_or_default().to_owned();
    kept.push(ELLIPSIS);
    for byte in Sha256::digest(whole.as_bytes()).iter().take(HASH) {
        // Writing to a String can't fail.
        let _ = write!(kept, "{byte:02x}");
    }
    Some(kept)
}

/// Returns true if a text looks like a shortened one. Such a text is shortened too, so that it can't equal another one.
fn looks_cut(text: &str, limit: usize) -> bool {
    // A text is cut between characters, so a shortened one can be up to three bytes below the limit.
    let begin = text.len().saturating_sub(TAIL);
    let tail = text.get(begin..).and_then(|tail| tail.strip_prefix(ELLIPSIS));
    text.len() + 3 >= limit && tail.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_at_the_limit_is_whole_and_one_beyond_it_ends_in_its_hash() {
        assert_eq!(shortened("é".repeat(LABEL_BYTES / 2).as_bytes(), LABEL_BYTES), None);
        let long = format!("{}é", "x".repeat(LABEL_BYTES - 1));
        let kept = shortened(long.as_bytes(), LABEL_BYTES).unwrap();
        assert_eq!(kept.len(), LABEL_BYTES);
        let (begin, hash) = kept.split_once('…').unwrap();
        assert!(long.starts_with(begin) && hash.len() == 32, "{hash}");
    }

    #[test]
    fn text_that_was_cut_is_cut_again() {
        let kept = shortened(&[b'x'; 100], 64).unwrap();
        let again = shortened(kept.as_bytes(), 64).unwrap();
        assert!(again != kept && again.len() <= 64);
    }

    proptest! {
        #[test]
        fn cut_text_fits_and_differs_from_all_else(
            texts in prop::collection::vec(prop_oneof![
                "[aé€😀]{0,40}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..120),
                "x{20,60}[yz]{0,2}".prop_map(String::into_bytes),
            ], 0..20),
        ) {
            let mut kept = std::collections::BTreeMap::new();
            for text in texts.iter().flat_map(|text| [Some(text.clone()), shortened(text, 64).map(String::into_bytes)]) {
                let Some(text) = text else { continue };
                let short = shortened(&text, 64).unwrap_or_else(|| clean_text(&text));
                prop_assert!(short.len() <= 64, "{}", short.len());
                let before = kept.insert(short, clean_text(&text));
                prop_assert!(before.is_none_or(|before| before == clean_text(&text)));
            }
        }
    }
}
