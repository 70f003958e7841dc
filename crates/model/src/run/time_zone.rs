//! A time zone by its name or offset, in which dates without one are read.

use std::fmt;
use std::str::FromStr;

use jiff::tz::{Offset, TimeZone as Rules};

use crate::error::{Error, ErrorKind, Result};

/// The zone for dates that do not name one; UTC by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone(Rules);

impl Default for TimeZone {
    fn default() -> Self {
        Self(Rules::UTC)
    }
}

impl FromStr for TimeZone {
    type Err = Error;

    /// Reads an IANA name (`Europe/Warsaw`), `UTC`, or an offset (`+01:00`, `-0530`).
    ///
    /// # Errors
    /// When the zone is unknown, or the offset is out of range.
    fn from_str(name: &str) -> Result<Self> {
        if let Some(seconds) = offset_seconds(name.as_bytes()) {
            return Ok(Self(Offset::from_seconds(seconds).map_err(|_| unknown(name))?.to_time_zone()));
        }
        Rules::get(name).map(Self).map_err(|_| unknown(name))
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => write!(f, "{offset}"),
            (None, Err(_)) => f.write_str("an unnamed zone"),
        }
    }
}

fn unknown(name: &str) -> Error {
    Error::usage(
        ErrorKind::UnknownTimeZone,
        format!("there is no time zone {name:?}"),
        "Give an IANA name as in Europe/Warsaw, or an offset as in +01:00.",
    )
}

impl TimeZone {
    /// The offsets of the zone from UTC over time.
    pub fn rules(&self) -> &Rules {
        &self.0
    }

    /// Returns the offset from UTC at a moment (epoch ms), in seconds, positive to the east.
    ///
    /// ```
    /// # mod perfpipe_ingest { pub use perfpipe_model::Error; pub mod source { pub use perfpipe_model::run::TimeZone; } }
    /// use perfpipe_ingest::source::TimeZone;
    ///
    /// let zone: TimeZone = "Europe/Warsaw".parse()?;
    /// assert_eq!(zone.seconds_east(1_795_203_738_609), 3600);
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    pub fn seconds_east(&self, epoch_ms: i64) -> i64 {
        let moment = jiff::Timestamp::from_millisecond(epoch_ms).unwrap_or_default();
        self.0.to_offset(moment).seconds().into()
    }
}

/// Parses an offset such as `+01`, `+0100` or `+01:00` to seconds east of UTC.
pub fn offset_seconds(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [h1, h2] => (number(&[*h1, *h2])?, 0),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?),
        _ => return None,
    };
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
    (hours <= 18 && minutes < 60).then_some(sign * seconds)
}

/// Parses a number of a few digits.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}
