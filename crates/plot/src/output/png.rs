//! Pages as PNG: pixels, with glyphs of the shipped font.

use std::convert::Infallible;
use std::ops::RangeInclusive;

use plotters::prelude::{DrawingBackend, IntoDrawingArea};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

use super::canvas::{self, Done, GridPoint, UNITS};
use super::drawing::Drawing;
use super::page::Page;
use crate::error::{Error, Result};

/// The range of scales of a PNG, in pixels per point.
///
/// ```
/// assert!(perfpipe_plot::PNG_SCALES.contains(&2.0));
/// ```
pub const PNG_SCALES: RangeInclusive<f64> = 0.5..=8.0;

/// The most pixels of a PNG: those of a sheet at the greatest scale.
const MOST_PIXELS: f64 = 33e6;

/// Writes a page as a PNG with `scale` pixels per point. At 2, an A4 page has 1,191 by 1,684 pixels. The picture says how many
/// pixels an inch has, so that programs place it in the size of the page.
///
/// The same page gives the same bytes. Memory: 4 bytes per pixel, 128 MB at a scale of 8.
///
/// # Errors
/// [`Error::Scale`] if `scale` is not within [`PNG_SCALES`], [`Error::Pixels`] for more than 33 million pixels, and
/// [`Error::Png`] if the picture can't be encoded.
pub fn png(page: &Page, scale: f64) -> Result<Vec<u8>> {
    if !PNG_SCALES.contains(&scale) {
        return Err(Error::Scale(scale));
    }
    let (width, height) = page.size();
    if width * height * scale * scale > MOST_PIXELS {
        return Err(Error::Pixels { width: (width * scale).round(), height: (height * scale).round() });
    }
    let pixels = |points: f64| (points * scale).round() as u32;
    let mut picture = Pixmap::new(pixels(width), pixels(height))
        .ok_or_else(|| Error::Png(format!("a page of {width} by {height} points can't be made")))?;
    picture.fill(tiny_skia::Color::WHITE);
    page.draw(&Picture { pixels: &mut picture, scale, drawing: page.drawing() }.into_drawing_area())
        .map_err(|error| Error::Png(error.to_string()))?;
    let mut bytes = picture.encode_png().map_err(|error| Error::Png(error.to_string()))?;
    if bytes.len() > HEAD {
        bytes.splice(HEAD..HEAD, resolution(scale));
    }
    Ok(bytes)
}

/// The length of what a PNG begins with: its signature, and the chunk of its size.
const HEAD: usize = 8 + 25;
/// The points of a metre.
const METRE: f64 = 72.0 / 0.0254;

/// Returns the chunk that says how large the pixels are on paper, for so many pixels per point.
fn resolution(scale: f64) -> Vec<u8> {
    let per_metre = ((scale * METRE).round() as u32).to_be_bytes();
    // In metres, not as a mere ratio.
    let data = [b"pHYs".as_slice(), &per_metre, &per_metre, &[1]].concat();
    let length = (data.len() - 4) as u32;
    [&length.to_be_bytes(), data.as_slice(), &crc32fast::hash(&data).to_be_bytes()].concat()
}

/// Draws onto pixels.
struct Picture<'a> {
    pixels: &'a mut Pixmap,
    /// The scale in pixels per point.
    scale: f64,
    drawing: &'a Drawing,
}

impl Picture<'_> {
    /// Returns the transform from units to pixels.
    fn to_pixels(&self) -> Transform {
        let scale = (self.scale / UNITS) as f32;
        Transform::from_scale(scale, scale)
    }

    fn fill_path(&mut self, path: Option<Path>, color: BackendColor, transform: Transform) -> Done {
        if let Some(path) = path {
            self.pixels.fill_path(&path, &paint(color), FillRule::Winding, transform, None);
        }
        Ok(())
    }
}

impl DrawingBackend for Picture<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        canvas::size(self.drawing.size)
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: GridPoint, color: BackendColor) -> Done {
        self.draw_path([at, at], &color)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = GridPoint>>(&mut self, at: I, style: &S) -> Done {
        if let Some(path) = path(at, false) {
            let (paint, stroke) = (paint(style.color()), stroke(style.stroke_width()));
            self.pixels.stroke_path(&path, &paint, &stroke, self.to_pixels(), None);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = GridPoint>>(&mut self, at: I, style: &S) -> Done {
        self.fill_path(path(at, true), style.color(), self.to_pixels())
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: GridPoint, radius: u32, style: &S, _: bool) -> Done {
        let (x, y) = place(at);
        self.fill_path(PathBuilder::from_circle(x, y, radius as f32), style.color(), self.to_pixels())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: GridPoint) -> Done {
        let (fonts, size) = (&self.drawing.fonts, style.size());
        let lead = canvas::lead(style) * fonts.width(text, size);
        let mut outline = Outline { path: PathBuilder::new(), x: -lead };
        for stretch in fonts.stretches(&fonts.shown(text)) {
            for (glyph, _) in stretch.glyphs {
                fonts.outline(stretch.font, glyph.id, size, &mut outline);
                outline.x += glyph.advance * size;
            }
        }
        let (x, y) = place(at);
        // Moves the baseline to the text's place, then rotates the text there.
        let transform = Transform::from_translate(0.0, canvas::drop(style) as f32)
            .post_rotate(canvas::degrees(style).into())
            .post_translate(x, y)
            .post_concat(self.to_pixels());
        self.fill_path(outline.path.finish(), style.color(), transform)
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

fn place((x, y): GridPoint) -> (f32, f32) {
    (x as f32, y as f32)
}

fn path(places: impl IntoIterator<Item = GridPoint>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (at, (x, y)) in places.into_iter().map(place).enumerate() {
        if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(BackendColor { rgb: (red, green, blue), alpha }: BackendColor) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (alpha.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

fn stroke(width: u32) -> Stroke {
    Stroke { width: width as f32, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() }
}
