//! What runs are compared with, as a value of a flag.

use std::str::FromStr;

use crate::args::Tag;

/// What runs are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Against {
    /// A run, by its name.
    Run(String),
    /// The latest runs with a tag, at most so many.
    Last(usize, Tag),
}

impl FromStr for Against {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let ["last", number, "of", tag] = words.as_slice() else { return Ok(Self::Run(text.to_owned())) };
        let wrong = || "give it as in 'last 5 of tag:branch=main'".to_owned();
        let number = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
        Ok(Self::Last(number, tag.strip_prefix("tag:").ok_or_else(wrong)?.parse()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baseline_is_a_run_or_the_last_of_a_tag() {
        let tag = "branch=main".parse().unwrap();
        assert_eq!("last 5 of tag:branch=main".parse(), Ok(Against::Last(5, tag)));
        assert_eq!("go_2048#2".parse(), Ok(Against::Run("go_2048#2".to_owned())));
        for wrong in ["last 0 of tag:a=b", "last x of tag:a=b", "last 5 of a=b", "last 5 of tag:a"] {
            assert!(wrong.parse::<Against>().is_err(), "{wrong}");
        }
    }
}
