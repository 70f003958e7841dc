//! Charts one below the other over a common axis, and the distribution of their heights.

use crate::charts::chart::{self, Chart, Height, TIME_LABELS};
use crate::layout::frame::{Rect, TimeAxis};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::Drawing;

/// The gap between a chart's time labels and the next heading, in points.
const GAP: f64 = 9.0;
/// The height of the time axis' title, in points.
const TIME_TITLE: f64 = 12.0;
/// The room below the last chart's frame, in points.
pub(crate) const BELOW: f64 = TIME_LABELS + TIME_TITLE;

/// Draws charts one below the other, over a common axis.
pub(crate) fn draw(
    drawing: &mut Drawing,
    charts: &[Box<dyn Chart + '_>],
    column: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) {
    phases.draw(drawing, column, time);
    let column = column.rows(column.top + phases.height(), column.bottom);
    let mut top = column.top;
    let mut last = None;
    for (chart, height) in charts.iter().zip(heights(charts, column)) {
        top += chart.legend().height(column.width());
        let area = column.rows(top, top + height);
        last = Some(chart::draw(chart.as_ref(), drawing, area, time, phases));
        top = area.bottom + below(chart.as_ref());
    }
    if let Some(frame) = last {
        frame.time_title(drawing);
    }
}

/// Returns the room below a chart's frame, in points.
fn below(chart: &dyn Chart) -> f64 {
    GAP + if chart.has_time_labels() { TIME_LABELS } else { 0.0 }
}

/// Returns the heights of the charts' frames that make the charts fill `column`, in points.
fn heights(charts: &[Box<dyn Chart + '_>], column: Rect) -> Vec<f64> {
    let legends: f64 = charts.iter().map(|chart| chart.legend().height(column.width())).sum();
    let gaps: f64 = charts.iter().map(|chart| below(chart.as_ref())).sum::<f64>() - GAP + TIME_TITLE;
    let (mut fixed, mut shares) = (0.0, 0.0);
    for chart in charts {
        match chart.height() {
            Height::Fixed(points) => fixed += points,
            Height::Share(share) => shares += share,
        }
    }
    let free = column.height() - legends - gaps - fixed;
    let height = |wanted| match wanted {
        Height::Fixed(points) => points,
        Height::Share(share) => free * share / shares,
    };
    charts.iter().map(|chart| height(chart.height())).collect()
}
