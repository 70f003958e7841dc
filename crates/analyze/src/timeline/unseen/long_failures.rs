//! Requests that failed after long, as by a time-out: times of successes leave them out.

use serde::{Deserialize, Serialize};

use crate::format::{counted, figure, lasting, percent};
use crate::stats::histogram::Histogram;
use crate::stats::percentile::fraction;

/// Failures matter to a percentile if they are at least this share of what is beyond it.
const SHARE: f64 = 0.1;

/// Failures are long if they are beyond a percentile this many times as often as successes are. Otherwise they take as long
/// as these, and leaving them out changes little.
const OFTEN: f64 = 10.0;

/// Failures are long if their mean is this many times the percentile.
const LONGER: f64 = 1.25;

/// Requests that failed after longer than a percentile of the successes, and are so many that they matter to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LongFailures {
    /// The percentile, in percent; 100 is the maximum.
    pub percent: f64,
    /// The number of these requests.
    pub count: u64,
    /// The number of all requests.
    pub requests: u64,
    /// The shortest of their times, in ms.
    pub least: f64,
    /// The longest of their times, in ms.
    pub most: f64,
    /// The mean of their times, in ms.
    pub mean: f64,
}

impl LongFailures {
    /// Returns the failures that took longer than `value`, which is a percentile of the successes, if they matter to it.
    pub(crate) fn beyond(percent: f64, value: f64, failed: &Histogram, requests: u64) -> Option<Self> {
        let beyond = 1.0 - fraction(percent);
        let times = failed.counts().map(|(time, count)| (failed.ms(time), count));
        let long: Vec<(f64, u64)> = times.filter(|(time, _)| *time > value).collect();
        let count: u64 = long.iter().map(|(_, count)| count).sum();
        let sum: f64 = long.iter().map(|(time, count)| time * *count as f64).sum();
        let of_requests = count as f64 >= SHARE * beyond * requests as f64;
        let of_failures = count as f64 >= OFTEN * beyond * failed.samples() as f64;
        let of_time = sum >= LONGER * value * count as f64;
        let matters = of_requests && of_failures && of_time;
        let ((least, _), (most, _)) = long.first().zip(long.last()).filter(|_| matters)?;
        Some(Self { percent, count, requests, least: *least, most: *most, mean: sum / count as f64 })
    }

    /// Returns those of several repeats, each with its requests, as a share of the requests of all.
    pub(crate) fn of_repeats(repeats: impl IntoIterator<Item = (Option<Self>, u64)>) -> Option<Self> {
        let add = |(sum, all): (Option<Self>, u64), (found, requests): (Option<Self>, u64)| {
            let sum = match (sum, found) {
                (Some(one), Some(other)) => Some(one.merged(other)),
                (one, other) => one.or(other),
            };
            (sum, all + requests)
        };
        let (sum, requests) = repeats.into_iter().fold((None, 0), add);
        Some(Self { requests, ..sum? })
    }

    fn merged(self, other: Self) -> Self {
        let count = self.count + other.count;
        let sum = |one: Self| one.mean * one.count as f64;
        Self {
            count,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            mean: (sum(self) + sum(other)) / count as f64,
            ..self
        }
    }

    /// Returns their share of all requests, 0 to 1.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.requests as f64
    }

    /// Describes them as a clause, as in `0.75 % of the requests failed after 30.0 s`.
    pub fn describe(&self) -> String {
        let many = match self.share() {
            share if share >= 1e-4 => format!("{} of the requests", percent(share)),
            _ => counted(self.count, "request"),
        };
        let (least, most) = (time(self.least), time(self.most));
        let after = if least == most { most } else { format!("{least} to {most}") };
        format!("{many} failed after {after}")
    }

    /// Says that times leave them out, as a sentence without its full stop.
    pub(crate) fn remark(&self) -> String {
        format!("{}, which are not in these times", self.describe())
    }
}

/// Formats a time in ms.
fn time(ms: f64) -> String {
    if ms < 1000.0 { format!("{} ms", figure(ms)) } else { lasting(ms / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(percent: f64, value: f64, failed: &[(i32, u64)], requests: u64) -> Option<LongFailures> {
        let mut histogram = Histogram::new();
        histogram.add_counts(failed);
        LongFailures::beyond(percent, value, &histogram, requests)
    }

    #[test]
    fn time_outs_matter_where_they_are_a_tenth_of_what_is_beyond() {
        let time_outs = [(30_000, 75)];
        for (percent, requests, matter) in
            [(99.0, 10_000, true), (99.0, 100_000, false), (99.9, 100_000, true), (100.0, 1 << 40, true)]
        {
            assert_eq!(beyond(percent, 90.0, &time_outs, requests).is_some(), matter, "{percent} {requests}");
        }
        let found = beyond(99.0, 90.0, &time_outs, 10_000).unwrap();
        assert_eq!(found.describe(), "0.75 % of the requests failed after 30.0 s");
        assert_eq!(
            beyond(100.0, 90.0, &[(400, 1)], 1 << 20).unwrap().describe(),
            "1 request failed after 400 ms"
        );
    }

    #[test]
    fn failures_that_take_as_long_as_successes_do_not_matter() {
        assert_eq!(beyond(99.0, 90.0, &[(50, 990), (95, 10)], 2_000), None);
        assert_eq!(beyond(99.0, 90.0, &[(2, 1_000)], 2_000), None);
        assert_eq!(beyond(99.0, 90.0, &[], 2_000), None);
        assert_eq!(beyond(99.0, 12.0, &[(13, 1)], 2), None);
    }
}
