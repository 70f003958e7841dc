//! The measures that a run's logs have, beside those whose number is counted.

use std::fmt;
use std::str::FromStr;

use crate::sample::batch::SampleBatch;

/// Which measures at least one record has. Their sums alone do not say whether a sum of 0 is a measured one.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::Measures;
///
/// let measures: Measures = "connect sent-bytes".parse()?;
/// assert!(measures.connect && measures.sent_bytes && !measures.bytes);
/// assert_eq!(Measures::default().to_string(), "none");
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measures {
    /// The time to connect.
    pub connect: bool,
    /// The bytes received.
    pub bytes: bool,
    /// The bytes sent.
    pub sent_bytes: bool,
}

/// The names of the measures as they are stored, ascending.
const NAMES: [&str; 3] = ["bytes", "connect", "sent-bytes"];

/// What is stored if there is no measure.
const NONE: &str = "none";

impl Measures {
    /// The measures that a record of a batch has.
    pub fn of(batch: &SampleBatch) -> Self {
        Self {
            connect: batch.connect.has_any(),
            bytes: batch.bytes.has_any(),
            sent_bytes: batch.sent_bytes.has_any(),
        }
    }

    /// Adds those of other records.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            connect: self.connect | other.connect,
            bytes: self.bytes | other.bytes,
            sent_bytes: self.sent_bytes | other.sent_bytes,
        }
    }

    /// Returns true if none is missing.
    pub fn is_complete(self) -> bool {
        self.connect && self.bytes && self.sent_bytes
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().zip([self.bytes, self.connect, self.sent_bytes]);
        let names: Vec<&str> = names.filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
        f.write_str(if names.is_empty() { NONE } else { "" })?;
        f.write_str(&names.join(" "))
    }
}

impl FromStr for Measures {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let mut measures = Self::default();
        for name in text.split(' ').filter(|_| text != NONE) {
            match name {
                "bytes" => measures.bytes = true,
                "connect" => measures.connect = true,
                "sent-bytes" => measures.sent_bytes = true,
                _ => return Err(fmt::Error),
            }
        }
        Ok(measures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_as_they_are_written() {
        for bits in 0..8u8 {
            let [connect, bytes, sent_bytes] = [1, 2, 4].map(|bit| bits & bit > 0);
            let measures = Measures { connect, bytes, sent_bytes };
            assert_eq!(measures.to_string().parse(), Ok(measures));
        }
        assert!("connect latency".parse::<Measures>().is_err() && "".parse::<Measures>().is_err());
    }
}
