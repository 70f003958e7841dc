//! Lines in dashes: for what was not measured, and for lines that are to be told apart without colours.

use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::Color;

/// The lengths of dashes and of the gaps after them, in turn, in points; none for a line without gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DashPattern(&'static [f64]);

impl DashPattern {
    /// A line without gaps.
    pub(crate) const SOLID: Self = Self(&[]);
    /// Dashes, for what was not measured.
    const DASHED: Self = Self(&[3.6, 2.4]);
    /// Patterns for lines that are to be told apart, from the lightest to the fullest.
    const ALL: [Self; 4] =
        [Self(&[0.6, 1.8]), Self(&[2.0, 1.4]), Self(&[5.0, 1.4, 0.8, 1.4]), Self(&[7.0, 1.6])];

    /// Returns the pattern of the line with this index.
    pub(crate) fn of(index: usize) -> Self {
        Self::ALL.get(index % Self::ALL.len()).copied().unwrap_or(Self::SOLID)
    }

    /// Draws a line through points; the pattern goes on around the corners. For a single point, draws a dot.
    pub(crate) fn draw(self, drawing: &mut Drawing, points: Vec<Point>, width: f64, color: Color) {
        if points.len() < 2 || self.0.is_empty() {
            return drawing.line(points, width, color);
        }
        for dash in self.dashes(&points) {
            drawing.line(dash, width, color);
        }
    }

    /// Returns the dashes of a line, each around the corners that it has.
    fn dashes(self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut lengths = self.0.iter().copied().cycle();
        let (mut left, mut is_drawn) = (lengths.next().unwrap_or(f64::INFINITY), true);
        let mut dash: Vec<Point> = points.first().copied().into_iter().collect();
        let mut dashes = Vec::new();
        for pair in points.windows(2) {
            let [from, to] = pair else { continue };
            let length = length(*from, *to);
            let mut done = 0.0;
            // A place at the very end of a stretch is that of its corner.
            while left < length - done {
                done += left;
                let share = done / length;
                let at = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
                if is_drawn {
                    dash.push(at);
                    dashes.push(std::mem::take(&mut dash));
                } else {
                    dash = vec![at];
                }
                (left, is_drawn) = (lengths.next().unwrap_or(f64::INFINITY), !is_drawn);
            }
            left -= length - done;
            if is_drawn {
                dash.push(*to);
            }
        }
        dashes.extend((is_drawn && dash.len() > 1).then_some(dash));
        dashes
    }
}

/// Draws a dashed line through points, for what was not measured. For a single point, draws a dot.
pub(crate) fn draw(drawing: &mut Drawing, points: &[Point], width: f64, color: Color) {
    if let [only] = points {
        drawing.dot(*only, dot_radius(width), color);
    }
    DashPattern::DASHED.draw(drawing, points.to_vec(), width, color);
}

fn length(from: Point, to: Point) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenths(points: &[Point]) -> Vec<Vec<(i32, i32)>> {
        let tenth = |(x, y): &Point| ((x * 10.0).round() as i32, (y * 10.0).round() as i32);
        let dashes = DashPattern::DASHED.dashes(points);
        dashes.iter().map(|dash| dash.iter().map(tenth).collect()).collect()
    }

    #[test]
    fn pattern_goes_on_around_corners() {
        assert_eq!(tenths(&[(0.0, 0.0), (10.0, 0.0)]), [[(0, 0), (36, 0)], [(60, 0), (96, 0)]]);
        // The corner is within a dash, or within a gap.
        assert_eq!(tenths(&[(0.0, 0.0), (2.0, 0.0), (2.0, 3.0)]), [[(0, 0), (20, 0), (20, 16)]]);
        assert_eq!(tenths(&[(0.0, 0.0), (5.0, 0.0), (5.0, 3.0)]), [[(0, 0), (36, 0)], [(50, 10), (50, 30)]]);
        // Points at the same place have no length.
        assert_eq!(tenths(&[(1.0, 1.0), (1.0, 1.0)]), [[(10, 10), (10, 10)]]);
        assert!(tenths(&[(1.0, 1.0)]).is_empty() && tenths(&[]).is_empty());
    }

    #[test]
    fn lines_without_gaps_and_single_points_are_whole() {
        let mut drawing = Drawing::new((20.0, 20.0));
        DashPattern::SOLID.draw(&mut drawing, vec![(0.0, 0.0), (9.0, 0.0)], 1.0, Color(0, 0, 0));
        DashPattern::of(9).draw(&mut drawing, vec![(0.0, 0.0)], 1.0, Color(0, 0, 0));
        assert_eq!(drawing.shapes.len(), 2);
    }
}
