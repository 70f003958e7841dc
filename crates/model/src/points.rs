//! The summary of one run of a load tool: a point of a sweep, its key and its figures. What is absent is never zero.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The summary of one run of a load tool, and its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Which point it is. A later point of the same key replaces it.
    pub key: PointKey,
    /// The figures that the tool reported.
    pub figures: Figures,
}

impl Point {
    /// Joins a key and figures.
    pub fn new(key: PointKey, figures: Figures) -> Self {
        Self { key, figures }
    }
}

/// Identifies a point. The tool is a part of it: two tools measure the same server differently.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::points::PointKey;
///
/// let key = PointKey::new("wrk", "go", "/hello").with_concurrency(64);
/// assert_eq!(key.to_string(), "go /hello by wrk at c64");
/// assert_eq!(key.with_workers(4).with_repeat(2).to_string(), "go /hello by wrk at c64 w4 #2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PointKey {
    /// The test, such as the path of the URL.
    pub test: String,
    /// The system under test.
    pub framework: String,
    /// The load tool.
    pub tool: String,
    /// Connections or users of the tool, if known.
    pub concurrency: Option<u32>,
    /// Workers of the system under test, if known.
    pub workers: Option<u32>,
    /// The repeat, from 1.
    pub repeat: u32,
}

impl PointKey {
    /// The first repeat of a framework and a test, at an unknown concurrency.
    pub fn new(tool: impl Into<String>, framework: impl Into<String>, test: impl Into<String>) -> Self {
        let (tool, framework, test) = (tool.into(), framework.into(), test.into());
        Self { tool, framework, test, concurrency: None, workers: None, repeat: 1 }
    }

    /// The same at this concurrency.
    #[must_use]
    pub fn with_concurrency(self, concurrency: u32) -> Self {
        Self { concurrency: Some(concurrency), ..self }
    }

    /// The same with this number of workers.
    #[must_use]
    pub fn with_workers(self, workers: u32) -> Self {
        Self { workers: Some(workers), ..self }
    }

    /// Another repeat (from 1) of the same.
    #[must_use]
    pub fn with_repeat(self, repeat: u32) -> Self {
        Self { repeat, ..self }
    }
}

impl fmt::Display for PointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} by {}", self.framework, self.test, self.tool)?;
        if self.concurrency.is_some() || self.workers.is_some() {
            write!(f, " at")?;
        }
        if let Some(concurrency) = self.concurrency {
            write!(f, " c{concurrency}")?;
        }
        if let Some(workers) = self.workers {
            write!(f, " w{workers}")?;
        }
        if self.repeat == 1 { Ok(()) } else { write!(f, " #{}", self.repeat) }
    }
}

/// By how much a printed mean may exceed c/X before it counts as impossible: what rounding can do.
const ROUNDING: f64 = 1.005;

/// The figures that a tool reported. What it did not report is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    pub fn aborted(reason: impl Into<String>) -> Self {
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
    pub fn with_notes(mut self, invents: &str, rounding_ms: f64) -> Self {
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

/// A count that lies between two bounds, which are equal if it is known.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::points::Bounds;
///
/// assert_eq!(Bounds::exactly(40).to_string(), "40");
/// assert_eq!(Bounds::between(40, 120).to_string(), "40..120");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The count is at least this.
    pub least: u64,
    /// The count is at most this.
    pub greatest: u64,
}

impl Bounds {
    /// A known count.
    pub fn exactly(count: u64) -> Self {
        Self { least: count, greatest: count }
    }

    /// A count between two bounds, in either order.
    pub fn between(one: u64, other: u64) -> Self {
        Self { least: one.min(other), greatest: one.max(other) }
    }

    /// Returns true if the bounds are equal.
    pub fn is_exact(self) -> bool {
        self.least == self.greatest
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{}..{}", self.least, self.greatest)
        }
    }
}

/// Where latencies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LatencySource {
    /// perfpipe computed them from every request, or from exact counts of each latency.
    Exact,
    /// The tool printed them.
    Printed,
}

impl LatencySource {
    /// The word in exports and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Printed => "printed",
        }
    }
}

/// The latency below which a share of the requests lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// The share, in percent.
    #[serde(with = "exact")]
    pub percent: f64,
    /// The latency, in ms.
    #[serde(with = "exact")]
    pub ms: f64,
}

/// Latencies of a point, in ms. What the tool did not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latencies {
    /// Where they come from; absent if there are none.
    pub source: Option<LatencySource>,
    /// The mean.
    #[serde(with = "exact::optional")]
    pub mean_ms: Option<f64>,
    /// The greatest.
    #[serde(with = "exact::optional")]
    pub max_ms: Option<f64>,
    /// Percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

impl Latencies {
    /// Latencies as the tool printed them.
    pub fn printed(mean: Option<f64>, max: Option<f64>, percentiles: Vec<(f64, f64)>) -> Self {
        Self::of(LatencySource::Printed, mean, max, percentiles)
    }

    /// Latencies that were computed from every request, in ms: percentiles as (percent, latency).
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::points::Latencies;
    ///
    /// let latencies = Latencies::exact(Some(5.5), Some(40.0), vec![(99.0, 12.0), (50.0, 5.0)]);
    /// assert_eq!(latencies.percentile(50.0), Some(5.0));
    /// ```
    pub fn exact(mean_ms: Option<f64>, max_ms: Option<f64>, percentiles: Vec<(f64, f64)>) -> Self {
        Self::of(LatencySource::Exact, mean_ms, max_ms, percentiles)
    }

    fn of(source: LatencySource, mean_ms: Option<f64>, max_ms: Option<f64>, pairs: Vec<(f64, f64)>) -> Self {
        let mut percentiles: Vec<Percentile> =
            pairs.into_iter().map(|(percent, ms)| Percentile { percent, ms }).collect();
        percentiles.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        let found = mean_ms.is_some() || max_ms.is_some() || !percentiles.is_empty();
        Self { source: found.then_some(source), mean_ms, max_ms, percentiles }
    }

    /// Latencies computed from counts of each latency, in units of `unit_ms`.
    pub fn counted(counts: &[(u64, u64)], unit_ms: f64) -> Self {
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let sum: f64 = counts.iter().map(|(value, count)| *value as f64 * *count as f64).sum();
        let at = |percent: f64| Some((percent, percentile_of(counts, total, percent)? * unit_ms));
        let mean = (total > 0).then(|| sum / total as f64 * unit_ms);
        let max = counts.iter().rev().find(|(_, count)| *count > 0).map(|(value, _)| *value as f64 * unit_ms);
        let percentiles = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9].into_iter().filter_map(at).collect();
        Self::of(LatencySource::Exact, mean, max, percentiles)
    }

    /// The latency of a percentile, in ms.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        self.percentiles.iter().find(|found| (found.percent - percent).abs() < 1e-9).map(|found| found.ms)
    }
}

/// `percentile_cont` over ascending pairs of value and count.
fn percentile_of(counts: &[(u64, u64)], total: u64, percent: f64) -> Option<f64> {
    let place = percent / 100.0 * total.checked_sub(1)? as f64;
    let below = place.floor();
    let (low, high) = (value_at(counts, below as u64)?, value_at(counts, place.ceil() as u64)?);
    Some(low as f64 + (high as f64 - low as f64) * (place - below))
}

/// The value at a position (from 0) of the sorted values.
fn value_at(counts: &[(u64, u64)], place: u64) -> Option<u64> {
    let mut before = 0u64;
    for (value, count) in counts {
        before = before.saturating_add(*count);
        if place < before {
            return Some(*value);
        }
    }
    None
}

/// Readings of a series of the server, such as its memory, while a tool ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The name of the series.
    pub name: String,
    /// The unit of its readings.
    pub unit: String,
    /// The mean of the readings.
    #[serde(with = "exact")]
    pub mean: f64,
    /// The greatest reading.
    #[serde(with = "exact")]
    pub greatest: f64,
}

impl Readings {
    /// Summarises readings; `None` if there are none.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::points::Readings;
    ///
    /// let memory = Readings::of("memory", "bytes", &[2e6, 4e6]).map(|memory| (memory.mean, memory.greatest));
    /// assert_eq!(memory, Some((3e6, 4e6)));
    /// assert_eq!(Readings::of("memory", "bytes", &[]), None);
    /// ```
    pub fn of(name: impl Into<String>, unit: impl Into<String>, readings: &[f64]) -> Option<Self> {
        let greatest = readings.iter().copied().reduce(f64::max)?;
        let mean = readings.iter().sum::<f64>() / readings.len() as f64;
        Some(Self { name: name.into(), unit: unit.into(), mean, greatest })
    }
}

/// The requests of a second, in a summary that has counts by second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64, u64)", into = "(i64, u64, u64)")]
pub struct PointSecond {
    /// The second since 1970.
    pub clock: i64,
    /// Requests, the failed ones included.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
}

impl PointSecond {
    /// The requests of this second, and how many of them failed.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::points::PointSecond;
    ///
    /// assert_eq!(PointSecond::new(1_795_348_056, 24, 2).successes(), 22);
    /// ```
    pub fn new(clock: i64, requests: u64, failures: u64) -> Self {
        Self { clock, requests, failures }
    }

    /// Requests that succeeded.
    pub fn successes(self) -> u64 {
        self.requests.saturating_sub(self.failures)
    }
}

impl From<(i64, u64, u64)> for PointSecond {
    fn from((clock, requests, failures): (i64, u64, u64)) -> Self {
        Self { clock, requests, failures }
    }
}

impl From<PointSecond> for (i64, u64, u64) {
    fn from(second: PointSecond) -> Self {
        (second.clock, second.requests, second.failures)
    }
}

/// Numbers that come back from JSON as they were written, to the last bit: `serde_json` reads some of them one off.
mod exact {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::value::RawValue;

    /// Reads a number by the standard library.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        parse(&Box::<RawValue>::deserialize(from)?)
    }

    /// Writes a number as ever.
    pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(*number)
    }

    fn parse<E: Error>(text: &RawValue) -> Result<f64, E> {
        let number: Option<f64> = text.get().parse().ok();
        number
            .filter(|number| number.is_finite())
            .ok_or_else(|| E::custom(format!("{} is not a number", text.get())))
    }

    /// The same for numbers that may be absent.
    pub(super) mod optional {
        use super::{Deserialize, Deserializer, RawValue, Serializer, parse};

        /// Reads a number, or null.
        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
            Option::<Box<RawValue>>::deserialize(from)?.map(|text| parse(&text)).transpose()
        }

        /// Writes a number, or null.
        pub(crate) fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
            match number {
                Some(number) => to.serialize_some(number),
                None => to.serialize_none(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn percentiles_of_counts_are_those_of_the_values(counts in prop::collection::btree_map(0u64..5000, 1u64..9, 1..40)) {
            let pairs: Vec<(u64, u64)> = counts.into_iter().collect();
            let values: Vec<f64> =
                pairs.iter().flat_map(|(value, count)| vec![*value as f64; *count as usize]).collect();
            let place = 0.9 * (values.len() - 1) as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            let found = Latencies::counted(&pairs, 1.0);
            prop_assert!((found.percentile(90.0).unwrap() - (low + (high - low) * place.fract())).abs() < 1e-6);
            prop_assert!((found.mean_ms.unwrap() - values.iter().sum::<f64>() / values.len() as f64).abs() < 1e-6);
        }
    }
}
