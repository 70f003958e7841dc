//! Adds up the readings of several hosts.

use std::collections::BTreeSet;

use crate::run::options::cpu_scale::CpuScale;
use crate::series::cpu::{CpuChoice, CpuJoin, TimeSeries};

/// The readings of one host or series.
pub(super) struct Read {
    /// What tells it from the others.
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
pub(super) fn combined(read: &[Read]) -> (Sum, Option<String>) {
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
fn scale(read: &[Read]) -> Option<CpuScale> {
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

    fn part(readings: &[(i64, f64)], cores: u32) -> Read {
        let series = TimeSeries::new(readings.to_vec());
        Read { name: String::new(), series, scale: Some(CpuScale::PercentOfMachine { cores }) }
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
