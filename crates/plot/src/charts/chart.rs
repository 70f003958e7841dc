//! What the charts of a page have in common: heading, axis, room, and data on a frame.

use crate::layout::axis::Axis;
use crate::layout::frame::{Frame, Rect, TimeAxis};
use crate::layout::legend::Legend;
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::Drawing;

/// Room for the labels of a time axis, in points.
pub(crate) const TIME_LABELS: f64 = 15.0;

/// How high a chart's frame is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Height {
    /// This many points.
    Fixed(f64),
    /// This share of what the others leave, by weight.
    Share(f64),
}

/// One chart over time.
pub(crate) trait Chart {
    /// Its heading and key.
    fn legend(&self) -> Legend;

    /// Its value axis; the words to show in its place where there is nothing to draw.
    fn axis(&self) -> Result<Axis, &'static str>;

    /// How high it is to be.
    fn height(&self) -> Height;

    /// Whether the times stand below it.
    fn has_time_labels(&self) -> bool {
        true
    }

    /// Draws the data.
    fn draw(&self, drawing: &mut Drawing, frame: &Frame);
}

/// Draws a chart whose frame is `area`, with its legend above.
pub(crate) fn draw(
    chart: &dyn Chart,
    drawing: &mut Drawing,
    area: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) -> Frame {
    let legend = chart.legend();
    legend.draw(drawing, area.rows(area.top - legend.height(area.width()), area.top));
    let axis = chart.axis();
    let frame = Frame { area, time, top: axis.as_ref().map_or(1.0, |axis| axis.top) };
    phases.shade(drawing, &frame);
    frame.time_grid(drawing);
    match axis {
        Ok(axis) => {
            frame.value_grid(drawing, &axis);
            chart.draw(drawing, &frame);
            phases.edges(drawing, &frame);
        }
        Err(words) => frame.notice(drawing, words),
    }
    frame.border(drawing);
    if chart.has_time_labels() {
        frame.time_labels(drawing);
    }
    frame
}
