//! The seconds of a run as a table in pieces, for runs whose table is better not in memory as a whole.

use perfpipe_ingest::{RunInfo, StoredRun};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::error::Result;
use crate::stats::percentile;
use crate::table::Table;
use crate::timeline::cells::{AT_A_TIME, STRETCH};
use crate::timeline::load::LoadCurve;
use crate::timeline::second::second_table;
use crate::timeline::selection::Selection;
use crate::timeline::{ReadSpan, Second};
use crate::view::View;
use crate::view::phases::Span;

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
