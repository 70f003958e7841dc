//! A run in the format of JMeter's `statistics.json`, which CI plug-ins read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, set_apart};
use serde::Serialize;

use super::label_times::{LabelTimes, Times};
use crate::error::{Error, Result};
use crate::stats::histogram::Histogram;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The name of the entry for all labels.
const TOTAL: &str = "Total";

/// The entry of a label, with the fields and types of JMeter's dashboard. Times are in ms.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistics<'a> {
    transaction: &'a str,
    sample_count: u64,
    error_count: u64,
    error_pct: Option<f32>,
    mean_res_time: Option<f64>,
    median_res_time: Option<f64>,
    min_res_time: Option<f64>,
    max_res_time: Option<f64>,
    pct1_res_time: Option<f64>,
    pct2_res_time: Option<f64>,
    pct3_res_time: Option<f64>,
    throughput: Option<f64>,
    received_k_bytes_per_sec: Option<f64>,
    sent_k_bytes_per_sec: Option<f64>,
}

/// The counts of a label.
#[derive(Default)]
struct LabelTotals {
    failures: u64,
    elapsed: Histogram,
    bytes: i64,
    sent_bytes: i64,
}

/// Returns a run in the format of JMeter's `statistics.json`: an entry `Total`, and one for each label that has counts
/// of its own. A label that is itself called `Total` becomes `Total (as logged)`.
///
/// Each figure equals, to the last digit, what JMeter 5.6.3 writes for the same log if its property
/// `jmeter.reportgenerator.statistic_window` is at least the number of samples. By default JMeter takes the median and
/// the percentiles from the last 20,000 samples of each label only.
///
/// - Times are over all samples, failures included; `pct1` to `pct3` are the 90th, 95th and 99th percentiles. A
///   percentile p of n sorted values is at position p·(n+1), counted from 1 and linear between neighbours. This differs
///   from `percentile_cont`, and is well above it for small n.
/// - `throughput` is samples ÷ (last end − first start) of the label itself, per second, and so are the bytes. This
///   needs `times`. Without it, as for a run whose samples are not stored, these figures are `null`, and the mean can
///   differ from JMeter's in its last digits.
/// - Transactions have entries of their own, and are left out of `Total` unless the view counts them as requests.
///
/// JMeter leaves out transactions that had no sample at all. They are counted here, since the store does not
/// distinguish them.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
pub fn jmeter_statistics(run: &StoredRun, view: &View, times: Option<&LabelTimes>) -> Result<String> {
    let (total, labels) = counted(&Selection::new(run, view)?)?;
    let mut all = BTreeMap::from([(Cow::from(TOTAL), (total, times.map(LabelTimes::total)))]);
    if view.label.is_none() {
        for (index, counted) in labels {
            let name = run.cells.labels.get(index as usize).map(String::as_str).unwrap_or_default();
            all.insert(set_apart(name, TOTAL), (counted, times.and_then(|times| times.label(index))));
        }
    }
    let all: BTreeMap<&str, Statistics<'_>> =
        all.iter().map(|(name, (counted, times))| (&**name, counted.statistics(name, *times))).collect();
    serde_json::to_string_pretty(&all).map(|text| text + "\n").map_err(|e| Error::convert("JSON", e))
}

/// Counts all that a view selects, and each of its labels.
fn counted(selection: &Selection<'_>) -> Result<(LabelTotals, BTreeMap<u32, LabelTotals>)> {
    let empty = || {
        let elapsed = Histogram::in_unit(selection.run.info.resolution);
        LabelTotals { elapsed, ..LabelTotals::default() }
    };
    let (mut total, mut labels) = (empty(), BTreeMap::<u32, LabelTotals>::new());
    for cell in selection.cells_that(|_| true) {
        let (key, cell) = cell?;
        if selection.is_counted(&key) {
            total.add(&key, &cell);
        }
        if selection.view.label.is_none() {
            labels.entry(key.label).or_insert_with(empty).add(&key, &cell);
        }
    }
    Ok((total, labels))
}

impl LabelTotals {
    fn add(&mut self, key: &CellKey, cell: &Cell) {
        if !key.success {
            self.failures = self.failures.saturating_add(cell.samples());
        }
        self.elapsed.add_counts(&cell.elapsed);
        self.bytes = self.bytes.saturating_add(cell.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(cell.sent_bytes);
    }

    /// Computes the figures in the same steps as JMeter, so that the last digits agree.
    fn statistics<'a>(&self, transaction: &'a str, times: Option<&Times>) -> Statistics<'a> {
        let samples = self.elapsed.samples();
        let [median, pct1, pct2, pct3] = percentiles(&self.elapsed);
        let kilobytes = |bytes: i64| times.map(|times| bytes as f64 / (times.span_ms() / 1000.0) / 1024.0);
        Statistics {
            transaction,
            sample_count: samples,
            error_count: self.failures,
            error_pct: (samples > 0).then(|| (self.failures as f64 * 100.0 / samples as f64) as f32),
            mean_res_time: times.map(|times| times.mean).or(self.elapsed.mean()).filter(|_| samples > 0),
            median_res_time: median,
            min_res_time: self.elapsed.min(),
            max_res_time: self.elapsed.max(),
            pct1_res_time: pct1,
            pct2_res_time: pct2,
            pct3_res_time: pct3,
            throughput: times.map(|times| samples as f64 / times.span_ms() * 1000.0),
            received_k_bytes_per_sec: kilobytes(self.bytes),
            sent_k_bytes_per_sec: kilobytes(self.sent_bytes),
        }
    }
}

/// Returns the median and the three percentiles as JMeter's library computes them: of n sorted values the one at
/// position p·(n+1), counted from 1, linear between neighbours, and the first or the last if the position is outside.
fn percentiles(elapsed: &Histogram) -> [Option<f64>; 4] {
    let n = elapsed.samples();
    [50.0, 90.0, 95.0, 99.0].map(|percent: f64| {
        let position = percent / 100.0 * (n as f64 + 1.0);
        if position < 1.0 {
            return elapsed.min();
        }
        if position >= n as f64 {
            return elapsed.max();
        }
        let rank = position.floor();
        let (lower, upper) = (value_at(elapsed, rank as u64)?, value_at(elapsed, rank as u64 + 1)?);
        Some(lower + (position - rank) * (upper - lower))
    })
}

/// Returns the value of a rank, counted from 1.
fn value_at(elapsed: &Histogram, rank: u64) -> Option<f64> {
    let mut reached = 0_u64;
    let mut counts = elapsed.counts();
    let found = counts.find(|(_, samples)| {
        reached = reached.saturating_add(*samples);
        reached >= rank
    });
    found.map(|(value, _)| elapsed.ms(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A position beyond either end has the end's value; all others lie between two neighbours.
        #[test]
        fn percentiles_are_at_the_share_of_one_more_than_there_are(
            mut values in prop::collection::vec(0..5000i32, 1..400),
        ) {
            let found = percentiles(&values.iter().copied().collect());
            values.sort_unstable();
            let hundredths = [50, 90, 95, 99];
            for (percent, found) in hundredths.into_iter().zip(found) {
                // In integers: the position is `place / 100`.
                let place = percent * (values.len() + 1);
                let value = |rank: usize| f64::from(values[rank.clamp(1, values.len()) - 1]);
                let (below, rest) = (value(place / 100), (place % 100) as f64 / 100.0);
                let expected = below + rest * (value(place / 100 + 1) - below);
                prop_assert!((found.unwrap() - expected).abs() < 1e-6, "{percent}: {found:?} for {expected}");
            }
        }
    }

    #[test]
    fn percentiles_of_nothing_are_absent() {
        assert_eq!(percentiles(&Histogram::new()), [None; 4]);
    }
}
