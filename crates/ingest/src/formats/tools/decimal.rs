//! Decimal numbers and moments, as exact integers.

/// Reads a decimal number as a whole number of its `digits`th decimals; what is beyond them is rounded to the nearest. An
/// exponent is allowed, as JSON has them.
pub(super) fn decimal(text: &[u8], digits: usize) -> Option<i64> {
    let (negative, unsigned) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    // The number of decimals so far, from the point on.
    let mut decimals = None;
    let (mut number, mut rounds_up) = (0_i64, false);
    for byte in unsigned {
        match (byte, decimals) {
            (b'0'..=b'9', Some(at)) if at >= digits => {
                rounds_up |= at == digits && *byte >= b'5';
                decimals = Some(at + 1);
            }
            (b'0'..=b'9', _) => {
                number = number.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                decimals = decimals.map(|at| at + 1);
            }
            (b'.', None) => decimals = Some(0),
            (b'e' | b'E', _) => return with_exponent(text, digits),
            _ => return None,
        }
    }
    if !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    for _ in decimals.unwrap_or(0)..digits {
        number = number.checked_mul(10)?;
    }
    number = number.checked_add(i64::from(rounds_up))?;
    Some(if negative { -number } else { number })
}

/// Reads a number with an exponent, which few have.
#[cold]
fn with_exponent(text: &[u8], digits: usize) -> Option<i64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let scaled = number * 10f64.powi(i32::try_from(digits).ok()?);
    (scaled.abs() < 9e15).then(|| scaled.round() as i64)
}

/// Reads a moment of RFC 3339 as ns since 1970.
pub(super) fn moment(text: &str) -> Option<i64> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    i64::try_from(moment.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal(b"5.659717", 6), Some(5_659_717));
        assert_eq!(
            (decimal(b"0.0263", 9), decimal(b"7", 3), decimal(b"-1.5", 1)),
            (Some(26_300_000), Some(7000), Some(-15))
        );
        assert_eq!((decimal(b"1.25", 1), decimal(b"1.24999", 1)), (Some(13), Some(12)));
        assert_eq!((decimal(b"1e-05", 6), decimal(b"2.5E3", 0)), (Some(10), Some(2500)));
        for wrong in ["", ".5", "1.2.3", "soon", "1,5", "--1", "99999999999999999999", "1e400", "1e"] {
            assert_eq!(decimal(wrong.as_bytes(), 3), None, "{wrong}");
        }
        assert_eq!(moment("2026-11-22T11:47:14.787926537Z"), Some(1_795_348_034_787_926_537));
        assert_eq!(
            (moment("2026-11-22T12:47:14+01:00"), moment("yesterday")),
            (Some(1_795_348_034_000_000_000), None)
        );
    }

    proptest! {
        #[test]
        fn decimals_are_those_of_the_standard_library(number in -1_000_000_000_i64..1_000_000_000) {
            let text = format!("{:.3}", number as f64 / 1000.0);
            prop_assert_eq!(decimal(text.as_bytes(), 3), Some(number));
        }
    }
}
