//! Markers on lines, which distinguish lines without their colours.

use crate::output::drawing::{Drawing, Point};
use crate::palette::{Color, PAPER, SERIES};

/// Half the size of a marker, in points.
const HALF: f64 = 2.6;
/// The width of the white edge around a marker, in points.
const EDGE: f64 = 0.8;

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Disc,
    Square,
    Up,
    Diamond,
    Down,
    Cross,
}

const FORMS: [Form; 6] = [Form::Disc, Form::Square, Form::Up, Form::Diamond, Form::Down, Form::Cross];

/// A marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    form: Form,
    /// True if its middle is white.
    hollow: bool,
}

impl Marker {
    /// Returns the marker of the line with this index. Marker and colour together are unique among 60 lines.
    pub(crate) fn of(index: usize) -> Self {
        let form = FORMS.get(index % FORMS.len()).copied().unwrap_or(Form::Disc);
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
        self.form.draw(drawing, at, HALF + EDGE, PAPER);
        self.form.draw(drawing, at, HALF, color);
        if self.hollow {
            self.form.draw(drawing, at, HALF * 0.5, PAPER);
        }
    }
}

impl Form {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::series_color;

    #[test]
    fn sixty_lines_can_be_told_apart() {
        for a in 0..60 {
            for b in 0..a {
                assert_ne!((Marker::of(a), series_color(a)), (Marker::of(b), series_color(b)), "{a} {b}");
            }
        }
    }
}
