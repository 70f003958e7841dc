//! The figures of a run with their noise: all that a comparison needs of it.

use std::sync::Arc;

use perfpipe_model::series::ServerSeries;
use perfpipe_model::{RunInfo, StoredRun};
use serde::{Deserialize, Serialize};

use super::figure::{FigureKind, PartFigure, SampleRanks};
use super::measure::{Measure, Part, SeriesKey};
use super::memory::Scatter;
use super::units::{CountedUnit, SpanUnits, Stratum, UnitReadings};
use crate::compare::units;
use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::stats::percentile;
use crate::stats::percentile::fraction;
use crate::timeline::selection::Selection;
use crate::timeline::summary::Summary;
use crate::timeline::unseen::long_failures::LongFailures;
use crate::timeline::unseen::outstanding::Outstanding;
use crate::timeline::{SeriesBySecond, Timeline};
use crate::view::View;
use crate::view::phases::Span;

/// The figures of a run and the scatter of its seconds, for the whole run and for its hold.
///
/// The figures are those of its [`Timeline`]; the scatter is that of whole seconds.
///
/// Takes about 100 KB for a run of any length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    info: RunInfo,
    view: View,
    /// The requests that failed after long, if they matter to the times, and the number of all requests.
    pub(super) long_failures: (Option<LongFailures>, u64),
    /// What was outstanding when the log ended.
    pub(super) outstanding: Option<Outstanding>,
    /// The number of its seconds.
    pub(super) seconds: u32,
    /// The figures of the whole run, and of its hold if there is one and other seconds too.
    pub(super) parts: Vec<PartFigures>,
}

/// A part, and its figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "StoredPart", into = "StoredPart")]
pub(super) struct PartFigures {
    pub(super) part: Part,
    pub(super) figures: Vec<(Measure, PartFigure)>,
}

/// A part as it is written: with the distribution that all its percentiles have.
#[derive(Serialize, Deserialize)]
struct StoredPart {
    part: Part,
    distribution: Arc<SampleRanks>,
    figures: Vec<(Measure, PartFigure)>,
}

impl From<PartFigures> for StoredPart {
    fn from(PartFigures { part, figures }: PartFigures) -> Self {
        let distribution = figures.iter().find_map(|(_, figure)| figure.kind.distribution());
        Self { part, distribution: distribution.cloned().unwrap_or_default(), figures }
    }
}

impl From<StoredPart> for PartFigures {
    fn from(StoredPart { part, distribution: of_part, mut figures }: StoredPart) -> Self {
        for (_, figure) in &mut figures {
            if let FigureKind::Percentile { distribution, .. } = &mut figure.kind {
                *distribution = Arc::clone(&of_part);
            }
        }
        Self { part, figures }
    }
}

impl Measured {
    /// Measures a stored run for a view. The scatter is that of its seconds without the last one if that is cut or not
    /// known to be whole.
    ///
    /// # Errors
    /// The same errors as [`Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let percentiles = percentile::checked(&view.percentiles)?;
        let timeline = Timeline::new(run, &View { percentiles: Vec::new(), ..view.clone() })?;
        let selection = Selection::new(run, view)?;
        let scattering = units::whole(&selection, &timeline.duration);
        let hold = timeline.hold.as_ref().zip(selection.part(timeline.phases.hold));
        let all = (Part::Run, &timeline.summary, selection.whole());
        let mut parts = Vec::new();
        let hold = hold.map(|(hold, span)| (Part::Hold, hold, span));
        for (part, summary, span) in std::iter::once(all).chain(hold) {
            let Some(scattering) = span.shared(scattering) else { continue };
            let of = MeasuredPart { summary, span, scattering };
            parts.push(PartFigures { part, figures: figures(&selection, &timeline, of, &percentiles)? });
        }
        let long_failures = (timeline.summary.long_failures(99.0).copied(), timeline.summary.requests());
        let outstanding = timeline.outstanding;
        let whole = selection.whole();
        let seconds = whole.last.saturating_sub(whole.first).saturating_add(1);
        Ok(Self { info: run.info.clone(), view: view.clone(), long_failures, outstanding, seconds, parts })
    }

    /// Returns the metadata of the run.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Replaces the metadata of the run.
    pub(crate) fn with_info(mut self, info: RunInfo) -> Self {
        self.info = info;
        self
    }

    /// Returns the view that it was measured for.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Returns the value of a figure over the whole run; `None` if the run does not have it.
    pub fn value(&self, measure: &Measure) -> Option<f64> {
        self.figure(Part::Run, measure)?.value
    }

    /// Returns a figure of a part.
    pub(super) fn figure(&self, part: Part, measure: &Measure) -> Option<&PartFigure> {
        let of_part = self.parts.iter().find(|own| own.part == part)?;
        of_part.figures.iter().find(|(own, _)| own == measure).map(|(_, figure)| figure)
    }

    /// Returns the names of a part's figures, in order.
    pub(super) fn measures(&self, part: Part) -> impl Iterator<Item = &Measure> {
        let parts = self.parts.iter().filter(move |own| own.part == part);
        parts.flat_map(|own| own.figures.iter().map(|(measure, _)| measure))
    }
}

/// A part that is measured: its summary, its seconds, and those of them whose scatter is the noise.
#[derive(Clone, Copy)]
struct MeasuredPart<'a> {
    summary: &'a Summary,
    span: Span,
    scattering: Span,
}

fn figures(
    selection: &Selection<'_>,
    timeline: &Timeline,
    MeasuredPart { summary, span, scattering }: MeasuredPart<'_>,
    percentiles: &[f64],
) -> Result<Vec<(Measure, PartFigure)>> {
    let histogram = units::histogram(selection, span)?;
    let distribution = Arc::new(SampleRanks::of(&histogram));
    let shares: Vec<f64> = percentiles.iter().map(|percent| fraction(*percent)).collect();
    let marks: Vec<i32> = shares.iter().map(|share| distribution.mark(*share)).collect();
    let units = SpanUnits::read(selection, timeline, scattering, &marks)?;
    let mut figures = counted(&units, summary);
    figures.push((Measure::ElapsedMean, elapsed_mean(&units, &histogram)));
    let values = histogram.percentiles(percentiles);
    for (at, ((percent, share), value)) in percentiles.iter().zip(&shares).zip(values).enumerate() {
        let measure = Measure::Percentile(*percent);
        figures.push((measure, of_percentile(&units, at, *share, value, &distribution)));
    }
    figures.extend(series_figures(selection, timeline, span, &units));
    Ok(figures)
}

/// Computes throughput, failures and CPU.
fn counted(units: &SpanUnits, summary: &Summary) -> Vec<(Measure, PartFigure)> {
    let CountedUnit { seconds, successes, failures, cpu_sum, cpu_seconds, .. } = units.sum;
    let of_units = |sum: f64, of: f64| ratio(sum, of).unwrap_or_default();
    let rate = of_units(successes as f64, f64::from(seconds));
    let share = of_units(failures as f64, (successes + failures) as f64);
    let busy = of_units(cpu_sum, f64::from(cpu_seconds));
    let failing = summary.failure_share().map(|share| share * 100.0);
    vec![
        (
            Measure::Throughput,
            figure(units, Some(summary.throughput), FigureKind::Mean { of: f64::from(seconds) }, |unit| {
                Some(unit.successes as f64 - rate * f64::from(unit.seconds))
            }),
        ),
        (
            Measure::FailuresPercent,
            figure(
                units,
                failing,
                FigureKind::Share { count: summary.failures, of: summary.requests() },
                |unit| Some(unit.failures as f64 - share * (unit.failures + unit.successes) as f64),
            ),
        ),
        (
            Measure::CpuMean,
            figure(units, summary.cpu_mean, FigureKind::Mean { of: f64::from(cpu_seconds) }, |unit| {
                (unit.cpu_seconds > 0).then(|| unit.cpu_sum - busy * f64::from(unit.cpu_seconds))
            }),
        ),
    ]
}

fn elapsed_mean(units: &SpanUnits, histogram: &Histogram) -> PartFigure {
    let (mean, unit_ms) = (histogram.mean(), histogram.unit());
    let value = mean.unwrap_or_default();
    figure(units, mean, FigureKind::Mean { of: units.sum.samples as f64 }, |unit| {
        Some(unit_ms.ms(unit.elapsed as f64) - value * unit.samples as f64)
    })
}

/// Computes a percentile, whose noise is that of the number of requests that do not exceed it.
///
/// Of the requests equal to the percentile, a fraction counts as below, so that the share is exact. At a finer clock
/// each of them might fall on either side; `tied` is the variance of that.
fn of_percentile(
    units: &SpanUnits,
    at: usize,
    share: f64,
    value: Option<f64>,
    distribution: &Arc<SampleRanks>,
) -> PartFigure {
    let counts = |unit: &CountedUnit| unit.marks.get(at).copied().unwrap_or_default();
    let (below, equal) = counts(&units.sum);
    let part = ratio(share * units.sum.samples as f64 - below as f64, equal as f64);
    let part = part.unwrap_or_default().clamp(0.0, 1.0);
    let tied = part * (1.0 - part) * equal as f64;
    let kind = FigureKind::Percentile { share, distribution: Arc::clone(distribution), tied };
    figure(units, value, kind, |unit| {
        let (below, equal) = counts(unit);
        Some(below as f64 + part * equal as f64 - share * unit.samples as f64)
    })
}

/// The least number of units in a phase for a scatter of its own.
const SHORTEST: usize = 12;
/// The least number of seconds in a run that can be compared.
const FEWEST: u32 = 24;

/// Computes a figure from each unit's contribution to its error; `None` for units without one.
pub(super) fn figure(
    units: &SpanUnits,
    value: Option<f64>,
    kind: FigureKind,
    error: impl Fn(&CountedUnit) -> Option<f64>,
) -> PartFigure {
    let series = |stratum: &Stratum| -> (Vec<f64>, bool) {
        (stratum.units.iter().filter_map(&error).collect(), stratum.is_level)
    };
    let all: Vec<(Vec<f64>, bool)> = units.strata.iter().map(series).collect();
    let values = all.iter().map(|(series, _)| series.len()).sum();
    let says_something = |series: &[f64]| series.len() >= SHORTEST && units.sum.seconds >= FEWEST;
    let long = all.into_iter().filter(|(series, _)| says_something(series));
    let scatters = long.map(|(series, is_level)| Scatter::of(series, is_level)).collect();
    PartFigure { value, kind, scatters, values }
}

pub(super) fn ratio(sum: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| sum / of)
}

/// Computes the figures of each series that has a value in the span; `units` are those whose scatter is the noise.
fn series_figures(
    selection: &Selection<'_>,
    timeline: &Timeline,
    span: Span,
    units: &SpanUnits,
) -> Vec<(Measure, PartFigure)> {
    let (info, offset) = (&selection.run.info, timeline.view.cpu.offset);
    let first = info.t0_ms.div_euclid(1000).saturating_sub(offset).saturating_add(span.first.into());
    let within = first..=first.saturating_add((span.last - span.first).into());
    let few = |series: &ServerSeries| {
        let readings = series.readings.readings().iter();
        readings.filter(|(clock, _)| within.contains(clock)).take(SHORTEST).count() < SHORTEST
    };
    let sum = |series: &SeriesBySecond| {
        let mut sum = UnitReadings::default();
        let values = (span.first..=span.last).filter_map(|second| series.at(second));
        values.for_each(|value| sum.add(UnitReadings::one(value)));
        sum
    };
    let all = selection.run.series.iter().zip(timeline.series.iter().map(sum)).enumerate();
    all.filter(|(_, (_, sum))| sum.seconds > 0)
        .flat_map(|(at, (series, sum))| {
            let key = Arc::new(SeriesKey { name: series.name.clone(), unit: series.unit.clone() });
            let greatest = PartFigure {
                value: sum.greatest,
                kind: FigureKind::Greatest,
                scatters: Vec::new(),
                values: 0,
            };
            let mean = mean(units, at, sum, few(series));
            [(Measure::SeriesMean(Arc::clone(&key)), mean), (Measure::SeriesMax(key), greatest)]
        })
        .collect()
}

/// Computes the mean over the seconds that have a value. `few` readings, each of which holds for many seconds, do not
/// show how much they scatter.
fn mean(units: &SpanUnits, at: usize, sum: UnitReadings, few: bool) -> PartFigure {
    let of = f64::from(sum.seconds);
    let value = ratio(sum.sum, of);
    let mean = value.unwrap_or_default();
    let mut figure = figure(units, value, FigureKind::Mean { of }, |unit: &CountedUnit| {
        let readings = unit.series.get(at).filter(|readings| readings.seconds > 0)?;
        Some(readings.sum - mean * f64::from(readings.seconds))
    });
    if few {
        figure.scatters.clear();
    }
    figure
}
