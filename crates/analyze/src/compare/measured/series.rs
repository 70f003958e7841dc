//! The figures of the server's series other than its CPU: the mean and the greatest value of each.

use std::sync::Arc;

use perfpipe_ingest::series::ServerSeries;

use super::of_units::{SHORTEST, figure, ratio};
use crate::compare::figure::{FigureKind, PartFigure};
use crate::compare::measure::{Measure, SeriesKey};
use crate::compare::units::{UnitReadings, SpanUnits, CountedUnit};
use crate::timeline::selection::Selection;
use crate::timeline::{SeriesBySecond, Timeline};
use crate::view::phases::Span;

/// Computes the figures of each series that has a value in the span; `units` are those whose scatter is the noise.
pub(super) fn figures(
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
