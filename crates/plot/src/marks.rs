//! The marks that data are drawn with: lines, steps, markers and arrows.

use crate::layout::dashes::DashPattern;
use crate::layout::frame::ChartFrame;
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::{Color, PAPER, SERIES};
use crate::time_columns::{ColumnSpread, TimeColumn};

/// Half the width of an arrow and its height, in points.
const ARROW_SIZE: (f64, f64) = (3.2, 5.2);
/// The gap between the edge and an arrow's tip, and the width of the white edge around it, in points.
const ARROW_GAP: f64 = 1.6;
const ARROW_EDGE: f64 = 1.0;
/// The least distance between two arrows, in points.
const ARROW_DISTANCE: f64 = 8.0;

/// Draws an arrow at each of these times, which are in ascending order; of those close to each other only at the first.
pub(crate) fn draw_arrows(
    drawing: &mut Drawing,
    frame: &ChartFrame,
    times: impl Iterator<Item = f64>,
    color: Color,
) {
    let mut last = f64::NEG_INFINITY;
    for x in times.map(|time| frame.x(time)) {
        if x - last >= ARROW_DISTANCE {
            arrow(drawing, (x, frame.area.top + ARROW_GAP), color);
            last = x;
        }
    }
}

fn arrow(drawing: &mut Drawing, (x, tip): Point, color: Color) {
    let shape = |edge: f64| {
        let (half, top, bottom) = (ARROW_SIZE.0 + edge, tip - edge, tip + ARROW_SIZE.1 + edge);
        vec![(x, top), (x + half, bottom), (x - half, bottom)]
    };
    drawing.area(shape(ARROW_EDGE), PAPER);
    drawing.area(shape(0.0), color);
}

/// Values are marked with dots if columns are at least this wide, in points.
const WIDE_COLUMN: f64 = 16.0;

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
    pub(crate) fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame, columns: &[TimeColumn]) {
        self.draw_dashed(drawing, frame, columns, DashPattern::SOLID);
    }

    /// Draws the line into `frame`, in dashes.
    pub(crate) fn draw_dashed(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        columns: &[TimeColumn],
        pattern: DashPattern,
    ) {
        let mut path: Vec<Point> = Vec::new();
        let mut last: Option<Color> = None;
        for node in self.nodes(frame, columns) {
            let goes_on = node.joined && (last == Some(node.color) || path.len() < 2);
            if !goes_on {
                let end = path.last().copied();
                self.flush(drawing, &mut path, last, pattern);
                path.extend(end.filter(|_| node.joined));
            }
            path.push(node.at);
            last = Some(node.color);
        }
        self.flush(drawing, &mut path, last, pattern);
        self.points(drawing, frame, columns);
    }

    /// Marks each value with a dot if the columns are wide.
    fn points(&self, drawing: &mut Drawing, frame: &ChartFrame, columns: &[TimeColumn]) {
        if columns.first().is_some_and(|column| frame.x(column.end) - frame.x(column.start) >= WIDE_COLUMN) {
            for node in self.nodes(frame, columns) {
                drawing.dot(node.at, dot_radius(self.width), node.color);
            }
        }
    }

    fn flush(
        &self,
        drawing: &mut Drawing,
        path: &mut Vec<Point>,
        color: Option<Color>,
        pattern: DashPattern,
    ) {
        if let Some(color) = color {
            pattern.draw(drawing, std::mem::take(path), self.width, color);
        }
    }

    fn nodes(&self, frame: &ChartFrame, columns: &[TimeColumn]) -> Vec<Node> {
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

/// Half the size of a marker, in points.
const MARKER_HALF: f64 = 2.6;
/// The width of the white edge around a marker, in points.
const MARKER_EDGE: f64 = 0.8;

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkerForm {
    Disc,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
}

const FORMS: [MarkerForm; 6] = [
    MarkerForm::Disc,
    MarkerForm::Square,
    MarkerForm::Up,
    MarkerForm::Diamond,
    MarkerForm::Down,
    MarkerForm::Cross,
];

/// A marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    form: MarkerForm,
    /// True if its middle is white.
    hollow: bool,
}

impl Marker {
    /// Returns the marker of the line with this index. Marker and colour in combination are unique among 60 lines.
    pub(crate) fn of(index: usize) -> Self {
        let form = FORMS.get(index % FORMS.len()).copied().unwrap_or(MarkerForm::Disc);
        // Pairs of shapes and colours repeat after 30 lines.
        let round = index / (FORMS.len() * SERIES.len() / 2);
        Self { form, hollow: round % 2 == 1 }
    }

    /// Returns the marker with a white middle.
    pub(crate) fn hollow(self) -> Self {
        Self { hollow: true, ..self }
    }

    /// Draws the marker with a white edge.
    pub(crate) fn draw(self, drawing: &mut Drawing, at: Point, color: Color) {
        self.form.draw(drawing, at, MARKER_HALF + MARKER_EDGE, PAPER);
        self.form.draw(drawing, at, MARKER_HALF, color);
        if self.hollow {
            self.form.draw(drawing, at, MARKER_HALF * 0.5, PAPER);
        }
    }
}

impl MarkerForm {
    fn draw(self, drawing: &mut Drawing, (x, y): Point, half: f64, color: Color) {
        let points: &[Point] = match self {
            Self::Disc => return drawing.dot((x, y), half, color),
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Up => &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
            Self::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            Self::Down => &[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
            Self::Cross => &[
                (-0.4, -1.1),
                (0.4, -1.1),
                (0.4, -0.4),
                (1.1, -0.4),
                (1.1, 0.4),
                (0.4, 0.4),
                (0.4, 1.1),
                (-0.4, 1.1),
                (-0.4, 0.4),
                (-1.1, 0.4),
                (-1.1, -0.4),
                (-0.4, -0.4),
            ],
        };
        drawing.area(points.iter().map(|(dx, dy)| (x + dx * half, y + dy * half)).collect(), color);
    }
}

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
pub(crate) fn draw_stairs(drawing: &mut Drawing, steps: &[StairStep]) {
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
    use crate::palette::{FRAME, INK, series_color};

    #[test]
    fn sixty_lines_are_distinguishable() {
        for a in 0..60 {
            for b in 0..a {
                assert_ne!((Marker::of(a), series_color(a)), (Marker::of(b), series_color(b)), "{a} {b}");
            }
        }
    }

    fn step(left: f64, top: f64, color: Color) -> StairStep {
        StairStep { left, right: left + 1.0, top, bottom: 10.0, color }
    }

    fn areas(steps: &[StairStep]) -> Vec<Vec<Point>> {
        let mut drawing = Drawing::new((20.0, 20.0));
        draw_stairs(&mut drawing, steps);
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
