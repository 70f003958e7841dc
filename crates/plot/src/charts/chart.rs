//! The parts common to all charts of a page: heading, axis, height, data on a frame, and the colour bar.

use crate::layout::axis::{LABEL, Scale, Steps, ValueAxis};
use crate::layout::frame::{ChartFrame, Rect, TimeAxis};
use crate::layout::legend::Legend;
use crate::layout::phase_band::PhaseBand;
use crate::marks::OVERLAP;
use crate::output::drawing::{Anchor, Drawing, PageFigure, PagePart, TextLine};
use crate::palette::{ColorScale, FRAME, SOFT, STEPS};
use crate::style::{ColorBy, Palette};
use crate::text::fonts;
use crate::text::number::{count, measured};

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
pub(crate) trait TimeChart {
    /// Returns the heading and the key.
    fn legend(&self) -> Legend;

    /// Returns what the chart shows as a sentence, with the figures that matter.
    fn alt(&self) -> String;

    /// Returns the value axis, or the words to show if there is nothing to draw.
    fn axis(&self) -> Result<ValueAxis, &'static str>;

    /// Returns the height of the frame.
    fn height(&self) -> Height;

    /// Returns true if labels of the time axis are drawn below the chart.
    fn has_time_labels(&self) -> bool {
        true
    }

    /// Draws the data.
    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame);
}

/// Draws a chart whose frame is `area`, with its legend above it. Returns the frame.
pub(crate) fn draw(
    chart: &dyn TimeChart,
    drawing: &mut Drawing,
    area: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) -> ChartFrame {
    let legend = chart.legend();
    let top = area.top - legend.height(area.width());
    drawing.begin(PagePart::Figure(PageFigure::new(&legend.heading, chart.alt(), top)));
    legend.draw(drawing, area.rows(top, area.top));
    let frame = draw_data(chart, drawing, area, time, phases);
    if chart.has_time_labels() {
        frame.time_labels(drawing);
    }
    frame
}

/// Draws the data of a chart in its frame, which is `area`, with the labels of the value axis. Returns the frame.
pub(crate) fn draw_data(
    chart: &dyn TimeChart,
    drawing: &mut Drawing,
    area: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) -> ChartFrame {
    let axis = chart.axis();
    let frame = ChartFrame { area, time, scale: axis.as_ref().map_or(Scale::Linear(1.0), |axis| axis.scale) };
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
    frame
}

/// Widths in points: the gap before the bar, the bar, the gap before its labels, the gap before its title, the title.
const WIDTHS: (f64, f64, f64, f64, f64) = (14.0, 10.0, 5.0, 5.0, 8.0);

/// The largest width of a bar in a line of a key, and half its height, in points.
const LINE: (f64, f64) = (90.0, 3.5);

/// The colour bar of a page.
pub(crate) struct ColorBar {
    by: ColorBy,
    palette: Palette,
    axis: ValueAxis,
}

impl ColorBar {
    /// Creates the bar for a scale; `None` if there is nothing to colour by.
    pub(crate) fn new(by: ColorBy, scale: &ColorScale) -> Option<Self> {
        let max = scale.max().filter(|max| *max > 0.0)?;
        let counted = matches!(by, ColorBy::Load | ColorBy::Throughput) && max >= 1.0;
        let steps = if counted { Steps::Whole } else { Steps::Any };
        Some(Self { by, palette: scale.palette, axis: ValueAxis::ending_at(max, 10, steps) })
    }

    /// Returns the width it takes to the right of the charts, in points.
    pub(crate) fn width(&self) -> f64 {
        WIDTHS.0 + WIDTHS.1 + WIDTHS.2 + self.axis.label_width() + WIDTHS.3 + WIDTHS.4
    }

    /// Draws the bar to the right of `area`, as high as `area`.
    pub(crate) fn draw(&self, drawing: &mut Drawing, area: Rect) {
        let alt = format!("Colours: {} from 0 to {}.", self.by.noun(), self.top());
        drawing.begin(PagePart::Figure(PageFigure::new("Colours", alt, area.top)));
        let bar = Rect { left: area.right + WIDTHS.0, right: area.right + WIDTHS.0 + WIDTHS.1, ..area };
        let y = |share: f64| bar.bottom - share * bar.height();
        for step in 0..STEPS {
            let low = y(step as f64 / STEPS as f64);
            let high = y((step + 1) as f64 / STEPS as f64);
            drawing.rect(
                (bar.left, (high - OVERLAP).max(bar.top)),
                (bar.right, low),
                self.palette.step(step),
            );
        }
        for (tick, label) in &self.axis.ticks {
            let y = y(self.axis.scale.share(*tick));
            drawing.line(vec![(bar.right, y), (bar.right + 2.5, y)], 0.6, FRAME);
            let place = (bar.right + WIDTHS.2, y);
            drawing.text(TextLine::new(label, place, LABEL, Anchor::Start, SOFT));
        }
        let place = (area.right + self.width() - WIDTHS.4 / 2.0, (bar.top + bar.bottom) / 2.0);
        drawing.text(TextLine::new(self.by.label(), place, 8.0, Anchor::Middle, SOFT).upwards());
    }

    /// Draws the bar from left to right in a line of the key, `area`: its title, and the values at its ends.
    pub(crate) fn draw_line(&self, drawing: &mut Drawing, area: Rect) {
        let y = (area.top + area.bottom) / 2.0;
        let mut x = area.left;
        let mut word = |drawing: &mut Drawing, text: &str, gap: f64| {
            drawing.text(TextLine::new(text, (x, y), LABEL, Anchor::Start, SOFT));
            x += fonts::width(text, LABEL) + gap;
            x
        };
        word(drawing, self.by.label(), WIDTHS.0);
        let left = word(drawing, "0", WIDTHS.2);
        let top = self.top();
        let right = (area.right - fonts::width(&top, LABEL) - WIDTHS.2).min(left + LINE.0).max(left);
        for step in 0..STEPS {
            let at = |step: usize| left + (right - left) * step as f64 / STEPS as f64;
            let end = (at(step + 1) + OVERLAP).min(right);
            drawing.rect((at(step), y - LINE.1), (end, y + LINE.1), self.palette.step(step));
        }
        drawing.text(TextLine::new(&top, (right + WIDTHS.2, y), LABEL, Anchor::Start, SOFT));
    }

    /// Returns the value at the upper end of the bar, in words.
    fn top(&self) -> String {
        let top = self.axis.scale.top();
        if top.fract() == 0.0 { count(top as u64) } else { measured(top) }
    }
}
