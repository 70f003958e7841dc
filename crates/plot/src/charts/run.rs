//! A run prepared for its charts: columns, colours, and lines with bands.

use perfpipe_analyze::{Second, Summary, Timeline};

use crate::layout::frame::ChartFrame;
use crate::layout::legend::Swatch;
use crate::marks;
use crate::marks::{ColumnLine, StairStep};
use crate::output::drawing::Drawing;
use crate::palette::{Color, ColorScale, NEUTRAL};
use crate::style::{Style, Times};
use crate::text::clock::{RunClock, duration, stamp};
use crate::time_columns::{self, ColumnSpread, RunColumns, TimeColumn};

/// How much a band is mixed with white, as a share.
const BAND: f64 = 0.6;
/// The width of a band's edges, in points.
const EDGE: f64 = 0.4;
/// How much a band's edges are mixed with white, as a share.
const EDGE_TINT: f64 = 0.35;

/// A run with the data that all its charts need.
pub(crate) struct RunData<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) style: &'a Style,
    pub(crate) columns: RunColumns,
    pub(crate) scale: ColorScale,
    /// The clock of the time axis; `None` if it has the time since the start.
    pub(crate) clock: Option<RunClock>,
    /// True if a chart stands alone: its lines can be told apart in grey, and its axis has ticks of its own.
    pub(crate) is_alone: bool,
}

impl<'a> RunData<'a> {
    pub(crate) fn new(timeline: &'a Timeline, style: &'a Style) -> Self {
        Self::with_columns(timeline, style, time_columns::MOST)
    }

    /// Prepares a run for a chart that stands alone, with at most so many columns.
    pub(crate) fn alone(timeline: &'a Timeline, style: &'a Style, most: u32) -> Self {
        Self { is_alone: true, ..Self::with_columns(timeline, style, most) }
    }

    fn with_columns(timeline: &'a Timeline, style: &'a Style, most: u32) -> Self {
        let (first, end) = time_columns::span(timeline);
        let by = style.color_by;
        Self {
            timeline,
            style,
            clock: (style.times == Times::Clock)
                .then(|| RunClock::new(timeline.info.t0_ms, &style.time_zone)),
            columns: RunColumns::new(timeline, time_columns::width_of(end - first, most), by),
            scale: ColorScale::new(
                style.palette,
                timeline.seconds.iter().filter_map(|second| time_columns::measure(second, by)),
            ),
            is_alone: false,
        }
    }

    /// Formats the time of a second, as the time axis has it.
    pub(crate) fn time_of(&self, second: u32) -> String {
        self.clock.map_or_else(|| stamp(second), |clock| clock.time(second.into()))
    }

    /// Returns the largest value of a second, and the time of that second.
    pub(crate) fn greatest(&self, value: impl Fn(&Second) -> Option<f64>) -> Option<(f64, String)> {
        let values = self.timeline.seconds.iter().filter_map(|second| Some((value(second)?, second.second)));
        let greatest = values.filter(|(value, _)| value.is_finite());
        let (value, second) = greatest.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
        Some((value, self.time_of(second)))
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.timeline.summary
    }

    /// Returns the words that a key appends to the name of what is coloured by the measure.
    pub(crate) fn colored_by(&self) -> String {
        match self.scale.max() {
            Some(_) => format!(", coloured by {}", self.style.color_by.noun()),
            None => String::new(),
        }
    }

    /// Returns the swatch of bars coloured by the measure.
    pub(crate) fn scale_swatch(&self) -> Swatch {
        if self.scale.max().is_some() { Swatch::ScaleBar(self.scale.palette) } else { Swatch::Bar(NEUTRAL) }
    }

    /// Returns the swatch of a line coloured by the measure.
    pub(crate) fn scale_line(&self, width: f64) -> Swatch {
        if self.scale.max().is_some() {
            Swatch::ScaleLine(self.scale.palette, width)
        } else {
            Swatch::Line(NEUTRAL, width)
        }
    }

    /// Returns the note on columns of more than one second; `None` if a column is one second.
    pub(crate) fn binning(&self, meaning: &str) -> Option<String> {
        let width = self.columns.width;
        self.columns.binned().then(|| format!("Each column stands for {}: {meaning}.", duration(width)))
    }

    /// Draws a line coloured by the measure, over the band of its extremes.
    pub(crate) fn scale_line_over(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        width: f64,
        values: impl Fn(&TimeColumn) -> Option<ColumnSpread>,
    ) {
        let color = |column: &TimeColumn| self.scale.color(column.measure);
        if self.columns.binned() {
            self.band(drawing, frame, &values, color);
        }
        ColumnLine { values, color, width }.draw(drawing, frame, &self.columns.columns);
    }

    /// Draws the band between the columns' minima and maxima.
    pub(crate) fn band(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        values: impl Fn(&TimeColumn) -> Option<ColumnSpread>,
        color: impl Fn(&TimeColumn) -> Color,
    ) {
        let step = |column: &TimeColumn| {
            let ColumnSpread { min, max, .. } = values(column)?;
            let (left, right) = (frame.x(column.start), frame.x(column.end));
            let (top, bottom) = (frame.y(max), frame.y(min));
            (top < bottom).then(|| StairStep { left, right, top, bottom, color: color(column).tint(BAND) })
        };
        let steps: Vec<StairStep> = self.columns.columns.iter().filter_map(step).collect();
        marks::draw_stairs(drawing, &steps);
        self.edge(drawing, frame, |column| Some(values(column)?.at(|s| s.min)), &color);
        self.edge(drawing, frame, |column| Some(values(column)?.at(|s| s.max)), &color);
    }

    /// Draws the edge of a band, which makes peaks in narrow columns visible.
    pub(crate) fn edge(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        values: impl Fn(&TimeColumn) -> Option<ColumnSpread>,
        color: impl Fn(&TimeColumn) -> Color,
    ) {
        let color = |column: &TimeColumn| color(column).tint(EDGE_TINT);
        ColumnLine { values, color, width: EDGE }.draw(drawing, frame, &self.columns.columns);
    }
}
