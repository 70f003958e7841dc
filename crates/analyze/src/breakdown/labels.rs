//! The labels of a run side by side, for tests with several kinds of requests.

use std::collections::BTreeMap;

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::table::Table;
use crate::timeline::selection::Selection;
use crate::view::View;

/// Figures of one label over the selected seconds. Times are in ms.
///
/// Mean and percentiles are over successes, or over all requests with [`View::include_failures`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LabelStats {
    /// The label; `(other)` stands for all labels beyond the number that have counts of their own.
    pub label: String,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The mean elapsed time.
    pub elapsed_mean: Option<f64>,
    /// The 50th percentile of elapsed.
    pub p50: Option<f64>,
    /// The 95th percentile of elapsed.
    pub p95: Option<f64>,
    /// The 99th percentile of elapsed.
    pub p99: Option<f64>,
}

/// Counts of one label, while its cells are read.
#[derive(Default)]
struct Gathered {
    successes: u64,
    failures: u64,
    elapsed: Histogram,
}

/// Computes the figures of each label that a view selects, in ascending order. Labels without a request are left out.
///
/// Memory: up to 512 KiB per label during the computation.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
pub fn label_stats(run: &StoredRun, view: &View) -> Result<Vec<LabelStats>> {
    let selection = Selection::new(run, view)?;
    let mut gathered: BTreeMap<u32, Gathered> = BTreeMap::new();
    for cell in selection.cells_that(|key| selection.is_counted(key)) {
        let (key, cell) = cell?;
        let label = gathered.entry(key.label).or_default();
        *(if key.success { &mut label.successes } else { &mut label.failures }) += cell.samples();
        if selection.is_averaged(&key) {
            label.elapsed.add_counts(&cell.elapsed);
        }
    }
    let named = |index: u32| run.cells.labels.get(index as usize).cloned().unwrap_or_default();
    let mut stats: Vec<LabelStats> =
        gathered.iter().map(|(index, label)| label.stats(named(*index))).collect();
    stats.sort_by(|a, b| a.label.cmp(&b.label));
    Ok(stats)
}

impl Gathered {
    fn stats(&self, label: String) -> LabelStats {
        let percentiles = self.elapsed.percentiles(&[50.0, 95.0, 99.0]);
        let percentile = |at: usize| percentiles.get(at).copied().flatten();
        LabelStats {
            label,
            successes: self.successes,
            failures: self.failures,
            elapsed_mean: self.elapsed.mean(),
            p50: percentile(0),
            p95: percentile(1),
            p99: percentile(2),
        }
    }
}

/// Builds a table of labels: `label`, `successes`, `failures`, `elapsed_mean`, `p50`, `p95`, `p99` (times in ms).
pub fn label_table(labels: &[LabelStats]) -> Table {
    Table::of(labels)
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
        .done()
}
