//! Numbers and texts for people: units, thousands separators, few decimals, and nothing that disturbs a terminal.
//!
//! The tables and the pages of perfpipe are written with these functions.

use std::fmt;
use std::str::FromStr;

use perfpipe_ingest::run::Damage;

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
/// let told = perfpipe_analyze::format::damage_sentence(&damage);
/// assert_eq!(told, "run.zip: the zip's directory is missing; 12 records could be read (1,318 bytes)");
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
    let told: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    if told.is_empty() { "0 s".to_owned() } else { told.join(" ") }
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

/// Returns the number of seconds in a unit of time, given its name: `d`, `h`, `m` or `min`, `s`.
///
/// ```
/// use perfpipe_analyze::format::seconds_of_unit;
/// assert_eq!((seconds_of_unit("h"), seconds_of_unit("ms")), (Some(3600), None));
/// ```
pub fn seconds_of_unit(name: &str) -> Option<u32> {
    Some(match name {
        "d" => 86_400,
        "h" => 3600,
        "m" | "min" => 60,
        "s" => 1,
        _ => return None,
    })
}

/// Parses a time of whole milliseconds, at least one, as in `200ms`, `2s` or `1.5 s`.
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
    let trimmed = text.trim();
    let (number, factor) = match (trimmed.strip_suffix("ms"), trimmed.strip_suffix('s')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1000.0),
        (None, None) => return Err(unread()),
    };
    // Rounded to the nearest µs first, so that 1.1 s is 1,100 ms.
    let number = f64::from_str(number.trim()).map_err(|_| unread())?;
    let ms = (number * factor * 1000.0).round() / 1000.0;
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
        for bad in ["200", "0ms", "-1s", "0.5ms", "ms", "1e99s", "NaNs", "2 m"] {
            assert!(milliseconds(bad).is_err(), "{bad}");
        }
    }
}
