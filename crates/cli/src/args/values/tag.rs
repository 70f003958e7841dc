//! Tags as values of flags: `commit=3f2a9c1`.

use std::fmt;
use std::str::FromStr;

use perfpipe_analyze::format::one_line;
use perfpipe_ingest::RunInfo;
use perfpipe_ingest::run::{is_tag_key, tag_fault};

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
        if let Some(fault) = tag_fault(key, value) {
            return Err(fault);
        }
        // What is escaped on a line can't be distinguished from what was meant to be there.
        if one_line(value) != value {
            return Err("the value of a tag is one line, written in one direction".to_owned());
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// Parses the key of a tag.
pub(crate) fn tag_key(text: &str) -> Result<String, String> {
    match is_tag_key(text) {
        true => Ok(text.to_owned()),
        false => Err("give the key of a tag, as in release: letters, digits, '_', '-' or '.'".to_owned()),
    }
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
