//! The tables of a run: its phases, its seconds in pieces, its errors, and the readings of the server.

use perfpipe_model::series::{CpuJoin, TimeSeries};
use perfpipe_model::{RunInfo, StoredRun};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::error::Result;
use crate::stats::percentile;
use crate::stats::percentile::column_name;
use crate::table::Table;
use crate::timeline::cells::{AT_A_TIME, STRETCH};
use crate::timeline::load::LoadCurve;
use crate::timeline::second::second_table;
use crate::timeline::selection::{Selection, in_seconds};
use crate::timeline::summary::{Summary, summary_percentiles};
use crate::timeline::{ReadSpan, Second, TimelineFigures};
use crate::view::View;
use crate::view::phases::{Phases, Span};

/// A row of the table: a phase, or the whole run.
struct PhaseRow {
    name: &'static str,
    span: Span,
    percentiles: Vec<f64>,
    summary: Summary,
}

impl PhaseRow {
    fn new(name: &'static str, run: &StoredRun, view: View) -> Result<Self> {
        let TimelineFigures { window: span, percentiles, summary, .. } =
            TimelineFigures::<()>::new(run, &view, |_| None)?;
        Ok(Self { name, span, percentiles, summary })
    }

    fn percentiles(&self) -> Vec<(f64, Option<f64>)> {
        summary_percentiles(&self.percentiles, &self.summary)
    }
}

/// Builds a table with a row for all selected seconds and a row for each phase among them.
///
/// Columns: `phase` (`all`, `ramp`, `hold`, `tail`), `first` and `last` (seconds), `seconds`, `successes`, `failures`,
/// `throughput`, `elapsed_mean`, the requested percentiles, `p50`, `p95`, `p99`, `cpu_mean` and `load_max`. Times are
/// in ms.
///
/// # Errors
/// The same errors as [`Timeline::new`](crate::Timeline::new).
pub fn phase_table(run: &StoredRun, view: &View) -> Result<Table> {
    let whole = PhaseRow::new("all", run, view.clone())?;
    let shown = whole.span;
    let mut parts = vec![whole];
    for (phase, span) in Phases::of_run(run, view)?.all() {
        if let Some(Span { first, last }) = span.shared(shown) {
            let view = View { from: Some(first), to: Some(last), phase: None, ..view.clone() };
            parts.push(PhaseRow::new(phase.name(), run, view)?);
        }
    }
    let percents: Vec<f64> = parts.iter().take(1).flat_map(|part| part.percentiles()).map(|p| p.0).collect();
    let table = Table::of(&parts)
        .counted_in(run.info.resolution)
        .column("phase", |part| Some(part.name.to_owned()))
        .column("first", |part| Some(u64::from(part.span.first)))
        .unit("s", 0)
        .column("last", |part| Some(u64::from(part.span.last)))
        .unit("s", 0)
        .column("seconds", |part| Some(u64::from(part.summary.seconds)))
        .column("successes", |part| Some(part.summary.successes))
        .column("failures", |part| Some(part.summary.failures))
        .column("throughput", |part| Some(part.summary.throughput))
        .unit("1/s", 1)
        .column("elapsed_mean", |part| part.summary.elapsed_mean)
        .title("mean")
        .unit("ms", 1);
    let table = percents.iter().enumerate().fold(table, |table, (at, percent)| {
        let value = |part: &PhaseRow| part.percentiles().get(at)?.1;
        table.column(column_name(*percent), value).unit("ms", 1)
    });
    Ok(table
        .column("cpu_mean", |part| part.summary.cpu_mean)
        .title("mean CPU")
        .unit("%", 1)
        .column("load_max", |part| part.summary.load_max)
        .unit("", 1)
        .done())
}

/// The per-second table of a run in pieces of many seconds, for uses that need only one piece at a time.
///
/// ```
/// use perfpipe_analyze::View;
/// use perfpipe_analyze::breakdown::SecondTables;
/// use perfpipe_analyze::table::{Format, TableWriter};
/// # use perfpipe_ingest::counts::CellTable;
/// # use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
/// # let run = StoredRun::new(RunInfo::new(RunKey::new("spring", "2048"), 0, 1_999), CellTable::default());
/// let view = View::default();
/// let mut pieces = SecondTables::new(&run, &view)?;
/// let mut csv = TableWriter::new(Format::Csv, &SecondTables::columns_of(&run.info, &view)?, Vec::new())?;
/// while let Some(piece) = pieces.next_piece()? {
///     csv.write(&piece)?;
/// }
/// assert_eq!(String::from_utf8_lossy(&csv.finish()?).lines().count(), 3);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub struct SecondTables<'a> {
    selection: Selection<'a>,
    load: LoadCurve,
    percentiles: Vec<f64>,
    /// The stretches that are still to be read, the last one first.
    spans: Vec<Span>,
}

impl<'a> SecondTables<'a> {
    /// Prepares the per-second table of a stored run for a view.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &'a StoredRun, view: &'a View) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let mut spans = selection.stretches(None, STRETCH);
        spans.reverse();
        let load = LoadCurve::of_run(run, view)?;
        Ok(Self { selection, load, percentiles: percentile::checked(&view.percentiles)?, spans })
    }

    /// Returns a table with the columns of a run for a view, and without rows.
    ///
    /// # Errors
    /// If a percentile is out of range.
    pub fn columns_of(info: &RunInfo, view: &View) -> Result<Table> {
        Ok(second_table(&[], &percentile::checked(&view.percentiles)?, &view.goals, info.resolution))
    }

    /// Returns the next seconds, in ascending order; `None` after the last.
    ///
    /// # Errors
    /// If the run's counts can't be read.
    pub fn next_piece(&mut self) -> Result<Option<Table>> {
        let spans = self.spans.split_off(self.spans.len().saturating_sub(AT_A_TIME));
        if spans.is_empty() {
            return Ok(None);
        }
        let read = |span: &Span| ReadSpan::read(&self.selection, &self.load, *span, &self.percentiles);
        let stretches: Vec<ReadSpan> = spans.par_iter().map(read).collect::<Result<_>>()?;
        let seconds: Vec<Second> = stretches.into_iter().rev().flat_map(|stretch| stretch.seconds).collect();
        Ok(Some(second_table(
            &seconds,
            &self.percentiles,
            &self.selection.view.goals,
            self.selection.run.info.resolution,
        )))
    }
}

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
