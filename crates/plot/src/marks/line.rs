//! Lines over time, broken at gaps, with one path for each stretch of a colour.

use crate::columns::{ColumnSpread, TimeColumn};
use crate::layout::frame::Frame;
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::Color;

/// Values are marked with dots if columns are at least this wide, in points.
const WIDE: f64 = 16.0;

/// A value of a line, with its place on the page.
struct Node {
    at: Point,
    color: Color,
    /// True if the column before it has a value too.
    joined: bool,
}

/// A line through the columns' means.
pub(crate) struct ColumnLine<V, C> {
    /// Returns a column's values, `None` for a gap.
    pub(crate) values: V,
    /// Returns a column's colour.
    pub(crate) color: C,
    /// The width in points.
    pub(crate) width: f64,
}

impl<V: Fn(&TimeColumn) -> Option<ColumnSpread>, C: Fn(&TimeColumn) -> Color> ColumnLine<V, C> {
    /// Draws the line into `frame`.
    pub(crate) fn draw(&self, drawing: &mut Drawing, frame: &Frame, columns: &[TimeColumn]) {
        let mut path: Vec<Point> = Vec::new();
        let mut last: Option<Color> = None;
        for node in self.nodes(frame, columns) {
            let goes_on = node.joined && (last == Some(node.color) || path.len() < 2);
            if !goes_on {
                let end = path.last().copied();
                self.flush(drawing, &mut path, last);
                path.extend(end.filter(|_| node.joined));
            }
            path.push(node.at);
            last = Some(node.color);
        }
        self.flush(drawing, &mut path, last);
        self.points(drawing, frame, columns);
    }

    /// Marks each value with a dot if the columns are wide.
    fn points(&self, drawing: &mut Drawing, frame: &Frame, columns: &[TimeColumn]) {
        if columns.first().is_some_and(|column| frame.x(column.end) - frame.x(column.start) >= WIDE) {
            for node in self.nodes(frame, columns) {
                drawing.dot(node.at, dot_radius(self.width), node.color);
            }
        }
    }

    fn flush(&self, drawing: &mut Drawing, path: &mut Vec<Point>, color: Option<Color>) {
        if let Some(color) = color {
            drawing.line(std::mem::take(path), self.width, color);
        }
    }

    fn nodes(&self, frame: &Frame, columns: &[TimeColumn]) -> Vec<Node> {
        let mut end = f64::NEG_INFINITY;
        let node = |column: &TimeColumn| {
            let spread = (self.values)(column)?;
            let joined = column.start <= end;
            end = column.end;
            let at = frame.at(column.middle(), spread.mean);
            Some(Node { at, color: (self.color)(column), joined })
        };
        columns.iter().filter_map(node).collect()
    }
}
