//! The chart of response times by percentile.

use perfpipe_analyze::Second;

use super::chart::{Height, TimeChart};
use super::reach::Reach;
use super::run::RunData;
use crate::layout::axis::ValueAxis;
use crate::layout::dashes::DashPattern;
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::marks;
use crate::marks::ColumnLine;
use crate::output::drawing::Drawing;
use crate::palette::{Color, INK, quantile_color};
use crate::style::Style;
use crate::text::number::{LONG_MS, response, trimmed};
use crate::time_columns::{ColumnSpread, TimeColumn};

/// The width of the highest percentile's line, in points.
const THICK: f64 = 1.9;
/// The width of the other lines, in points.
const THIN: f64 = 0.85;
/// The same two widths for a chart that stands alone, and how much its thin lines are mixed with black: they are dashed.
const ALONE: (f64, f64, f64) = (1.5, 0.9, 0.3);

/// The chart of response times.
pub(crate) struct ResponseChart<'a> {
    run: &'a RunData<'a>,
    /// All percentiles but the highest, as indexes in the timeline's list, in ascending order.
    thin: Vec<usize>,
    /// The highest percentile, as an index in the timeline's list.
    thick: Option<usize>,
    /// How far the axis reaches; `None` if no request succeeded.
    reach: Option<Reach>,
    /// The unit of the axis in ms: 1 or 1000.
    unit: f64,
}

impl<'a> ResponseChart<'a> {
    /// Creates the chart of a run.
    pub(crate) fn new(run: &'a RunData<'a>) -> Self {
        let percentiles = &run.timeline.percentiles;
        let mut thin: Vec<usize> = (0..percentiles.len()).collect();
        thin.sort_by(|&a, &b| f64::total_cmp(&name(percentiles, a), &name(percentiles, b)));
        let thick = thin.pop();
        let reach = Reach::of(&[run.timeline], |second: &Second| second.percentiles.to_vec());
        let reach = reach.map(|reach| reach.on(run.style.log_scale));
        let unit = if reach.is_some_and(|reach| reach.top >= LONG_MS) { 1000.0 } else { 1.0 };
        Self { run, thin, thick, reach, unit }
    }

    fn thin_lines(&self) -> impl Iterator<Item = (usize, Color)> {
        let share = if self.run.is_alone { ALONE.2 } else { 0.0 };
        let color = move |rank| quantile_color(rank, self.thin.len()).toward(INK, share);
        self.thin.iter().enumerate().map(move |(rank, &at)| (at, color(rank)))
    }

    /// Returns the widths of the thick line and of the thin ones, in points.
    fn widths(&self) -> (f64, f64) {
        if self.run.is_alone { (ALONE.0, ALONE.1) } else { (THICK, THIN) }
    }

    fn heading(&self) -> String {
        let unit = if self.unit > 1.0 { "s" } else { "ms" };
        format!("Response time ({unit}{})", log_words(self.run.style))
    }

    fn label(&self, at: usize) -> String {
        format!("p{}", trimmed(name(&self.run.timeline.percentiles, at)))
    }

    fn values(&self, column: &TimeColumn, at: usize) -> Option<ColumnSpread> {
        let spread = column.percentiles.get(at).copied().flatten()?;
        let unit = self.unit;
        Some(ColumnSpread { mean: spread.mean / unit, min: spread.min / unit, max: spread.max / unit })
    }
}

/// Returns the words for a logarithmic axis, which follow the unit.
pub(crate) fn log_words(style: &Style) -> &'static str {
    if style.log_scale { ", log scale" } else { "" }
}

/// Returns the percentile at an index, in percent.
fn name(percentiles: &[f64], at: usize) -> f64 {
    percentiles.get(at).copied().unwrap_or_default()
}

impl TimeChart for ResponseChart<'_> {
    fn legend(&self) -> Legend {
        if self.axis().is_err() {
            return Legend { heading: self.heading(), entries: Vec::new(), notes: Vec::new() };
        }
        let mut entries: Vec<LegendEntry> = self
            .thin_lines()
            .enumerate()
            .map(|(rank, (at, color))| {
                let swatch = match self.run.is_alone {
                    true => Swatch::Pattern(color, ALONE.1, DashPattern::of(rank)),
                    false => Swatch::Line(color, THIN),
                };
                LegendEntry::new(swatch, self.label(at))
            })
            .collect();
        if let Some(at) = self.thick {
            let text = format!("{}{}", self.label(at), self.run.colored_by());
            entries.push(LegendEntry::new(self.run.scale_line(self.widths().0), text));
        }
        let binning =
            self.run.binning("lines: mean of the seconds' values; bands: from the least to the greatest");
        let beyond = self.reach.and_then(|reach| reach.note());
        let notes = binning.into_iter().chain(beyond).collect();
        Legend { heading: self.heading(), entries, notes }
    }

    fn alt(&self) -> String {
        let Some(reach) = self.reach else { return "No request succeeded.".to_owned() };
        let places = self.thin.iter().chain(&self.thick);
        let whole = |at: &usize| {
            let value = self.run.summary().percentiles.get(*at).copied().flatten()?;
            Some(format!("{} {}", self.label(*at), response(value)))
        };
        let whole: Vec<String> = places.filter_map(whole).collect();
        let greatest = self.thick.and_then(|thick| {
            let (most, at) = self.run.greatest(|second| second.percentile(thick))?;
            Some(format!("; the {} of a second is at most {}, at {at}", self.label(thick), response(most)))
        });
        let note = reach.note().map(|note| format!(" {note}.")).unwrap_or_default();
        format!("Response time: {}{}.{note}", whole.join(", "), greatest.unwrap_or_default())
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let reach = self.reach.ok_or("No request succeeded")?;
        Ok(reach.axis(self.unit, 6, self.run.style.log_scale))
    }

    fn height(&self) -> Height {
        Height::Share(1.15)
    }

    fn has_time_labels(&self) -> bool {
        self.run.summary().failures == 0
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let columns = &self.run.columns.columns;
        let (thick, thin) = self.widths();
        if let Some(at) = self.thick {
            self.run.scale_line_over(drawing, frame, thick, |column| self.values(column, at));
        }
        if self.run.columns.binned() {
            for (at, color) in self.thin_lines().collect::<Vec<_>>().into_iter().rev() {
                self.run.band(drawing, frame, |column| self.values(column, at), |_| color);
            }
        }
        for (rank, (at, color)) in self.thin_lines().enumerate() {
            let values = |column: &TimeColumn| self.values(column, at);
            let pattern = if self.run.is_alone { DashPattern::of(rank) } else { DashPattern::SOLID };
            let line = ColumnLine { values, color: |_: &TimeColumn| color, width: thin };
            line.draw_dashed(drawing, frame, columns, pattern);
        }
        let is_beyond = |column: &&TimeColumn| {
            column.percentiles.iter().flatten().any(|spread| spread.max / self.unit > frame.scale.top())
        };
        marks::draw_arrows(drawing, frame, columns.iter().filter(is_beyond).map(TimeColumn::middle), INK);
    }
}
