//! The number of a part of a run as the value of a flag: `3/16`, `auto`, `auto/16`.

use std::str::FromStr;

use perfpipe_ingest::run::PartNumber;

/// Which part of a run the logs of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartChoice {
    /// The one with this number.
    Number(PartNumber),
    /// The one that the scheduler gives, of this many if that is given.
    Auto(Option<u32>),
}

impl FromStr for PartChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("auto") {
            Some("") => Ok(Self::Auto(None)),
            Some(of) => match of.strip_prefix('/').and_then(|of| of.parse().ok()) {
                Some(of) => Ok(Self::Auto(Some(of))),
                None => Err("write auto, or auto and the number of all parts: auto/16".to_owned()),
            },
            None => text.parse().map(Self::Number).map_err(|error: perfpipe_ingest::Error| {
                format!("{error}. {}", error.remedy().unwrap_or_default())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_or_left_to_the_scheduler() {
        let number = PartNumber::new(3, 16).unwrap();
        assert_eq!("3/16".parse(), Ok(PartChoice::Number(number)));
        assert_eq!("auto".parse(), Ok(PartChoice::Auto(None)));
        assert_eq!("auto/16".parse(), Ok(PartChoice::Auto(Some(16))));
        for wrong in ["", "3", "0/16", "17/16", "3/0", "3/20000", "-1/2", "auto/", "auto16", "auto/x"] {
            assert!(wrong.parse::<PartChoice>().is_err(), "{wrong}");
        }
    }
}
