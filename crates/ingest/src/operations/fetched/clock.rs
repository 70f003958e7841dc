//! Tells by when a log was written whether its clock is whole hours off.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::run::info::RunInfo;
use crate::run::note::Note;

/// An hour, in seconds.
const HOUR: i64 = 3600;

/// The largest number of hours that time zones are apart.
const WIDEST: i64 = 14;

/// How far the last record may be from when its log was last written, beside whole hours, in seconds. A log that was
/// copied at any other time is within it once in 180 times.
const NEAR: i64 = 10;

/// A note if the logs were last written whole hours before or after their last record: readings of another time than the
/// run's are asked for then.
pub(super) fn note(files: &[PathBuf], run: &RunInfo) -> Option<Note> {
    let (file, written) = files.iter().filter_map(written).max_by_key(|(_, written)| *written)?;
    let ended = run.last_end_ms.unwrap_or(run.last_ms).div_euclid(1000);
    let hours = hours_off(written.saturating_sub(ended))?;
    let (count, side, other) = match hours {
        1.. => (hours, "after", "behind"),
        _ => (-hours, "before", "ahead"),
    };
    Some(Note::from(format!(
        "{} was last written {count} h {side} its last record: if the log's clock is {count} h {other}, add {} to the CPU offset",
        file.display(),
        -hours * HOUR
    )))
}

/// The second in which a file was last written.
fn written(file: &PathBuf) -> Option<(&PathBuf, i64)> {
    let state = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let since = state.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file, i64::try_from(since.as_secs()).ok()?))
}

/// The whole hours in a number of seconds, if it is near them.
fn hours_off(seconds: i64) -> Option<i64> {
    let hours = seconds.saturating_add(HOUR / 2).div_euclid(HOUR);
    let rest = seconds.saturating_sub(hours.saturating_mul(HOUR));
    (hours != 0 && hours.abs() <= WIDEST && rest.abs() <= NEAR).then_some(hours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_hours_are_told_from_other_times() {
        for (seconds, hours) in [
            (3600, Some(1)),
            (3590, Some(1)),
            (3611, None),
            (-7205, Some(-2)),
            (0, None),
            (9, None),
            (14 * 3600, Some(14)),
            (15 * 3600, None),
            (i64::MAX, None),
        ] {
            assert_eq!(hours_off(seconds), hours, "{seconds}");
        }
    }
}
