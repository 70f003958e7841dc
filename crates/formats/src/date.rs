//! Parses dates as logs and exports write them, with or without a time zone, to epoch milliseconds.

use jiff::civil::Date;
use jiff::tz::TimeZone as Rules;

use super::time_format::TimeFormat;
use perfpipe_model::run::time_zone::{TimeZone, offset_seconds};

/// The format of dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateForm {
    /// The pattern, in the notation of JMeter's `timestamp_format`: `yyyy/MM/dd HH:mm:ss.SSS`.
    pub pattern: String,
    /// True if the dates name their zone.
    pub names_zone: bool,
}

/// The most recent minute: consecutive records mostly share it.
#[derive(Debug, Clone, Copy)]
struct Minute {
    text: [u8; MINUTE],
    /// The start of the minute in the parser's zone, epoch ms.
    zoned_ms: i64,
    /// The start of the minute in UTC, epoch ms.
    utc_ms: i64,
}

/// The length of `2026-11-20 19:42`, in bytes.
const MINUTE: usize = 16;

/// Parses dates in one zone.
///
/// The formats are `2026/11/20 19:45:08` and `2026-11-20 19:45:08`, optionally with `T` between date and time, a
/// fraction of 3, 6 or 9 digits after `.` or `,`, and `Z` or an offset at the end. All others are of the one format that was
/// given, if any.
///
/// An hour that occurs twice when clocks are put back is read as the first of the two, since a date alone does not say
/// which one it is. (An ingest notes where the dates of a log go back by an hour.) An hour that is skipped when clocks
/// are put forward is read as if they had not been changed yet.
#[derive(Debug, Clone)]
pub struct DateParser {
    zone: TimeZone,
    /// The format of dates in none of those above.
    other: Option<TimeFormat>,
    last: Option<Minute>,
    /// True if a date without a zone was parsed since the last call of `take_assumed`.
    assumed: bool,
}

impl DateParser {
    /// Creates a parser for dates in `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, other: None, last: None, assumed: false }
    }

    /// Reads dates of another format as well.
    #[must_use]
    pub fn with_format(mut self, other: Option<TimeFormat>) -> Self {
        self.other = other;
        self
    }

    /// Parses a date to epoch milliseconds. `None` if the text is not exactly a date. Fractions of a millisecond are
    /// dropped.
    pub fn parse(&mut self, text: &[u8]) -> Option<i64> {
        self.parse_iso(text).or_else(|| self.parse_other(text))
    }

    /// Parses a date of the format that was given.
    #[cold]
    fn parse_other(&mut self, text: &[u8]) -> Option<i64> {
        let format = self.other.as_ref()?;
        let ms = format.parse(text, self.zone.rules())?;
        self.assumed |= !format.names_zone;
        Some(ms)
    }

    fn parse_iso(&mut self, text: &[u8]) -> Option<i64> {
        let (minute, rest) = text.split_first_chunk::<MINUTE>()?;
        let (seconds, rest) = rest.split_first_chunk::<3>()?;
        let seconds = match seconds {
            [b':', digits @ ..] => number(digits).filter(|seconds| *seconds < 60)?,
            _ => return None,
        };
        let (fraction_ms, zone) = fraction(rest)?;
        let minute = self.minute(minute)?;
        let start_ms = match zone {
            [] => {
                self.assumed = true;
                minute.zoned_ms
            }
            b"Z" => minute.utc_ms,
            offset => minute.utc_ms - i64::from(offset_seconds(offset)?) * 1000,
        };
        Some(start_ms + seconds * 1000 + fraction_ms)
    }

    /// Returns true if a date without a zone was parsed since the last call.
    pub fn take_assumed(&mut self) -> bool {
        std::mem::take(&mut self.assumed)
    }

    /// The format of a date. `None` if the text is not exactly a date.
    pub fn form(&mut self, text: &[u8]) -> Option<DateForm> {
        if self.parse_iso(text).is_none() {
            self.parse_other(text)?;
            let format = self.other.as_ref()?;
            return Some(DateForm { pattern: format.to_string(), names_zone: format.names_zone });
        }
        let [_, _, _, _, day, _, _, _, _, _, time, ..] = text else { return None };
        let rest = text.get(MINUTE + 3..)?;
        let (_, zone) = fraction(rest)?;
        let (day, time) = (char::from(*day), char::from(*time));
        let fraction = rest.get(..rest.len() - zone.len()).unwrap_or_default();
        let digits = "S".repeat(fraction.len().saturating_sub(1));
        let point = fraction.first().map(|point| char::from(*point).to_string()).unwrap_or_default();
        let names_zone = !zone.is_empty();
        let zone = if names_zone { "X" } else { "" };
        let pattern = format!("yyyy{day}MM{day}dd{time}HH:mm:ss{point}{digits}{zone}");
        Some(DateForm { pattern, names_zone })
    }

    fn minute(&mut self, text: &[u8; MINUTE]) -> Option<Minute> {
        match self.last {
            Some(last) if last.text == *text => Some(last),
            _ => {
                self.last = Some(self.read_minute(text)?);
                self.last
            }
        }
    }

    fn read_minute(&self, text: &[u8; MINUTE]) -> Option<Minute> {
        let [y1, y2, y3, y4, s1, m1, m2, s2, d1, d2, s3, h1, h2, b':', n1, n2] = text else { return None };
        if !matches!((s1, s2), (b'/', b'/') | (b'-', b'-')) || !matches!(s3, b' ' | b'T') {
            return None;
        }
        let small = |digits: [u8; 2]| i8::try_from(number(&digits)?).ok();
        let year = i16::try_from(number(&[*y1, *y2, *y3, *y4])?).ok()?;
        let date = Date::new(year, small([*m1, *m2])?, small([*d1, *d2])?).ok()?;
        let (hour, minute) = (small([*h1, *h2])?, small([*n1, *n2])?);
        if hour > 23 || minute > 59 {
            return None;
        }
        let civil = date.at(hour, minute, 0, 0);
        let epoch_ms = |zone: &Rules| Some(zone.to_timestamp(civil).ok()?.as_millisecond());
        Some(Minute { text: *text, zoned_ms: epoch_ms(self.zone.rules())?, utc_ms: epoch_ms(&Rules::UTC)? })
    }
}

/// Parses a fraction of a second to milliseconds (0 if there is none), and returns the rest of the text.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".").or_else(|| text.strip_prefix(b",")) else {
        return Some((0, text));
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at_checked(length)?;
    matches!(length, 3 | 6 | 9).then_some((number(digits.first_chunk::<3>()?)?, rest))
}

/// Parses a number of a few digits.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

/// Reads a moment of RFC 3339 as ns since 1970.
pub fn rfc3339_ns(text: &str) -> Option<i64> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    i64::try_from(moment.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(zone: &str, text: &str) -> Option<i64> {
        DateParser::new(zone.parse().unwrap()).parse(text.as_bytes())
    }

    #[test]
    fn date_that_names_a_zone_is_read_by_it_and_others_by_that_of_the_log() {
        let mut dates = DateParser::new("+01:00".parse().unwrap());
        assert_eq!(dates.parse(b"2026/11/20 20:45:08.046"), Some(1_795_203_908_046));
        assert_eq!(dates.parse(b"2026-11-20T19:45:08Z"), Some(1_795_203_908_000));
        assert_eq!(dates.parse(b"yesterday"), None);
    }

    #[test]
    fn every_form_gives_the_same_moment() {
        for text in [
            "2026/11/20 19:45:08.046",
            "2026-11-20 19:45:08.046",
            "2026-11-20 19:45:08,046",
            "2026-11-20T19:45:08.046",
            "2026-11-20T19:45:08.046Z",
            "2026-11-20T19:45:08.046999",
            "2026-11-20T20:45:08.046+01:00",
            "2026-11-20T20:45:08.046+01",
            "2026-11-20T15:15:08.046000000-0430",
        ] {
            assert_eq!(parse("UTC", text), Some(1_795_203_908_046), "{text}");
        }
        assert_eq!(parse("UTC", "2026/11/20 19:45:08"), Some(1_795_203_908_000));
        assert_eq!(parse("UTC", "1970-01-01 00:00:00"), Some(0));
        assert_eq!(parse("UTC", "1969-12-31 23:59:59.999"), Some(-1));
    }

    #[test]
    fn text_that_is_not_exactly_a_date_is_none() {
        for text in [
            "",
            "1795203908046",
            "2026-11-20",
            "2026-11-20 19:45",
            "2026-11-20 19:45:60",
            "2026-11-20 19:60:00",
            "2026-11-20 24:00:00",
            "2026-02-29 00:00:00",
            "2026-13-01 00:00:00",
            "2026-00-10 00:00:00",
            "2026/11-20 19:45:08",
            "2026-11-20 19:45:08.",
            "2026-11-20 19:45:08.04",
            "2026-11-20 19:45:08.0460",
            "2026-11-20 19:45:08 ",
            "2026-11-20 19:45:08+",
            "2026-11-20 19:45:08+1",
            "2026-11-20 19:45:08+01:60",
            "2026-11-20 19:45:08+19:00",
            " 2026-11-20 19:45:08",
            "2026-11-20 1\u{fffd}:45:08",
            "\0\0\0\0-\0\0-\0\0 \0\0:\0\0:\0\0",
        ] {
            assert_eq!(parse("UTC", text), None, "{text}");
        }
    }

    #[test]
    fn date_tells_how_it_is_written() {
        let form = |text: &str| DateParser::new(TimeZone::default()).form(text.as_bytes());
        for (text, pattern, names_zone) in [
            ("2026/11/20 19:45:08.046", "yyyy/MM/dd HH:mm:ss.SSS", false),
            ("2026-11-20 19:45:08", "yyyy-MM-dd HH:mm:ss", false),
            ("2026-11-20T19:45:08,046123", "yyyy-MM-ddTHH:mm:ss,SSSSSS", false),
            ("2026-11-20T19:45:08Z", "yyyy-MM-ddTHH:mm:ssX", true),
            ("2026-11-20T19:45:08.046+01:00", "yyyy-MM-ddTHH:mm:ss.SSSX", true),
        ] {
            assert_eq!(form(text), Some(DateForm { pattern: pattern.into(), names_zone }), "{text}");
        }
        assert_eq!(form("1795203908046"), None);
        let warsaw: TimeZone = "Europe/Warsaw".parse().unwrap();
        assert_eq!(
            (warsaw.seconds_east(1_795_203_908_000), warsaw.seconds_east(1_782_864_000_000)),
            (3600, 7200)
        );
    }

    #[test]
    fn zone_and_its_summer_time_are_followed() {
        assert_eq!(parse("Europe/Warsaw", "2026-11-20 20:45:08"), Some(1_795_203_908_000));
        assert_eq!(parse("Europe/Warsaw", "2026-07-01 02:00:00"), parse("UTC", "2026-07-01 00:00:00"));
        assert_eq!(parse("Europe/Warsaw", "2026-10-25 02:30:00"), parse("UTC", "2026-10-25 00:30:00"));
        assert_eq!(parse("Europe/Warsaw", "2026-03-29 02:30:00"), parse("UTC", "2026-03-29 01:30:00"));
        assert_eq!(parse("-05:30", "2026-11-20 14:15:08"), Some(1_795_203_908_000));
    }

    #[test]
    fn unknown_zone_is_refused_with_a_remedy() {
        for name in ["Mars/Olympus", "", "+99:00", "+1"] {
            let error = name.parse::<TimeZone>().unwrap_err();
            assert_eq!(error.kind(), perfpipe_model::error::ErrorKind::UnknownTimeZone, "{error}");
        }
    }

    proptest! {
        /// Caching the last minute has no effect on results, whatever came before.
        #[test]
        fn any_moment_reads_back(moments in prop::collection::vec(0i64..4_000_000_000_000, 1..20)) {
            let mut dates = DateParser::new(TimeZone::default());
            for ms in moments.iter().flat_map(|ms| [*ms, *ms + 1, *ms + 1000]) {
                let text = jiff::Timestamp::from_millisecond(ms).unwrap();
                let text = text.strftime("%Y/%m/%d %H:%M:%S%.3f").to_string();
                prop_assert_eq!(dates.parse(text.as_bytes()), Some(ms), "{}", text);
            }
        }

        #[test]
        fn any_bytes_do_no_harm(text in prop::collection::vec(any::<u8>(), 0..40)) {
            DateParser::new(TimeZone::default()).parse(&text);
        }
    }

    #[test]
    fn moments_of_rfc_3339_are_exact() {
        assert_eq!(rfc3339_ns("2026-11-22T11:47:14.787926537Z"), Some(1_795_348_034_787_926_537));
        assert_eq!(
            (rfc3339_ns("2026-11-22T12:47:14+01:00"), rfc3339_ns("yesterday")),
            (Some(1_795_348_034_000_000_000), None)
        );
    }
}
