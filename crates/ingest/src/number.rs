//! Whole numbers and truth values as JMeter writes them: an optional minus and digits, nothing else.

/// A whole number, or `None` for anything else and for what does not fit.
#[inline]
pub(crate) fn parse_i64(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    // 19 digits stay below 2^64, so nothing wraps before the last check.
    let mut value = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    let value = i64::try_from(value).ok()?;
    Some(if negative { -value } else { value })
}

/// A whole number of 32 bits, or `None` for anything else and for what does not fit.
#[inline]
pub(crate) fn parse_i32(text: &[u8]) -> Option<i32> {
    i32::try_from(parse_i64(text)?).ok()
}

/// `true` or `false` in any case.
#[inline]
pub(crate) fn parse_bool(text: &[u8]) -> Option<bool> {
    match text {
        b"true" => Some(true),
        b"false" => Some(false),
        _ if text.eq_ignore_ascii_case(b"true") => Some(true),
        _ if text.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_notations_are_refused() {
        for text in ["", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "٣", "9223372036854775808", "--1"] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_i64(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!((parse_i32(b"2147483648"), parse_i32(b"-7")), (None, Some(-7)));
        assert_eq!(
            (parse_bool(b"TRUE"), parse_bool(b"False"), parse_bool(b"1")),
            (Some(true), Some(false), None)
        );
    }

    proptest! {
        #[test]
        fn reads_what_the_standard_library_writes(number in any::<i64>()) {
            // i64::MIN is not reached: its 19 digits without the sign do not fit.
            prop_assume!(number != i64::MIN);
            prop_assert_eq!(parse_i64(number.to_string().as_bytes()), Some(number));
        }
    }
}
