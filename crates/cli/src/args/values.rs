//! Parsers for the values of flags.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use perfpipe_analyze::Phase;
use perfpipe_analyze::format::{one_line, parse_time};
use perfpipe_analyze::table::Format;
use perfpipe_ingest::RunInfo;
use perfpipe_ingest::run::{LARGEST_CPU_OFFSET, PartNumber, is_tag_key, tag_fault};
use perfpipe_plot::{ColorBy, Palette, Paper, Times};

/// An enum of a library whose variants are values of a flag.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    /// Returns the value on the command line.
    fn name(self) -> &'static str;

    /// Returns the help on the value; empty if its name says it.
    fn help(self) -> &'static str {
        ""
    }
}

/// Returns the parser for one of these choices; the help lists all of them.
pub(crate) fn choice<T: Choice>(all: &'static [T]) -> impl TypedValueParser<Value = T> {
    let shown = all.iter().map(|one| match one.help() {
        "" => PossibleValue::new(one.name()),
        help => PossibleValue::new(one.name()).help(help),
    });
    let find = |name: String| all.iter().copied().find(|one| one.name() == name);
    PossibleValuesParser::new(shown).try_map(move |name| find(name).ok_or("not one of the choices"))
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// A change for the worse.
    Worse,
}

impl FailOn {
    /// All of them.
    pub(crate) const ALL: &'static [Self] = &[Self::Worse];
}

impl Choice for FailOn {
    fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
        }
    }
}

impl Choice for Format {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Phase {
    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn help(self) -> &'static str {
        match self {
            Self::Ramp => "The load climbs",
            Self::Hold => "The load is level at its peak",
            Self::Tail => "After the hold",
        }
    }
}

impl Choice for Paper {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for ColorBy {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Times {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Palette {
    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn help(self) -> &'static str {
        match self {
            Self::Original => "Purple to red",
            Self::Viridis => "Dark to light, readable with any colour vision",
            Self::Blues => "Light to dark blue, readable in grey; the default of --figure",
            _ => "",
        }
    }
}

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

/// Units with their binary exponents: KB is 2^10 bytes, and so on.
const UNITS: [(&str, u32); 7] =
    [("KIB", 10), ("MIB", 20), ("GIB", 30), ("KB", 10), ("MB", 20), ("GB", 30), ("B", 0)];

/// Parses a size such as `64MB` or `1GB`, and returns it in bytes. A number without a unit is in bytes.
///
/// # Errors
/// If the text is not a size, or if it is too large for a `usize`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let upper = text.trim().to_ascii_uppercase();
    let unit = UNITS.iter().find_map(|(unit, shift)| Some((upper.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((&upper, 0));
    let number: usize = number.trim().parse().map_err(|_| "give a size such as 64MB or 1GB".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "it is more than can be counted".to_owned())
}

/// A tag of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Its key: letters, digits, `_`, `-` and `.`.
    pub(crate) key: String,
    /// Its value: one line, not empty.
    pub(crate) value: String,
}

impl Tag {
    /// Returns true if a run has the tag.
    pub(crate) fn is_of(&self, run: &RunInfo) -> bool {
        run.options.tags.get(&self.key) == Some(&self.value)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl FromStr for Tag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("give KEY=VALUE, as in commit=3f2a9c1")?;
        if let Some(fault) = tag_fault(key, value) {
            return Err(fault);
        }
        // What is escaped on a line can't be distinguished from what was meant to be there.
        if one_line(value) != value {
            return Err("the value of a tag is one line, written in one direction".to_owned());
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// Parses the key of a tag.
pub(crate) fn tag_key(text: &str) -> Result<String, String> {
    match is_tag_key(text) {
        true => Ok(text.to_owned()),
        false => Err("give the key of a tag, as in release: letters, digits, '_', '-' or '.'".to_owned()),
    }
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

    #[test]
    fn units_are_known_in_any_case() {
        for (text, expected) in
            [("64MB", 64 << 20), ("1gb", 1 << 30), ("512 KiB", 512 << 10), ("7", 7), ("7B", 7)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MB", "-1MB", "1.5GB", "1TB", "99999999999999GB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tags_have_a_key_and_a_value() {
        let tag = |text: &str| text.parse::<Tag>().map(|tag| (tag.key, tag.value));
        assert_eq!(tag("commit=3f2a"), Ok(("commit".to_owned(), "3f2a".to_owned())));
        assert_eq!(tag("build.id=a=b c"), Ok(("build.id".to_owned(), "a=b c".to_owned())));
        for wrong in ["commit", "=x", "a b=x", "a:b=x", "commit=", "commit= ", "commit=a\nb", "ä=x"] {
            assert!(tag(wrong).is_err(), "{wrong}");
        }
        assert!(tag(&format!("a={}", "x".repeat(257))).is_err());
    }
}
