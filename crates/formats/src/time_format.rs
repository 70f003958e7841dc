//! Formats of dates that are given by the user, in the notation of JMeter's `timestamp_format`.

use std::fmt;
use std::str::FromStr;

use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone as Rules;

use perfpipe_model::error::{Error, ErrorKind, Result};

/// The format of the times of a log or of readings, where they are neither epoch times nor ISO dates.
///
/// The notation is that of Java's `SimpleDateFormat`, as in JMeter's `timestamp_format`: `yyyy` or `yy`, `MM`, `MMM` (an
/// English month), `dd`, `EEE` (a day of the week), `HH`, `hh` with `a` (AM or PM), `mm`, `ss`, `SSS` (any digits of a
/// fraction), `Z` or `X` (an offset), and texts in `'single quotes'`.
///
/// ```
/// # mod perfpipe_ingest { pub use perfpipe_model::Error; pub mod source { pub use perfpipe_formats::time_format::TimeFormat; } }
/// use perfpipe_ingest::source::TimeFormat;
/// let format: TimeFormat = "dd/MM/yyyy HH:mm:ss".parse()?;
/// assert_eq!(format.to_string(), "dd/MM/yyyy HH:mm:ss");
/// assert!("HH:mm:ss".parse::<TimeFormat>().is_err(), "it has no day");
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeFormat {
    pattern: String,
    /// The same format in the notation of strptime.
    directives: String,
    /// True if it has a zone.
    pub names_zone: bool,
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

/// Plausible times, epoch ms: 1973 to 2100.
const PLAUSIBLE: std::ops::Range<i64> = 100_000_000_000..4_102_444_800_000;

/// The letters of the notation, with the directives of strptime, by the length of their runs: 1 or 2, 3, and 4 or more.
const LETTERS: [(char, [&str; 3]); 14] = [
    ('y', ["%y", "%Y", "%Y"]),
    ('u', ["%Y", "%Y", "%Y"]),
    ('M', ["%m", "%b", "%B"]),
    ('d', ["%d", "%d", "%d"]),
    ('E', ["%a", "%a", "%A"]),
    ('H', ["%H", "%H", "%H"]),
    ('h', ["%I", "%I", "%I"]),
    ('a', ["%p", "%p", "%p"]),
    ('m', ["%M", "%M", "%M"]),
    ('s', ["%S", "%S", "%S"]),
    ('S', ["%f", "%f", "%f"]),
    ('Z', ["%z", "%z", "%z"]),
    ('X', ["%z", "%:z", "%:z"]),
    ('x', ["%z", "%:z", "%:z"]),
];

impl FromStr for TimeFormat {
    type Err = Error;

    /// Reads a format.
    ///
    /// # Errors
    /// If it has a letter of no meaning, a quote that is not closed, or has no day or no hour.
    fn from_str(pattern: &str) -> Result<Self> {
        let wrong = |why: String| {
            Error::usage(
                ErrorKind::TimeFormat,
                format!("the time format {pattern:?} {why}"),
                "Write it as in JMeter's timestamp_format: dd/MM/yyyy HH:mm:ss.SSS, or MM/dd/yyyy hh:mm:ss a.",
            )
        };
        let mut directives = String::new();
        let mut letters = pattern.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '\'' {
                quoted(&mut letters, &mut directives)
                    .ok_or_else(|| wrong("has a quote that is not closed".to_owned()))?;
                continue;
            }
            if !letter.is_ascii_alphabetic() {
                literal(letter, &mut directives);
                continue;
            }
            let mut run = 1;
            while letters.next_if_eq(&letter).is_some() {
                run += 1;
            }
            // A `T` between day and hour is often written without quotes.
            if letter == 'T' && run == 1 {
                directives.push('T');
                continue;
            }
            let (_, by_length) = LETTERS
                .iter()
                .find(|(known, _)| *known == letter)
                .ok_or_else(|| wrong(format!("has the letter {letter}, which has no meaning there")))?;
            let [short, three, long] = by_length;
            directives.push_str(match run {
                ..=2 => short,
                3 => three,
                _ => long,
            });
        }
        let has = |any: &[&str]| any.iter().any(|directive| directives.contains(directive));
        let day = has(&["%y", "%Y"]) && has(&["%m", "%b", "%B"]) && has(&["%d"]);
        if !day || !(has(&["%H"]) || has(&["%I"]) && has(&["%p"])) {
            return Err(wrong("lacks the year, the month, the day or the hour".to_owned()));
        }
        let only_digits = directives.chars().all(|letter| letter == '%' || letter.is_ascii_alphabetic());
        if only_digits && !has(&["%b", "%B", "%a", "%A", "%p", "T"]) {
            return Err(wrong("writes digits alone, which are read as epoch times".to_owned()));
        }
        let names_zone = has(&["%z", "%:z"]);
        Ok(Self { pattern: pattern.to_owned(), directives, names_zone })
    }
}

/// Appends a text in quotes, of which two are one.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, into: &mut String) -> Option<()> {
    if letters.next_if_eq(&'\'').is_some() {
        into.push('\'');
        return Some(());
    }
    loop {
        match letters.next()? {
            '\'' if letters.next_if_eq(&'\'').is_some() => into.push('\''),
            '\'' => return Some(()),
            letter => literal(letter, into),
        }
    }
}

fn literal(letter: char, into: &mut String) {
    into.push(letter);
    if letter == '%' {
        into.push('%');
    }
}

impl TimeFormat {
    /// Parses a date to epoch milliseconds, in `zone` where it names none. `None` if it has another format. Fractions of
    /// a millisecond are dropped.
    pub fn parse(&self, text: &[u8], zone: &Rules) -> Option<i64> {
        let time = BrokenDownTime::parse(&self.directives, text).ok()?;
        let stamp = match self.names_zone {
            true => time.to_timestamp(),
            false => time.to_datetime().and_then(|civil| zone.to_timestamp(civil)),
        };
        Some(stamp.ok()?.as_millisecond())
    }

    /// The remedy for times of a format that has to be given, if a common one fits all of them.
    pub fn remedy(texts: &[&str]) -> Option<String> {
        let fitting = Self::fitting(texts);
        let (first, others) = fitting.split_first()?;
        let others: String = others.iter().map(|other| format!(" or \"{other}\"")).collect();
        Some(format!("Give the format of the times: SourceOptions::time_format \"{first}\"{others}."))
    }

    /// The common formats that fit all these times. There may be several: `01/02/2026` is in January or in February.
    fn fitting(texts: &[&str]) -> Vec<Self> {
        const DAYS: [&str; 16] = [
            "dd/MM/yyyy",
            "MM/dd/yyyy",
            "dd.MM.yyyy",
            "dd-MM-yyyy",
            "MM-dd-yyyy",
            "yyyy.MM.dd",
            "yyyy-MM-dd",
            "yyyy/MM/dd",
            "yyyy/dd/MM",
            "dd MMM yyyy",
            "dd-MMM-yyyy",
            "MMM dd, yyyy",
            "yyyyMMdd",
            "MM/dd/yy",
            "dd/MM/yy",
            "dd.MM.yy",
        ];
        const BETWEEN: [&str; 5] = [" ", "-", "T", ", ", ""];
        const TIMES: [&str; 9] = [
            "HH:mm:ss",
            "HH:mm:ss.SSS",
            "HH:mm:ss,SSS",
            "hh:mm:ss a",
            "hh:mm:ss.SSS a",
            "HH:mm",
            "hh:mm a",
            "HHmmss",
            "HH.mm.ss",
        ];
        const WHOLE: [&str; 3] =
            ["dd/MMM/yyyy:HH:mm:ss Z", "EEE, dd MMM yyyy HH:mm:ss Z", "EEE MMM dd HH:mm:ss yyyy"];
        let parts = DAYS.iter().flat_map(|day| BETWEEN.iter().map(move |between| (day, between)));
        let made =
            parts.flat_map(|(day, between)| TIMES.iter().map(move |time| format!("{day}{between}{time}")));
        let all = made.chain(WHOLE.iter().map(|&whole| whole.to_owned()));
        let formats = all.filter_map(|pattern| pattern.parse::<Self>().ok());
        let fits = |format: &Self, text: &&str| {
            // Blanks of a text may be absent from a format, and years have two digits.
            let has_blanks = text.matches(' ').count() == format.pattern.matches(' ').count();
            has_blanks && format.parse(text.as_bytes(), &Rules::UTC).is_some_and(|ms| PLAUSIBLE.contains(&ms))
        };
        let fits_all = |format: &Self| texts.iter().all(|text| fits(format, text));
        if texts.is_empty() { Vec::new() } else { formats.filter(fits_all).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-20 19:45:08 UTC.
    const MOMENT: i64 = 1_795_203_908_000;

    #[test]
    fn every_notation_gives_the_same_moment() {
        for (pattern, text) in [
            ("dd/MM/yyyy HH:mm:ss", "20/11/2026 19:45:08"),
            ("d/M/yyyy H:m:s", "20/11/2026 19:45:08"),
            ("MM/dd/yyyy hh:mm:ss a", "11/20/2026 07:45:08 PM"),
            ("MM/dd/yy hh:mm:ss a", "11/20/26 07:45:08 pm"),
            ("dd.MM.yyyy HH:mm:ss,SSS", "20.11.2026 19:45:08,000"),
            ("dd MMM yyyy HH:mm:ss", "20 Nov 2026 19:45:08"),
            ("yyyyMMdd-HHmmss", "20261120-194508"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2026-11-20T20:45:08.000+0100"),
            ("yyyy-MM-ddTHH:mm:ss XXX", "2026-11-20T20:45:08 +01:00"),
            ("EEE dd MMM yyyy 'at' HH''mm:ss", "Fri 20 Nov 2026 at 19'45:08"),
        ] {
            let format: TimeFormat = pattern.parse().unwrap();
            assert_eq!(format.parse(text.as_bytes(), &Rules::UTC), Some(MOMENT), "{pattern}");
        }
        let format: TimeFormat = "dd/MM/yyyy HH:mm:ss.SSS".parse().unwrap();
        assert_eq!(format.parse(b"20/11/2026 19:45:08.046", &Rules::UTC), Some(MOMENT + 46));
        assert_eq!(format.parse(b"20/11/2026 19:45:08.046 ", &Rules::UTC), None);
        assert_eq!(format.parse(b"31/02/2026 19:45:08.046", &Rules::UTC), None);
        assert_eq!(format.parse(b"\xff\xfe", &Rules::UTC), None);
    }

    #[test]
    fn formats_that_tell_no_moment_are_refused() {
        for pattern in [
            "",
            "HH:mm:ss",
            "dd/MM/yyyy",
            "dd/MM/yyyy hh:mm",
            "dd/MM/yyyy QQ HH",
            "yyyy-MM-dd'T HH",
            "yyyyMMddHHmmss",
        ] {
            assert_eq!(pattern.parse::<TimeFormat>().unwrap_err().kind(), ErrorKind::TimeFormat, "{pattern}");
        }
    }

    #[test]
    fn formats_that_fit_all_times_are_found() {
        let of = |texts: &[&str]| -> Vec<String> {
            TimeFormat::fitting(texts).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of(&["01/02/2026 19:45:08"]), ["dd/MM/yyyy HH:mm:ss", "MM/dd/yyyy HH:mm:ss"]);
        assert_eq!(of(&["01/02/2026 19:45:08", "20/02/2026 00:00:00"]), ["dd/MM/yyyy HH:mm:ss"]);
        assert_eq!(of(&["11/20/26 07:42:18 PM"]), ["MM/dd/yy hh:mm:ss a"]);
        assert_eq!(of(&["20.11.2026 19:42:18"]), ["dd.MM.yyyy HH:mm:ss"]);
        assert_eq!(of(&["20261120-194218"]), ["yyyyMMdd-HHmmss"]);
        assert_eq!(of(&["20 Nov 2026 19:42:18"]), ["dd MMM yyyy HH:mm:ss"]);
        assert!(of(&["19:42:18"]).is_empty() && of(&[]).is_empty() && of(&["yesterday"]).is_empty());
    }
}
