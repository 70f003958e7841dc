//! The unit of numeric timeStamps.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// The unit of numeric timeStamps. JMeter writes milliseconds, the default. Other units are converted while a log is
/// read; smaller ones are rounded down to whole milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    #[default]
    Milliseconds,
    /// Microseconds since 1970.
    Microseconds,
    /// Nanoseconds since 1970.
    Nanoseconds,
}

/// The years 2000 to 2099 in epoch ms.
const THIS_CENTURY: Range<i64> = 946_684_800_000..4_102_444_800_000;

impl TimeUnit {
    /// Converts a number of this unit to epoch ms. `None` if it does not fit.
    pub fn to_ms(self, number: i64) -> Option<i64> {
        match self {
            Self::Seconds => number.checked_mul(1000),
            Self::Milliseconds => Some(number),
            Self::Microseconds => Some(number.div_euclid(1000)),
            Self::Nanoseconds => Some(number.div_euclid(1_000_000)),
        }
    }

    /// Guesses the unit: the one in which the number is a time of this century. `None` if milliseconds fit, or if no
    /// unit does.
    pub fn of(number: i64) -> Option<Self> {
        if THIS_CENTURY.contains(&number) {
            return None;
        }
        let units = [Self::Seconds, Self::Microseconds, Self::Nanoseconds];
        units.into_iter().find(|unit| unit.to_ms(number).is_some_and(|ms| THIS_CENTURY.contains(&ms)))
    }

    /// The full name of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        })
    }
}

impl FromStr for TimeUnit {
    type Err = Error;

    /// Reads `s`, `ms`, `us` or `ns`.
    ///
    /// # Errors
    /// For any other text.
    fn from_str(name: &str) -> Result<Self> {
        let units = [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];
        units.into_iter().find(|unit| unit.to_string() == name).ok_or_else(|| {
            Error::usage(
                ErrorKind::UnknownTimeUnit,
                format!("there is no time unit {name:?}"),
                "Give s, ms, us or ns.",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_is_guessed_only_for_numbers_that_are_no_likely_milliseconds() {
        for (number, unit) in [
            (1_795_203_738_615, None),
            (1_795_203_738, Some(TimeUnit::Seconds)),
            (1_795_203_738_615_999, Some(TimeUnit::Microseconds)),
            (1_795_203_738_615_999_999, Some(TimeUnit::Nanoseconds)),
            (0, None),
            (1, None),
            (900_000_000, None),
            (-1_795_203_738, None),
            (i64::MIN, None),
            (i64::MAX, None),
            (4_102_444_800_000, None),
        ] {
            assert_eq!(TimeUnit::of(number), unit, "{number}");
            let ms = unit.and_then(|unit| unit.to_ms(number));
            assert!(ms.is_none_or(|ms| ms / 1000 == 1_795_203_738), "{number}");
        }
        assert_eq!(TimeUnit::Microseconds.to_ms(-1), Some(-1));
        assert_eq!(TimeUnit::Seconds.to_ms(i64::MAX), None);
    }

    #[test]
    fn unit_is_read_as_it_is_written() {
        for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds]
        {
            assert_eq!(unit.to_string().parse::<TimeUnit>().unwrap(), unit);
        }
        assert!("m".parse::<TimeUnit>().is_err());
    }
}
