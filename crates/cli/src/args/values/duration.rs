//! Durations as values of flags: `7d`, `36h`, `90m`, `30s`.

use perfpipe_analyze::format::seconds_of_unit;

/// Parses a duration, and returns it in ms.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = seconds_of_unit(unit.trim()).ok_or("give a number with a unit: 7d, 36h, 90m or 30s")?;
    let number: u64 = number.parse().map_err(|_| "give a whole number with a unit, as in 7d".to_owned())?;
    number.checked_mul(u64::from(unit) * 1000).ok_or_else(|| "that is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn spans_have_a_unit() {
        assert_eq!(parse("7d"), Ok(604_800_000));
        assert_eq!(parse("90 m"), Ok(5_400_000));
        assert!(parse("7").is_err() && parse("d").is_err() && parse("-1h").is_err());
        assert!(parse("99999999999999999d").is_err());
    }
}
