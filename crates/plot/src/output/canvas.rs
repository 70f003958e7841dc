//! The grid that pages are written on, and the drawing of their shapes onto it.

use super::drawing::{Anchor, Drawing, PagePart, Point, Shape, Text};
use crate::palette::Color;
use crate::text::fonts;

/// The number of units in a point. Places are whole units, so that files are short.
pub(crate) const UNITS: f64 = 100.0;

/// A place in units, from the left and from the top.
pub(crate) type GridPoint = (i32, i32);

/// A page in some format. Places and lengths are in units.
pub(crate) trait Surface {
    /// Begins a part of the page.
    fn begin(&mut self, _part: &PagePart) {}

    /// Ends the part that was begun last.
    fn end(&mut self) {}

    /// Draws a line through places.
    fn line(&mut self, places: &[GridPoint], width: u32, color: Color);

    /// Fills the area within places; `alpha` is 1 for an opaque one.
    fn area(&mut self, places: &[GridPoint], color: Color, alpha: f64);

    /// Draws a disc.
    fn dot(&mut self, at: GridPoint, radius: u32, color: Color);

    /// Draws a text at a place, in a size.
    fn text(&mut self, text: &Text, at: GridPoint, size: f64);
}

/// Draws all shapes of a page.
pub(crate) fn draw(drawing: &Drawing, surface: &mut impl Surface) {
    let grid = Grid::new(size(drawing.size).0, drawing);
    for (part, shapes) in drawing.parts() {
        surface.begin(part);
        shapes.iter().for_each(|shape| draw_shape(shape, &grid, surface));
        surface.end();
    }
}

fn draw_shape(shape: &Shape, grid: &Grid, surface: &mut impl Surface) {
    match shape {
        Shape::Line { points, width, color } => {
            surface.line(&grid.places(points), grid.length(*width), *color);
        }
        Shape::Area { points, color, alpha } => surface.area(&grid.places(points), *color, *alpha),
        Shape::Dot { at, radius, color } => {
            surface.dot(grid.place(at), grid.length(*radius), *color);
        }
        Shape::Text(text) => surface.text(text, grid.place(&text.at), grid.scaled(text.size)),
    }
}

/// A grid of whole places under a page: units of a file, or pixels of a canvas.
pub(super) struct Grid {
    /// The number of places in a point.
    scale: f64,
}

impl Grid {
    /// Creates the grid on which a page is `width` places wide.
    pub(super) fn new(width: u32, drawing: &Drawing) -> Self {
        Self { scale: f64::from(width) / drawing.size.0 }
    }

    /// Returns the nearest place to a point.
    pub(super) fn place(&self, (x, y): &Point) -> GridPoint {
        (self.scaled(*x).round() as i32, self.scaled(*y).round() as i32)
    }

    /// Returns the nearest places to points.
    pub(super) fn places(&self, points: &[Point]) -> Vec<GridPoint> {
        points.iter().map(|point| self.place(point)).collect()
    }

    /// Returns a length in points as a number of places, at least one.
    pub(super) fn length(&self, points: f64) -> u32 {
        self.scaled(points).round().max(1.0) as u32
    }

    /// Returns a length in points as a length on the grid.
    pub(super) fn scaled(&self, points: f64) -> f64 {
        points * self.scale
    }
}

/// Returns the size in units for a page whose size is in points.
pub(super) fn size((width, height): (f64, f64)) -> (u32, u32) {
    ((width * UNITS).round() as u32, (height * UNITS).round() as u32)
}

/// Returns the distance from a text's place down to its baseline, for a size of the text.
pub(super) fn drop(size: f64) -> f64 {
    fonts::CAP_HEIGHT / 2.0 * size
}

/// Returns the part of a text that is to the left of its place, as a share of its width.
pub(super) fn lead(anchor: Anchor) -> f64 {
    match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    }
}
