//! The tables of points, of their seconds, and of the levels of a sweep.

use std::collections::BTreeSet;

use perfpipe_model::points::{LatencySource, Point, PointKey, PointSecond, Readings};

use super::level::{Level, Spread, SweepBy};
use super::scalability::{Fitted, Scalability};
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
        .schema("perfpipe-points/1")
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

/// Makes a table with a row for each second of each point. Points without counts by second have no rows.
///
/// ```
/// use perfpipe_analyze::points::point_second_table;
/// use perfpipe_analyze::table::Format;
///
/// let mut csv = Vec::new();
/// point_second_table(&[]).write(Format::Csv, &mut csv)?;
/// assert_eq!(csv, b"tool,framework,test,concurrency,workers,repeat,clock,requests,successes,failures\n");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn point_second_table(points: &[Point]) -> Table {
    let seconds =
        points.iter().flat_map(|point| point.figures.by_second.iter().map(|second| (&point.key, *second)));
    let rows: Vec<(&PointKey, PointSecond)> = seconds.collect();
    Table::of(&rows)
        .column("tool", |(key, _)| Some(key.tool.clone()))
        .column("framework", |(key, _)| Some(key.framework.clone()))
        .column("test", |(key, _)| Some(key.test.clone()))
        .column("concurrency", |(key, _)| key.concurrency.map(u64::from))
        .column("workers", |(key, _)| key.workers.map(u64::from))
        .people_see(rows.iter().any(|(key, _)| key.workers.is_some()))
        .column("repeat", |(key, _)| Some(u64::from(key.repeat)))
        .column("clock", |(_, second)| Some(second.clock))
        .column("requests", |(_, second)| Some(second.requests))
        .column("successes", |(_, second)| Some(second.successes()))
        .column("failures", |(_, second)| Some(second.failures))
        .done()
}

/// A parameter of the law.
type Parameter = fn(&Scalability) -> Option<Fitted>;

/// Makes the table of levels.
pub fn level_table(levels: &[Level], by: SweepBy) -> Table {
    let (level, other) = match by {
        SweepBy::Concurrency => ("concurrency", "workers"),
        SweepBy::Workers => ("workers", "concurrency"),
    };
    let any = |test: &dyn Fn(&Level) -> bool| levels.iter().any(test);
    let throughput = |of: fn(Spread) -> f64| move |level: &Level| level.throughput.map(of);
    let [p50, p90, p99] =
        [0, 1, 2].map(|at| move |level: &Level| level.percentiles_ms.get(at).copied().flatten());
    let table = Table::of(levels)
        .schema("perfpipe-sweep/1")
        .column("framework", |level| Some(level.framework.clone()))
        .column("tool", |level| Some(level.tool.clone()))
        .column(other, |level| level.other.map(u64::from))
        .people_see(any(&|level| level.other.is_some()))
        .column(level, |level| level.level.map(u64::from))
        .major()
        .column("repeats", |level| Some(level.repeats))
        .minor()
        .column("throughput", throughput(|spread| spread.median))
        .unit("1/s", 1)
        .major()
        .column("throughput_least", throughput(|spread| spread.least))
        .title("least")
        .unit("1/s", 1)
        .minor()
        .column("throughput_greatest", throughput(|spread| spread.greatest))
        .title("greatest")
        .unit("1/s", 1)
        .minor()
        .column("answers_per_second", |level| level.answers_per_second)
        .title("answers")
        .unit("1/s", 1)
        .minor()
        .column("failures_max", |level| level.failures)
        .title("failures, max")
        .minor()
        .column("failures_percent_max", |level| level.failures_percent)
        .title("failures, max")
        .unit("%", 1)
        .major()
        .column("timeouts_max", |level| level.timeouts)
        .title("time-outs, max")
        .people_see(any(&|level| level.timeouts.is_some_and(|count| count > 0)))
        .column("mean_ms", |level| level.mean_ms)
        .title("mean")
        .unit("ms", 2)
        .minor()
        .column("little_ms", |level| level.little_ms)
        .title("c/X")
        .unit("ms", 2)
        .people_see(any(&|level| level.little_ms.is_some()))
        .column("p50_ms", p50)
        .title("p50")
        .unit("ms", 2)
        .column("p90_ms", p90)
        .title("p90")
        .unit("ms", 2)
        .column("p99_ms", p99)
        .title("p99")
        .unit("ms", 2)
        .column("latency_source", |level| level.latency_source.map(str::to_owned))
        .title("latency is")
        .minor()
        .column("bytes_per_second", |level| level.bytes_per_second)
        .people_see(false)
        .column("speed_up", |level| level.speed_up)
        .unit("", 3)
        .people_see(by == SweepBy::Workers)
        .column("efficiency_percent", |level| level.efficiency_percent)
        .title("efficiency")
        .unit("%", 1)
        .people_see(by == SweepBy::Workers)
        .column("knee", |level| Some(level.is_knee))
        .major()
        .column("knee_or_below", |level| Some(level.knee_or_below))
        .title("or below")
        .people_see(any(&|level| level.knee_or_below))
        .major()
        .column("aborted", |level| Some(level.aborted))
        .people_see(any(&|level| level.aborted > 0));
    let laws: [(&str, Parameter); 3] = [
        ("contention", |law| Some(law.contention)),
        ("coherency", |law| Some(law.coherency)),
        ("peak", |law| law.peak),
    ];
    let table = laws.into_iter().fold(table, |table, (name, of)| {
        let fitted = move |level: &Level| level.scalability.as_ref().and_then(of);
        table
            .column(name, move |level| fitted(level).map(|of| of.value))
            .people_see(false)
            .column(format!("{name}_low"), move |level| fitted(level).map(|of| of.low))
            .people_see(false)
            .column(format!("{name}_high"), move |level| fitted(level).map(|of| of.high))
            .people_see(false)
    });
    let series: BTreeSet<(&str, &str)> = levels
        .iter()
        .flat_map(|level| level.readings.iter().map(|of| (of.name.as_str(), of.unit.as_str())))
        .collect();
    let with_series = series.into_iter().fold(table, |table, (name, unit)| {
        let of = move |level: &Level, value: fn(&Readings) -> f64| {
            level.readings.iter().find(|of| (of.name.as_str(), of.unit.as_str()) == (name, unit)).map(value)
        };
        table
            .column(format!("{name}_mean"), move |level| of(level, |of| of.mean))
            .unit(unit, 0)
            .column(format!("{name}_max"), move |level| of(level, |of| of.greatest))
            .unit(unit, 0)
    });
    with_series.done()
}
