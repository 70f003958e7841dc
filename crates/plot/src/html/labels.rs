//! The tables of all labels with their total: requests and times; spread, waits and network.

use perfpipe_analyze::Timeline;
use perfpipe_analyze::breakdown::{Details, LabelStats};
use perfpipe_analyze::table::Table;

use super::data::averaged;
use super::table::{TableLook, heading, times};

/// Returns the two tables of the labels of a run.
pub(super) fn tables(title: &str, timeline: &Timeline, details: &Details) -> String {
    let mut rows: Vec<LabelStats> = details.labels.clone();
    let total = rows.len() > 1;
    if total {
        let mut all = details.total.clone();
        all.label = "All labels".to_owned();
        rows.push(all);
    }
    let duration = timeline.summary.duration;
    requests(title, &rows, total, duration) + &network(title, &rows, total, timeline)
}

/// Returns the table of requests, failures and times.
fn requests(title: &str, rows: &[LabelStats], total: bool, duration: f64) -> String {
    let requests = |row: &LabelStats| row.successes.saturating_add(row.failures);
    let failed =
        |row: &LabelStats| (requests(row) > 0).then(|| row.failures as f64 / requests(row) as f64 * 100.0);
    let table = Table::of(rows)
        .counted_in(rows.first().map(|row| row.resolution).unwrap_or_default())
        .column("label", |row| Some(row.label.clone()))
        .column("requests", |row| Some(requests(row)))
        .column("throughput", |row| (duration > 0.0).then(|| row.successes as f64 / duration))
        .unit("1/s", 2)
        .column("failures", |row| Some(row.failures))
        .column("failures_percent", failed)
        .title("failures")
        .unit("%", 2);
    let table = times(table, |row| [row.elapsed_mean, row.p50, row.p95, row.p99]).done();
    let fails = |row: usize| rows.get(row).is_some_and(|row| row.failures > 0);
    let content = |column: &str, row: usize, text: String| {
        if column == "failures_percent" && fails(row) {
            format!("<span class=\"failing\">{text}</span>")
        } else {
            text
        }
    };
    heading(title, "Labels")
        + &TableLook { total, content: &content, ..TableLook::default() }.table("labels", &table)
}

/// Returns the table of the spread of times, of waits and of bytes per second. Columns that the log does not record are
/// left out, and named below it.
fn network(title: &str, rows: &[LabelStats], total: bool, timeline: &Timeline) -> String {
    let duration = timeline.summary.duration;
    // In kB, which are 1000 bytes, as everywhere.
    let rate =
        |bytes: Option<i64>| bytes.filter(|_| duration > 0.0).map(|bytes| bytes as f64 / 1000.0 / duration);
    let recorded = |of: fn(&LabelStats) -> bool| rows.iter().any(of);
    let latency = recorded(|row| row.latency_mean.is_some());
    let connect = recorded(|row| row.connect_mean.is_some());
    let received = recorded(|row| row.bytes.is_some());
    let sent = recorded(|row| row.sent_bytes.is_some());
    let table = Table::of(rows)
        .counted_in(timeline.info.resolution)
        .column("label", |row| Some(row.label.clone()))
        .time("min", |row| row.elapsed_min)
        .time("max", |row| row.elapsed_max)
        .column("sd", |row| row.elapsed_sd)
        .title("standard deviation")
        .unit("ms", 1)
        .column("p90", |row| row.p90)
        .unit("ms", 1)
        .column("latency", |row| row.latency_mean)
        .title("mean latency")
        .unit("ms", 1)
        .people_see(latency)
        .column("connect", |row| row.connect_mean)
        .title("mean connect")
        .unit("ms", 2)
        .people_see(connect)
        .column("received", |row| rate(row.bytes))
        .unit("kB/s", 2)
        .people_see(received)
        .column("sent", |row| rate(row.sent_bytes))
        .unit("kB/s", 2)
        .people_see(sent)
        .done();
    let columns = [("latency", latency), ("connect", connect), ("received", received), ("sent", sent)];
    let missing: Vec<&str> = columns.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
    let missing = match missing.as_slice() {
        [] => String::new(),
        names => format!(" Not in the log, or 0 throughout: {}.", names.join(", ")),
    };
    format!(
        "<div class=\"spread\">\n{}{}<p>All of {}. Latency is the time to the first byte; 1 kB is 1000 bytes.{missing}</p>\n</div>\n",
        heading(title, "Labels: spread, latency and network"),
        TableLook { total, ..TableLook::default() }.table("labels", &table),
        averaged(timeline)
    )
}
