//! Dashed lines, for what was not measured.

use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::Color;

/// The lengths of a dash and of the gap after it, in points.
const DASH: f64 = 3.6;
const GAP: f64 = 2.4;

/// Draws a dashed line through points; the pattern goes on around the corners. For a single point, draws a dot.
pub(crate) fn draw(drawing: &mut Drawing, points: &[Point], width: f64, color: Color) {
    if let [only] = points {
        drawing.dot(*only, dot_radius(width), color);
    }
    let mut along = 0.0;
    for pair in points.windows(2) {
        let [from, to] = pair else { continue };
        for (start, end) in dashes(*from, *to, along) {
            drawing.line(vec![start, end], width, color);
        }
        along = (along + length(*from, *to)) % (DASH + GAP);
    }
}

/// Returns the dashes between two points, where a line of length `along` came before, in points.
fn dashes(from: Point, to: Point, along: f64) -> Vec<(Point, Point)> {
    let length = length(from, to);
    let at = |place: f64| {
        let share = if length > 0.0 { (place / length).clamp(0.0, 1.0) } else { 0.0 };
        (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
    };
    let count = ((length + along) / (DASH + GAP)).ceil().max(0.0) as u32;
    let starts = (0..count).map(|dash| f64::from(dash) * (DASH + GAP) - along);
    starts.filter(|start| start + DASH > 0.0).map(|start| (at(start), at(start + DASH))).collect()
}

fn length(from: Point, to: Point) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_goes_on_around_corners() {
        let tenths = |from, to, along| -> Vec<[i32; 4]> {
            let tenths = |(start, end): (Point, Point)| {
                [start.0, start.1, end.0, end.1].map(|value| (value * 10.0).round() as i32)
            };
            dashes(from, to, along).into_iter().map(tenths).collect()
        };
        assert_eq!(tenths((0.0, 0.0), (10.0, 0.0), 0.0), [[0, 0, 36, 0], [60, 0, 96, 0]]);
        // The line before ended within a dash, or within a gap.
        assert_eq!(tenths((0.0, 0.0), (0.0, 3.0), 1.6), [[0, 0, 0, 20]]);
        assert_eq!(tenths((0.0, 0.0), (3.0, 0.0), 5.0), [[10, 0, 30, 0]]);
        assert!(dashes((1.0, 1.0), (1.0, 1.0), 0.0).is_empty());
    }
}
