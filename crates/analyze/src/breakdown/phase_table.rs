//! A table of a run's phases, with the whole run as its first row.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::stats::percentile::column_name;
use crate::table::Table;
use crate::timeline::TimelineFigures;
use crate::timeline::summary::{Summary, summary_percentiles};
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
        let TimelineFigures { window: span, percentiles, summary, .. } = TimelineFigures::<()>::new(run, &view, |_| None)?;
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
