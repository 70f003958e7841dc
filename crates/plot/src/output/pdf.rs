//! Pages as PDF: of paths, and of glyphs of the shipped font.

use krilla::Document;
use krilla::color::rgb;
use krilla::geom::{Path, PathBuilder, Point, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Stroke};
use krilla::text::{Font, GlyphId, KrillaGlyph};

use super::canvas::{self, Place, Surface, UNITS};
use super::drawing::Text;
use super::page::Page;
use crate::error::{Error, Result};
use crate::palette::Color;
use crate::text::font;

/// Writes pages as one PDF document. Its title is that of the first page.
///
/// The same pages give the same bytes. Text stays text, in the shipped font; only the glyphs used are embedded.
///
/// # Errors
/// [`Error::NoPages`] if `pages` is empty, [`Error::Pdf`] if the document can't be written.
pub fn pdf(pages: &[Page]) -> Result<Vec<u8>> {
    let first = pages.first().ok_or(Error::NoPages)?;
    let font = Font::new(font::BYTES.into(), 0)
        .ok_or_else(|| Error::Pdf("the built-in font can't be read. Build perfpipe again.".to_owned()))?;
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
    canvas::draw(page.drawing(), &mut Sheet { surface: sheet.surface(), font });
    Ok(())
}

/// Draws onto a page of a document.
struct Sheet<'a, 'f> {
    surface: krilla::surface::Surface<'a>,
    font: &'f Font,
}

impl Sheet<'_, '_> {
    fn fill_path(&mut self, path: Option<Path>, color: Color, alpha: f64) {
        if let Some(path) = path {
            self.surface.set_stroke(None);
            self.surface.set_fill(Some(fill(color, alpha)));
            self.surface.draw_path(&path);
        }
    }
}

impl Surface for Sheet<'_, '_> {
    fn line(&mut self, places: &[Place], width: u32, color: Color) {
        if let Some(path) = path(places, false) {
            self.surface.set_fill(None);
            self.surface.set_stroke(Some(stroke(width, color)));
            self.surface.draw_path(&path);
        }
    }

    fn area(&mut self, places: &[Place], color: Color, alpha: f64) {
        self.fill_path(path(places, true), color, alpha);
    }

    fn dot(&mut self, at: Place, radius: u32, color: Color) {
        self.fill_path(circle(at, radius), color, 1.0);
    }

    fn text(&mut self, text: &Text, at: Place, size: f64) {
        let drop = canvas::drop(size) / UNITS;
        let size = size / UNITS;
        let lead = canvas::lead(text.anchor) * font::width(&text.text, size);
        let start = Point::from_xy(-lead as f32, drop as f32);
        self.surface.set_stroke(None);
        self.surface.set_fill(Some(fill(text.color, 1.0)));
        self.surface.push_transform(&turned(text.upwards, at));
        let glyphs = glyphs(&text.text);
        self.surface.draw_glyphs(start, &glyphs, self.font.clone(), &text.text, size as f32, false);
        self.surface.pop();
    }
}

/// Returns the transform from a text's own coordinates to the page.
fn turned(upwards: bool, place: Place) -> Transform {
    let (x, y) = points(place);
    match upwards {
        true => Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y),
        false => Transform::from_translate(x, y),
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
fn points((x, y): Place) -> (f32, f32) {
    ((f64::from(x) / UNITS) as f32, (f64::from(y) / UNITS) as f32)
}

fn path(places: &[Place], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (at, (x, y)) in places.iter().copied().map(points).enumerate() {
        if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// Returns a circle made of four curves.
fn circle(center: Place, radius: u32) -> Option<Path> {
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

fn fill(color: Color, alpha: f64) -> Fill {
    let opacity = NormalizedF32::new(alpha as f32).unwrap_or(NormalizedF32::ONE);
    Fill { paint: rgb(color).into(), opacity, rule: FillRule::NonZero }
}

fn stroke(width: u32, color: Color) -> Stroke {
    Stroke {
        paint: rgb(color).into(),
        width: (f64::from(width) / UNITS) as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }
}

fn rgb(Color(red, green, blue): Color) -> rgb::Color {
    rgb::Color::new(red, green, blue)
}
