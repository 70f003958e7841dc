//! What the requests sent and received, and what they waited for, over time.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, Spread};
use perfpipe_model::run::Resolution;

use super::labels::LabelStats;
use super::round_width;
use crate::error::Result;
use crate::stats::histogram::{mean, totals};
use crate::timeline::selection::Selection;
use crate::view::View;

/// The largest number of columns of all labels combined. A run of up to half an hour has a column for each second.
const COLUMNS: u32 = 1800;

/// The largest number of columns of one label, and of all single labels added up.
const LABEL_COLUMNS: u32 = 150;
const OF_ALL_LABELS: u32 = 500;

/// The means of waits, and the bytes, over time: of all labels combined, and of those with the most requests.
///
/// They are over successes, or over all requests with [`View::include_failures`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Network {
    /// All labels combined.
    pub all: NetworkOverTime,
    /// The labels with the most requests, in the order of [`super::OverTime::labels`]; empty if there is one label.
    pub labels: Vec<NetworkOverTime>,
}

/// Means of waits in ms, and bytes: a value for each column.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NetworkOverTime {
    /// The label; empty for all labels combined.
    pub label: String,
    /// The number of seconds in a column.
    pub width: u32,
    /// The mean elapsed time.
    pub elapsed_mean: Vec<Option<f64>>,
    /// The mean latency.
    pub latency_mean: Vec<Option<f64>>,
    /// The mean time to connect; empty if the log records none.
    pub connect_mean: Vec<Option<f64>>,
    /// The sum of the bytes received; empty if the log records none.
    pub bytes: Vec<i64>,
    /// The sum of the bytes sent; empty if the log records none.
    pub sent_bytes: Vec<i64>,
}

impl Network {
    /// Computes waits and bytes by time; `total` has the figures of all labels, `labels` names those shown separately.
    pub(crate) fn new<'a>(
        run: &StoredRun,
        view: &View,
        total: &LabelStats,
        labels: impl Iterator<Item = &'a str>,
    ) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let labels: Vec<&str> = labels.collect();
        let labels = if labels.len() > 1 { labels } else { Vec::new() };
        let place = |name: &String| labels.iter().position(|label| label == name);
        let places: Vec<Option<usize>> = run.cells.labels.iter().map(place).collect();
        let (first, last) = selection.window;
        let seconds = last - first + 1;
        let unit = run.info.resolution;
        let mut all = NetworkColumns::new(seconds, COLUMNS, unit);
        let most = LABEL_COLUMNS.min(OF_ALL_LABELS / labels.len().max(1) as u32);
        let mut each: Vec<NetworkColumns> =
            labels.iter().map(|_| NetworkColumns::new(seconds, most, unit)).collect();
        for cell in selection.averaged_cells() {
            let (key, cell) = cell?;
            all.add(key.second - first, &cell);
            let place = places.get(key.label as usize).copied().flatten();
            if let Some(columns) = place.and_then(|place| each.get_mut(place)) {
                columns.add(key.second - first, &cell);
            }
        }
        let each = each.iter().zip(&labels);
        Ok(Self {
            labels: each.map(|(columns, label)| columns.over_time(label, total)).collect(),
            all: all.over_time("", total),
        })
    }
}

/// Sums by column, while cells are read.
struct NetworkColumns {
    unit: Resolution,
    width: u32,
    number: u32,
    sums: BTreeMap<u32, NetworkSums>,
}

#[derive(Default)]
struct NetworkSums {
    samples: u64,
    elapsed: i128,
    latency: Spread,
    connect: i64,
    bytes: i64,
    sent_bytes: i64,
}

impl NetworkColumns {
    fn new(seconds: u32, most: u32, unit: Resolution) -> Self {
        let width = round_width(seconds.div_ceil(most.max(1)));
        Self { unit, width, number: seconds.div_ceil(width), sums: BTreeMap::new() }
    }

    fn add(&mut self, second: u32, cell: &Cell) {
        let sums = self.sums.entry(second / self.width).or_default();
        let (samples, elapsed) = totals(&cell.elapsed);
        sums.samples = sums.samples.saturating_add(samples);
        sums.elapsed = sums.elapsed.saturating_add(elapsed);
        sums.latency.merge(&cell.latency);
        sums.connect = sums.connect.saturating_add(cell.connect);
        sums.bytes = sums.bytes.saturating_add(cell.bytes);
        sums.sent_bytes = sums.sent_bytes.saturating_add(cell.sent_bytes);
    }

    fn over_time(&self, label: &str, total: &LabelStats) -> NetworkOverTime {
        let ms = |units| self.unit.ms(units);
        let means =
            |mean: fn(&NetworkSums) -> Option<f64>| self.values(move |sums| sums.and_then(mean).map(ms));
        let bytes = |of: fn(&NetworkSums) -> i64| self.values(move |sums| sums.map_or(0, of));
        let connect = total.connect_mean.map(|_| means(|sums| mean(sums.connect, sums.samples)));
        NetworkOverTime {
            label: label.to_owned(),
            width: self.width,
            elapsed_mean: means(|sums| mean(sums.elapsed, sums.samples)),
            latency_mean: means(|sums| mean(sums.latency.sum, sums.latency.n)),
            connect_mean: connect.unwrap_or_default(),
            bytes: total.bytes.map(|_| bytes(|sums| sums.bytes)).unwrap_or_default(),
            sent_bytes: total.sent_bytes.map(|_| bytes(|sums| sums.sent_bytes)).unwrap_or_default(),
        }
    }

    /// Returns a value for each column.
    fn values<T>(&self, of: impl Fn(Option<&NetworkSums>) -> T) -> Vec<T> {
        (0..self.number).map(|column| of(self.sums.get(&column))).collect()
    }
}
