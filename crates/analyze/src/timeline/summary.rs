//! The summary of a run: figures over all selected seconds.

use perfpipe_model::run::{Measures, Resolution};
use serde::{Deserialize, Serialize};

use super::second::{Second, Totals};
use super::unseen::long_failures::LongFailures;
use crate::error::Result;
use crate::stats::histogram::mean;
use crate::view::View;

/// The percentage of failed requests above which a framework is not ranked: it may be fast because it fails.
pub(crate) const FAILING: f64 = 1.0;

/// Figures over some seconds of a run. Times are in ms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of seconds.
    pub seconds: u32,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The duration in seconds: [`crate::RunDuration::seconds`] for a whole run; for a part of it the number of its
    /// seconds, of which the last one of the run counts only in part if it is cut.
    pub duration: f64,
    /// Successes per second over the duration, silences included.
    pub throughput: f64,
    /// Successes ÷ seconds with a success.
    pub throughput_active: Option<f64>,
    /// The mean elapsed time.
    pub elapsed_mean: Option<f64>,
    /// The smallest elapsed time.
    pub elapsed_min: Option<f64>,
    /// The largest elapsed time.
    pub elapsed_max: Option<f64>,
    /// The mean latency.
    pub latency_mean: Option<f64>,
    /// The 50th percentile of elapsed.
    pub p50: Option<f64>,
    /// The 95th percentile of elapsed.
    pub p95: Option<f64>,
    /// The 99th percentile of elapsed.
    pub p99: Option<f64>,
    /// Percentiles of elapsed, in the order of [`crate::Timeline::percentiles`].
    pub percentiles: Vec<Option<f64>>,
    /// The mean CPU of the seconds that have one, in percent of one core. Each second has the same weight, whatever its
    /// number of requests, since it is the machine's mean over time.
    pub cpu_mean: Option<f64>,
    /// The largest CPU of a second, in percent of one core.
    pub cpu_max: Option<f64>,
    /// The share of the seconds that have a CPU reading, 0 to 1.
    pub cpu_coverage: f64,
    /// The largest load of a second, in threads.
    pub load_max: Option<f64>,
    /// The sum of the bytes received, over the same samples as the mean; `None` if the log records none.
    pub bytes: Option<i64>,
    /// The sum of the bytes sent, over the same samples as the mean; `None` if the log records none.
    pub sent_bytes: Option<i64>,
    /// The figure of each of [`crate::View::goals`], in their order; `None` if there was no request.
    pub goals: Vec<Option<f64>>,
    /// Percentiles corrected by [`crate::View::corrected`]: the requested ones and 50, 95 and 99, each as (percent,
    /// value), in ascending order; empty without a correction.
    pub corrected: Vec<(f64, Option<f64>)>,
    /// The failures that took longer than a percentile shows, for each percentile that they matter to: those of the view,
    /// the 99th and the 100th, which is the maximum. Empty if averages include failures.
    pub long_failures: Vec<LongFailures>,
}

impl Summary {
    /// Returns the number of all requests: successes and failures.
    pub fn requests(&self) -> u64 {
        self.successes + self.failures
    }

    /// Returns failures as a share of all requests, 0 to 1; `None` without requests.
    pub fn failure_share(&self) -> Option<f64> {
        (self.requests() > 0).then(|| self.failures as f64 / self.requests() as f64)
    }

    /// Returns the failures that took longer than a percentile shows, if they matter to it.
    pub fn long_failures(&self, percent: f64) -> Option<&LongFailures> {
        self.long_failures.iter().find(|found| found.percent == percent)
    }

    /// Returns the bytes received per second of the duration; `None` if the duration is 0, or without bytes.
    pub fn bytes_per_second(&self) -> Option<f64> {
        self.per_second(self.bytes)
    }

    /// Returns the bytes sent per second of the duration; `None` if the duration is 0, or without bytes.
    pub fn sent_bytes_per_second(&self) -> Option<f64> {
        self.per_second(self.sent_bytes)
    }

    fn per_second(&self, amount: Option<i64>) -> Option<f64> {
        amount.filter(|_| self.duration > 0.0).map(|amount| amount as f64 / self.duration)
    }
}

/// The data of a summary, gathered from the totals of cells and from seconds.
#[derive(Default)]
pub(crate) struct Tally {
    totals: Totals,
    measures: Measures,
    seconds: u32,
    successes: u64,
    failures: u64,
    active_seconds: u32,
    cpu_sum: f64,
    cpu_seconds: u32,
    cpu_max: Option<f64>,
    load_max: Option<f64>,
}

impl Tally {
    /// Creates empty data of a run whose times are in this unit, and whose log has these measures.
    pub(crate) fn new(unit: Resolution, measures: Measures) -> Self {
        Self { totals: Totals::in_unit(unit), measures, ..Self::default() }
    }

    /// The totals of cells that averages and percentiles are taken over.
    pub(crate) fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }

    /// Adds the totals of cells that averages and percentiles are taken over.
    pub(crate) fn add_totals(&mut self, totals: &Totals) {
        self.totals.merge(totals);
    }

    /// Adds a second, without its cells.
    pub(crate) fn add_second(&mut self, second: &Second) {
        self.seconds += 1;
        self.successes = self.successes.saturating_add(second.successes);
        self.failures = self.failures.saturating_add(second.failures);
        self.active_seconds += u32::from(second.successes > 0);
        self.load_max = larger(self.load_max, second.load.get());
        self.cpu_max = larger(self.cpu_max, second.cpu.get());
        if let Some(cpu) = second.cpu.get() {
            self.cpu_sum += cpu;
            self.cpu_seconds += 1;
        }
    }

    /// Returns the summary; `percentiles` are in percent, `duration` is in seconds.
    pub(crate) fn summary(&self, percentiles: &[f64], duration: f64) -> Summary {
        let over = |seconds: f64| (seconds > 0.0).then(|| self.successes as f64 / seconds);
        let Totals { elapsed, failed, latency, .. } = &self.totals;
        let mut asked = elapsed.percentiles(&[percentiles, &[50.0, 95.0, 99.0]].concat());
        let always = asked.split_off(percentiles.len());
        let always = |at: usize| always.get(at).copied().flatten();
        let requests = self.successes.saturating_add(self.failures);
        let known = percentiles.iter().copied().zip(asked.iter().copied());
        let known = known.chain([(99.0, always(2)), (100.0, elapsed.max())]);
        let mut long_failures: Vec<LongFailures> = known
            .filter_map(|(percent, value)| LongFailures::beyond(percent, value?, failed, requests))
            .collect();
        long_failures.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        long_failures.dedup_by_key(|found| found.percent);
        Summary {
            seconds: self.seconds,
            successes: self.successes,
            failures: self.failures,
            duration,
            throughput: over(duration).unwrap_or(0.0),
            throughput_active: over(f64::from(self.active_seconds)),
            elapsed_mean: elapsed.mean(),
            elapsed_min: elapsed.min(),
            elapsed_max: elapsed.max(),
            latency_mean: mean(latency.sum, latency.n).map(|mean| elapsed.unit().ms(mean)),
            p50: always(0),
            p95: always(1),
            p99: always(2),
            percentiles: asked,
            cpu_mean: (self.cpu_seconds > 0).then(|| self.cpu_sum / f64::from(self.cpu_seconds)),
            cpu_max: self.cpu_max,
            cpu_coverage: f64::from(self.cpu_seconds) / f64::from(self.seconds.max(1)),
            load_max: self.load_max,
            bytes: self.measures.bytes.then_some(self.totals.bytes),
            sent_bytes: self.measures.sent_bytes.then_some(self.totals.sent_bytes),
            goals: Vec::new(),
            corrected: Vec::new(),
            long_failures,
        }
    }

    /// Returns the summary with the additional figures of a view: goals and corrected percentiles.
    pub(crate) fn summary_of(&self, percentiles: &[f64], duration: f64, view: &View) -> Result<Summary> {
        let mut summary = self.summary(percentiles, duration);
        summary.goals = self.totals.kept.values(&view.goals);
        if let Some(interval) = view.corrected {
            let mut percents = [percentiles, &[50.0, 95.0, 99.0]].concat();
            percents.sort_by(f64::total_cmp);
            percents.dedup();
            let values = self.totals.elapsed.corrected(interval)?.percentiles(&percents);
            summary.corrected = percents.into_iter().zip(values).collect();
        }
        Ok(summary)
    }
}

/// Returns the larger of two optional values.
fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// Returns the requested percentiles and the usual three, in ascending order without duplicates.
pub(crate) fn summary_percentiles(asked: &[f64], summary: &Summary) -> Vec<(f64, Option<f64>)> {
    let values = summary.percentiles.iter().copied().chain(std::iter::repeat(None));
    let mut all: Vec<(f64, Option<f64>)> = asked
        .iter()
        .copied()
        .zip(values)
        .chain([(50.0, summary.p50), (95.0, summary.p95), (99.0, summary.p99)])
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by_key(|(percent, _)| *percent);
    all
}
