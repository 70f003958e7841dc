//! The parts common to all charts of a page: heading, axis, height, and data on a frame.

use crate::layout::axis::{Axis, Scale};
use crate::layout::frame::{Frame, Rect, TimeAxis};
use crate::layout::legend::Legend;
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::Drawing;
use crate::output::part::{PageFigure, PagePart};

/// The height of the labels of a time axis, in points.
pub(crate) const TIME_LABELS: f64 = 15.0;

/// The height of a chart's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Height {
    /// A number of points.
    Fixed(f64),
    /// A share, by weight, of the height that fixed charts leave.
    Share(f64),
}

/// A chart over time.
pub(crate) trait Chart {
    /// Returns the heading and the key.
    fn legend(&self) -> Legend;

    /// Returns what the chart shows as a sentence, with the figures that matter.
    fn alt(&self) -> String;

    /// Returns the value axis, or the words to show if there is nothing to draw.
    fn axis(&self) -> Result<Axis, &'static str>;

    /// Returns the height of the frame.
    fn height(&self) -> Height;

    /// Returns true if labels of the time axis are drawn below the chart.
    fn has_time_labels(&self) -> bool {
        true
    }

    /// Draws the data.
    fn draw(&self, drawing: &mut Drawing, frame: &Frame);
}

/// Draws a chart whose frame is `area`, with its legend above it. Returns the frame.
pub(crate) fn draw(
    chart: &dyn Chart,
    drawing: &mut Drawing,
    area: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) -> Frame {
    let legend = chart.legend();
    let top = area.top - legend.height(area.width());
    drawing.begin(PagePart::Figure(PageFigure::new(&legend.heading, chart.alt(), top)));
    legend.draw(drawing, area.rows(top, area.top));
    let axis = chart.axis();
    let frame = Frame { area, time, scale: axis.as_ref().map_or(Scale::Linear(1.0), |axis| axis.scale) };
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
