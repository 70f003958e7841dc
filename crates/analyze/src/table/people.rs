//! Values as people read them: thousands separated, few decimals, nothing that could disturb a terminal.

use super::column::Column;
use super::value::Value;

/// What stands where a value is absent.
const ABSENT: &str = "-";

/// A value as it is shown under a column.
pub(super) fn shown(column: &Column, value: &Value<'_>) -> String {
    let number = |digits: String| if column.separates_thousands() { separated(&digits) } else { digits };
    match value {
        Value::Absent => ABSENT.into(),
        Value::U64(value) => number(value.to_string()),
        Value::I64(value) => number(value.to_string()),
        Value::F64(value) => number(match column.decimals_shown() {
            Some(decimals) => without_zero_sign(format!("{value:.*}", usize::from(decimals))),
            None => value.to_string(),
        }),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Text(text) => one_line(text),
    }
}

/// A number that is not `-0.0`: what was rounded to zero has no sign.
fn without_zero_sign(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => digits,
    }
}

/// A number with commas between its thousands, as sentences show it.
///
/// ```
/// assert_eq!(perfpipe_analyze::thousands(1234567), "1,234,567");
/// ```
pub fn thousands(number: u64) -> String {
    separated(&number.to_string())
}

/// Commas between the thousands of a number's whole part.
fn separated(digits: &str) -> String {
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

/// A text on one line, as terminals can be given it: control characters, line separators, and what turns the direction
/// of writing are written out, as in `\n` and `\u{1b}`.
///
/// ```
/// assert_eq!(perfpipe_analyze::one_line("red \u{1b}[31m\nGröße"), r"red \u{1b}[31m\nGröße");
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

/// Whether a character ends a line or turns the direction of writing.
fn unsettles(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn thousands_are_separated_in_the_whole_part_only() {
        let column = Column::new("x", Kind::F64);
        for (value, text) in [
            (0.0, "0"),
            (999.5, "999.5"),
            (1000.0, "1,000"),
            (-1234567.25, "-1,234,567.25"),
            (100_000.0, "100,000"),
            (0.1234567, "0.1234567"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(shown(&column, &Value::F64(value)), text);
        }
        assert_eq!(shown(&column.clone().decimals(1), &Value::F64(1234.56)), "1,234.6");
        assert_eq!(shown(&column.clone().decimals(1), &Value::F64(-0.04)), "0.0");
        assert_eq!(shown(&column.clone().decimals(1), &Value::F64(-0.06)), "-0.1");
        assert_eq!(shown(&column, &Value::I64(i64::MIN)), "-9,223,372,036,854,775,808");
        assert_eq!(shown(&column.identifier(), &Value::U64(1795203738)), "1795203738");
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        let column = Column::new("x", Kind::Text);
        assert_eq!(shown(&column, &Value::Text("a\r\nb\u{1b}[31m配")), r"a\r\nb\u{1b}[31m配");
    }
}
