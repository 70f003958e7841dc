//! What a report shows of a run besides its seconds: heat map, percentile curve, failures, labels and load sweep.

use perfpipe_ingest::StoredRun;

use super::error_kinds::{ErrorKind, error_kinds};
use super::heatmap::Heatmap;
use super::labels::{LabelStats, label_stats};
use super::over_time::OverTime;
use crate::error::{Error, Result};
use crate::stats::curve::percentile_curve;
use crate::stats::histogram::Histogram;
use crate::sweep::by_load::Sweep;
use crate::timeline::Timeline;
use crate::timeline::selection::Selection;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::{Phase, Phases, Span};

/// A run's elapsed times, as a curve and over time, its failures by kind, its labels, and its sweep over the load.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Details {
    /// How often each elapsed time occurred, over time.
    pub heatmap: Heatmap,
    /// Elapsed times by percentile from 0 % to 99.99 %, as (percent, ms), in ascending order.
    pub curve: Vec<(f64, f64)>,
    /// Failures by response code and message, the most frequent first.
    pub errors: Vec<ErrorKind>,
    /// Figures of each label, in ascending order of the labels.
    pub labels: Vec<LabelStats>,
    /// The labels with the most requests, and the most frequent failures, by time.
    pub over_time: OverTime,
    /// The phases of the run, each with the part of it that the view selects and the figures of that part. A phase that
    /// is all of the selection is left out.
    pub phases: Vec<(Phase, Span, Summary)>,
    /// The run by load; `None` if the log does not record the load.
    pub sweep: Option<Sweep>,
}

impl Details {
    /// Computes the details of a stored run for a view, from the exact counts alone.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    ///
    /// ```
    /// use perfpipe_analyze::View;
    /// use perfpipe_analyze::breakdown::Details;
    /// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// // Three requests in one second, of 10, 10 and 40 ms.
    /// let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    /// let cell = Cell { elapsed: vec![(10, 2), (40, 1)], ..Cell::default() };
    /// let info = RunInfo::new(RunKey::new("spring", "2048"), 1_700_000_000_000, 1_700_000_000_400);
    /// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]));
    /// let details = Details::new(&run, &View::default())?;
    /// assert_eq!(details.heatmap.columns[0].counts.iter().map(|(_, samples)| samples).sum::<u64>(), 3);
    /// assert!(details.curve.contains(&(50.0, 10.0)));
    /// assert_eq!((details.labels.len(), details.errors.len()), (1, 0));
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let labels = label_stats(run, view)?;
        Ok(Self {
            heatmap: Heatmap::new(run, view)?,
            curve: percentile_curve(&elapsed(run, view)?),
            errors: error_kinds(run, view)?,
            over_time: OverTime::new(run, view, &labels)?,
            phases: phases(run, view)?,
            labels,
            sweep: match Sweep::new(run, view) {
                Err(Error::NoLoad { .. }) => None,
                sweep => Some(sweep?),
            },
        })
    }

    /// Returns the sweep over the load if it has more than one step.
    pub fn by_load(&self) -> Option<&Sweep> {
        self.sweep.as_ref().filter(|sweep| sweep.steps.len() > 1)
    }
}

/// Computes the figures of the phases that the view selects.
fn phases(run: &StoredRun, view: &View) -> Result<Vec<(Phase, Span, Summary)>> {
    let selection = Selection::new(run, view)?;
    let part = |(phase, span)| Some((phase, selection.part(Some(span))?));
    let parts = Phases::of_run(run, view)?.all().filter_map(part);
    let figures = |(phase, span): (Phase, Span)| {
        let view = View { from: Some(span.first), to: Some(span.last), phase: None, ..view.clone() };
        Ok((phase, span, Timeline::new(run, &view)?.summary))
    };
    parts.map(figures).collect()
}

/// Collects the elapsed times that averages are taken over.
fn elapsed(run: &StoredRun, view: &View) -> Result<Histogram> {
    let selection = Selection::new(run, view)?;
    let mut elapsed = Histogram::new();
    for cell in selection.averaged_cells() {
        elapsed.add_counts(&cell?.1.elapsed);
    }
    Ok(elapsed)
}
