//! Formatting of times: dates in UTC, durations, and labels of a time axis.

/// Formats an epoch time in ms as a date and time in UTC.
pub(crate) fn utc(epoch_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(epoch_ms) {
        Ok(time) => time.strftime("%-d %B %Y, %H:%M:%S.%3f UTC").to_string(),
        Err(_) => format!("epoch ms {epoch_ms}"),
    }
}

/// Formats an epoch time in ms as a date and time in UTC, without seconds.
pub(crate) fn utc_minute(epoch_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(epoch_ms) {
        Ok(time) => time.strftime("%-d %B %Y, %H:%M UTC").to_string(),
        Err(_) => format!("epoch ms {epoch_ms}"),
    }
}

/// Formats a duration in seconds, as in `7 min 3 s`.
pub(crate) fn duration(seconds: u32) -> String {
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

/// Formats a time since the start, in seconds, as in `0:54` or `13:53:20`.
pub(crate) fn stamp(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The format of the labels of a horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    /// Whole seconds.
    Seconds,
    /// Minutes and seconds, as in 1:30.
    Minutes,
    /// Hours and minutes, as in 6:00.
    Hours,
    /// Numbers of threads, for an axis of load.
    Threads,
}

impl TimeFormat {
    /// Returns the format for an axis that ends at `end` seconds and has a tick every `step` seconds.
    pub(crate) fn of(end: f64, step: u32) -> Self {
        match end {
            end if end <= 60.0 => Self::Seconds,
            end if end <= 7200.0 || !step.is_multiple_of(60) => Self::Minutes,
            _ => Self::Hours,
        }
    }

    /// Returns the axis title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Seconds => "Time since start (s)",
            Self::Minutes => "Time since start (min:s)",
            Self::Hours => "Time since start (h:min)",
            Self::Threads => "Load (active threads)",
        }
    }

    /// Formats a time in seconds, or a number of threads.
    pub(crate) fn label(self, seconds: u32) -> String {
        match self {
            Self::Seconds => seconds.to_string(),
            Self::Minutes => format!("{}:{:02}", seconds / 60, seconds % 60),
            Self::Hours => format!("{}:{:02}", seconds / 3600, seconds / 60 % 60),
            Self::Threads => crate::text::number::count(seconds.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!(utc(1_795_203_738_609), "20 November 2026, 19:42:18.609 UTC");
        assert_eq!(utc_minute(1_795_203_738_609), "20 November 2026, 19:42 UTC");
        assert_eq!(utc(i64::MAX), format!("epoch ms {}", i64::MAX));
        assert_eq!(duration(423), "7 min 3 s");
        assert_eq!(duration(86_400), "1 d");
        assert_eq!(duration(0), "0 s");
        assert_eq!(stamp(54), "0:54");
        assert_eq!(stamp(50_000), "13:53:20");
    }

    #[test]
    fn labels_follow_the_span() {
        assert_eq!(TimeFormat::of(5.0, 1).label(3), "3");
        assert_eq!(TimeFormat::of(420.0, 30).label(390), "6:30");
        assert_eq!(TimeFormat::of(86_400.0, 7200).label(21_600), "6:00");
        // A window of ten seconds late in a long run needs labels with seconds.
        assert_eq!(TimeFormat::of(9_010.0, 2).label(9_002), "150:02");
    }
}
