//! The figures of a run with their noise, which is all that comparing takes of it.

use std::sync::Arc;

use perfpipe_ingest::{RunKey, StoredRun};

use super::figure::{Distribution, Figure, Kind};
use super::scatter::Scatter;
use super::units::{self, Stratum, Unit, Units};
use crate::error::Result;
use crate::stats::percentile::{self, column_name, fraction};
use crate::timeline::Timeline;
use crate::timeline::selection::Selection;
use crate::view::View;
use crate::view::phases::Span;

/// Units of a phase whose own scatter says something.
const SHORTEST: usize = 12;
/// Seconds of a run that can be told from another.
const FEWEST: u32 = 24;

/// What a run is compared by: its figures, for all of it and for its hold, and how its seconds scatter.
///
/// It takes some 100 KB for a run of any length.
#[derive(Debug, Clone)]
pub struct Measured {
    pub(super) key: RunKey,
    /// The figures of each part: "run", and "hold" where there is one and other seconds too.
    pub(super) parts: Vec<Part>,
}

/// The name of a part, and its figures.
pub(super) type Part = (&'static str, Vec<(Measure, Figure)>);

/// What a figure is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measure {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) growth: Growth,
}

/// Whether it is good that a figure grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Growth {
    Good,
    Bad,
    Neither,
}

impl Measured {
    /// Measures a stored run as a view looks at it, but for the run's last second, if it is cut short or not known to be whole.
    ///
    /// # Errors
    /// As [`Timeline::new`].
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let percentiles = percentile::checked(&view.percentiles)?;
        let timeline = Timeline::new(run, &View { percentiles: Vec::new(), ..view.clone() })?;
        let selection = Selection::new(run, view)?;
        let whole = units::whole(&selection, &timeline.duration);
        let hold = timeline.hold.as_ref().and(timeline.phases.hold).and_then(|hold| hold.shared(whole));
        let mut parts = Vec::new();
        for (part, span) in [("run", Some(whole)), ("hold", hold)] {
            let Some(span) = span else { continue };
            parts.push((part, figures(&selection, &timeline, span, &percentiles)?));
        }
        Ok(Self { key: run.info.key.clone(), parts })
    }

    /// A figure of a part.
    pub(super) fn figure(&self, part: &str, measure: &Measure) -> Option<&Figure> {
        let (_, figures) = self.parts.iter().find(|(name, _)| *name == part)?;
        figures.iter().find(|(own, _)| own == measure).map(|(_, figure)| figure)
    }

    /// The run's key.
    pub fn key(&self) -> &RunKey {
        &self.key
    }
}

fn figures(
    selection: &Selection<'_>,
    timeline: &Timeline,
    span: Span,
    percentiles: &[f64],
) -> Result<Vec<(Measure, Figure)>> {
    let histogram = units::histogram(selection, span)?;
    let distribution = Arc::new(Distribution::of(histogram.counts()));
    let shares: Vec<f64> = percentiles.iter().map(|percent| fraction(*percent)).collect();
    let marks: Vec<i32> = shares.iter().map(|share| distribution.mark(*share)).collect();
    let units = Units::read(selection, timeline, span, &marks)?;
    let mut figures = counted(&units);
    figures.push((Measure::new("elapsed_mean", "ms", Growth::Bad), elapsed_mean(&units, histogram.mean())));
    let values = histogram.percentiles(percentiles);
    for (at, ((percent, share), value)) in percentiles.iter().zip(&shares).zip(values).enumerate() {
        let measure = Measure::new(&column_name(*percent), "ms", Growth::Bad);
        figures.push((measure, of_percentile(&units, at, *share, value, &distribution)));
    }
    Ok(figures)
}

impl Measure {
    /// Whether slow noise in it is the server's, and so in all that its requests tell: failures come in bunches of
    /// their own, and CPU readings have the memory of who takes them.
    pub(super) fn is_of_server(&self) -> bool {
        self.unit == "/s" || self.unit == "ms"
    }

    fn new(name: &str, unit: &'static str, growth: Growth) -> Self {
        Self { name: name.to_owned(), unit, growth }
    }
}

/// Throughput, failures and CPU.
fn counted(units: &Units) -> Vec<(Measure, Figure)> {
    let Unit { seconds, successes, failures, cpu_sum, cpu_seconds, .. } = units.sum;
    let throughput = ratio(successes as f64, f64::from(seconds));
    let rate = throughput.unwrap_or_default();
    let requests = successes + failures;
    let failing = ratio(failures as f64, requests as f64);
    let share = failing.unwrap_or_default();
    let cpu = ratio(cpu_sum, f64::from(cpu_seconds));
    let busy = cpu.unwrap_or_default();
    vec![
        (
            Measure::new("throughput", "/s", Growth::Good),
            figure(units, throughput, Kind::Mean { of: f64::from(seconds) }, |unit| {
                Some(unit.successes as f64 - rate * f64::from(unit.seconds))
            }),
        ),
        (
            Measure::new("failures_percent", "%", Growth::Bad),
            figure(
                units,
                failing.map(|share| share * 100.0),
                Kind::Share { count: failures, of: requests },
                |unit| Some(unit.failures as f64 - share * (unit.failures + unit.successes) as f64),
            ),
        ),
        (
            Measure::new("cpu_mean", "%", Growth::Neither),
            figure(units, cpu, Kind::Mean { of: f64::from(cpu_seconds) }, |unit| {
                (unit.cpu_seconds > 0).then(|| unit.cpu_sum - busy * f64::from(unit.cpu_seconds))
            }),
        ),
    ]
}

fn elapsed_mean(units: &Units, mean: Option<f64>) -> Figure {
    let value = mean.unwrap_or_default();
    figure(units, mean, Kind::Mean { of: units.sum.samples as f64 }, |unit| {
        Some(unit.elapsed as f64 - value * unit.samples as f64)
    })
}

/// A percentile, whose noise is that of how many requests do not exceed it.
///
/// Of requests that take just as long as it, as many count as make the share right. What each of them would have done at
/// a finer clock varies too: that is the variance of the ties.
fn of_percentile(
    units: &Units,
    at: usize,
    share: f64,
    value: Option<f64>,
    distribution: &Arc<Distribution>,
) -> Figure {
    let counts = |unit: &Unit| unit.marks.get(at).copied().unwrap_or_default();
    let (below, equal) = counts(&units.sum);
    let part = ratio(share * units.sum.samples as f64 - below as f64, equal as f64);
    let part = part.unwrap_or_default().clamp(0.0, 1.0);
    let tied = part * (1.0 - part) * equal as f64;
    let kind = Kind::Percentile { share, distribution: Arc::clone(distribution), tied };
    figure(units, value, kind, |unit| {
        let (below, equal) = counts(unit);
        Some(below as f64 + part * equal as f64 - share * unit.samples as f64)
    })
}

/// A figure, with each unit's share in its error; `None` for units that have none.
fn figure(units: &Units, value: Option<f64>, kind: Kind, error: impl Fn(&Unit) -> Option<f64>) -> Figure {
    let series = |stratum: &Stratum| -> (Vec<f64>, bool) {
        (stratum.units.iter().filter_map(&error).collect(), stratum.is_level)
    };
    let all: Vec<(Vec<f64>, bool)> = units.strata.iter().map(series).collect();
    let values = all.iter().map(|(series, _)| series.len()).sum();
    let says_something = |series: &[f64]| series.len() >= SHORTEST && units.sum.seconds >= FEWEST;
    let long = all.into_iter().filter(|(series, _)| says_something(series));
    let scatters = long.map(|(series, is_level)| Scatter::of(series, is_level)).collect();
    Figure { value, kind, scatters, values }
}

fn ratio(sum: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| sum / of)
}
