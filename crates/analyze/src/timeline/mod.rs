//! The per-second table of a run: one row a second, silent seconds too.

pub(crate) mod cells;
pub(crate) mod cpu_cost;
pub(crate) mod duration;
pub(crate) mod level;
pub(crate) mod load;
pub(crate) mod phases;
pub(crate) mod second;
pub(crate) mod selection;
pub(crate) mod stretch;
pub(crate) mod summary;
pub(crate) mod tables;

use perfpipe_ingest::{RunInfo, StoredRun};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use self::duration::RunDuration;
use self::load::LoadCurve;
use self::second::{SecondReader, second_table};
use self::selection::Selection;
use self::summary::{Summary, Tally, Totals};
use crate::error::Result;
use crate::stats::percentile;
use crate::table::Table;
use crate::view::View;
use crate::view::phases::{Phases, Span};

pub use self::second::Second;

/// Seconds that one thread reads at a time: few enough that a day keeps all busy, many enough that the 512 KiB that
/// each stretch's histogram may take are little beside its cells.
const STRETCH: u32 = 4096;

/// Stretches that are read side by side.
const AT_A_TIME: usize = 32;

/// The per-second table of a run, with the run's own row.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The run's own row.
    pub info: RunInfo,
    /// The choices that made it, as they acted: [`View::injectors`] is 1 where the log tells injectors apart.
    pub view: View,
    /// The percentiles computed, in percent, each once.
    pub percentiles: Vec<f64>,
    /// How long the run lasted.
    pub duration: RunDuration,
    /// A row for every second looked at, ascending, silent ones too.
    pub seconds: Vec<Second>,
    /// What holds for all of them together.
    pub summary: Summary,
    /// The phases of the whole run.
    pub phases: Phases,
    /// What holds for those of the seconds that are in the run's hold, where there are some, and others beside them.
    pub hold: Option<Summary>,
}

impl Timeline {
    /// The per-second table of a stored run, as the view asks for it.
    ///
    /// It holds a row for every second from `view.from` (else 0) to `view.to` (else the last; a later one
    /// means the last), of those of the phase that the view asks for. It is computed from the exact counts alone,
    /// so it costs milliseconds for a run of any number of samples: about 100 ms for a day of seconds with 200
    /// distinct times each.
    ///
    /// # Errors
    /// When a percentile is not from 0 to 100, the window holds no second of the run, the run does not have the
    /// phase, or the label has no counts of its own (see [`crate::Error`]).
    ///
    /// ```
    /// use perfpipe_analyze::{Timeline, View};
    /// use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey, StoredRun};
    ///
    /// // Three requests in the first second, of 10, 10 and 40 ms; silence in the next; one in the third.
    /// let key = |second| CellKey { second, label: 0, success: true, transaction: false };
    /// let cell = |elapsed| Cell { elapsed, ..Cell::default() };
    /// let cells = [(key(0), cell(vec![(10, 2), (40, 1)])), (key(2), cell(vec![(25, 1)]))];
    /// let run = StoredRun {
    ///     info: RunInfo::new(RunKey::new("spring", "2048"), 1_700_000_000_000, 1_700_000_002_400),
    ///     cells: CellTable::new(vec!["Get".into()], vec![], cells),
    ///     cpu: CpuSeries::default(),
    ///     errors: vec![],
    ///     labels: vec![],
    /// };
    /// let timeline = Timeline::new(&run, &View::default())?;
    /// assert_eq!(timeline.seconds.len(), 3);
    /// assert_eq!(timeline.seconds[0].elapsed_mean, Some(20.0));
    /// assert_eq!(timeline.seconds[0].percentiles[..], [10.0, 10.0, 25.0, 37.0]);
    /// assert_eq!((timeline.seconds[1].successes, timeline.seconds[1].elapsed_mean), (0, None));
    /// assert_eq!(timeline.summary.p50, Some(17.5));
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let percentiles = percentile::checked(&view.percentiles)?;
        let selection = Selection::new(run, view)?;
        let curve = LoadCurve::of_run(run, view)?;
        let phases = Phases::of_loads(&curve.heard());
        let duration = RunDuration::of(&run.info, view);
        let hold = selection.part(phases.hold);
        let (mut all, mut held) = (Tally::default(), Tally::default());
        let spans = selection.stretches(hold, STRETCH);
        let mut seconds = Vec::with_capacity(spans.iter().map(|span| span.seconds() as usize).sum());
        // As few at a time as keep all threads busy, so that there are not all seconds twice.
        for spans in spans.chunks(AT_A_TIME) {
            let read = |span: &Span| Stretch::read(&selection, &curve, *span, &percentiles);
            let stretches: Result<Vec<Stretch>> = spans.par_iter().map(read).collect();
            for stretch in stretches? {
                stretch.add_to(&mut all);
                if hold.is_some_and(|hold| hold.holds(stretch.span.first)) {
                    stretch.add_to(&mut held);
                }
                seconds.extend(stretch.seconds);
            }
        }
        let summary = all.summary_of(&percentiles, selection.lasted(&duration), view)?;
        let held = |hold| held.summary_of(&percentiles, duration.of_span(hold), view);
        let hold = hold.map(held).transpose()?;
        let view = View { injectors: selection.injectors(), ..view.clone() };
        Ok(Self { info: run.info.clone(), view, percentiles, duration, seconds, summary, phases, hold })
    }

    /// The seconds without the last one of the run, where that is cut short: what is said of single seconds is about
    /// whole ones.
    pub fn whole_seconds(&self) -> &[Second] {
        match self.seconds.split_last() {
            Some((last, others)) if self.duration.cut() == Some(last.second) => others,
            _ => &self.seconds,
        }
    }
}

/// The per-second table of a run in pieces, each of many seconds: for what needs no more than one at a time.
///
/// ```
/// use perfpipe_analyze::{Format, SecondTables, TableWriter, View};
/// # use perfpipe_ingest::{CellTable, CpuSeries, RunInfo, RunKey, StoredRun};
/// # let run = StoredRun {
/// #     info: RunInfo::new(RunKey::new("spring", "2048"), 0, 1_999),
/// #     cells: CellTable::default(),
/// #     cpu: CpuSeries::default(),
/// #     errors: vec![],
/// #     labels: vec![],
/// # };
/// let view = View::default();
/// let mut pieces = SecondTables::new(&run, &view)?;
/// let mut csv = TableWriter::new(Some(Format::Csv), &pieces.columns(), Vec::new())?;
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
    /// Stretches that were not read yet, the last one first.
    spans: Vec<Span>,
}

impl<'a> SecondTables<'a> {
    /// The per-second table of a stored run, as the view asks for it.
    ///
    /// # Errors
    /// As [`Timeline::new`].
    pub fn new(run: &'a StoredRun, view: &'a View) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let mut spans = selection.stretches(None, STRETCH);
        spans.reverse();
        let load = LoadCurve::of_run(run, view)?;
        Ok(Self { selection, load, percentiles: percentile::checked(&view.percentiles)?, spans })
    }

    /// A table of its columns, without a row.
    pub fn columns(&self) -> Table {
        second_table(&[], &self.percentiles, &self.selection.view.goals)
    }

    /// The next seconds, ascending; `None` after the last.
    ///
    /// # Errors
    /// When the run's counts can't be read.
    pub fn next_piece(&mut self) -> Result<Option<Table>> {
        let spans = self.spans.split_off(self.spans.len().saturating_sub(AT_A_TIME));
        if spans.is_empty() {
            return Ok(None);
        }
        let read = |span: &Span| Stretch::read(&self.selection, &self.load, *span, &self.percentiles);
        let stretches: Vec<Stretch> = spans.par_iter().map(read).collect::<Result<_>>()?;
        let seconds: Vec<Second> = stretches.into_iter().rev().flat_map(|stretch| stretch.seconds).collect();
        Ok(Some(second_table(&seconds, &self.percentiles, &self.selection.view.goals)))
    }
}

/// Seconds that are read by one thread, one after the other.
struct Stretch {
    span: Span,
    seconds: Vec<Second>,
    totals: Totals,
}

impl Stretch {
    fn read(selection: &Selection<'_>, load: &LoadCurve, span: Span, percentiles: &[f64]) -> Result<Self> {
        let mut reader = SecondReader::new(selection, load, percentiles);
        let mut totals = Totals::default();
        let seconds = selection.seconds_of(span).map(|second| {
            let (second, cells) = second?;
            totals.add(selection.averaged(&cells));
            let row = reader.read(second, &cells);
            totals.kept.merge(reader.kept());
            Ok(row)
        });
        Ok(Self { span, seconds: seconds.collect::<Result<_>>()?, totals })
    }

    fn add_to(&self, tally: &mut Tally) {
        tally.add_totals(&self.totals);
        self.seconds.iter().for_each(|second| tally.add_second(second));
    }
}
