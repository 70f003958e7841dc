//! The PDF backend: pages of paths, and of glyphs of the shipped font.

use krilla::Document;
use krilla::color::rgb;
use krilla::geom::{Path, PathBuilder, Point, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Stroke};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use plotters::prelude::IntoDrawingArea;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle};

use super::backend::{Backend, Surface};
use super::canvas::{self, UNITS};
use super::page::Page;
use crate::error::{Error, Result};
use crate::text::font;

/// Writes pages as one PDF document. Its title is that of the first page.
///
/// The same pages give the same bytes. Text stays text, in the shipped font; only the glyphs used are embedded.
///
/// # Errors
/// [`Error::NoPages`] if `pages` is empty, [`Error::Drawing`] if a page can't be drawn, [`Error::Pdf`] if the document
/// can't be written.
pub fn pdf(pages: &[Page]) -> Result<Vec<u8>> {
    let first = pages.first().ok_or(Error::NoPages)?;
    let font = Font::new(font::BYTES.into(), 0)
        .ok_or_else(|| Error::Pdf("the built-in font can't be read. Build perfpipe anew.".to_owned()))?;
    let mut document = Document::new();
    for page in pages {
        write_page(&mut document, &font, page)?;
    }
    let metadata = Metadata::new()
        .title(first.title().to_owned())
        .creator("perfpipe".to_owned())
        .language("en".to_owned());
    document.set_metadata(metadata);
    document.finish().map_err(|error| Error::Pdf(format!("{error:?}")))
}

fn write_page(document: &mut Document, font: &Font, page: &Page) -> Result<()> {
    let (width, height) = page.size();
    let settings = PageSettings::from_wh(width as f32, height as f32)
        .ok_or_else(|| Error::Pdf(format!("a page of {width} by {height} points can't be made")))?;
    let mut sheet = document.start_page_with(settings);
    let surface = PdfSurface { sheet: sheet.surface(), font: font.clone(), size: canvas::size(page.size()) };
    page.draw(&Backend(surface).into_drawing_area())
}

/// Draws onto a page of a PDF document.
struct PdfSurface<'a> {
    sheet: krilla::surface::Surface<'a>,
    font: Font,
    size: (u32, u32),
}

impl PdfSurface<'_> {
    fn fill_path(&mut self, path: Option<Path>, color: BackendColor) {
        if let Some(path) = path {
            self.sheet.set_stroke(None);
            self.sheet.set_fill(Some(fill(color)));
            self.sheet.draw_path(&path);
        }
    }

    fn stroke_path<S: BackendStyle>(&mut self, path: Option<Path>, style: &S) {
        if let Some(path) = path {
            self.sheet.set_fill(None);
            self.sheet.set_stroke(Some(stroke(style)));
            self.sheet.draw_path(&path);
        }
    }
}

impl Surface for PdfSurface<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn line<S: BackendStyle>(&mut self, points: impl IntoIterator<Item = BackendCoord>, style: &S) {
        self.stroke_path(path(points, false), style);
    }

    fn area(&mut self, points: impl IntoIterator<Item = BackendCoord>, color: BackendColor) {
        self.fill_path(path(points, true), color);
    }

    fn circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, filled: bool) {
        let circle = circle(center, radius);
        if filled { self.fill_path(circle, style.color()) } else { self.stroke_path(circle, style) }
    }

    fn text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) {
        let size = style.size() / UNITS;
        let start = Point::from_xy(
            (-canvas::lead(style) * font::width(text, size)) as f32,
            (canvas::drop(style) / UNITS) as f32,
        );
        self.sheet.set_stroke(None);
        self.sheet.set_fill(Some(fill(style.color())));
        self.sheet.push_transform(&turned(canvas::turn(style), at));
        self.sheet.draw_glyphs(start, &glyphs(text), self.font.clone(), text, size as f32, false);
        self.sheet.pop();
    }
}

/// Returns the transform from a text's own coordinates to the page.
fn turned(degrees: u16, place: BackendCoord) -> Transform {
    let (x, y) = points(place);
    match degrees {
        90 => Transform::from_row(0.0, 1.0, -1.0, 0.0, x, y),
        180 => Transform::from_row(-1.0, 0.0, 0.0, -1.0, x, y),
        270 => Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y),
        _ => Transform::from_translate(x, y),
    }
}

fn glyphs(text: &str) -> Vec<KrillaGlyph> {
    let glyph = |((at, c), glyph): ((usize, char), font::Glyph)| KrillaGlyph {
        glyph_id: GlyphId::new(glyph.id),
        text_range: at..at + c.len_utf8(),
        x_advance: glyph.advance as f32,
        x_offset: 0.0,
        y_offset: 0.0,
        y_advance: 0.0,
        location: None,
    };
    text.char_indices().zip(font::glyphs(text)).map(glyph).collect()
}

/// Converts units to points.
fn points((x, y): BackendCoord) -> (f32, f32) {
    ((f64::from(x) / UNITS) as f32, (f64::from(y) / UNITS) as f32)
}

fn path(places: impl IntoIterator<Item = BackendCoord>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (at, (x, y)) in places.into_iter().map(points).enumerate() {
        if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// Returns a circle made of four curves.
fn circle(center: BackendCoord, radius: u32) -> Option<Path> {
    /// The length of the control handles of a quarter circle, in radii.
    const HANDLE: f32 = 0.552_285;
    let (x, y) = points(center);
    let r = (f64::from(radius) / UNITS) as f32;
    let h = r * HANDLE;
    let mut builder = PathBuilder::new();
    builder.move_to(x + r, y);
    builder.cubic_to(x + r, y + h, x + h, y + r, x, y + r);
    builder.cubic_to(x - h, y + r, x - r, y + h, x - r, y);
    builder.cubic_to(x - r, y - h, x - h, y - r, x, y - r);
    builder.cubic_to(x + h, y - r, x + r, y - h, x + r, y);
    builder.close();
    builder.finish()
}

fn fill(color: BackendColor) -> Fill {
    Fill { paint: rgb(color).into(), opacity: opacity(color), rule: FillRule::NonZero }
}

fn stroke<S: BackendStyle>(style: &S) -> Stroke {
    let color = style.color();
    Stroke {
        paint: rgb(color).into(),
        width: (f64::from(style.stroke_width()) / UNITS) as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        opacity: opacity(color),
        ..Stroke::default()
    }
}

fn rgb(BackendColor { rgb: (r, g, b), .. }: BackendColor) -> rgb::Color {
    rgb::Color::new(r, g, b)
}

fn opacity(color: BackendColor) -> NormalizedF32 {
    NormalizedF32::new(color.alpha as f32).unwrap_or(NormalizedF32::ONE)
}
