//! The unit in which a run counts times.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// The unit of `elapsed`, `latency` and `connect` of a run. They are whole numbers of it, and counted exactly.
///
/// JMeter and Gatling write whole ms. A tool that writes more digits has a finer unit, since a server that answers in 200 µs would
/// have no response time in ms.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::Resolution;
///
/// let resolution: Resolution = "10us".parse()?;
/// assert_eq!((resolution.microseconds(), resolution.ms(1234.0)), (10, 12.34));
/// assert_eq!(Resolution::default().to_string(), "1ms");
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub struct Resolution {
    microseconds: u32,
}

impl Resolution {
    /// A millisecond.
    pub const MILLISECOND: Self = Self { microseconds: 1000 };
    /// A microsecond.
    pub const MICROSECOND: Self = Self { microseconds: 1 };
    /// A tenth of a millisecond.
    pub const HUNDRED_MICROSECONDS: Self = Self { microseconds: 100 };
    /// All units, the finest first.
    pub const ALL: [Self; 4] =
        [Self::MICROSECOND, Self { microseconds: 10 }, Self::HUNDRED_MICROSECONDS, Self::MILLISECOND];

    /// Its length in µs: 1, 10, 100 or 1000.
    pub fn microseconds(self) -> u32 {
        self.microseconds
    }

    /// The number of units in a ms.
    pub fn per_ms(self) -> u32 {
        1000 / self.microseconds
    }

    /// Converts a time in this unit to ms.
    pub fn ms(self, units: f64) -> f64 {
        // Divided, not multiplied, so that the decimals are those of the nearest number.
        if self.is_fine() { units / f64::from(self.per_ms()) } else { units }
    }

    /// Returns true if it is finer than a ms.
    pub fn is_fine(self) -> bool {
        self < Self::MILLISECOND
    }

    /// Converts a time in this unit to whole ms, rounded down.
    pub fn whole_ms(self, units: i32) -> i64 {
        if self.is_fine() { i64::from(units).div_euclid(self.per_ms().into()) } else { units.into() }
    }

    /// Converts a time in ns to this unit, rounded to the nearest.
    #[inline]
    pub fn of_ns(self, ns: i64) -> i64 {
        // The compiler divides by what it knows in a fraction of the time.
        match self.microseconds {
            1 => nearest::<1_000>(ns),
            10 => nearest::<10_000>(ns),
            100 => nearest::<100_000>(ns),
            _ => nearest::<1_000_000>(ns),
        }
    }
}

impl Default for Resolution {
    fn default() -> Self {
        Self::MILLISECOND
    }
}

impl From<Resolution> for u32 {
    fn from(resolution: Resolution) -> Self {
        resolution.microseconds
    }
}

impl TryFrom<u32> for Resolution {
    type Error = Error;

    fn try_from(microseconds: u32) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|known| known.microseconds == microseconds);
        found.ok_or_else(|| unknown(&format!("{microseconds} µs")))
    }
}

impl FromStr for Resolution {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let written = text.trim().replace(' ', "").replace(['µ', 'μ'], "u");
        Self::ALL.into_iter().find(|known| known.to_string() == written).ok_or_else(|| unknown(text))
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_fine() { write!(f, "{}us", self.microseconds) } else { f.write_str("1ms") }
    }
}

/// Divides by a unit, and rounds to the nearest.
#[inline]
fn nearest<const UNIT: i64>(ns: i64) -> i64 {
    ns.saturating_add(UNIT / 2).div_euclid(UNIT)
}

fn unknown(text: &str) -> Error {
    Error::usage(
        ErrorKind::Resolution,
        format!("the resolution {text} is none of 1us, 10us, 100us and 1ms"),
        "Give 1us, 10us, 100us or 1ms.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back_from_their_names_and_numbers() {
        for unit in Resolution::ALL {
            assert_eq!(unit.to_string().parse::<Resolution>().unwrap(), unit);
            assert_eq!(
                serde_json::from_str::<Resolution>(&serde_json::to_string(&unit).unwrap()).unwrap(),
                unit
            );
            assert_eq!(unit.ms(f64::from(unit.per_ms()) * 7.0), 7.0);
        }
        assert_eq!(" 10 µs".parse::<Resolution>().unwrap().microseconds(), 10);
        for wrong in ["", "2us", "1s", "1000us", "ms"] {
            assert_eq!(wrong.parse::<Resolution>().unwrap_err().kind(), ErrorKind::Resolution, "{wrong}");
        }
        assert!(serde_json::from_str::<Resolution>("7").is_err());
    }

    #[test]
    fn times_are_rounded_to_the_nearest_unit() {
        let [fine, ten, _, ms] = Resolution::ALL;
        assert_eq!([fine, ten, ms].map(|unit| unit.of_ns(6_604_590)), [6605, 660, 7]);
        assert_eq!((ms.of_ns(499_999), ms.of_ns(500_000), fine.of_ns(-499)), (0, 1, 0));
        assert_eq!((fine.whole_ms(1999), fine.whole_ms(-1), ms.whole_ms(1999)), (1, -1, 1999));
    }
}
