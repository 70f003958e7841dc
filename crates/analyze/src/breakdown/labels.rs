//! The labels of a run side by side, for tests with several kinds of requests.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, Spread};
use perfpipe_model::run::{Measures, Resolution};

use crate::error::Result;
use crate::stats::histogram::{Histogram, mean};
use crate::table::Table;
use crate::timeline::selection::Selection;
use crate::view::View;

/// Figures of one label over the selected seconds. Times are in ms.
///
/// Times and bytes are over successes, or over all requests with [`View::include_failures`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LabelStats {
    /// The label; `(other)` collects all labels beyond the number that have counts of their own.
    pub label: String,
    /// The unit of the times that the run has counted, of which the extremes are whole numbers.
    pub resolution: Resolution,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The mean elapsed time.
    pub elapsed_mean: Option<f64>,
    /// The smallest elapsed time.
    pub elapsed_min: Option<f64>,
    /// The largest elapsed time.
    pub elapsed_max: Option<f64>,
    /// The standard deviation of elapsed, over n.
    pub elapsed_sd: Option<f64>,
    /// The 50th percentile of elapsed.
    pub p50: Option<f64>,
    /// The 90th percentile of elapsed.
    pub p90: Option<f64>,
    /// The 95th percentile of elapsed.
    pub p95: Option<f64>,
    /// The 99th percentile of elapsed.
    pub p99: Option<f64>,
    /// The mean latency.
    pub latency_mean: Option<f64>,
    /// The mean time to connect; `None` if the log records none.
    pub connect_mean: Option<f64>,
    /// The sum of the bytes received; `None` if the log records none.
    pub bytes: Option<i64>,
    /// The sum of the bytes sent; `None` if the log records none.
    pub sent_bytes: Option<i64>,
}

/// Figures of each label, and of all of them combined.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AllLabels {
    /// In ascending order of the labels; those without a request are left out.
    pub(crate) labels: Vec<LabelStats>,
    /// Figures of all requests, without a label.
    pub(crate) total: LabelStats,
}

/// Counts of one label, while its cells are read.
#[derive(Default)]
struct LabelCounts {
    successes: u64,
    failures: u64,
    elapsed: Histogram,
    sums: RequestSums,
}

/// Sums over the requests that averages are taken over.
#[derive(Default)]
struct RequestSums {
    latency: Spread,
    connect: i64,
    bytes: i64,
    sent_bytes: i64,
}

/// Computes the figures of each label that a view selects, in ascending order. Labels without a request are left out.
///
/// Memory: up to 512 KiB per label during the computation.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
pub fn label_stats(run: &StoredRun, view: &View) -> Result<Vec<LabelStats>> {
    Ok(all_labels(run, view)?.labels)
}

/// Computes the figures of each label that a view selects, and of all combined.
pub(crate) fn all_labels(run: &StoredRun, view: &View) -> Result<AllLabels> {
    let selection = Selection::new(run, view)?;
    let mut gathered: BTreeMap<u32, LabelCounts> = BTreeMap::new();
    for cell in selection.cells_that(|key| selection.is_counted(key)) {
        let (key, cell) = cell?;
        gathered.entry(key.label).or_insert_with(|| LabelCounts::in_unit(run)).add(
            &key,
            &cell,
            selection.is_averaged(&key),
        );
    }
    let mut total = LabelCounts::in_unit(run);
    gathered.values().for_each(|label| total.merge(label));
    let named = |index: u32| run.cells.labels.get(index as usize).cloned().unwrap_or_default();
    let measures = run.measures()?;
    let mut labels: Vec<LabelStats> =
        gathered.iter().map(|(index, label)| label.stats(named(*index), measures)).collect();
    labels.sort_by(|a, b| a.label.cmp(&b.label));
    Ok(AllLabels { labels, total: total.stats(String::new(), measures) })
}

impl LabelCounts {
    /// Creates empty counts in the unit of a run.
    fn in_unit(run: &StoredRun) -> Self {
        Self { elapsed: Histogram::in_unit(run.info.resolution), ..Self::default() }
    }

    fn add(&mut self, key: &CellKey, cell: &Cell, averaged: bool) {
        let sum = if key.success { &mut self.successes } else { &mut self.failures };
        *sum = sum.saturating_add(cell.samples());
        if averaged {
            self.elapsed.add_counts(&cell.elapsed);
            self.sums.add(&cell.latency, [cell.connect, cell.bytes, cell.sent_bytes]);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.successes = self.successes.saturating_add(other.successes);
        self.failures = self.failures.saturating_add(other.failures);
        self.elapsed.merge(&other.elapsed);
        let RequestSums { latency, connect, bytes, sent_bytes } = &other.sums;
        self.sums.add(latency, [*connect, *bytes, *sent_bytes]);
    }

    /// Returns the figures of those measures that the log has.
    fn stats(&self, label: String, measures: Measures) -> LabelStats {
        let percentiles = self.elapsed.percentiles(&[50.0, 90.0, 95.0, 99.0]);
        let percentile = |at: usize| percentiles.get(at).copied().flatten();
        let RequestSums { latency, connect, bytes, sent_bytes } = &self.sums;
        let ms = |units| self.elapsed.unit().ms(units);
        LabelStats {
            label,
            resolution: self.elapsed.unit(),
            successes: self.successes,
            failures: self.failures,
            elapsed_mean: self.elapsed.mean(),
            elapsed_min: self.elapsed.min(),
            elapsed_max: self.elapsed.max(),
            elapsed_sd: self.elapsed.deviation(),
            p50: percentile(0),
            p90: percentile(1),
            p95: percentile(2),
            p99: percentile(3),
            latency_mean: mean(latency.sum, latency.n).map(ms),
            connect_mean: mean(*connect, self.elapsed.samples()).filter(|_| measures.connect).map(ms),
            bytes: measures.bytes.then_some(*bytes),
            sent_bytes: measures.sent_bytes.then_some(*sent_bytes),
        }
    }
}

impl RequestSums {
    fn add(&mut self, latency: &Spread, [connect, bytes, sent_bytes]: [i64; 3]) {
        self.latency.merge(latency);
        self.connect = self.connect.saturating_add(connect);
        self.bytes = self.bytes.saturating_add(bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sent_bytes);
    }
}

/// Builds a table of labels: `label`, `successes`, `failures`, `elapsed_mean`, `p50`, `p95`, `p99`, `elapsed_min`,
/// `elapsed_max`, `elapsed_sd`, `p90`, `latency_mean`, `connect_mean` (times in ms), `bytes` and `sent_bytes`. Extremes
/// are whole numbers if the run's unit is 1 ms.
pub fn label_table(labels: &[LabelStats]) -> Table {
    let unit = labels.first().map_or_else(Resolution::default, |label| label.resolution);
    let table = Table::of(labels)
        .counted_in(unit)
        .column("label", |row| Some(row.label.clone()))
        .column("successes", |row| Some(row.successes))
        .column("failures", |row| Some(row.failures))
        .column("elapsed_mean", |row| row.elapsed_mean)
        .title("mean")
        .unit("ms", 1)
        .column("p50", |row| row.p50)
        .unit("ms", 1)
        .column("p95", |row| row.p95)
        .unit("ms", 1)
        .column("p99", |row| row.p99)
        .unit("ms", 1)
        .time("elapsed_min", |row| row.elapsed_min)
        .title("min")
        .time("elapsed_max", |row| row.elapsed_max)
        .title("max")
        .column("elapsed_sd", |row| row.elapsed_sd)
        .title("sd")
        .unit("ms", 1);
    table
        .column("p90", |row| row.p90)
        .unit("ms", 1)
        .column("latency_mean", |row| row.latency_mean)
        .unit("ms", 1)
        .column("connect_mean", |row| row.connect_mean)
        .unit("ms", 1)
        .column("bytes", |row| row.bytes)
        .column("sent_bytes", |row| row.sent_bytes)
        .done()
}
