//! Numbers with units, as load tools print them.

/// A finite number that is not negative.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.trim().trim_end_matches([',', ';']).trim_end_matches('%');
    // "inf", "nan" and the like are numbers to the standard library.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    digits.parse::<f64>().ok().filter(|value| plain && value.is_finite() && *value >= 0.0)
}

/// A whole number. `None` if it does not fit.
pub(super) fn count(text: &str) -> Option<u64> {
    text.trim().trim_end_matches([',', ';']).parse().ok()
}

/// Splits a number from the unit after it.
fn with_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().trim_end_matches(',');
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (value, unit) = text.split_at_checked(end)?;
    Some((value, unit.trim()))
}

/// A time in ms, from a number and its unit: `434.02ms`, `4.03s`, `1.00m`, `5 secs`.
pub(super) fn time_ms(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    // The decimal point is moved in the text, so that the result is the nearest to what was printed.
    let moved = |places: i32| number(&format!("{value}e{places}"));
    match unit {
        "ns" => moved(-6),
        "us" | "µs" | "μs" | "usec" => moved(-3),
        "ms" => moved(0),
        "s" | "sec" | "secs" => moved(3),
        "m" | "min" => Some(number(value)? * 60e3),
        "h" => Some(number(value)? * 3600e3),
        _ => None,
    }
}

/// Seconds in ms. The decimal point is moved in the text, so that the result is the nearest to what was printed.
pub(super) fn seconds_ms(seconds: f64) -> f64 {
    format!("{seconds:e}")
        .split_once('e')
        .and_then(|(digits, power)| format!("{digits}e{}", power.parse::<i32>().ok()? + 3).parse().ok())
        .unwrap_or(seconds * 1e3)
}

/// Bytes, from a number and a unit whose steps are of 1024: `3.42MB`, `346.39KB`, `21.76 KiB`.
pub(super) fn bytes(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    let unit = unit.trim_end_matches("/s").trim_end_matches('B').trim_end_matches('i');
    let power = match unit {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(number(value)? * 1024f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_tools() {
        assert_eq!(time_ms("4.03s"), Some(4030.0));
        assert_eq!((time_ms("171.00us"), time_ms("us"), time_ms("")), (Some(0.171), None, None));
        assert_eq!((time_ms("1.00m"), time_ms("-nan"), time_ms("5")), (Some(60e3), None, None));
        assert_eq!(
            (bytes("1.5KB"), bytes("2MB/s"), bytes("7B")),
            (Some(1536.0), Some(2_097_152.0), Some(7.0))
        );
        assert_eq!(
            (number("nan"), number("inf"), number("-1"), number("86.39%")),
            (None, None, None, Some(86.39))
        );
        // 0.0093 s times 1,000 would be 9.299999999999999 ms.
        assert_eq!([0.0093, 0.0377, 1.5, 0.0, 3600.0].map(seconds_ms), [9.3, 37.7, 1500.0, 0.0, 3_600_000.0]);
        assert_eq!((count("18446744073709551616"), count("12,"), count("1.5")), (None, Some(12), None));
    }
}
