//! Formatting of times: dates in UTC, durations, times of day, and labels of a time axis.

use perfpipe_model::run::TimeZone;

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
    perfpipe_analyze::format::duration(seconds.into())
}

/// Formats a time since the start, in seconds, as in `0:54` or `13:53:20`.
pub(crate) fn stamp(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The clock that a run was measured by, in a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunClock {
    /// What the clock showed when the run started, as if it were UTC: an epoch time in ms.
    shown: i64,
    /// How far it is ahead of UTC, in seconds.
    east: i64,
}

impl RunClock {
    /// Creates the clock of a run. It is not set during the run.
    pub(crate) fn new(t0_ms: i64, zone: &TimeZone) -> Self {
        let east = zone.seconds_east(t0_ms);
        Self { shown: t0_ms.saturating_add(east * 1000), east }
    }

    /// Returns what the clock showed when the run started, in seconds since midnight of 1 January 1970.
    pub(crate) fn start(self) -> f64 {
        self.shown as f64 / 1000.0
    }

    /// Formats what the clock shows `seconds` after the start of the run.
    fn format(self, seconds: f64, format: &str) -> Option<String> {
        let since = (seconds * 1000.0).round() as i64;
        let time = jiff::Timestamp::from_millisecond(self.shown.saturating_add(since)).ok()?;
        Some(time.strftime(format).to_string())
    }

    /// Returns the time of day `seconds` after the start of the run, as in `19:42:18`.
    pub(crate) fn time(self, seconds: f64) -> String {
        self.format(seconds, "%H:%M:%S").unwrap_or_else(|| stamp(seconds.max(0.0) as u32))
    }

    /// Returns the title of an axis over some seconds: the zone and the date.
    fn title(self, (start, end): (f64, f64)) -> String {
        let date = |seconds| self.format(seconds, "%-d %B %Y").unwrap_or_default();
        let (first, last) = (date(start), date(end));
        let dates = if first == last { first } else { format!("{first} to {last}") };
        let (sign, minutes) = (if self.east < 0 { "−" } else { "+" }, self.east.abs() / 60);
        let ahead = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        format!("Time of day (UTC{}), {dates}", if self.east == 0 { "" } else { &ahead })
    }
}

/// The format of the labels of a horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TickFormat {
    /// Whole seconds.
    Seconds,
    /// Minutes and seconds, as in 1:30.
    Minutes,
    /// Hours and minutes, as in 6:00.
    Hours,
    /// The time of day, to minutes or to seconds.
    Clock(RunClock, &'static str),
    /// Numbers of threads, for an axis of load.
    Threads,
    /// Places of versions or levels, which are labelled on their own.
    Places,
}

impl TickFormat {
    /// Returns the format for an axis that ends at `end` seconds and has a tick every `step` seconds.
    pub(crate) fn of(end: f64, step: u32) -> Self {
        match end {
            end if end <= 60.0 => Self::Seconds,
            end if end <= 7200.0 || !step.is_multiple_of(60) => Self::Minutes,
            _ => Self::Hours,
        }
    }

    /// Returns the format of times of day for an axis that has a tick every `step` seconds.
    pub(crate) fn of_clock(clock: RunClock, step: u32) -> Self {
        Self::Clock(
            clock,
            match step {
                step if step < 60 => "%H:%M:%S",
                step if step < 86_400 => "%H:%M",
                _ => "%-d %b",
            },
        )
    }

    /// Returns the title of an axis over some seconds.
    pub(crate) fn title(self, span: (f64, f64)) -> String {
        match self {
            Self::Seconds => "Time since start (s)".to_owned(),
            Self::Minutes => "Time since start (min:s)".to_owned(),
            Self::Hours => "Time since start (h:min)".to_owned(),
            Self::Clock(clock, _) => clock.title(span),
            Self::Threads => "Load (active threads)".to_owned(),
            Self::Places => String::new(),
        }
    }

    /// Returns the value at the start of the axis' count, of which ticks are multiples.
    pub(crate) fn origin(self) -> f64 {
        match self {
            Self::Clock(clock, _) => clock.start(),
            _ => 0.0,
        }
    }

    /// Formats a time in seconds, or a number of threads.
    pub(crate) fn label(self, value: f64) -> String {
        let seconds = value.max(0.0).round() as u32;
        match self {
            Self::Seconds => seconds.to_string(),
            Self::Minutes => format!("{}:{:02}", seconds / 60, seconds % 60),
            Self::Hours => format!("{}:{:02}", seconds / 3600, seconds / 60 % 60),
            Self::Clock(clock, format) => clock.format(value, format).unwrap_or_else(|| stamp(seconds)),
            Self::Threads => crate::text::number::count(seconds.into()),
            Self::Places => String::new(),
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
        assert_eq!(TickFormat::of(5.0, 1).label(3.0), "3");
        assert_eq!(TickFormat::of(420.0, 30).label(390.0), "6:30");
        assert_eq!(TickFormat::of(86_400.0, 7200).label(21_600.0), "6:00");
        // A window of ten seconds late in a long run needs labels with seconds.
        assert_eq!(TickFormat::of(9_010.0, 2).label(9_002.0), "150:02");
    }

    #[test]
    fn clocks_show_the_time_of_their_zone() {
        let clock = |zone: &str| RunClock::new(1_795_203_738_609, &zone.parse().unwrap());
        let (utc, india, york) = (clock("UTC"), clock("+05:30"), clock("America/New_York"));
        assert_eq!(utc.time(0.0), "19:42:18");
        assert_eq!(india.time(60.0), "01:13:18");
        assert_eq!(TickFormat::of_clock(york, 60).label(60.0), "14:43");
        assert_eq!(TickFormat::of_clock(york, 5).label(60.0), "14:43:18");
        assert_eq!(TickFormat::of_clock(york, 86_400).label(86_400.0), "21 Nov");
        assert_eq!(utc.title((0.0, 60.0)), "Time of day (UTC), 20 November 2026");
        assert_eq!(york.title((0.0, 60.0)), "Time of day (UTC−05:00), 20 November 2026");
        let two_days = "Time of day (UTC+05:30), 21 November 2026 to 22 November 2026";
        assert_eq!(india.title((0.0, 86_400.0)), two_days);
    }
}
