//! What a system answered, and what is wrong with an answer.

use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::run::options::cpu_scale::CpuScale;
use crate::source::cpu_export::monitor::Found;

/// An hour, and the longest time from a run to its ingest after which clocks are compared, in seconds.
const HOUR: i64 = 3600;
const SOON: i64 = 1200;

/// The largest number of hours that time zones are apart.
const WIDEST: i64 = 14;

/// What a system answered.
pub(super) struct Answered {
    pub(super) found: Found,
    /// The unit of the readings, if the system tells it.
    pub(super) scale: Option<CpuScale>,
    /// Notes for the user, as sentences.
    pub(super) notes: Vec<String>,
}

/// A fault of what a host answered.
pub(super) fn answer(problem: impl Into<String>) -> Fault {
    let remedy = "Look at the answer of the host, and try again.";
    Fault::new(ErrorKind::SourceAnswer, problem, remedy)
}

/// The fault of a time without readings. `latest` is the second of the latest one of all, if there is any.
pub(super) fn no_readings((first, last): (i64, i64), latest: Option<i64>) -> Fault {
    let shown = |second: i64| match jiff::Timestamp::from_second(second) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => second.to_string(),
    };
    let told = |latest: i64| format!("; the latest is of {}{}", shown(latest), hours_ahead(last, latest));
    let latest = latest.map(told).unwrap_or_default();
    let problem =
        format!("has no readings from {} to {}, the time of the run{latest}", shown(first), shown(last));
    let remedy = "Check that the item is collected, the clocks of both machines (the CPU offset), and the time zone of \
                  the log's dates.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

/// What is told if a run's end is whole hours ahead of the latest reading: a log whose clock is so far ahead is often
/// ingested soon after the run.
fn hours_ahead(last: i64, latest: i64) -> String {
    let hours = last.saturating_sub(latest).saturating_add(HOUR - 1).div_euclid(HOUR);
    let after = latest.saturating_sub(last.saturating_sub(hours * HOUR));
    match (1..=WIDEST).contains(&hours) && after <= SOON {
        true => format!(" (if the log's clock is {hours} h ahead, the CPU offset is {})", hours * HOUR),
        false => String::new(),
    }
}

/// The fault of a time of which an item of Zabbix has trends alone.
pub(super) fn only_trends() -> Fault {
    let problem = "has only trends of the time of the run, the means of hours: its readings were deleted";
    let remedy =
        "Ask within the time for which Zabbix keeps the item's history, or let it keep it for longer.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_whole_hours_ahead_is_told() {
        for (behind, told) in [
            (3600, "1 h ahead, the CPU offset is 3600"),
            (3600 - 600, "1 h ahead, the CPU offset is 3600"),
            (7200 - 60, "2 h ahead, the CPU offset is 7200"),
            (3600 - 1800, ""),
            (7200 - 3599, ""),
            (0, ""),
            (15 * 3600, ""),
        ] {
            let said = hours_ahead(1_795_203_780, 1_795_203_780 - behind);
            assert_eq!(said.is_empty(), told.is_empty(), "{behind}: {said}");
            assert!(said.contains(told), "{behind}: {said}");
        }
    }
}
