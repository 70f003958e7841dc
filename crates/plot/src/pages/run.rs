//! The page of one run: its charts one under another over one time axis.

use perfpipe_analyze::{Summary, Timeline};

use super::sheet::{self, Sheet};
use super::{footer, stack};
use crate::charts::chart::Chart;
use crate::charts::columns::{self, Column, Columns, Spread};
use crate::charts::cpu::Cpu;
use crate::charts::failures::Failures;
use crate::charts::requests::Requests;
use crate::charts::response::Response;
use crate::layout::colorbar::ColorBar;
use crate::layout::frame::{Frame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::legend::Swatch;
use crate::layout::phase_band::PhaseBand;
use crate::marks::line::Line;
use crate::marks::stairs::{self, Step};
use crate::output::drawing::Drawing;
use crate::palette::{Color, ColorScale, NEUTRAL};
use crate::style::Style;
use crate::text::clock::duration;

/// How much a band is thinned with white.
const BAND: f64 = 0.6;
/// Width of a band's edges, in points, and how much they are thinned.
const EDGE: f64 = 0.4;
const EDGE_TINT: f64 = 0.35;

/// A run with all that its charts need.
pub(crate) struct Run<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) style: &'a Style,
    pub(crate) columns: Columns,
    pub(crate) scale: ColorScale,
}

impl<'a> Run<'a> {
    fn new(timeline: &'a Timeline, style: &'a Style) -> Self {
        let (first, end) = columns::span(timeline);
        let by = style.color_by;
        Self {
            timeline,
            style,
            columns: Columns::new(timeline, columns::width(end - first), by),
            scale: ColorScale::new(
                style.palette,
                timeline.seconds.iter().filter_map(|second| columns::measure(second, by)),
            ),
        }
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.timeline.summary
    }

    /// What a key says of what is coloured by the measure.
    pub(crate) fn colored_by(&self) -> String {
        match self.scale.max() {
            Some(_) => format!(", coloured by {}", self.style.color_by.noun()),
            None => String::new(),
        }
    }

    /// The swatch of bars coloured by the measure.
    pub(crate) fn scale_swatch(&self) -> Swatch {
        if self.scale.max().is_some() { Swatch::ScaleBar(self.scale.palette) } else { Swatch::Bar(NEUTRAL) }
    }

    /// The swatch of a line coloured by the measure.
    pub(crate) fn scale_line(&self, width: f64) -> Swatch {
        if self.scale.max().is_some() {
            Swatch::ScaleLine(self.scale.palette, width)
        } else {
            Swatch::Line(NEUTRAL, width)
        }
    }

    /// What a chart says of its columns, where each stands for more than a second.
    pub(crate) fn binning(&self, meaning: &str) -> Option<String> {
        let width = self.columns.width;
        self.columns.binned().then(|| format!("Each column stands for {}: {meaning}.", duration(width)))
    }

    /// Draws a line coloured by the measure, over the band of its extremes.
    pub(crate) fn scale_line_over(
        &self,
        drawing: &mut Drawing,
        frame: &Frame,
        width: f64,
        values: impl Fn(&Column) -> Option<Spread>,
    ) {
        let color = |column: &Column| self.scale.color(column.measure);
        if self.columns.binned() {
            self.band(drawing, frame, &values, color);
        }
        Line { values, color, width }.draw(drawing, frame, &self.columns.columns);
    }

    /// Draws the band between the columns' least and greatest values.
    pub(crate) fn band(
        &self,
        drawing: &mut Drawing,
        frame: &Frame,
        values: impl Fn(&Column) -> Option<Spread>,
        color: impl Fn(&Column) -> Color,
    ) {
        let step = |column: &Column| {
            let Spread { min, max, .. } = values(column)?;
            let (left, right) = (frame.x(column.start), frame.x(column.end));
            let (top, bottom) = (frame.y(max), frame.y(min));
            (top < bottom).then(|| Step { left, right, top, bottom, color: color(column).tint(BAND) })
        };
        let steps: Vec<Step> = self.columns.columns.iter().filter_map(step).collect();
        stairs::draw(drawing, &steps);
        self.edge(drawing, frame, |column| Some(values(column)?.at(|s| s.min)), &color);
        self.edge(drawing, frame, |column| Some(values(column)?.at(|s| s.max)), &color);
    }

    /// Draws the edge of a band, so that peaks of one narrow column are seen.
    pub(crate) fn edge(
        &self,
        drawing: &mut Drawing,
        frame: &Frame,
        values: impl Fn(&Column) -> Option<Spread>,
        color: impl Fn(&Column) -> Color,
    ) {
        let color = |column: &Column| color(column).tint(EDGE_TINT);
        Line { values, color, width: EDGE }.draw(drawing, frame, &self.columns.columns);
    }

    /// The charts, from top to bottom.
    fn charts(&self) -> Vec<Box<dyn Chart + '_>> {
        let mut charts: Vec<Box<dyn Chart>> =
            vec![Box::new(Requests(self)), Box::new(Cpu(self)), Box::new(Response::new(self))];
        if self.summary().failures > 0 {
            charts.push(Box::new(Failures(self)));
        }
        charts
    }
}

/// Draws the page of a run.
pub(crate) fn draw(timeline: &Timeline, style: &Style, title: &str) -> Drawing {
    let run = Run::new(timeline, style);
    let phases = PhaseBand::new(timeline, run.columns.span);
    let mut drawing = Drawing::new(style.paper.portrait());
    let room = Sheet { title, subtitle: &footer::figures(timeline), footer: &footer::facts(&run) }
        .draw(&mut drawing);
    let charts = run.charts();
    let bar = ColorBar::new(style.color_by, &run.scale);
    let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
    let column = Rect {
        left: room.left + labels.fold(sheet::LEAST_LABEL, f64::max) + LABEL_GAP,
        right: room.right - bar.as_ref().map_or(0.0, ColorBar::width),
        ..room
    };
    let time = TimeAxis::new(run.columns.span, column.width());
    stack::draw(&mut drawing, &charts, column, time, &phases);
    if let Some(bar) = bar {
        bar.draw(&mut drawing, bar_area(&charts, column.rows(column.top + phases.height(), column.bottom)));
    }
    drawing
}

/// The height from the first chart's frame to the last one's, for the colour bar.
fn bar_area(charts: &[Box<dyn Chart + '_>], column: Rect) -> Rect {
    let above = charts.first().map_or(0.0, |chart| chart.legend().height(column.width()));
    column.rows(column.top + above, column.bottom - stack::BELOW)
}
