//! What a system answered, and what is wrong with an answer.

use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::run::options::cpu_scale::CpuScale;
use crate::source::cpu_export::monitor::Found;

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
    let latest = latest.map(|latest| format!("; the latest is of {}", shown(latest))).unwrap_or_default();
    let problem =
        format!("has no readings from {} to {}, the time of the run{latest}", shown(first), shown(last));
    let remedy = "Check that the item is collected, the clocks of both machines (the CPU offset), and the time zone of \
                  the log's dates.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

/// The fault of a time of which an item of Zabbix has trends alone.
pub(super) fn only_trends() -> Fault {
    let problem = "has only trends of the time of the run, the means of hours: its readings were deleted";
    let remedy =
        "Ask within the time for which Zabbix keeps the item's history, or let it keep it for longer.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}
