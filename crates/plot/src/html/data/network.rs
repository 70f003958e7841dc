//! The data of the charts of waits and bytes over time, and of the histograms of elapsed times.

use perfpipe_analyze::breakdown::{Distribution, Network, NetworkOverTime};
use serde::Serialize;

use super::number::Number;

/// Waits and bytes over time: of all labels, and of each that can be picked, in the order of the labels.
#[derive(Serialize)]
pub(super) struct Waits {
    all: LabelCourse,
    labels: Vec<LabelCourse>,
}

/// Means of waits in ms, and sums of bytes: a value for each column of `width` seconds. What the log does not record is
/// empty.
#[derive(Serialize)]
struct LabelCourse {
    width: u32,
    elapsed: Vec<Number>,
    latency: Vec<Number>,
    connect: Vec<Number>,
    received: Vec<Number>,
    sent: Vec<Number>,
}

/// Counts of elapsed times in bins.
#[derive(Serialize)]
pub(super) struct Bins<'a> {
    /// The number of units of the times in a ms; absent if it is 1.
    #[serde(skip_serializing_if = "is_one")]
    scale: u32,
    width: u32,
    first: i64,
    counts: &'a [u64],
    beyond: u64,
    max: Option<i32>,
}

impl Waits {
    pub(super) fn new(network: &Network) -> Self {
        Self {
            all: LabelCourse::new(&network.all, |value| rounded(value, 4)),
            labels: network.labels.iter().map(LabelCourse::of_label).collect(),
        }
    }
}

impl LabelCourse {
    /// Returns the series of a label. Its elapsed times have a chart of their own.
    fn of_label(label: &NetworkOverTime) -> Self {
        Self { elapsed: Vec::new(), ..Self::new(label, |value| rounded(value, 3)) }
    }

    fn new(over_time: &NetworkOverTime, digits: fn(f64) -> f64) -> Self {
        let numbers = |list: &[Option<f64>]| list.iter().map(|value| Number(value.map(digits))).collect();
        let sums = |list: &[i64]| list.iter().map(|sum| Number(Some(digits(*sum as f64)))).collect();
        Self {
            width: over_time.width.max(1),
            elapsed: numbers(&over_time.elapsed_mean),
            latency: numbers(&over_time.latency_mean),
            connect: numbers(&over_time.connect_mean),
            received: sums(&over_time.bytes),
            sent: sums(&over_time.sent_bytes),
        }
    }
}

/// Returns true for the usual number of units in a ms.
pub(super) fn is_one(scale: &u32) -> bool {
    *scale == 1
}

/// Rounds a value to a number of digits: the charts show no more, and a report is to be small.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powf(value.abs().max(1e-3).log10().floor() + 1.0 - f64::from(digits));
    (value / scale).round() * scale
}

impl<'a> Bins<'a> {
    pub(super) fn new(found: &'a Distribution) -> Self {
        let Distribution { unit, width, first, beyond, max, .. } = *found;
        Self { scale: unit.per_ms(), width, first, counts: &found.counts, beyond, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_as_many_digits_as_asked_for() {
        let values = [0.0, 0.123_45, 9.996, 57.25, 1234.0, 987_654.0, -3.456].map(|value| rounded(value, 3));
        let expected = [0.0, 0.123, 10.0, 57.3, 1230.0, 988_000.0, -3.46];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} for {expected}");
        }
    }
}
