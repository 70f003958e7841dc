//! Arrows at the upper edge of a chart, where values lie beyond its axis.

use crate::layout::frame::Frame;
use crate::output::drawing::{Drawing, Point};
use crate::palette::{Color, PAPER};

/// Half the width of an arrow and its height, in points.
const SIZE: (f64, f64) = (3.2, 5.2);
/// The gap between the edge and an arrow's tip, and the width of the white edge around it, in points.
const GAP: f64 = 1.6;
const EDGE: f64 = 1.0;
/// The least distance between two arrows, in points.
const DISTANCE: f64 = 8.0;

/// Draws an arrow at each of these times, which are in ascending order; of those close to each other only at the first.
pub(crate) fn draw(drawing: &mut Drawing, frame: &Frame, times: impl Iterator<Item = f64>, color: Color) {
    let mut last = f64::NEG_INFINITY;
    for x in times.map(|time| frame.x(time)) {
        if x - last >= DISTANCE {
            arrow(drawing, (x, frame.area.top + GAP), color);
            last = x;
        }
    }
}

fn arrow(drawing: &mut Drawing, (x, tip): Point, color: Color) {
    let shape = |edge: f64| {
        let (half, top, bottom) = (SIZE.0 + edge, tip - edge, tip + SIZE.1 + edge);
        vec![(x, top), (x + half, bottom), (x - half, bottom)]
    };
    drawing.area(shape(EDGE), PAPER);
    drawing.area(shape(0.0), color);
}
