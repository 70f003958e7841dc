//! What a system answered, what is wrong with an answer, and the sum of the readings of several hosts.

use std::collections::BTreeSet;

use super::address::One;
use crate::source::cpu_export::monitor::FoundReadings;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::error::secrets::Secrets;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::series::cpu::{CpuChoice, CpuJoin, TimeSeries};

/// An hour, and the longest time from a run to its ingest, or from the first reading to the run, for which clocks are
/// compared, in seconds.
const HOUR: i64 = 3600;
const SOON: i64 = 1200;

/// How much further a reading may be, in seconds: readings are asked for from a while before the run on, and found by steps.
const SLACK: i64 = 90;

/// The largest difference of time zones, in hours.
const WIDEST: i64 = 14;

/// How far from a run readings are searched whose time shows that a clock is off, in seconds.
pub(super) const SHIFTED: i64 = WIDEST * HOUR;

/// What a system answered.
pub(super) struct Answered {
    /// The readings of each host or series that was asked for, at least one.
    pub(super) parts: Vec<AnsweredPart>,
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
pub(super) struct AnsweredPart {
    /// What distinguishes it from the others.
    pub(super) name: String,
    pub(super) found: FoundReadings,
    /// The unit of the readings, if the system reports it.
    pub(super) scale: Option<CpuScale>,
}

/// The number of readings of some parts.
pub(super) fn count(parts: &[AnsweredPart]) -> usize {
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
        format!("; the latest before it is of {}{}", shown(before), advice(hours, "ahead", 1))
    });
    let after = after.map(|after| {
        let hours = hours_off(after.saturating_sub(first));
        format!("; the first after it is of {}{}", shown(after), advice(hours, "behind", -1))
    });
    let nearest: String = [before, after].into_iter().flatten().collect();
    let problem =
        format!("has no readings from {} to {}, the time of the run{nearest}", shown(first), shown(last));
    let remedy = "Check that the item is collected, the clocks of both machines (the CPU offset), and the time zone of \
                  the log's dates.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

/// The whole hours by which a log's clock is off, if that is likely: a reading which is `distance` seconds from the far end of
/// the run would then be at most a while from it. A log is often ingested soon after its run, and readings are often
/// begun soon before it.
fn hours_off(distance: i64) -> Option<i64> {
    let hours = distance.saturating_sub(SLACK).saturating_add(HOUR - 1).div_euclid(HOUR);
    let beyond = hours.saturating_mul(HOUR).saturating_sub(distance);
    ((1..=WIDEST).contains(&hours) && beyond <= SOON).then_some(hours)
}

fn advice(hours: Option<i64>, side: &str, sign: i64) -> String {
    let sentence = |hours: i64| {
        format!(" (if the log's clock is {hours} h {side}, add {} to the CPU offset)", sign * hours * HOUR)
    };
    hours.map(sentence).unwrap_or_default()
}

/// The fault of a time of which an item of Zabbix has trends alone.
pub(super) fn only_trends() -> Fault {
    let problem = "has only trends of the time of the run, the means of hours: its readings were deleted";
    let remedy =
        "Ask within the time for which Zabbix keeps the item's history, or let it keep it for longer.";
    Fault::new(ErrorKind::SourceEmpty, problem, remedy)
}

/// The readings of one host or series.
pub(super) struct HostReadings {
    /// What distinguishes it from the others.
    pub(super) name: String,
    pub(super) series: TimeSeries,
    /// The unit in which they were, if it is known.
    pub(super) scale: Option<CpuScale>,
}

/// The sum of what was read.
pub(super) struct Sum {
    pub(super) series: TimeSeries,
    pub(super) scale: Option<CpuScale>,
}

/// Adds up readings, and says if some lack others to be added to. A second has a sum only if all have a reading of it, each
/// within its own look-back.
pub(super) fn combined(read: &[HostReadings]) -> (Sum, Option<String>) {
    if let [only] = read {
        return (Sum { series: only.series.clone(), scale: only.scale }, None);
    }
    let joined: Vec<(&TimeSeries, CpuJoin)> =
        read.iter().map(|part| (&part.series, CpuChoice::default().join(&part.series))).collect();
    let clocks: BTreeSet<i64> =
        joined.iter().flat_map(|(series, _)| series.readings()).map(|(clock, _)| *clock).collect();
    let sum = |clock: i64| {
        let of = joined.iter().map(|(series, join)| series.at(clock, *join));
        Some((clock, of.sum::<Option<f64>>()?))
    };
    let series = TimeSeries::new(clocks.iter().filter_map(|clock| sum(*clock)).collect());
    let lacking = clocks.len() - series.readings().len();
    let note =
        format!("{lacking} of {} seconds with readings have none of some hosts, and so no sum", clocks.len());
    (Sum { series, scale: scale(read) }, (lacking > USUAL).then_some(note))
}

/// The number of seconds without a sum that needs no note: the readings of some hosts begin or end before those of others.
const USUAL: usize = 20;

/// The unit of a sum: several machines are one of all their cores.
fn scale(read: &[HostReadings]) -> Option<CpuScale> {
    let mut all = read.iter().map(|part| part.scale);
    all.next()?.and_then(|first| all.try_fold(first, |sum, next| added(sum, next?)))
}

fn added(one: CpuScale, other: CpuScale) -> Option<CpuScale> {
    Some(match (one, other) {
        (CpuScale::PercentOfCore, CpuScale::PercentOfCore) => CpuScale::PercentOfCore,
        (CpuScale::PercentOfMachine { cores: a }, CpuScale::PercentOfMachine { cores: b }) => {
            CpuScale::PercentOfMachine { cores: a.saturating_add(b) }
        }
        (CpuScale::Fraction { cores: a }, CpuScale::Fraction { cores: b }) => {
            CpuScale::Fraction { cores: a.saturating_add(b) }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_whole_hours_off_is_told() {
        let (first, last) = (1_795_203_660, 1_795_203_780);
        for (distance, hours) in [
            (3600, Some(1)),
            (3600 - 600, Some(1)),
            (7200 - 60, Some(2)),
            (3600 - 1800, None),
            (3600 + 60, Some(1)),
            (3600 + 120, None),
            (0, None),
            (15 * 3600, None),
        ] {
            let ahead = no_readings((first, last), Nearest { before: Some(last - distance), after: None });
            let behind = no_readings((first, last), Nearest { before: None, after: Some(first + distance) });
            for (said, side, sign) in [(ahead.problem, "ahead", 1), (behind.problem, "behind", -1)] {
                match hours {
                    Some(hours) => {
                        let advice =
                            format!("is {hours} h {side}, add {} to the CPU offset", sign * hours * 3600);
                        assert!(said.contains(&advice), "{distance}: {said}");
                    }
                    None => assert!(!said.contains("CPU offset"), "{distance}: {said}"),
                }
            }
        }
    }

    fn part(readings: &[(i64, f64)], cores: u32) -> HostReadings {
        let series = TimeSeries::new(readings.to_vec());
        HostReadings { name: String::new(), series, scale: Some(CpuScale::PercentOfMachine { cores }) }
    }

    #[test]
    fn second_has_a_sum_if_all_have_a_reading_of_it() {
        let one = part(&[(10, 1.0), (11, 2.0), (12, 3.0), (13, 4.0), (30, 9.0)], 4);
        let other = part(&[(11, 10.0), (13, 20.0), (15, 30.0)], 2);
        let (sum, note) = combined(&[one, other]);
        let expected = [(11, 12.0), (12, 13.0), (13, 24.0), (15, 34.0)];
        assert_eq!(sum.series.readings(), expected, "not 10, before the other begins, nor 30");
        assert_eq!((sum.scale, note), (Some(CpuScale::PercentOfMachine { cores: 6 }), None));
    }

    #[test]
    fn readings_that_can_not_be_added_are_told() {
        let one = part(&(0..100).map(|clock| (clock, 1.0)).collect::<Vec<_>>(), 1);
        let other = part(&(0..40).map(|clock| (clock, 1.0)).collect::<Vec<_>>(), 1);
        let (sum, note) = combined(&[one, other]);
        assert_eq!(sum.series.readings().len(), 43, "with the look-back of the last one");
        assert!(note.unwrap().starts_with("57 of 100 seconds"));
    }

    #[test]
    fn single_readings_stay_as_they_are() {
        let only = part(&[(10, 1.0)], 4);
        assert_eq!(combined(&[only]).0.series.readings(), [(10, 1.0)]);
    }
}
