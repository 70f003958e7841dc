//! Formatting of numbers on a page: with a true minus sign, shares in percent, units.

use perfpipe_analyze::format;

/// Numbers from here on are written with an exponent.
const HUGE: f64 = 1e15;

/// Formats a number with the given decimals and with commas between thousands.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    if value.abs() >= HUGE {
        return format!("{value:.1e}");
    }
    format::decimals(value, decimals).replace('-', "−")
}

/// Formats a count with commas between thousands.
pub(crate) fn count(value: u64) -> String {
    grouped(value as f64, 0)
}

/// Formats a measured value with few digits: 46,333 or 12.3 or 0.45.
pub(crate) fn measured(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    grouped(value, decimals)
}

/// Formats a share, 0 to 1, in percent, with three digits. A share that is neither none nor all is never rounded to either.
pub(crate) fn percent(share: f64) -> String {
    match share {
        s if s <= 0.0 => "0 %".to_owned(),
        s if s >= 1.0 => "100 %".to_owned(),
        s if s < 0.0001 => "< 0.01 %".to_owned(),
        s if s > 0.9999 => "> 99.99 %".to_owned(),
        s => {
            let percent = s * 100.0;
            let decimals = if (9.995..99.95).contains(&percent) { 1 } else { 2 };
            format!("{percent:.decimals$} %")
        }
    }
}

/// Formats a number with at most two decimals.
pub(crate) fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Response times from here on, in ms, are shown in seconds.
pub(crate) const LONG_MS: f64 = 10_000.0;

/// Formats a response time, given in ms, with its unit.
pub(crate) fn response(ms: f64) -> String {
    if ms >= LONG_MS { format!("{} s", measured(ms / 1000.0)) } else { format!("{} ms", measured(ms)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(19_459_860), "19,459,860");
        assert_eq!(grouped(1234.5, 1), "1,234.5");
        assert_eq!(grouped(2e300, 0), "2.0e300");
        assert_eq!(grouped(-1234.5, 1), "−1,234.5");
    }

    #[test]
    fn small_share_is_not_none() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_001), "< 0.01 %");
        assert_eq!(percent(0.999_999), "> 99.99 %");
        assert_eq!(percent(0.125), "12.5 %");
        // Shares beside each other have the same number of digits.
        assert_eq!((percent(0.291), percent(0.3231)), ("29.1 %".to_owned(), "32.3 %".to_owned()));
        assert_eq!((percent(0.05), percent(0.9997)), ("5.00 %".to_owned(), "99.97 %".to_owned()));
        assert_eq!(percent(1.0), "100 %");
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(response(63_000.0), "63.0 s");
        assert_eq!(response(402.4), "402 ms");
        assert_eq!(response(1.5), "1.50 ms");
        assert_eq!(measured(46_333.2), "46,333");
    }
}
