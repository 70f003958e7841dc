//! What a system answered, and what is wrong with an answer.

use super::address::One;
use crate::error::ErrorKind;
use crate::error::secrets::Secrets;
use crate::run::fault::Fault;
use crate::run::options::cpu_scale::CpuScale;
use crate::source::cpu_export::monitor::Found;

/// An hour, and the longest time from a run to its ingest, or from the first reading to the run, for which clocks are
/// compared, in seconds.
const HOUR: i64 = 3600;
const SOON: i64 = 1200;

/// How much further a reading may be, in seconds: readings are asked for from a while before the run on, and found by steps.
const SLACK: i64 = 90;

/// The largest number of hours that time zones are apart.
const WIDEST: i64 = 14;

/// How far from a run readings are looked for whose time tells that a clock is off, in seconds.
pub(super) const SHIFTED: i64 = WIDEST * HOUR;

/// What a system answered.
pub(super) struct Answered {
    /// The readings of each host or series that was asked for, at least one.
    pub(super) parts: Vec<Part>,
    /// Notes for the user, as sentences.
    pub(super) notes: Vec<String>,
}

impl Answered {
    /// Hides what the host was sent in what it answered.
    pub(super) fn hiding(mut self, secrets: &Secrets) -> Self {
        let parts = self.parts.iter_mut().map(|part| &mut part.name);
        parts.chain(&mut self.notes).for_each(|text| *text = secrets.hidden(text));
        self
    }
}

/// Hides what a host was sent in the fault of its answer.
pub(super) fn hidden(fault: Fault, secrets: &Secrets) -> Fault {
    Fault { problem: secrets.said(&fault.problem), ..fault }
}

/// The readings of one host, or of one series.
pub(super) struct Part {
    /// What tells it from the others.
    pub(super) name: String,
    pub(super) found: Found,
    /// The unit of the readings, if the system tells it.
    pub(super) scale: Option<CpuScale>,
}

/// The number of readings of some parts.
pub(super) fn count(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.found.len()).sum()
}

/// Says to which of several items a fault belongs.
pub(super) fn of(item: One<'_>, among: usize, fault: Fault) -> Fault {
    let name = match item {
        _ if among < 2 => return fault,
        One::Id(id) => id.to_string(),
        One::Named { host, .. } => host.to_owned(),
    };
    Fault { problem: format!("{name}: {}", fault.problem), ..fault }
}

/// A fault of what a host answered.
pub(super) fn answer(problem: impl Into<String>) -> Fault {
    let remedy = "Look at the answer of the host, and try again.";
    Fault::new(ErrorKind::SourceAnswer, problem, remedy)
}

/// The readings nearest to a time that has none, as epoch seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nearest {
    /// The latest one before the time.
    pub(super) before: Option<i64>,
    /// The first one after it.
    pub(super) after: Option<i64>,
}

/// The fault of a time without readings.
pub(super) fn no_readings((first, last): (i64, i64), nearest: Nearest) -> Fault {
    let shown = |second: i64| match jiff::Timestamp::from_second(second) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => second.to_string(),
    };
    let Nearest { before, after } = nearest;
    let before = before.map(|before| {
        let hours = hours_off(last.saturating_sub(before));
        format!("; the latest before it is of {}{}", shown(before), told(hours, "ahead", 1))
    });
    let after = after.map(|after| {
        let hours = hours_off(after.saturating_sub(first));
        format!("; the first after it is of {}{}", shown(after), told(hours, "behind", -1))
    });
    let nearest: String = [before, after].into_iter().flatten().collect();
    let problem =
        format!("has no readings from {} to {}, the time of the run{nearest}", shown(first), shown(last));
    let remedy = "Check that the item is collected, the clocks of both machines (the CPU offset), and the time zone of \
                  the log's dates.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

/// The whole hours by which a log's clock is off, if that is likely: a reading which is `apart` seconds from the far end of
/// the run would then be at most a while from it. A log is often ingested soon after its run, and readings are often
/// begun soon before it.
fn hours_off(apart: i64) -> Option<i64> {
    let hours = apart.saturating_sub(SLACK).saturating_add(HOUR - 1).div_euclid(HOUR);
    let beyond = hours.saturating_mul(HOUR).saturating_sub(apart);
    ((1..=WIDEST).contains(&hours) && beyond <= SOON).then_some(hours)
}

fn told(hours: Option<i64>, side: &str, sign: i64) -> String {
    let told = |hours: i64| {
        format!(" (if the log's clock is {hours} h {side}, add {} to the CPU offset)", sign * hours * HOUR)
    };
    hours.map(told).unwrap_or_default()
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
    fn clock_that_is_whole_hours_off_is_told() {
        let (first, last) = (1_795_203_660, 1_795_203_780);
        for (apart, hours) in [
            (3600, Some(1)),
            (3600 - 600, Some(1)),
            (7200 - 60, Some(2)),
            (3600 - 1800, None),
            (3600 + 60, Some(1)),
            (3600 + 120, None),
            (0, None),
            (15 * 3600, None),
        ] {
            let ahead = no_readings((first, last), Nearest { before: Some(last - apart), after: None });
            let behind = no_readings((first, last), Nearest { before: None, after: Some(first + apart) });
            for (said, side, sign) in [(ahead.problem, "ahead", 1), (behind.problem, "behind", -1)] {
                match hours {
                    Some(hours) => {
                        let told =
                            format!("is {hours} h {side}, add {} to the CPU offset", sign * hours * 3600);
                        assert!(said.contains(&told), "{apart}: {said}");
                    }
                    None => assert!(!said.contains("CPU offset"), "{apart}: {said}"),
                }
            }
        }
    }
}
