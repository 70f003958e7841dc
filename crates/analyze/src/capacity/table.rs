//! The table of the levels of capacities.

use super::levels::CapacityLevel;
use super::{Capacity, LevelAxis};
use crate::table::{Table, Tone};

/// Builds a table with a row for each level: `framework`, `tool`, `label`, `level`, `axis` (`concurrency` or `rate`),
/// `repeats`, `seconds`, `throughput`, `objective`, `within_percent` with its interval
/// (`within_percent_low`, `within_percent_high`), `state` (`met`, `failed` or `unknown`) and `why`; for programs the
/// estimate stands in each row: `capacity`, `capacity_low` and `capacity_high`.
pub fn capacity_table(all: &[Capacity]) -> Table {
    let rows: Vec<(&Capacity, &CapacityLevel)> =
        all.iter().flat_map(|capacity| capacity.levels.iter().map(move |level| (capacity, level))).collect();
    let varies =
        |of: fn(&Capacity) -> &str| all.iter().zip(all.iter().skip(1)).any(|(one, next)| of(one) != of(next));
    let is_fraction = rows.iter().any(|(_, level)| level.level.fract() != 0.0);
    let by_rate = all.iter().all(|capacity| capacity.axis == LevelAxis::Rate);
    let percent = |share: f64| 100.0 * share;
    let interval = |row: &(&Capacity, &CapacityLevel)| row.1.share_interval;
    Table::of(&rows)
        .schema("perfpipe-capacity/1")
        .column("framework", |row| Some(row.0.framework.clone()))
        .column("tool", |row| Some(row.0.tool.clone()))
        .people_see(varies(|capacity| &capacity.tool))
        .column("label", |row| row.0.label.clone())
        .people_see(all.iter().any(|capacity| capacity.label.is_some()))
        .column("level", |row| Some(row.1.level))
        .unit(if by_rate { "requests/s" } else { "" }, u8::from(is_fraction))
        .major()
        .column("axis", |row| Some(row.0.axis.name().to_owned()))
        .people_see(false)
        .column("repeats", |row| Some(row.1.repeats))
        .people_see(rows.iter().any(|row| row.1.repeats > 1))
        .column("seconds", |row| Some(row.1.seconds))
        .unit("s", 0)
        .column("throughput", |row| row.1.throughput)
        .unit("1/s", 1)
        .column("objective", |row| row.0.objectives.get(row.1.objective).cloned())
        .people_see(all.iter().any(|capacity| capacity.objectives.len() > 1))
        .column("within_percent", |row| row.1.share.map(percent))
        .title("within")
        .unit("%", 2)
        .column("within_percent_low", |row| interval(row).map(|(low, _)| percent(low)))
        .title("from")
        .unit("%", 2)
        .column("within_percent_high", |row| interval(row).map(|(_, high)| percent(high)))
        .title("to")
        .unit("%", 2)
        .column("state", |row| Some(row.1.state.name().to_owned()))
        .major()
        .tones(&[("met", Tone::Good), ("failed", Tone::Bad), ("unknown", Tone::Doubt)])
        .column("why", |row| row.1.why.clone())
        .people_see(rows.iter().any(|row| row.1.why.is_some()))
        .column("capacity", |row| row.0.estimate)
        .people_see(false)
        .column("capacity_low", |row| row.0.low)
        .people_see(false)
        .column("capacity_high", |row| row.0.high)
        .people_see(false)
        .done()
}
