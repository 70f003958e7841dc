//! Units of one or several seconds of a run, with the counts from which figures are computed.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::timeline::duration::RunDuration;
use crate::timeline::selection::Selection;
use crate::timeline::{Second, Timeline};
use crate::view::phases::{Phase, Span};

/// The largest number of units in a span; in longer spans a unit is several seconds.
const MOST: u32 = 4096;
/// The number of units that a thread reads at a time.
const AT_A_TIME: usize = 64;

/// Counts of some seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct CountedUnit {
    pub(super) seconds: u32,
    pub(super) successes: u64,
    pub(super) failures: u64,
    pub(super) cpu_sum: f64,
    pub(super) cpu_seconds: u32,
    /// The number of requests that averages are taken over.
    pub(super) samples: u64,
    /// The sum of the elapsed times of those requests, in the run's unit.
    pub(super) elapsed: i128,
    /// For each mark, the number of samples below it and of those equal to it.
    pub(super) marks: Vec<(u64, u64)>,
    /// The server's other series, in the order of the timeline.
    pub(super) series: Vec<UnitReadings>,
}

/// The values of one of the server's series.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UnitReadings {
    pub(super) sum: f64,
    /// The number of seconds that have a value.
    pub(super) seconds: u32,
    pub(super) greatest: Option<f64>,
}

/// The units of one phase.
pub(super) struct Stratum {
    pub(super) units: Vec<CountedUnit>,
    pub(super) is_level: bool,
}

/// The units of a span, phase by phase.
pub(super) struct SpanUnits {
    pub(super) strata: Vec<Stratum>,
    pub(super) sum: CountedUnit,
}

/// Returns the seconds whose scatter is the noise: all of the view, without the run's last one if it is cut or not known to be whole.
pub(super) fn whole(selection: &Selection<'_>, duration: &RunDuration) -> Span {
    let (first, last) = selection.window;
    let ends = last.saturating_add(1) >= selection.run.info.seconds;
    let is_cut = ends && (duration.estimated || duration.cut().is_some()) && last - first >= 3;
    Span { first, last: last - u32::from(is_cut) }
}

/// Counts each elapsed time over all seconds of a span.
pub(super) fn histogram(selection: &Selection<'_>, span: Span) -> Result<Histogram> {
    let mut all = Histogram::in_unit(selection.run.info.resolution);
    for second in selection.seconds_of(span) {
        let (_, cells) = second?;
        selection.averaged(&cells).for_each(|cell| all.add_counts(&cell.elapsed));
    }
    Ok(all)
}

impl SpanUnits {
    /// Reads the units of a span.
    pub(super) fn read(
        selection: &Selection<'_>,
        timeline: &Timeline,
        span: Span,
        marks: &[i32],
    ) -> Result<Self> {
        let length = span.seconds().div_ceil(MOST);
        let mut units = Self { strata: Vec::new(), sum: CountedUnit::new(marks, timeline) };
        for (phase, is_level) in phases(timeline, span) {
            let starts: Vec<u32> = (phase.first..=phase.last).step_by(length as usize).collect();
            let read = |starts: &[u32]| stretch(selection, timeline, phase, starts, length, marks);
            let parts: Vec<Vec<CountedUnit>> =
                starts.par_chunks(AT_A_TIME).map(read).collect::<Result<_>>()?;
            let of_phase: Vec<CountedUnit> = parts.into_iter().flatten().collect();
            of_phase.iter().for_each(|unit| units.sum.add(unit));
            units.strata.push(Stratum { units: of_phase, is_level });
        }
        Ok(units)
    }
}

/// Returns the phases of a span, each with true if the load is level in it.
fn phases(timeline: &Timeline, span: Span) -> Vec<(Span, bool)> {
    let shared = |(phase, of): (Phase, Span)| Some((of.shared(span)?, phase == Phase::Hold));
    let phases: Vec<(Span, bool)> = timeline.phases.all().filter_map(shared).collect();
    if phases.is_empty() { vec![(span, true)] } else { phases }
}

/// Reads consecutive units, given their first seconds.
fn stretch(
    selection: &Selection<'_>,
    timeline: &Timeline,
    phase: Span,
    starts: &[u32],
    length: u32,
    marks: &[i32],
) -> Result<Vec<CountedUnit>> {
    let (Some(first), Some(last)) = (starts.first().copied(), starts.last().copied()) else {
        return Ok(Vec::new());
    };
    let mut units = vec![CountedUnit::new(marks, timeline); starts.len()];
    let last = last.saturating_add(length - 1).min(phase.last);
    let begin = timeline.seconds.first().map_or(0, |second| second.second);
    for second in selection.seconds_of(Span { first, last }) {
        let (second, cells) = second?;
        let Some(unit) = units.get_mut(((second - first) / length) as usize) else { continue };
        if let Some(row) = timeline.seconds.get((second - begin) as usize) {
            unit.add_row(row);
        }
        for (series, readings) in timeline.series.iter().zip(&mut unit.series) {
            series.at(second).into_iter().for_each(|value| readings.add(UnitReadings::one(value)));
        }
        selection.averaged(&cells).for_each(|cell| unit.add_elapsed(&cell.elapsed, marks));
    }
    Ok(units)
}

impl CountedUnit {
    fn new(marks: &[i32], timeline: &Timeline) -> Self {
        let series = vec![UnitReadings::default(); timeline.series.len()];
        Self { marks: vec![(0, 0); marks.len()], series, ..Self::default() }
    }

    fn add_row(&mut self, row: &Second) {
        self.seconds += 1;
        self.successes += row.successes;
        self.failures += row.failures;
        if let Some(cpu) = row.cpu.get() {
            self.cpu_sum += cpu;
            self.cpu_seconds += 1;
        }
    }

    fn add_elapsed(&mut self, counts: &[(i32, u64)], marks: &[i32]) {
        let (samples, elapsed) = crate::stats::histogram::totals(counts);
        self.samples += samples;
        self.elapsed += elapsed;
        for (mark, (below, equal)) in marks.iter().zip(&mut self.marks) {
            for (value, samples) in counts.iter().filter(|(value, _)| value <= mark) {
                *(if value < mark { &mut *below } else { &mut *equal }) += samples;
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.successes += other.successes;
        self.failures += other.failures;
        self.cpu_sum += other.cpu_sum;
        self.cpu_seconds += other.cpu_seconds;
        self.samples += other.samples;
        self.elapsed += other.elapsed;
        for ((below, equal), (more_below, more_equal)) in self.marks.iter_mut().zip(&other.marks) {
            *below += more_below;
            *equal += more_equal;
        }
        for (readings, more) in self.series.iter_mut().zip(&other.series) {
            readings.add(*more);
        }
    }
}

impl UnitReadings {
    pub(super) fn one(value: f64) -> Self {
        Self { sum: value, seconds: 1, greatest: Some(value) }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.seconds += other.seconds;
        self.greatest = self.greatest.into_iter().chain(other.greatest).reduce(f64::max);
    }
}
