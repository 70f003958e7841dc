//! The number of a part of a run: one machine's share, which is stored beside the runs until it is merged with the others.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// The maximum number of parts of a run.
const MOST: u32 = 10_000;

/// The number of a part among all parts of its run. Displayed as `3/16`.
///
/// ```
/// use perfpipe_ingest::run::PartNumber;
///
/// let part: PartNumber = "3/16".parse()?;
/// assert_eq!((part.number(), part.of(), part.to_string()), (3, 16, "3/16".into()));
/// assert!(PartNumber::new(17, 16).is_err());
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartNumber {
    part: u32,
    of: u32,
}

impl PartNumber {
    /// Numbers a part, from 1 to `of`.
    ///
    /// # Errors
    /// If the number is 0 or more than `of`, or there are more than 10,000 parts.
    pub fn new(number: u32, of: u32) -> Result<Self> {
        if (1..=of).contains(&number) && of <= MOST {
            return Ok(Self { part: number, of });
        }
        let problem = format!("there is no part {number} of {of}");
        let remedy = "Number the parts of a run from 1 to their number, which is at most 10,000.";
        Err(Error::usage(ErrorKind::PartNumber, problem, remedy))
    }

    /// Returns the number of the part, from 1.
    pub fn number(self) -> u32 {
        self.part
    }

    /// Returns the number of all parts of the run.
    pub fn of(self) -> u32 {
        self.of
    }
}

impl fmt::Display for PartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl FromStr for PartNumber {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers =
            text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        let (part, of) = numbers.ok_or_else(|| {
            let problem = format!("{text:?} is not the number of a part");
            Error::usage(ErrorKind::PartNumber, problem, "Write it as 3/16: the third of sixteen parts.")
        })?;
        Self::new(part, of)
    }
}
