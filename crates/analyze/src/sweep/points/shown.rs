//! The table of a sweep's levels.

use std::collections::BTreeSet;

use perfpipe_ingest::points::Readings;

use super::level::{Level, Spread, SweepBy};
use super::scalability::{Fitted, Scalability};
use crate::table::Table;

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
