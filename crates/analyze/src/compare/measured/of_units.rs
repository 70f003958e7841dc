//! A figure with its scatter, by the units of a span.

use crate::compare::figure::{FigureKind, PartFigure};
use crate::compare::scatter::Scatter;
use crate::compare::units::{CountedUnit, SpanUnits, Stratum};

/// The least number of units in a phase for a scatter of its own.
pub(super) const SHORTEST: usize = 12;
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
