//! The tables of a timeline: its seconds, and its summary in one row.

use super::Timeline;
use super::second::second_table;
use super::summary::{Summary, summary_percentiles};
use crate::stats::percentile::column_name;
use crate::table::Table;

impl Timeline {
    /// Returns the per-second table. Its columns are the same in all formats: `second`, `successes`, `failures`,
    /// `load`, `elapsed_mean`, `elapsed_min`, `elapsed_max`, `latency_mean`, `latency_min`, `latency_max`, the
    /// percentiles of elapsed as in `p50` and `p99.9`, the view's goals as in `within_200ms_percent`, and `cpu`. Times
    /// are in ms.
    pub fn table(&self) -> Table {
        second_table(&self.seconds, &self.percentiles, &self.view.goals, self.info.resolution)
    }

    /// Returns the per-second table as a polars `DataFrame`: integers are `u64` or `i64`, other numbers `f64`, absent
    /// values null.
    ///
    /// # Errors
    /// None in practice: the columns have different names.
    #[cfg(feature = "frames")]
    pub fn frame(&self) -> crate::error::Result<polars::prelude::DataFrame> {
        self.table().frame()
    }

    /// Returns the summary as a table with one row.
    ///
    /// It contains the run's key, its start (`t0_ms`, epoch ms), the counts and the `duration` of the selected seconds,
    /// `duration_estimated` (true if the run's last end is not known), `last_wait` (from the run's last start to its
    /// last end), the transactions and rejects of the whole run, and `partial` (true if only a part of the log could be
    /// read). Times are in ms, durations in seconds, shares from 0 to 1. The percentiles are the requested ones, p50,
    /// p95 and p99.
    pub fn summary_table(&self) -> Table {
        let (info, summary) = (&self.info, &self.summary);
        let table = Table::of(std::slice::from_ref(summary))
            .counted_in(info.resolution)
            .column("framework", |_| Some(info.key.framework.clone()))
            .column("test", |_| Some(info.key.test.clone()))
            .column("repeat", |_| Some(u64::from(info.key.repeat)))
            .column("t0_ms", |_| Some(info.t0_ms))
            .identifier()
            .column("seconds", |row| Some(u64::from(row.seconds)))
            .column("duration", |row| Some(row.duration))
            .unit("s", 3)
            .column("duration_estimated", |_| Some(self.duration.estimated))
            .column("last_wait", |_| self.duration.wait)
            .unit("s", 3)
            .column("successes", |row| Some(row.successes))
            .column("failures", |row| Some(row.failures))
            .column("failure_share", |row| row.failure_share())
            .column("transactions", |_| Some(info.transactions))
            .column("rejects", |_| Some(info.rejects))
            .column("partial", |_| Some(info.is_partial()))
            .column("throughput", |row| Some(row.throughput))
            .unit("1/s", 1)
            .column("throughput_active", |row| row.throughput_active)
            .unit("1/s", 1)
            .column("elapsed_mean", |row| row.elapsed_mean)
            .unit("ms", 1)
            .bare_time("elapsed_min", |row| row.elapsed_min)
            .bare_time("elapsed_max", |row| row.elapsed_max)
            .column("latency_mean", |row| row.latency_mean)
            .unit("ms", 1);
        let table = summary_percentiles(&self.percentiles, summary)
            .into_iter()
            .fold(table, |table, (percent, value)| {
                table.column(column_name(percent), |_| value).unit("ms", 1)
            });
        let table = table
            .column("cpu_mean", |row| row.cpu_mean)
            .unit("%", 1)
            .column("cpu_max", |row| row.cpu_max)
            .unit("%", 1)
            .column("cpu_coverage", |row| Some(row.cpu_coverage))
            .column("load_max", |row| row.load_max)
            .unit("", 1)
            .column("bytes", |row| row.bytes)
            .column("sent_bytes", |row| row.sent_bytes)
            .column("bytes_per_second", Summary::bytes_per_second)
            .unit("B/s", 0)
            .column("sent_bytes_per_second", Summary::sent_bytes_per_second)
            .unit("B/s", 0);
        let table = self
            .view
            .goals
            .iter()
            .zip(&summary.goals)
            .fold(table, |table, (goal, value)| goal.add_to(table, |_| *value));
        let table = match self.view.corrected {
            Some(interval) => {
                table.column("corrected_interval_ms", |_| Some(u64::from(interval))).unit("ms", 0)
            }
            None => table,
        };
        let corrected = summary.corrected.iter().fold(table, |table, (percent, value)| {
            table.column(format!("{}_corrected", column_name(*percent)), |_| *value).unit("ms", 1)
        });
        corrected.done()
    }
}
