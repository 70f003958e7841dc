//! Sizes in bytes as values of flags.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
