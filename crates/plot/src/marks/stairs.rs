//! Steps over time, for bars and bands. Steps of the same colour that touch are drawn as one area.

use crate::output::drawing::{Drawing, Point};
use crate::palette::Color;

/// How far a step extends behind the next one, in points, so that no white line shows between them.
pub(crate) const OVERLAP: f64 = 1.5;

/// A step: a rectangle of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StairStep {
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// The upper edge: the smaller y.
    pub(crate) top: f64,
    /// The lower edge: the larger y.
    pub(crate) bottom: f64,
    pub(crate) color: Color,
}

impl StairStep {
    fn touches(&self, next: &Self) -> bool {
        (next.left - self.right).abs() < 1e-6 && self.top <= next.bottom && next.top <= self.bottom
    }

    /// Returns true if `next` can be drawn as one area with this step.
    fn joins(&self, next: &Self) -> bool {
        self.touches(next) && self.color == next.color
    }
}

/// Draws steps from left to right.
pub(crate) fn draw(drawing: &mut Drawing, steps: &[StairStep]) {
    let mut runs = steps.chunk_by(StairStep::joins).peekable();
    while let Some(run) = runs.next() {
        let next = runs.peek().and_then(|next| next.first());
        if let Some(color) = run.first().map(|step| step.color) {
            drawing.area(outline(run, next), color);
        }
    }
}

/// Returns the outline of touching steps: along their upper edges and back along the lower ones.
fn outline(run: &[StairStep], next: Option<&StairStep>) -> Vec<Point> {
    let mut points: Vec<Point> = run.iter().flat_map(|s| [(s.left, s.top), (s.right, s.top)]).collect();
    if let (Some(last), Some(next)) =
        (run.last(), next.filter(|next| run.last().is_some_and(|l| l.touches(next))))
    {
        let (top, bottom) = (last.top.max(next.top), last.bottom.min(next.bottom));
        let reach = last.right + OVERLAP.min(next.right - next.left);
        points.extend([(last.right, top), (reach, top), (reach, bottom), (last.right, bottom)]);
    }
    points.extend(run.iter().rev().flat_map(|s| [(s.right, s.bottom), (s.left, s.bottom)]));
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::drawing::Shape;
    use crate::palette::{FRAME, INK};

    fn step(left: f64, top: f64, color: Color) -> StairStep {
        StairStep { left, right: left + 1.0, top, bottom: 10.0, color }
    }

    fn areas(steps: &[StairStep]) -> Vec<Vec<Point>> {
        let mut drawing = Drawing::new((20.0, 20.0));
        draw(&mut drawing, steps);
        let area = |shape| match shape {
            Shape::Area { points, .. } => points,
            other => panic!("{other:?}"),
        };
        drawing.shapes.into_iter().map(area).collect()
    }

    #[test]
    fn steps_of_one_color_are_one_area() {
        let areas = areas(&[step(0.0, 5.0, INK), step(1.0, 3.0, INK), step(2.0, 4.0, INK)]);
        assert_eq!(areas.len(), 1);
        assert_eq!(areas[0].first(), Some(&(0.0, 5.0)));
        assert!(areas[0].contains(&(3.0, 4.0)));
    }

    #[test]
    fn gap_or_another_color_begins_a_new_area() {
        assert_eq!(areas(&[step(0.0, 5.0, INK), step(2.0, 3.0, INK)]).len(), 2);
        let two = areas(&[step(0.0, 2.0, INK), step(1.0, 6.0, FRAME)]);
        // The first step extends behind the second, but not above it.
        assert!(two[0].contains(&(2.0, 6.0)) && !two[0].contains(&(2.0, 2.0)));
    }
}
