//! Drawing of pages onto areas of plotters.
//!
//! SVG, PDF and PNG implement plotters' [`DrawingBackend`], as does any other canvas that takes a page. They draw what
//! pages are made of: lines, filled areas, filled discs, and texts whose place is at the middle height of their capitals.
//! Other elements are drawn by the rasteriser of plotters.

use std::convert::Infallible;

use plotters::coord::Shift;
use plotters::prelude::{
    Circle, Color as _, DrawingArea, DrawingAreaErrorKind, DrawingBackend, FontTransform, IntoFont,
    PathElement, Polygon, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind};

use super::drawing::{Anchor, Point, Shape, TextLine};
use crate::palette::Color;
use crate::text::fonts;

/// The number of units in a point: the pixels of SVG, PDF and PNG. Places are whole, so that files are short.
pub(super) const UNITS: f64 = 100.0;

/// A place in units, from the left and from the top.
pub(super) type GridPoint = BackendCoord;

/// What drawing returns with a backend that has no errors of its own.
pub(super) type Done = Result<(), DrawingErrorKind<Infallible>>;

impl plotters::style::Color for Color {
    fn to_backend_color(&self) -> BackendColor {
        BackendColor { rgb: (self.0, self.1, self.2), alpha: 1.0 }
    }
}

/// Draws shapes of a page that is `width` points wide onto an area, as wide as the area is. Places are whole pixels.
pub(super) fn draw<DB: DrawingBackend>(
    shapes: &[Shape],
    width: f64,
    area: &DrawingArea<DB, Shift>,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let scale = f64::from(area.dim_in_pixel().0) / width;
    let place = |(x, y): &Point| ((x * scale).round() as i32, (y * scale).round() as i32);
    let places = |points: &[Point]| points.iter().map(place).collect::<Vec<_>>();
    let length = |points: f64| (points * scale).round().max(1.0) as u32;
    for shape in shapes {
        match shape {
            Shape::Line { points, width, color } => {
                area.draw(&PathElement::new(places(points), color.stroke_width(length(*width))))?;
            }
            Shape::Area { points, color, alpha } => {
                area.draw(&Polygon::new(places(points), color.mix(*alpha)))?;
            }
            Shape::Dot { at, radius, color } => {
                area.draw(&Circle::new(place(at), length(*radius), color.filled()))?;
            }
            Shape::Text(text) => area.draw_text(&text.text, &text_style(text, scale), place(&text.at))?,
        }
    }
    Ok(())
}

fn text_style(text: &TextLine, scale: f64) -> TextStyle<'static> {
    let h_pos = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let turn = if text.upwards { FontTransform::Rotate270 } else { FontTransform::None };
    // SVG, PDF and PNG have fonts of their own: the family is for other backends.
    let font = (fonts::FAMILY, text.size * scale).into_font().transform(turn);
    font.color(&text.color).pos(Pos::new(h_pos, VPos::Center))
}

/// Returns the size in units for a page whose size is in points.
pub(super) fn size((width, height): (f64, f64)) -> (u32, u32) {
    ((width * UNITS).round() as u32, (height * UNITS).round() as u32)
}

/// Returns the distance from a text's place down to its baseline. The middle of its capitals is at the place.
pub(super) fn drop(style: &impl BackendTextStyle) -> f64 {
    fonts::CAP_HEIGHT / 2.0 * style.size()
}

/// Returns the part of a text that is to the left of its place, as a share of its width.
pub(super) fn lead(style: &impl BackendTextStyle) -> f64 {
    match style.anchor().h_pos {
        HPos::Left => 0.0,
        HPos::Center => 0.5,
        HPos::Right => 1.0,
    }
}

/// Returns by how many degrees a text is rotated clockwise.
pub(super) fn degrees(style: &impl BackendTextStyle) -> u16 {
    match style.transform() {
        FontTransform::None => 0,
        FontTransform::Rotate90 => 90,
        FontTransform::Rotate180 => 180,
        FontTransform::Rotate270 => 270,
    }
}
