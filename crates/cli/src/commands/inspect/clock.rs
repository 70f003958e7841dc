//! Formatting of times.

/// The epoch times, in ms, that are shown as dates.
const SHOWN: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_400_000_000_000;

/// Formats an epoch time in ms.
pub(super) fn moment(epoch_ms: i64) -> String {
    shown(epoch_ms, "%Y-%m-%d %H:%M:%S%.3f UTC").unwrap_or_else(|| format!("{epoch_ms} ms"))
}

/// Formats an epoch second.
pub(crate) fn second(epoch_second: i64) -> String {
    let epoch_ms = epoch_second.saturating_mul(1000);
    shown(epoch_ms, "%Y-%m-%d %H:%M:%S UTC").unwrap_or_else(|| format!("{epoch_second} s"))
}

fn shown(epoch_ms: i64, form: &str) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(epoch_ms).ok().filter(|_| SHOWN.contains(&epoch_ms))?;
    Some(time.strftime(form).to_string())
}

/// Formats a number of milliseconds in hours, minutes and seconds.
pub(super) fn duration(ms: u64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}.{ms:03} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, seconds) => format!("{hours} h {minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_whatever_they_are() {
        assert_eq!(moment(1_795_203_738_609), "2026-11-20 19:42:18.609 UTC");
        assert_eq!(second(1_795_203_738), "2026-11-20 19:42:18 UTC");
        assert_eq!(
            (moment(i64::MIN), second(i64::MAX)),
            (format!("{} ms", i64::MIN), format!("{} s", i64::MAX))
        );
        assert_eq!(
            (duration(78_029), duration(29_500), duration(90_061_000)),
            ("1 min 18 s".into(), "29.500 s".into(), "25 h 1 min 1 s".into())
        );
    }
}
