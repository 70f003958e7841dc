//! What a report shows of a run besides its seconds: heat map, percentile curve, failures, labels and load sweep.

use perfpipe_model::StoredRun;

use super::error_kinds::{ErrorKind, error_kinds};
use super::heatmap::Heatmap;
use super::labels::{AllLabels, LabelStats, all_labels};
use super::network::Network;
use super::over_time::OverTime;
use crate::error::{Error, Result};
use crate::stats::distribution::{Distribution, percentile_curve};
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
    /// How often each elapsed time of a success occurred.
    pub successes: Distribution,
    /// How often each elapsed time of a failure occurred.
    pub failures: Distribution,
    /// Failures by response code and message, the most frequent first.
    pub errors: Vec<ErrorKind>,
    /// Figures of each label, in ascending order of the labels.
    pub labels: Vec<LabelStats>,
    /// Figures of all labels combined.
    pub total: LabelStats,
    /// The labels with the most requests, and the most frequent failures, by time.
    pub over_time: OverTime,
    /// Waits and bytes by time.
    pub network: Network,
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
        let AllLabels { labels, total } = all_labels(run, view)?;
        let over_time = OverTime::new(run, view, &labels)?;
        let named = over_time.labels.iter().map(|label| label.label.as_str());
        let (successes, failures) = elapsed(run, view)?;
        let mut averaged = successes.clone();
        if view.include_failures {
            averaged.merge(&failures);
        }
        Ok(Self {
            heatmap: Heatmap::new(run, view)?,
            curve: percentile_curve(&averaged),
            successes: Distribution::new(&successes),
            failures: Distribution::new(&failures),
            errors: error_kinds(run, view)?,
            network: Network::new(run, view, &total, named)?,
            phases: phases(run, view)?,
            over_time,
            labels,
            total,
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
        Ok((phase, span, Timeline::summary_of(run, &view)?))
    };
    parts.map(figures).collect()
}

/// Collects the elapsed times of successes and of failures.
fn elapsed(run: &StoredRun, view: &View) -> Result<(Histogram, Histogram)> {
    let selection = Selection::new(run, view)?;
    let empty = || Histogram::in_unit(run.info.resolution);
    let (mut successes, mut failures) = (empty(), empty());
    for cell in selection.cells_that(|key| selection.is_counted(key)) {
        let (key, cell) = cell?;
        (if key.success { &mut successes } else { &mut failures }).add_counts(&cell.elapsed);
    }
    Ok((successes, failures))
}
