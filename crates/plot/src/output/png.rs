//! The PNG backend: pages as pixels, with glyphs of the shipped font.

use std::ops::RangeInclusive;

use plotters::prelude::IntoDrawingArea;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

use super::backend::{Backend, Surface};
use super::canvas::{self, UNITS};
use super::page::Page;
use crate::error::{Error, Result};
use crate::text::font;

/// The range of scales of a PNG, in pixels per point.
///
/// ```
/// assert!(perfpipe_plot::PNG_SCALES.contains(&2.0));
/// ```
pub const PNG_SCALES: RangeInclusive<f64> = 0.5..=8.0;

/// Writes a page as a PNG with `scale` pixels per point. At 2, an A4 page has 1,191 by 1,684 pixels.
///
/// The same page gives the same bytes. Memory: 4 bytes per pixel, 128 MB at a scale of 8.
///
/// # Errors
/// [`Error::Scale`] if `scale` is not within [`PNG_SCALES`], [`Error::Drawing`] if the page can't be drawn,
/// [`Error::Png`] if the picture can't be encoded.
pub fn png(page: &Page, scale: f64) -> Result<Vec<u8>> {
    if !PNG_SCALES.contains(&scale) {
        return Err(Error::Scale(scale));
    }
    let (width, height) = page.size();
    let pixels = |points: f64| (points * scale).round() as u32;
    let mut picture = Pixmap::new(pixels(width), pixels(height))
        .ok_or_else(|| Error::Png(format!("a page of {width} by {height} points can't be made")))?;
    picture.fill(Color::WHITE);
    let surface = PngSurface { picture: &mut picture, size: canvas::size(page.size()), scale };
    page.draw(&Backend(surface).into_drawing_area())?;
    picture.encode_png().map_err(|error| Error::Png(error.to_string()))
}

/// Draws onto a picture.
struct PngSurface<'a> {
    picture: &'a mut Pixmap,
    size: (u32, u32),
    /// The scale in pixels per point.
    scale: f64,
}

impl PngSurface<'_> {
    /// Returns the transform from units to pixels.
    fn to_pixels(&self) -> Transform {
        let scale = (self.scale / UNITS) as f32;
        Transform::from_scale(scale, scale)
    }

    fn fill_path(&mut self, path: Option<Path>, color: BackendColor, transform: Transform) {
        if let Some(path) = path {
            self.picture.fill_path(&path, &paint(color), FillRule::Winding, transform, None);
        }
    }

    fn draw<S: BackendStyle>(&mut self, path: Option<Path>, style: &S, filled: bool) {
        let transform = self.to_pixels();
        if filled {
            return self.fill_path(path, style.color(), transform);
        }
        if let Some(path) = path {
            self.picture.stroke_path(&path, &paint(style.color()), &stroke(style), transform, None);
        }
    }
}

impl Surface for PngSurface<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn line<S: BackendStyle>(&mut self, points: impl IntoIterator<Item = BackendCoord>, style: &S) {
        self.draw(path(points, false), style, false);
    }

    fn area(&mut self, points: impl IntoIterator<Item = BackendCoord>, color: BackendColor) {
        self.draw(path(points, true), &color, true);
    }

    fn circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, filled: bool) {
        let (x, y) = place(center);
        self.draw(PathBuilder::from_circle(x, y, radius as f32), style, filled);
    }

    fn text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) {
        let size = style.size();
        let mut outline =
            Outline { path: PathBuilder::new(), x: -canvas::lead(style) * font::width(text, size) };
        for glyph in font::glyphs(text) {
            font::outline(glyph.id, size, &mut outline);
            outline.x += glyph.advance * size;
        }
        let (x, y) = place(at);
        // Moves the baseline to the text's place, then rotates the text there.
        let transform = Transform::from_translate(0.0, canvas::drop(style) as f32)
            .post_rotate(f32::from(canvas::turn(style)))
            .post_translate(x, y)
            .post_concat(self.to_pixels());
        self.fill_path(outline.path.finish(), style.color(), transform);
    }
}

/// Collects glyphs as one path, from `x` on. The y axis is inverted, since it points up in fonts and down in pictures.
struct Outline {
    path: PathBuilder,
    x: f64,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x as f32 + x, -y)
    }
}

impl skrifa::outline::OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, cx0: f32, cy0: f32, x: f32, y: f32) {
        let ((cx, cy), (x, y)) = (self.at(cx0, cy0), self.at(x, y));
        self.path.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let ((ax, ay), (bx, by), (x, y)) = (self.at(cx0, cy0), self.at(cx1, cy1), self.at(x, y));
        self.path.cubic_to(ax, ay, bx, by, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn place((x, y): BackendCoord) -> (f32, f32) {
    (x as f32, y as f32)
}

fn path(places: impl IntoIterator<Item = BackendCoord>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (at, (x, y)) in places.into_iter().map(place).enumerate() {
        if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(color: BackendColor) -> Paint<'static> {
    let (red, green, blue) = color.rgb;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (color.alpha.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

fn stroke<S: BackendStyle>(style: &S) -> Stroke {
    Stroke {
        width: style.stroke_width() as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }
}
