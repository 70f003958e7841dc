//! The timeline of a run: one row per second, silent seconds included.

pub(crate) mod cells;
pub(crate) mod duration;
pub(crate) mod hold;
pub(crate) mod load;
pub(crate) mod phases;
pub(crate) mod second;
pub(crate) mod selection;
pub(crate) mod summary;
pub(crate) mod tables;
pub(crate) mod unseen;

use perfpipe_model::{RunInfo, StoredRun};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::cells::{AT_A_TIME, STRETCH};
use self::duration::RunDuration;
use self::load::LoadCurve;
pub use self::second::{Second, SeriesBySecond};
use self::second::{SecondReader, Totals};
use self::selection::Selection;
use self::summary::{Summary, Tally};
use self::unseen::outstanding::Outstanding;
use crate::error::Result;
use crate::stats::percentile;
use crate::view::View;
use crate::view::phases::{Phases, Span};

/// The seconds of a run for a view, with summaries, phases and the run's metadata.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Timeline {
    /// The run's metadata.
    pub info: RunInfo,
    /// The view, with the choices that took effect: [`View::injectors`] is 1 if the log distinguishes injectors.
    pub view: View,
    /// The percentiles computed, in percent, without duplicates.
    pub percentiles: Vec<f64>,
    /// The duration of the run.
    pub duration: RunDuration,
    /// A row for every selected second, in ascending order, silent ones included.
    pub seconds: Vec<Second>,
    /// The server's series other than its CPU, ascending by name.
    pub series: Vec<SeriesBySecond>,
    /// The summary of the selected seconds.
    pub summary: Summary,
    /// The phases of the whole run.
    pub phases: Phases,
    /// The summary of those selected seconds that are in the run's hold; `None` if none or all of them are.
    pub hold: Option<Summary>,
    /// The requests that were outstanding when the log ends, if it was cut at full load and the view reaches to its end.
    pub outstanding: Option<Outstanding>,
}

impl Timeline {
    /// Computes the timeline of a stored run for a view.
    ///
    /// It has a row for every second from `view.from` (by default 0) to `view.to` (by default the last; a later second
    /// means the last), limited to the view's phase if it has one. It is computed from the exact counts alone, in
    /// milliseconds for any number of samples: about 100 ms for a day with 200 distinct times in each second.
    ///
    /// # Errors
    /// If a percentile is not from 0 to 100, if no second of the run is in the window, if the run does not have the
    /// phase, or if the label has no counts of its own (see [`crate::Error`]).
    ///
    /// ```
    /// use perfpipe_analyze::{Timeline, View};
    /// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// // Three requests in the first second, of 10, 10 and 40 ms; silence in the next; one in the third.
    /// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    /// let cell = |elapsed| Cell { elapsed, ..Cell::default() };
    /// let cells = [(key(0), cell(vec![(10, 2), (40, 1)])), (key(2), cell(vec![(25, 1)]))];
    /// let info = RunInfo::new(RunKey::new("spring", "2048"), 1_700_000_000_000, 1_700_000_002_400);
    /// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
    /// let timeline = Timeline::new(&run, &View::default())?;
    /// assert_eq!(timeline.seconds.len(), 3);
    /// assert_eq!(timeline.seconds[0].elapsed_mean.get(), Some(20.0));
    /// assert_eq!(timeline.seconds[0].percentiles[..], [10.0, 10.0, 25.0, 37.0]);
    /// assert_eq!((timeline.seconds[1].successes, timeline.seconds[1].elapsed_mean.get()), (0, None));
    /// assert_eq!(timeline.summary.p50, Some(17.5));
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let TimelineFigures { rows, percentiles, duration, summary, phases, hold, window, injectors } =
            TimelineFigures::new(run, view, Some)?;
        let reaches_end = window.last.saturating_add(1) == run.info.seconds;
        let outstanding = if reaches_end { Outstanding::of(run)? } else { None };
        let series = SeriesBySecond::of_run(run, view, window);
        let view = View { injectors, ..view.clone() };
        let info = run.info.clone();
        Ok(Self {
            info,
            view,
            percentiles,
            duration,
            seconds: rows,
            series,
            summary,
            phases,
            hold,
            outstanding,
        })
    }

    /// Computes the summary alone, as [`Timeline::new`] does, without the rows of the seconds in memory.
    pub(crate) fn summary_of(run: &StoredRun, view: &View) -> Result<Summary> {
        Ok(TimelineFigures::<()>::new(run, view, |_| None)?.summary)
    }

    /// Returns a percentile of elapsed of one of the seconds, in ms, by the percentile in percent. `None` if the view has
    /// no such percentile, or the second no sample.
    ///
    /// ```
    /// use perfpipe_analyze::{Timeline, View};
    /// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    /// let cells = [(key, Cell { elapsed: vec![(10, 1), (20, 1)], ..Cell::default() })];
    /// let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 400);
    /// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
    /// let timeline = Timeline::new(&run, &View::default().with_percentiles([50.0, 50.0, 99.0]))?;
    /// let second = &timeline.seconds[0];
    /// assert_eq!((timeline.percentile_of(second, 50.0), timeline.percentile_of(second, 99.0)), (Some(15.0), Some(19.9)));
    /// assert_eq!(timeline.percentile_of(second, 75.0), None);
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn percentile_of(&self, second: &Second, percent: f64) -> Option<f64> {
        second.percentile(self.percentiles.iter().position(|own| *own == percent)?)
    }

    /// Returns the seconds without the run's last one if it is cut: statements on single seconds are about whole ones.
    pub(crate) fn whole_seconds(&self) -> &[Second] {
        match self.seconds.split_last() {
            Some((last, others)) if self.duration.cut() == Some(last.second) => others,
            _ => &self.seconds,
        }
    }
}

/// What is computed of a run for a view: of each second what is kept of it, and the figures of all seconds.
pub(crate) struct TimelineFigures<T> {
    /// What was kept of the seconds, in ascending order.
    pub(crate) rows: Vec<T>,
    pub(crate) percentiles: Vec<f64>,
    duration: RunDuration,
    pub(crate) summary: Summary,
    pub(crate) phases: Phases,
    hold: Option<Summary>,
    /// The first and the last second.
    pub(crate) window: Span,
    injectors: u32,
}

impl<T: Send> TimelineFigures<T> {
    /// Computes the figures; see [`Timeline::new`]. A run may have a million seconds, so only what `keep` returns of each
    /// is in memory.
    pub(crate) fn new(run: &StoredRun, view: &View, keep: impl Fn(Second) -> Option<T>) -> Result<Self> {
        let percentiles = percentile::checked(&view.percentiles)?;
        let selection = Selection::new(run, view)?;
        let curve = LoadCurve::of_run(run, view)?;
        let phases = Phases::of_loads(&curve.heard());
        let duration = RunDuration::of(&run.info, view);
        let hold = selection.part(phases.hold);
        let (unit, measures) = (run.info.resolution, run.measures()?);
        let (mut all, mut held) = (Tally::new(unit, measures), Tally::new(unit, measures));
        let spans = selection.stretches(hold, STRETCH);
        let (mut rows, seconds) = (Vec::new(), spans.iter().map(|span| span.seconds() as usize).sum());
        // In groups that just keep all threads busy, so that the seconds are not in memory twice.
        let at_a_time = (2 * rayon::current_num_threads()).min(AT_A_TIME);
        for spans in spans.chunks(at_a_time) {
            let read = |span: &Span| ReadSpan::read(&selection, &curve, *span, &percentiles);
            let stretches: Result<Vec<ReadSpan>> = spans.par_iter().map(read).collect();
            for stretch in stretches? {
                stretch.add_to(&mut all);
                if hold.is_some_and(|hold| hold.holds(stretch.span.first)) {
                    stretch.add_to(&mut held);
                }
                // One row a second if any is kept, so that the list never has to grow.
                let mut kept = stretch.seconds.into_iter().filter_map(&keep);
                if let Some(first) = kept.next() {
                    rows.reserve_exact(if rows.is_empty() { seconds } else { 0 });
                    rows.push(first);
                    rows.extend(kept);
                }
            }
        }
        let summary = all.summary_of(&percentiles, selection.lasted(&duration), view)?;
        let held = |hold| held.summary_of(&percentiles, duration.of_span(hold), view);
        let hold = hold.map(held).transpose()?;
        let window = Span { first: selection.window.0, last: selection.window.1 };
        let injectors = selection.injectors();
        Ok(Self { rows, percentiles, duration, summary, phases, hold, window, injectors })
    }
}

/// Consecutive seconds that one thread reads.
pub(crate) struct ReadSpan {
    span: Span,
    pub(crate) seconds: Vec<Second>,
    totals: Totals,
}

impl ReadSpan {
    /// Reads the seconds of a span.
    pub(crate) fn read(
        selection: &Selection<'_>,
        load: &LoadCurve,
        span: Span,
        percentiles: &[f64],
    ) -> Result<Self> {
        let mut reader = SecondReader::new(selection, load, percentiles);
        let mut totals = Totals::in_unit(selection.run.info.resolution);
        let seconds = selection.packed_seconds_of(span).map(|second| {
            let (second, cells) = second?;
            reader.read(second, &cells, &mut totals)
        });
        Ok(Self { span, seconds: seconds.collect::<Result<_>>()?, totals })
    }

    fn add_to(&self, tally: &mut Tally) {
        tally.add_totals(&self.totals);
        self.seconds.iter().for_each(|second| tally.add_second(second));
    }
}

/// The least share of the seconds with a CPU reading. With fewer, the mean may be that of the ramp, while throughput is
/// over all seconds, so the two can't be related.
const COVERED: f64 = 0.8;

/// The percentage that means the whole machine in some exports.
const WHOLE: f64 = 100.0;

/// Returns successes per second of one busy core. `None` if the CPU is zero or unknown, if too few seconds have a
/// reading, or if the readings are at most 1 and their scale was not given, since they might be fractions of a machine.
pub(crate) fn requests_per_cpu_second(timeline: &Timeline) -> Option<f64> {
    let summary = &timeline.summary;
    let cores_busy = summary.cpu_mean? / 100.0;
    let is_fraction = !is_scale_given(&timeline.info) && summary.cpu_max.is_some_and(|most| most <= 1.0);
    let comparable = cores_busy > 0.0 && summary.cpu_coverage >= COVERED && !is_fraction;
    comparable.then(|| summary.throughput / cores_busy)
}

/// Returns true if 100 % may be the whole machine as well as one core: the scale was not given, and `most`, the largest
/// reading in percent, is not above 100.
///
/// ```
/// use perfpipe_analyze::cpu_scale_in_doubt;
/// use perfpipe_ingest::series::CpuScale;
/// use perfpipe_ingest::{RunInfo, RunKey};
/// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 59_999);
/// assert!(cpu_scale_in_doubt(&info, Some(97.0)));
/// assert!(!cpu_scale_in_doubt(&info, Some(397.0)));
/// info.options.cpu_scale = Some(CpuScale::PercentOfCore);
/// assert!(!cpu_scale_in_doubt(&info, Some(97.0)));
/// ```
pub fn cpu_scale_in_doubt(info: &RunInfo, most: Option<f64>) -> bool {
    !is_scale_given(info) && most.is_some_and(|most| most > 0.0 && most <= WHOLE)
}

/// Returns true if the scale of the readings was given at ingest.
fn is_scale_given(info: &RunInfo) -> bool {
    info.options.tells_cpu_scale()
}
