//! The table of compared points.

use perfpipe_ingest::points::LatencySource;

use super::{PointChange, PointMeasure};
use crate::compare::change::TONES;
use crate::sweep::points::Spread;
use crate::table::Table;

/// Makes the table of compared points: medians of the repeats with the least and the greatest.
pub fn point_change_table(changes: &[PointChange]) -> Table {
    let a = |of: fn(Spread) -> f64| move |row: &PointChange| row.a.map(of);
    let b = |of: fn(Spread) -> f64| move |row: &PointChange| row.b.map(of);
    let [a_is, b_is] = [0, 1].map(|at| {
        move |row: &PointChange| {
            row.sources.get(at).copied().flatten().map(LatencySource::name).map(str::to_owned)
        }
    });
    Table::of(changes)
        .column("point", |row| Some(row.name.clone()))
        .column("measure", |row| Some(row.measure.name().to_owned()))
        .major()
        .column("unit", |row| Some(unit(row.measure).to_owned()).filter(|unit| !unit.is_empty()))
        .column("a", a(|spread| spread.median))
        .unit("", 2)
        .major()
        .column("a_least", a(|spread| spread.least))
        .title("least")
        .unit("", 2)
        .minor()
        .column("a_greatest", a(|spread| spread.greatest))
        .title("greatest")
        .unit("", 2)
        .minor()
        .column("b", b(|spread| spread.median))
        .unit("", 2)
        .major()
        .column("b_least", b(|spread| spread.least))
        .title("least")
        .unit("", 2)
        .minor()
        .column("b_greatest", b(|spread| spread.greatest))
        .title("greatest")
        .unit("", 2)
        .minor()
        .column("change_percent", PointChange::percent)
        .title("change")
        .unit("%", 1)
        .major()
        .column("change_percent_low", |row| row.percent_interval.map(|(low, _)| low))
        .title("99 % from")
        .unit("%", 1)
        .people_see(changes.iter().any(|row| row.percent_interval.is_some()))
        .column("change_percent_high", |row| row.percent_interval.map(|(_, high)| high))
        .title("to")
        .unit("%", 1)
        .people_see(changes.iter().any(|row| row.percent_interval.is_some()))
        .column("difference_low", |row| row.interval.map(|(low, _)| low))
        .people_see(false)
        .column("difference_high", |row| row.interval.map(|(_, high)| high))
        .people_see(false)
        .column("outcome", |row| row.outcome.map(|outcome| outcome.name().to_owned()))
        .title("b is")
        .tones(TONES)
        .major()
        .column("p", |row| row.p)
        .people_see(false)
        .column("p_adjusted", |row| row.p_adjusted)
        .title("p of all")
        .people_see(false)
        .column("a_latency_source", a_is)
        .title("a's latency is")
        .minor()
        .column("b_latency_source", b_is)
        .title("b's latency is")
        .minor()
        .done()
}

fn unit(measure: PointMeasure) -> &'static str {
    match measure {
        PointMeasure::Throughput | PointMeasure::Answers => "1/s",
        PointMeasure::Failures => "",
        PointMeasure::FailuresPercent => "%",
        _ => "ms",
    }
}
