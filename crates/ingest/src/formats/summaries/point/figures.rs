//! The figures of a point. Absent is never zero.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::exact;
use super::latency::{Latencies, LatencySource};
use super::readings::Readings;
use super::second::PointSecond;

/// By how much a printed mean may exceed c/X before it counts as impossible: what rounding can do.
const ROUNDING: f64 = 1.005;

/// The figures that a tool reported. What it did not report is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Figures {
    /// Requests that were in flight all the time, if the tool sends the next one when an answer arrives (a closed loop).
    pub in_flight: Option<u32>,
    /// How long the tool sent requests, in seconds.
    #[serde(with = "exact::optional")]
    pub duration: Option<f64>,
    /// Requests as the tool counts them, which may leave out some of the failed ones.
    pub requests: Option<u64>,
    /// Requests that succeeded, at least.
    pub successes: Option<u64>,
    /// Requests that failed, by the server or on the way.
    pub failures: Option<Bounds>,
    /// Counts of failures by their kind, as the tool names them. They may overlap.
    pub kinds: Vec<(String, u64)>,
    /// Answers that came too late, or never, as far as the tool counts them.
    pub timeouts: Option<u64>,
    /// Answers per second, failed ones included, as printed.
    #[serde(with = "exact::optional")]
    pub answers_per_second: Option<f64>,
    /// Bytes received per second.
    #[serde(with = "exact::optional")]
    pub bytes_per_second: Option<f64>,
    /// Latencies.
    pub latencies: Latencies,
    /// Why the tool gave up, or why its figures are missing.
    pub aborted: Option<String>,
    /// What a reader of the figures has to know.
    pub notes: Vec<String>,
    /// When the tool began, in ms since 1970, if there is a time before its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<i64>,
    /// Readings of the server's series while the tool ran, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Readings>,
    /// The requests of each second that had some, ascending, if the tool reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_second: Vec<PointSecond>,
}

impl Figures {
    /// The figures of a tool that gave none, for this reason.
    pub(crate) fn aborted(reason: impl Into<String>) -> Self {
        Self { aborted: Some(reason.into()), ..Self::default() }
    }

    /// The seconds since 1970 in which the tool ran, if it is known when it began and how long it took.
    pub fn seconds(&self) -> Option<RangeInclusive<i64>> {
        let (began, ms) = (self.began_ms?, (self.duration? * 1e3).round());
        Some(began.div_euclid(1000)..=began.saturating_add(ms as i64).div_euclid(1000))
    }

    /// Successes per second.
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.duration.filter(|seconds| *seconds > 0.0)?;
        let rate = self.successes? as f64 / seconds;
        // A duration that was computed from the printed rate does not always give it back to the last bit.
        let is_printed =
            |printed: &f64| self.successes == self.requests && (printed - rate).abs() < rate * 1e-12;
        Some(self.answers_per_second.filter(is_printed).unwrap_or(rate))
    }

    /// Little's law, c/X, in ms: no mean latency in a closed loop can be greater.
    pub fn little_ms(&self) -> Option<f64> {
        let rate = self.answers_per_second.filter(|rate| *rate > 0.0)?;
        Some(f64::from(self.in_flight?) / rate * 1000.0)
    }

    /// The share of requests that failed, in percent; the greatest that the bounds allow.
    pub fn failures_percent(&self) -> Option<f64> {
        let (failed, succeeded) = (self.failures?.greatest, self.successes?);
        let all = failed.saturating_add(succeeded);
        (all > 0).then(|| failed as f64 / all as f64 * 100.0)
    }

    /// Adds the notes that apply to any tool. A printed mean may be off by `rounding_ms`.
    pub(crate) fn with_notes(mut self, invents: &str, rounding_ms: f64) -> Self {
        let mean = self.latencies.mean_ms.filter(|_| self.latencies.source == Some(LatencySource::Printed));
        if let (Some(mean), Some(little)) = (mean, self.little_ms())
            && mean - rounding_ms > little * ROUNDING
        {
            self.notes.push(format!(
                "the printed mean of {mean:.3} ms is above c/X (concurrency ÷ answers/s), {little:.3} ms, which is impossible{invents}"
            ));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_of_successes_alone_is_the_printed_rate() {
        for (requests, rate) in [(403u64, 201.01), (25_203, 415.04), (12_622_825, 627_990.75), (3, 0.1)] {
            let mut figures = Figures {
                duration: Some(requests as f64 / rate),
                requests: Some(requests),
                successes: Some(requests),
                answers_per_second: Some(rate),
                ..Figures::default()
            };
            assert_eq!(figures.throughput(), Some(rate));
            figures.successes = Some(requests - 1);
            assert!(figures.throughput().unwrap() < rate);
            // A rate that is printed to fewer digits than the duration does not replace it.
            (figures.successes, figures.answers_per_second) = (Some(requests), Some(rate + 0.004));
            assert!((figures.throughput().unwrap() - rate).abs() < 1e-9);
        }
    }
}
