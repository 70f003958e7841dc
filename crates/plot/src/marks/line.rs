//! Lines over time: broken where there is nothing, one path for each run of a colour.

use crate::columns::{Column, Spread};
use crate::layout::frame::Frame;
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::Color;

/// Values of columns wider than this, in points, are marked.
const WIDE: f64 = 16.0;

/// A value of a line and where it stands.
struct Node {
    at: Point,
    color: Color,
    /// Whether the column before it had a value too.
    joined: bool,
}

/// A line of the columns' means.
pub(crate) struct Line<V, C> {
    /// A column's values, `None` for a gap.
    pub(crate) values: V,
    /// A column's colour.
    pub(crate) color: C,
    /// In points.
    pub(crate) width: f64,
}

impl<V: Fn(&Column) -> Option<Spread>, C: Fn(&Column) -> Color> Line<V, C> {
    /// Draws the line into `frame`.
    pub(crate) fn draw(&self, drawing: &mut Drawing, frame: &Frame, columns: &[Column]) {
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

    /// Marks each value where the columns are wide.
    fn points(&self, drawing: &mut Drawing, frame: &Frame, columns: &[Column]) {
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

    fn nodes(&self, frame: &Frame, columns: &[Column]) -> Vec<Node> {
        let mut end = f64::NEG_INFINITY;
        let node = |column: &Column| {
            let spread = (self.values)(column)?;
            let joined = column.start <= end;
            end = column.end;
            let at = frame.at(column.middle(), spread.mean);
            Some(Node { at, color: (self.color)(column), joined })
        };
        columns.iter().filter_map(node).collect()
    }
}
