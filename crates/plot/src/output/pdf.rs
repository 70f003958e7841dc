//! Pages as PDF: of paths and glyphs, tagged for readers that do not see them.

use std::convert::Infallible;

use krilla::color::rgb;
use krilla::configure::{Accessibility, ConfigurationBuilder};
use krilla::geom::{Path, PathBuilder, Point, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, LineCap, LineJoin, Stroke};
use krilla::tagging::Identifier;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use krilla::{Document, SerializeSettings};
use plotters::prelude::{DrawingBackend, FontTransform, IntoDrawingArea};
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle};

use super::canvas::{self, Done, GridPoint, UNITS};
use super::drawing::{Drawing, PagePart};
use super::page::Page;
use super::tags::{self, LANGUAGE, Structure};
use crate::error::{Error, Result};
use crate::text::fonts;
use crate::text::fonts::{Fonts, GlyphRun};

/// The program and its version, as the tool that made a document.
const CREATOR: &str = concat!("perfpipe ", env!("CARGO_PKG_VERSION"));

/// Writes pages as one PDF document. Its title is that of the first page, its date that of the first test.
///
/// The same pages give the same bytes. Text stays text; only the glyphs used are embedded. The document is tagged as
/// PDF/UA-1 (ISO 14289-1) asks: it has a list of contents, the order of reading, and each chart in words.
///
/// # Errors
/// [`Error::NoPages`] if `pages` is empty, [`Error::Pdf`] if the document can't be written.
pub fn pdf(pages: &[Page]) -> Result<Vec<u8>> {
    let first = pages.first().ok_or(Error::NoPages)?;
    let configuration = ConfigurationBuilder::new().with_accessibility_validator(Accessibility::UA1).finish();
    let configuration = configuration.map_err(|error| Error::Pdf(format!("{error:?}")))?;
    let mut document =
        Document::new_with(SerializeSettings { configuration, ..SerializeSettings::default() });
    let mut structure = Structure::new();
    for (index, page) in pages.iter().enumerate() {
        let parts = write_page(&mut document, page)?;
        structure.add(index, page.title(), parts);
    }
    let (tree, outline) = structure.finish();
    document.set_tag_tree(tree);
    document.set_outline(outline);
    document.set_metadata(metadata(first.title(), pages.iter().filter_map(Page::date).min()));
    document.finish().map_err(|error| Error::Pdf(format!("{error:?}")))
}

fn metadata(title: &str, date: Option<i64>) -> Metadata {
    // A document must have a title.
    let title = if title.trim().is_empty() { "perfpipe" } else { title };
    let metadata = Metadata::new()
        .title(title.to_owned())
        .creator(CREATOR.to_owned())
        .producer(CREATOR.to_owned())
        .language(LANGUAGE.to_owned());
    match date.and_then(date_time) {
        Some(date) => metadata.creation_date(date),
        None => metadata,
    }
}

/// Converts an epoch time in ms; `None` if its year does not have four digits.
fn date_time(epoch_ms: i64) -> Option<DateTime> {
    let time = jiff::Timestamp::from_millisecond(epoch_ms).ok()?.to_zoned(jiff::tz::TimeZone::UTC);
    let part = |part: i8| u8::try_from(part).ok();
    let date =
        DateTime::new(u16::try_from(time.year()).ok()?).month(part(time.month())?).day(part(time.day())?);
    let date = date.hour(part(time.hour())?).minute(part(time.minute())?).second(part(time.second())?);
    Some(date.utc_offset_hour(0).utc_offset_minute(0))
}

/// Writes a page, and returns its parts.
fn write_page(document: &mut Document, page: &Page) -> Result<Vec<(PagePart, Identifier)>> {
    let (width, height) = page.size();
    let settings = PageSettings::from_wh(width as f32, height as f32)
        .ok_or_else(|| Error::Pdf(format!("a page of {width} by {height} points can't be made")))?;
    let drawing = page.drawing();
    let (shipped, fallback) = read_fonts(&drawing.fonts)?;
    let mut sheet = document.start_page_with(settings);
    let mut sheet = PdfSheet { surface: sheet.surface(), drawing, shipped, fallback };
    let mut parts = Vec::new();
    for (part, shapes) in drawing.parts() {
        parts.push((part.clone(), sheet.surface.start_tagged(tags::mark(part))));
        let drawn = canvas::draw(shapes, width, &(&mut sheet).into_drawing_area());
        // Each part is ended, even after an error: krilla panics at a page with an open one.
        sheet.surface.end_tagged();
        drawn.map_err(|error| Error::Pdf(error.to_string()))?;
    }
    Ok(parts)
}

/// Reads the shipped font, and those for other characters.
fn read_fonts(fonts: &Fonts) -> Result<(Font, Vec<Option<Font>>)> {
    let shipped = Font::new(fonts::BYTES.into(), 0)
        .ok_or_else(|| Error::Pdf("the built-in font can't be read. Build perfpipe again.".to_owned()))?;
    let read = |(bytes, index): (std::sync::Arc<Vec<u8>>, u32)| Font::new(bytes.into(), index);
    Ok((shipped, fonts.0.iter().map(|font| read(font.file())).collect()))
}

/// Draws onto a page of a document.
struct PdfSheet<'a, 'f> {
    surface: krilla::surface::Surface<'a>,
    drawing: &'f Drawing,
    shipped: Font,
    fallback: Vec<Option<Font>>,
}

impl PdfSheet<'_, '_> {
    fn fill_path(&mut self, path: Option<Path>, color: BackendColor) -> Done {
        if let Some(path) = path {
            self.surface.set_stroke(None);
            self.surface.set_fill(Some(fill(color)));
            self.surface.draw_path(&path);
        }
        Ok(())
    }

    /// Draws glyphs of one font from a place on the baseline.
    fn stretch(&mut self, stretch: &GlyphRun, text: &str, start: Point, size: f64) {
        let font = match stretch.font {
            None => Some(&self.shipped),
            Some(index) => self.fallback.get(index).and_then(Option::as_ref),
        };
        if let Some(font) = font.cloned() {
            self.surface.draw_glyphs(start, &glyphs(stretch), font, text, size as f32, false);
        }
    }
}

impl DrawingBackend for &mut PdfSheet<'_, '_> {
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
            self.surface.set_fill(None);
            self.surface.set_stroke(Some(stroke(style)));
            self.surface.draw_path(&path);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = GridPoint>>(&mut self, at: I, style: &S) -> Done {
        self.fill_path(path(at, true), style.color())
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: GridPoint, radius: u32, style: &S, _: bool) -> Done {
        self.fill_path(circle(at, radius), style.color())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: GridPoint) -> Done {
        let fonts = &self.drawing.fonts;
        let (size, drop) = (style.size() / UNITS, canvas::drop(style) / UNITS);
        let shown = fonts.shown(text);
        let mut x = -canvas::lead(style) * fonts.width(&shown, size);
        self.surface.set_stroke(None);
        self.surface.set_fill(Some(fill(style.color())));
        self.surface.push_transform(&turned(&style.transform(), at));
        for stretch in fonts.stretches(&shown) {
            self.stretch(&stretch, &shown, Point::from_xy(x as f32, drop as f32), size);
            x += stretch.glyphs.iter().map(|(glyph, _)| glyph.advance).sum::<f64>() * size;
        }
        self.surface.pop();
        Ok(())
    }
}

/// Returns the transform from a text's own coordinates to the page.
fn turned(turn: &FontTransform, place: GridPoint) -> Transform {
    let ((x, y), (right, down)) = (points(place), (turn.transform(1, 0), turn.transform(0, 1)));
    Transform::from_row(right.0 as f32, right.1 as f32, down.0 as f32, down.1 as f32, x, y)
}

fn glyphs(stretch: &GlyphRun) -> Vec<KrillaGlyph> {
    let glyph = |(glyph, range): &(fonts::Glyph, std::ops::Range<usize>)| KrillaGlyph {
        glyph_id: GlyphId::new(glyph.id),
        text_range: range.clone(),
        x_advance: glyph.advance as f32,
        x_offset: 0.0,
        y_offset: 0.0,
        y_advance: 0.0,
        location: None,
    };
    stretch.glyphs.iter().map(glyph).collect()
}

/// Converts units to points.
fn points((x, y): GridPoint) -> (f32, f32) {
    ((f64::from(x) / UNITS) as f32, (f64::from(y) / UNITS) as f32)
}

fn path(places: impl IntoIterator<Item = GridPoint>, closed: bool) -> Option<Path> {
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
fn circle(center: GridPoint, radius: u32) -> Option<Path> {
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

fn stroke(style: &impl BackendStyle) -> Stroke {
    Stroke {
        paint: rgb(style.color()).into(),
        opacity: opacity(style.color()),
        width: (f64::from(style.stroke_width()) / UNITS) as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }
}

fn rgb(BackendColor { rgb: (red, green, blue), .. }: BackendColor) -> rgb::Color {
    rgb::Color::new(red, green, blue)
}

fn opacity(color: BackendColor) -> NormalizedF32 {
    NormalizedF32::new(color.alpha as f32).unwrap_or(NormalizedF32::ONE)
}
