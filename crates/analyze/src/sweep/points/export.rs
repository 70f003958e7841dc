//! The table of points, one row a point.

use perfpipe_ingest::points::{LatencySource, Point, Readings};

use crate::table::Table;

/// Makes the table of points. Where only bounds of the failures are known, `failures` is the greatest count, and
/// `failures_least` the least.
///
/// ```
/// use perfpipe_analyze::points::point_table;
/// use perfpipe_analyze::table::Format;
///
/// let mut csv = Vec::new();
/// point_table(&[]).write(Format::Csv, &mut csv)?;
/// assert!(csv.starts_with(b"tool,framework,test,concurrency,workers,repeat,duration,requests,successes,failures"));
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn point_table(points: &[Point]) -> Table {
    let percentile = |percent: f64| move |point: &Point| point.figures.latencies.percentile(percent);
    Table::of(points)
        .column("tool", |point| Some(point.key.tool.clone()))
        .column("framework", |point| Some(point.key.framework.clone()))
        .column("test", |point| Some(point.key.test.clone()))
        .column("concurrency", |point| point.key.concurrency.map(u64::from))
        .column("workers", |point| point.key.workers.map(u64::from))
        .people_see(points.iter().any(|point| point.key.workers.is_some()))
        .column("repeat", |point| Some(u64::from(point.key.repeat)))
        .column("duration", |point| point.figures.duration)
        .unit("s", 1)
        .column("requests", |point| point.figures.requests)
        .column("successes", |point| point.figures.successes)
        .column("failures", |point| point.figures.failures.map(|failures| failures.greatest))
        .column("timeouts", |point| point.figures.timeouts)
        .column("throughput", |point| point.figures.throughput())
        .unit("1/s", 1)
        .column("answers_per_second", |point| point.figures.answers_per_second)
        .unit("1/s", 1)
        .column("mean_ms", |point| point.figures.latencies.mean_ms)
        .unit("ms", 2)
        .column("p50_ms", percentile(50.0))
        .unit("ms", 2)
        .column("p90_ms", percentile(90.0))
        .unit("ms", 2)
        .column("p99_ms", percentile(99.0))
        .unit("ms", 2)
        .column("latency_source", |point| {
            point.figures.latencies.source.map(LatencySource::name).map(str::to_owned)
        })
        .column("little_ms", |point| point.figures.little_ms())
        .unit("ms", 2)
        .title("c/X")
        .column("aborted", |point| point.figures.aborted.clone())
        .people_see(points.iter().any(|point| point.figures.aborted.is_some()))
        .column("p75_ms", percentile(75.0))
        .people_see(false)
        .column("p95_ms", percentile(95.0))
        .people_see(false)
        .column("max_ms", |point| point.figures.latencies.max_ms)
        .people_see(false)
        .column("bytes_per_second", |point| point.figures.bytes_per_second)
        .people_see(false)
        .column("failures_least", |point| point.figures.failures.map(|failures| failures.least))
        .people_see(false)
        .column("began_ms", |point| point.figures.began_ms)
        .people_see(false)
        .column("server", readings)
        .people_see(false)
        .column("notes", |point| Some(point.figures.notes.join("; ")).filter(|notes| !notes.is_empty()))
        .people_see(false)
        .done()
}

/// Describes the readings of the server, as in `memory: mean 2e6, greatest 3e6 bytes`.
fn readings(point: &Point) -> Option<String> {
    let of = |of: &Readings| format!("{}: mean {}, greatest {} {}", of.name, of.mean, of.greatest, of.unit);
    let all: Vec<String> = point.figures.readings.iter().map(of).collect();
    Some(all.join("; ")).filter(|all| !all.is_empty())
}
