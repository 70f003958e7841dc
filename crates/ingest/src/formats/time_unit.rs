//! The unit in which a log's timeStamps are numbers.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The unit of timeStamps that are numbers. JMeter's, and the default, are milliseconds; others are turned into these
/// as a log is read, smaller ones cut down to whole milliseconds.
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

/// The years from 2000 to 2099 in epoch ms.
const THIS_CENTURY: Range<i64> = 946_684_800_000..4_102_444_800_000;

impl TimeUnit {
    /// A number of this unit in epoch ms, if that fits.
    pub(crate) fn to_ms(self, number: i64) -> Option<i64> {
        match self {
            Self::Seconds => number.checked_mul(1000),
            Self::Milliseconds => Some(number),
            Self::Microseconds => Some(number.div_euclid(1000)),
            Self::Nanoseconds => Some(number.div_euclid(1_000_000)),
        }
    }

    /// The unit in which a number is a time of this century, where it is none in milliseconds.
    pub(crate) fn of(number: i64) -> Option<Self> {
        if THIS_CENTURY.contains(&number) {
            return None;
        }
        let units = [Self::Seconds, Self::Microseconds, Self::Nanoseconds];
        units.into_iter().find(|unit| unit.to_ms(number).is_some_and(|ms| THIS_CENTURY.contains(&ms)))
    }

    /// Its whole name.
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
    fn from_str(name: &str) -> Result<Self> {
        let units = [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];
        units
            .into_iter()
            .find(|unit| unit.to_string() == name)
            .ok_or_else(|| Error::usage(format!("there is no time unit {name:?}"), "Give s, ms, us or ns."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_are_no_likely_milliseconds_have_another_unit() {
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
    fn a_unit_is_read_as_it_is_written() {
        for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds]
        {
            assert_eq!(unit.to_string().parse::<TimeUnit>().unwrap(), unit);
        }
        assert!("m".parse::<TimeUnit>().is_err());
    }
}
