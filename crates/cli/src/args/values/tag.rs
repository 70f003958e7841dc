//! Tags as values of flags: `commit=3f2a9c1`.

use std::fmt;
use std::str::FromStr;

use perfpipe_ingest::RunInfo;

/// The greatest number of bytes of a key, and of a value.
const LONGEST: (usize, usize) = (64, 256);

/// A tag of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Its key: letters, digits, `_`, `-` and `.`.
    pub(crate) key: String,
    /// Its value: one line, not empty.
    pub(crate) value: String,
}

impl Tag {
    /// Returns true if a run has the tag.
    pub(crate) fn is_of(&self, run: &RunInfo) -> bool {
        run.options.tags.get(&self.key) == Some(&self.value)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl FromStr for Tag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("give KEY=VALUE, as in commit=3f2a9c1")?;
        let (longest_key, longest_value) = LONGEST;
        if !is_key(key) || key.len() > longest_key {
            return Err(format!("a key is 1 to {longest_key} letters, digits, '_', '-' or '.'"));
        }
        if value.trim().is_empty() || value.len() > longest_value || value.chars().any(char::is_control) {
            return Err(format!("a value is one line of 1 to {longest_value} bytes"));
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// Parses the key of a tag.
pub(crate) fn tag_key(text: &str) -> Result<String, String> {
    match is_key(text) {
        true => Ok(text.to_owned()),
        false => Err("give the key of a tag, as in release: letters, digits, '_', '-' or '.'".to_owned()),
    }
}

/// Returns true if a text can be the key of a tag.
pub(crate) fn is_key(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !text.is_empty() && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::Tag;

    #[test]
    fn tags_have_a_key_and_a_value() {
        let tag = |text: &str| text.parse::<Tag>().map(|tag| (tag.key, tag.value));
        assert_eq!(tag("commit=3f2a"), Ok(("commit".to_owned(), "3f2a".to_owned())));
        assert_eq!(tag("build.id=a=b c"), Ok(("build.id".to_owned(), "a=b c".to_owned())));
        for wrong in ["commit", "=x", "a b=x", "a:b=x", "commit=", "commit= ", "commit=a\nb", "ä=x"] {
            assert!(tag(wrong).is_err(), "{wrong}");
        }
        assert!(tag(&format!("a={}", "x".repeat(257))).is_err());
    }
}
