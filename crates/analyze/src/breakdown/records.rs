//! Tables of what is stored beside the counts: the errors of a run, and the readings of the server.

use perfpipe_ingest::StoredRun;
use perfpipe_ingest::series::{CpuJoin, TimeSeries};

use crate::error::Result;
use crate::table::Table;
use crate::timeline::selection::{Selection, in_seconds};
use crate::view::View;

/// Builds a table of the failures that a view selects: `second`, `label`, `response_code`, `message`, `transaction`,
/// `count`.
///
/// Failures of transactions are included only if the view counts transactions; the column `transaction` marks them.
///
/// # Errors
/// If no second of the run is in the window, if the run does not have the phase, or if the label has no counts of its
/// own (see [`crate::Error`]).
pub fn error_table(run: &StoredRun, view: &View) -> Result<Table> {
    let view = in_seconds(run, view)?;
    let selection = Selection::new(run, &view)?;
    let errors: Vec<_> = run.errors.iter().filter(|error| selection.holds_error(error)).collect();
    Ok(Table::of(&errors)
        .column("second", |row| Some(u64::from(row.second)))
        .column("label", |row| Some(row.label.to_string()))
        .column("response_code", |row| Some(row.response_code.to_string()))
        .column("message", |row| Some(row.message.to_string()))
        .column("transaction", |row| Some(row.transaction))
        .column("count", |row| Some(row.count))
        .done())
}

/// Builds a table of the CPU readings: `clock`, `second` and `value`.
///
/// `clock` is in epoch seconds, as exported. `second` is the run's second that begins in that epoch second, after the
/// view's clock offset is applied; it is absent before and after the run. `value` is in percent of one core.
///
/// With a window, only the readings of its seconds are included.
///
/// # Errors
/// If no second of the run is in the window, or if the run does not have the phase.
pub fn cpu_table(run: &StoredRun, view: &View) -> Result<Table> {
    let readings = readings_within(run, &run.cpu, view)?;
    Ok(Table::of(&readings)
        .column("clock", |row| Some(row.0))
        .unit("epoch s", 0)
        .identifier()
        .column("second", |row| row.1.map(u64::from))
        .column("value", |row| Some(row.2))
        .title("CPU")
        .unit("%", 1)
        .done())
}

/// Builds a table of the server's other series: `name`, `unit`, `clock`, `second` and `value`.
///
/// `clock` and `second` are as in [`cpu_table`], `value` is in the unit that was given at the ingest.
///
/// # Errors
/// As for [`cpu_table`].
pub fn series_table(run: &StoredRun, view: &View) -> Result<Table> {
    let mut rows = Vec::new();
    for series in &run.series {
        let readings = readings_within(run, &series.readings, view)?.into_iter();
        rows.extend(readings.map(|reading| (series, reading)));
    }
    Ok(Table::of(&rows)
        .column("name", |(series, _)| Some(series.name.clone()))
        .column("unit", |(series, _)| Some(series.unit.clone()))
        .column("clock", |(_, reading)| Some(reading.0))
        .unit("epoch s", 0)
        .identifier()
        .column("second", |(_, reading)| reading.1.map(u64::from))
        .column("value", |(_, reading)| Some(reading.2))
        .done())
}

/// Epoch second, second of the run and value of a reading.
type Reading = (i64, Option<u32>, f64);

/// Returns the readings that a view selects; without a window, all of them.
fn readings_within(run: &StoredRun, readings: &TimeSeries, view: &View) -> Result<Vec<Reading>> {
    let view = View { label: None, ..view.clone() };
    let selection = Selection::new(run, &view)?;
    let whole = view.from.is_none() && view.to.is_none() && view.phase.is_none();
    let placed = readings.readings().iter();
    Ok(placed
        .map(|(clock, value)| (*clock, second_of(run, *clock, view.cpu), *value))
        .filter(|(_, second, _)| whole || second.is_some_and(|second| selection.holds(second)))
        .collect())
}

/// Returns the run's second that begins in the epoch second of a reading, if there is one.
fn second_of(run: &StoredRun, clock: i64, join: CpuJoin) -> Option<u32> {
    let second = clock.checked_add(join.offset)?.checked_sub(run.info.t0_ms.div_euclid(1000))?;
    u32::try_from(second).ok().filter(|second| *second < run.info.seconds)
}
