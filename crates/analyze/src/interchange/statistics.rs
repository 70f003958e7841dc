//! A run in the shape of JMeter's `statistics.json`, which CI plug-ins read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use perfpipe_ingest::{StoredRun, set_apart};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::view::View;

/// The name of all labels together.
const TOTAL: &str = "Total";

/// What JMeter's dashboard says of a label. Times are in ms.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistics<'a> {
    transaction: &'a str,
    sample_count: u64,
    error_count: u64,
    error_pct: f64,
    mean_res_time: Option<f64>,
    median_res_time: Option<f64>,
    min_res_time: Option<i32>,
    max_res_time: Option<i32>,
    pct1_res_time: Option<f64>,
    pct2_res_time: Option<f64>,
    pct3_res_time: Option<f64>,
    throughput: f64,
    received_k_bytes_per_sec: f64,
    sent_k_bytes_per_sec: f64,
}

/// A run as JSON in the shape of JMeter's `statistics.json`: `Total`, and each label that has counts of its own. A label
/// that is called `Total` itself is `Total (as logged)`.
///
/// As there, times are over all requests, failures too, `pct1` to `pct3` are the 90th, 95th and 99th percentiles, and
/// throughput counts requests. Unlike there, percentiles are `percentile_cont` of all samples, and throughput is taken
/// over whole seconds from the first to the last of the seconds looked at, for every label the same.
///
/// # Errors
/// As [`Timeline::new`].
pub fn jmeter_statistics(run: &StoredRun, view: &View) -> Result<String> {
    let view = View { percentiles: vec![50.0, 90.0, 95.0, 99.0], include_failures: true, ..view.clone() };
    let mut all = BTreeMap::from([(Cow::from(TOTAL), Timeline::new(run, &view)?)]);
    if view.label.is_none() {
        for label in &run.cells.labels {
            let of_label = View { label: Some(label.clone()), ..view.clone() };
            match Timeline::new(run, &of_label) {
                Ok(timeline) if timeline.summary.requests() > 0 => {
                    _ = all.insert(set_apart(label, TOTAL), timeline);
                }
                Ok(_) | Err(Error::TransactionLabel { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let all: BTreeMap<&str, Statistics<'_>> =
        all.iter().map(|(name, timeline)| (&**name, Statistics::of(name, &timeline.summary))).collect();
    serde_json::to_string_pretty(&all).map(|text| text + "\n").map_err(|e| Error::convert("JSON", e))
}

impl<'a> Statistics<'a> {
    fn of(transaction: &'a str, summary: &Summary) -> Self {
        let percentile = |at: usize| summary.percentiles.get(at).copied().flatten();
        let per_second = |amount: f64| amount / f64::from(summary.seconds.max(1));
        Self {
            transaction,
            sample_count: summary.requests(),
            error_count: summary.failures,
            error_pct: summary.failure_share().unwrap_or(0.0) * 100.0,
            mean_res_time: summary.elapsed_mean,
            median_res_time: percentile(0),
            min_res_time: summary.elapsed_min,
            max_res_time: summary.elapsed_max,
            pct1_res_time: percentile(1),
            pct2_res_time: percentile(2),
            pct3_res_time: percentile(3),
            throughput: per_second(summary.requests() as f64),
            received_k_bytes_per_sec: per_second(summary.bytes as f64 / 1024.0),
            sent_k_bytes_per_sec: per_second(summary.sent_bytes as f64 / 1024.0),
        }
    }
}
