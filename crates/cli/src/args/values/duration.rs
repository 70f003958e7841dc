//! Times and durations as values of flags, in every form in which perfpipe prints one.

use perfpipe_analyze::format::parse_time;
use perfpipe_ingest::run::LARGEST_CPU_OFFSET;

/// Parses a duration with its unit, as in `7d`, `36h`, `1m30s` or `1:30`, and returns it in ms.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let expected =
        || "expected a number with a unit, such as 7d, 36h, 90m or 30s; or minutes and seconds, 1:30";
    let ms = parse_time(text).ok_or_else(expected)?;
    if ms > u64::MAX as f64 { Err("that is too long".to_owned()) } else { Ok(ms as u64) }
}

/// Parses a number of whole seconds: as a duration, or the number alone.
pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    let bare = text.trim().parse::<u32>().ok();
    let of_time = || Some(parse_time(text)? / 1000.0).filter(|seconds| seconds.fract() == 0.0);
    let in_range = |seconds: f64| (seconds <= f64::from(u32::MAX)).then_some(seconds as u32);
    bare.or_else(|| of_time().and_then(in_range))
        .ok_or_else(|| "expected whole seconds: 60, 1:00, 1m or 1m30s".to_owned())
}

/// Parses a number of whole seconds, at least one and at most an hour.
pub(crate) fn timeout(text: &str) -> Result<u32, String> {
    let whole = seconds(text)?;
    let is_in_range = (1..=3600).contains(&whole);
    is_in_range.then_some(whole).ok_or_else(|| "expected 1 second to 1 hour: 30, 30s or 1m".to_owned())
}

/// Parses a number of whole seconds that may be negative.
pub(crate) fn shift(text: &str) -> Result<i64, String> {
    let (sign, rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim().strip_prefix('+').unwrap_or(text)),
    };
    let bare = rest.trim().parse::<i64>().ok().filter(|number| *number >= 0);
    let whole = bare.or_else(|| seconds(rest).ok().map(i64::from));
    let expected =
        || "expected whole seconds, with a minus if the clock is ahead: -2, 7200, 2h or -0:30".to_owned();
    let seconds = whole.map(|seconds| sign * seconds).ok_or_else(expected)?;
    let is_in_range = seconds.unsigned_abs() <= LARGEST_CPU_OFFSET.unsigned_abs();
    is_in_range.then_some(seconds).ok_or_else(|| format!("expected at most {LARGEST_CPU_OFFSET} seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit() {
        assert_eq!(parse("7d"), Ok(604_800_000));
        assert_eq!(parse("90 m"), Ok(5_400_000));
        assert_eq!((parse("1:30"), parse("1 min 18 s")), (Ok(90_000), Ok(78_000)));
        assert!(parse("7").is_err() && parse("d").is_err() && parse("-1h").is_err());
        assert!(parse("99999999999999999d").is_err());
    }

    #[test]
    fn seconds_are_read_as_they_are_printed() {
        for text in ["78", "1:18", "1m18s", "1 min 18 s", " 78 s", "78000ms"] {
            assert_eq!(seconds(text), Ok(78), "{text}");
        }
        for text in ["", "1.5", "1.5s", "-1", "1:5", "x", "99999999999", "4294967296s"] {
            assert!(seconds(text).unwrap_err().contains("1:00"), "{text}");
        }
        assert_eq!((timeout("1m"), timeout("0").is_err(), timeout("2h").is_err()), (Ok(60), true, true));
    }

    #[test]
    fn shifts_may_be_negative() {
        for (text, expected) in [("-2", -2), ("7200", 7200), ("2h", 7200), ("-0:30", -30), ("+1m", 60)] {
            assert_eq!(shift(text), Ok(expected), "{text}");
        }
        assert!(shift("-320000000000").is_ok() && shift("-320000000001").is_err());
        assert!(shift("--2").is_err() && shift("soon").is_err() && shift("-").is_err());
    }
}
