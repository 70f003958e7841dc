//! A framework on the page of a test: its name, its columns and how it is drawn.

use perfpipe_analyze::Timeline;

use super::super::footer;
use crate::columns::{Column, Columns, Spread};
use crate::layout::frame::Frame;
use crate::marks::line::Line;
use crate::marks::marker::Marker;
use crate::output::drawing::Drawing;
use crate::palette::{Color, series_color};
use crate::style::ColorBy;
use crate::text::font;
use crate::text::fonts::Fonts;

/// The largest width of a name in the key, and the size of the key's texts, in points.
pub(super) const NAME: f64 = 150.0;
pub(super) const KEY_SIZE: f64 = 8.0;
/// The width of the lines, in points.
pub(super) const WIDTH: f64 = 0.9;
/// The width of a band's edges, in points.
const EDGE: f64 = 0.4;
/// How much a band's edges are mixed with white, as a share.
const EDGE_TINT: f64 = 0.5;
/// The number of markers on each line.
const MARKERS: usize = 8;
/// The suffix of the name of a framework that fails.
const FAILING: &str = " (failing)";

/// A framework, by the run that stands for it.
pub(super) struct Framework<'a> {
    pub(super) timeline: &'a Timeline,
    /// The name in the key.
    pub(super) shown: String,
    pub(super) failing: bool,
    pub(super) columns: Columns,
    pub(super) color: Color,
    pub(super) marker: Marker,
}

/// Returns the values of a column.
pub(super) type Of<'a> = &'a dyn Fn(&Column) -> Option<Spread>;

impl<'a> Framework<'a> {
    pub(super) fn new(rank: usize, timeline: &'a Timeline, width: u32, failing: bool, fonts: &Fonts) -> Self {
        let key = &timeline.info.key;
        let suffix = [
            if key.repeat == 1 { String::new() } else { format!(" #{}", key.repeat) },
            if timeline.info.is_partial() { footer::PARTIAL.to_owned() } else { String::new() },
            if failing { FAILING.to_owned() } else { String::new() },
        ]
        .concat();
        let room = NAME - font::width(&suffix, KEY_SIZE);
        Self {
            timeline,
            shown: fonts.fitted(&key.framework, KEY_SIZE, room) + &suffix,
            failing,
            columns: Columns::new(timeline, width, ColorBy::Throughput),
            color: series_color(rank),
            marker: Marker::of(rank),
        }
    }

    /// Returns the framework's name.
    pub(super) fn name(&self) -> &str {
        &self.timeline.info.key.framework
    }

    /// Draws a figure's line.
    pub(super) fn draw(&self, drawing: &mut Drawing, frame: &Frame, values: Of<'_>) {
        if self.columns.binned() {
            self.band(drawing, frame, values);
        }
        let line = Line { values, color: |_: &Column| self.color, width: WIDTH };
        line.draw(drawing, frame, &self.columns.columns);
    }

    /// Draws a transparent band between the columns' minima and maxima.
    fn band(&self, drawing: &mut Drawing, frame: &Frame, values: Of<'_>) {
        let known: Vec<(&Column, Spread)> =
            self.columns.columns.iter().filter_map(|column| Some((column, values(column)?))).collect();
        let touching = |a: &(&Column, Spread), b: &(&Column, Spread)| a.0.end >= b.0.start;
        for run in known.chunk_by(touching) {
            let upper = run.iter().map(|(column, spread)| frame.at(column.middle(), spread.max));
            let lower = run.iter().rev().map(|(column, spread)| frame.at(column.middle(), spread.min));
            drawing.veil(upper.chain(lower).collect(), self.color, 0.22);
        }
        for edge in [|s: Spread| s.min, |s: Spread| s.max] {
            let values = |column: &Column| Some(values(column)?.at(edge));
            let line = Line { values, color: |_: &Column| self.color.tint(EDGE_TINT), width: EDGE };
            line.draw(drawing, frame, &self.columns.columns);
        }
    }

    /// Draws markers on the line, at other times than those of other lines. The framework is the one at `rank` of
    /// `lines`.
    pub(super) fn mark(
        &self,
        drawing: &mut Drawing,
        frame: &Frame,
        (rank, lines): (usize, usize),
        values: Of<'_>,
    ) {
        let (start, end) = (frame.time.start(), frame.time.end());
        for place in 0..MARKERS {
            let share = (place as f64 + (rank as f64 + 0.5) / lines.max(1) as f64) / MARKERS as f64;
            let time = start + share * (end - start);
            let column = self.columns.columns.iter().find(|c| c.start <= time && time < c.end);
            if let Some((column, spread)) = column.and_then(|column| Some((column, values(column)?))) {
                self.marker.draw(drawing, frame.at(column.middle(), spread.mean), self.color);
            }
        }
    }
}
