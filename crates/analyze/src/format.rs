//! Numbers and texts for people: units, thousands separators, few decimals, and nothing that disturbs a terminal.
//!
//! The tables and the pages of perfpipe are written with these functions.

use std::fmt;
use std::str::FromStr;

use perfpipe_model::run::Damage;

use crate::error::{Error, Result};

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// A plain number.
    None,
    /// Milliseconds.
    Milliseconds,
    /// Percent.
    Percent,
    /// Per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// Returns the unit's name in output: `ms`, `%`, `/s`, `B/s`, `B`; empty for a plain number.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Milliseconds => "ms",
            Self::Percent => "%",
            Self::PerSecond => "/s",
            Self::BytesPerSecond => "B/s",
            Self::Bytes => "B",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Removes the sign of a number that was rounded to zero.
pub(crate) fn without_zero_sign(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => digits,
    }
}

/// Formats a number with commas between its thousands.
///
/// ```
/// assert_eq!(perfpipe_analyze::format::thousands(1234567), "1,234,567");
/// ```
pub fn thousands(number: u64) -> String {
    separated(&number.to_string())
}

/// Inserts commas between the thousands of a number's whole part.
pub(crate) fn separated(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at < whole && (whole - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Puts a text on one line, safe for terminals: control characters, line separators, and characters that change the
/// direction of writing are escaped, as in `\n` and `\u{1b}`.
///
/// ```
/// assert_eq!(perfpipe_analyze::format::one_line("red \u{1b}[31m\nGröße"), r"red \u{1b}[31m\nGröße");
/// ```
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || unsettles(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Returns true if a character ends a line or changes the direction of writing.
fn unsettles(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Formats a figure with few digits: `1,756`, `34.4`, `0.25`.
pub(crate) fn figure(value: f64) -> String {
    if value.abs() >= 999.5 {
        return thousands(value.round().max(0.0) as u64);
    }
    let decimals = match value.abs() {
        value if value >= 99.95 || value == value.round() => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Formats a share, 0 to 1, in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", figure(share * 100.0))
}

/// Describes a damaged file of a partial run, and how much of it was read, as a sentence without its full stop.
///
/// ```
/// use perfpipe_ingest::run::Damage;
///
/// let mut damage = Damage::default();
/// damage.file = "run.zip".into();
/// damage.problem = "the zip's directory is missing".into();
/// (damage.bytes, damage.records) = (1318, 12);
/// let sentence = perfpipe_analyze::format::damage_sentence(&damage);
/// assert_eq!(sentence, "run.zip: the zip's directory is missing; 12 records could be read (1,318 bytes)");
/// ```
pub fn damage_sentence(damage: &Damage) -> String {
    format!("{damage}; {}", damage_read(damage))
}

/// Describes how much of a damaged file was read, as in `12 records could be read (1,318 bytes)`.
pub fn damage_read(damage: &Damage) -> String {
    let packed = match (damage.packed_read, damage.packed_of) {
        (Some(read), Some(of)) => format!(", from {} of {} packed ones", thousands(read), thousands(of)),
        (Some(read), None) => format!(", from {} packed ones", thousands(read)),
        (None, _) => String::new(),
    };
    let (records, bytes) = (thousands(damage.records), thousands(damage.bytes));
    format!("{records} records could be read ({bytes} bytes{packed})")
}

/// Formats a number with the given number of decimals, and commas between its thousands.
///
/// ```
/// assert_eq!(perfpipe_analyze::format::decimals(-1234.56, 1), "-1,234.6");
/// ```
pub fn decimals(value: f64, decimals: usize) -> String {
    separated(&format!("{value:.decimals$}"))
}

/// Formats a number of things, as in `2 threads`.
///
/// ```
/// use perfpipe_analyze::format::counted;
/// assert_eq!((counted(1, "thread"), counted(1200, "thread")), ("1 thread".into(), "1,200 threads".into()));
/// ```
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Formats a duration in seconds.
///
/// ```
/// assert_eq!(perfpipe_analyze::format::duration(3663), "1 h 1 min 3 s");
/// ```
pub fn duration(seconds: u64) -> String {
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let words: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    if words.is_empty() { "0 s".to_owned() } else { words.join(" ") }
}

/// Formats how long a run lasted, in seconds: with a decimal below a minute, else in whole seconds.
///
/// ```
/// use perfpipe_analyze::format::lasting;
/// assert_eq!((lasting(9.96), lasting(78.036)), ("10.0 s".to_owned(), "1 min 18 s".to_owned()));
/// ```
pub fn lasting(seconds: f64) -> String {
    // What rounds to a minute is one.
    if seconds < 59.95 { format!("{} s", decimals(seconds, 1)) } else { duration(seconds.round() as u64) }
}

/// Formats a time in ms since 1970 as a date and a time, UTC; `None` beyond the years 1 to 9999.
///
/// ```
/// assert_eq!(perfpipe_analyze::format::instant(1_795_203_738_609).as_deref(), Some("2026-11-20 19:42:18"));
/// ```
pub fn instant(epoch_ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(epoch_ms).ok()?;
    Some(time.strftime("%Y-%m-%d %H:%M:%S").to_string()).filter(|text| !text.starts_with('-'))
}

/// Formats a number of bytes, with units of a thousand.
///
/// ```
/// use perfpipe_analyze::format::size;
/// assert_eq!((size(999), size(1_234_567)), ("999 B".into(), "1.2 MB".into()));
/// ```
pub fn size(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let exact = bytes as f64;
    match units.into_iter().find(|(unit, _)| exact >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", exact / unit),
        None => format!("{bytes} B"),
    }
}

/// The units of time that are read, each in ms.
const UNITS_OF_TIME: [(&str, f64); 14] = [
    ("days", 86_400_000.0),
    ("day", 86_400_000.0),
    ("d", 86_400_000.0),
    ("hours", 3_600_000.0),
    ("hour", 3_600_000.0),
    ("h", 3_600_000.0),
    ("minutes", 60_000.0),
    ("minute", 60_000.0),
    ("min", 60_000.0),
    ("m", 60_000.0),
    ("seconds", 1000.0),
    ("second", 1000.0),
    ("s", 1000.0),
    ("ms", 1.0),
];

/// Parses a time or a duration in any form in which perfpipe prints one, and returns it in ms: `1:00` (minutes and
/// seconds), `1:00:00` (hours, too), or numbers with units as in `90s`, `1m30s`, `1 min 18 s`, `7d`, `200ms`, `1.5 s`, the
/// larger units first. `None` for any other text, such as a number without a unit.
///
/// ```
/// use perfpipe_analyze::format::{duration, parse_time};
/// assert_eq!((parse_time("1:00"), parse_time("1m30s")), (Some(60_000.0), Some(90_000.0)));
/// assert_eq!(parse_time(&duration(3_663)), Some(3_663_000.0));
/// assert_eq!((parse_time("90"), parse_time("s"), parse_time("1:75")), (None, None, None));
/// ```
pub fn parse_time(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.contains(':') { clock_ms(text) } else { with_units_ms(text) }
}

/// Parses minutes and seconds, or hours, minutes and seconds, between colons.
fn clock_ms(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok());
    let first = number(parts.next()?)??;
    let mut seconds = f64::from(first);
    let rest: Vec<&str> = parts.collect();
    for part in &rest {
        let part = number(part).flatten().filter(|number| part.len() == 2 && *number < 60)?;
        seconds = seconds * 60.0 + f64::from(part);
    }
    (1..=2).contains(&rest.len()).then_some(seconds * 1000.0)
}

/// Parses numbers with units, each unit smaller than the one before it.
fn with_units_ms(text: &str) -> Option<f64> {
    let (mut rest, mut sum, mut last) = (text, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(rest.find(|c: char| c != '.' && !c.is_ascii_digit())?);
        let behind = behind.trim_start();
        let (unit, behind) =
            behind.split_at(behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len()));
        let (_, factor) =
            UNITS_OF_TIME.iter().find(|(name, _)| *name == unit).filter(|(_, ms)| *ms < last)?;
        // Rounded to the nearest µs, so that 1.1 s is 1,100 ms.
        sum += (f64::from_str(number).ok()? * factor * 1000.0).round() / 1000.0;
        (rest, last) = (behind.trim_start(), *factor);
    }
    (last.is_finite() && sum.is_finite()).then_some(sum)
}

/// Parses a time of whole milliseconds, at least one, as in `200ms`, `2s` or `1.5 s`: see [`parse_time`].
///
/// ```
/// use perfpipe_analyze::format::milliseconds;
/// assert_eq!(milliseconds("1.5s")?, 1500);
/// assert!(milliseconds("0.5ms").is_err());
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
///
/// # Errors
/// [`Error::Time`] if the text is not such a time.
pub fn milliseconds(text: &str) -> Result<u32> {
    let unread = || Error::Time { text: text.to_owned() };
    let ms = parse_time(text).ok_or_else(unread)?;
    let is_whole = ms.fract() == 0.0 && (1.0..=f64::from(i32::MAX)).contains(&ms);
    if is_whole { Ok(ms as u32) } else { Err(unread()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let times = [("200ms", 200), ("2s", 2000), (" 1.1 s ", 1100), ("0.003s", 3)];
        for (text, ms) in times {
            assert_eq!(milliseconds(text).unwrap(), ms, "{text}");
        }
        for bad in ["200", "0ms", "-1s", "0.5ms", "ms", "1e99s", "NaNs", "2 x"] {
            assert!(milliseconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_read_as_they_are_printed() {
        for seconds in [0, 1, 59, 60, 78, 600, 3_600, 3_663, 86_399, 86_400, 90_061, 86_400 * 12] {
            assert_eq!(
                parse_time(&duration(seconds)),
                Some(seconds as f64 * 1000.0),
                "{}",
                duration(seconds)
            );
        }
        for (text, ms) in [
            ("0:00", 0.0),
            ("1:00", 60_000.0),
            ("75:30", 4_530_000.0),
            ("13:53:20", 50_000_000.0),
            (" 1 min 18 s ", 78_000.0),
            ("1m30s", 90_000.0),
            ("1.5 h", 5_400_000.0),
            ("2s 500 ms", 2_500.0),
        ] {
            assert_eq!(parse_time(text), Some(ms), "{text}");
        }
        for bad in [
            "", "60", "s", "-1s", "1:5", "1:60", "1:2:3:4", ":30", "1:", "30s 1m", "1m1m", "1e3s", "1..5s",
            "+1:00", "１s",
        ] {
            assert_eq!(parse_time(bad), None, "{bad}");
        }
    }
}
