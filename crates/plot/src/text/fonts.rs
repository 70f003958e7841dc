//! The fonts of a page: the shipped one with its metrics, and others for the characters that it lacks.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, GlyphId, MetadataProvider};

/// The bits of a font's licence, and their value if it may not be embedded into documents.
const LICENCE: (u16, u16) = (0x000f, 0x0002);

/// A font for characters that the shipped one lacks, such as those of Chinese or Japanese.
///
/// Each character is drawn as one glyph, from left to right, so it is not for scripts whose letters change their form.
#[derive(Clone)]
pub struct FallbackFont {
    bytes: Arc<Vec<u8>>,
    index: u32,
}

impl FallbackFont {
    /// Reads a font from the bytes of a TrueType or OpenType file; `index` is that of a font in a collection. `None` if it
    /// can't be read, or if its licence forbids embedding it into documents.
    ///
    /// ```
    /// assert!(perfpipe_plot::FallbackFont::new(b"not a font".to_vec(), 0).is_none());
    /// ```
    pub fn new(bytes: impl Into<Arc<Vec<u8>>>, index: u32) -> Option<Self> {
        let font = Self { bytes: bytes.into(), index };
        let licence = font.read()?.os2().map(|os2| os2.fs_type()).unwrap_or_default();
        (licence & LICENCE.0 != LICENCE.1).then_some(font)
    }

    /// Returns true if the font can draw a character.
    pub fn has(&self, c: char) -> bool {
        self.read().is_some_and(|font| glyph(&font, c).is_some())
    }

    fn read(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(&self.bytes, self.index).ok()
    }

    /// Returns the bytes of the file, and the index of the font in it.
    pub(crate) fn file(&self) -> (Arc<Vec<u8>>, u32) {
        (Arc::clone(&self.bytes), self.index)
    }
}

impl PartialEq for FallbackFont {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && (Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes)
    }
}

impl fmt::Debug for FallbackFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FallbackFont({} bytes, {})", self.bytes.len(), self.index)
    }
}

/// Returns the characters of a text that the shipped font lacks, which need a [`FallbackFont`].
///
/// ```
/// assert_eq!(perfpipe_plot::missing_characters("Größe/配额").collect::<String>(), "配额");
/// ```
pub fn missing_characters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().zip(glyphs(text)).filter(|(c, glyph)| glyph.id == 0 && !c.is_control()).map(|(c, _)| c)
}

/// The fonts of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fonts(pub(crate) Arc<[FallbackFont]>);

/// Glyphs of the same font.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GlyphRun {
    /// The font: `None` for the shipped one, or the index of a fallback font.
    pub(crate) font: Option<usize>,
    /// Each glyph with the character that it shows, as a range of bytes in the text.
    pub(crate) glyphs: Vec<(Glyph, std::ops::Range<usize>)>,
}

impl Fonts {
    /// Returns a text as it is drawn: characters that no font has are replaced by their code point, as in `<U+914D>`.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_lacking = |c: &char| !self.0.iter().any(|font| font.has(*c));
        let lacking: Vec<char> = missing_characters(text).filter(is_lacking).collect();
        if lacking.is_empty() {
            return Cow::Borrowed(text);
        }
        let shown = |c: char| match lacking.contains(&c) {
            true => format!("<U+{:04X}>", u32::from(c)),
            false => c.to_string(),
        };
        Cow::Owned(text.chars().map(shown).collect())
    }

    /// Returns the glyphs of a text that is drawn as it is, by font.
    pub(crate) fn stretches(&self, text: &str) -> Vec<GlyphRun> {
        let fonts: Vec<Option<FontRef<'_>>> = self.0.iter().map(FallbackFont::read).collect();
        let mut stretches: Vec<GlyphRun> = Vec::new();
        for ((at, c), shipped) in text.char_indices().zip(glyphs(text)) {
            let others = fonts.iter().enumerate().filter(|_| shipped.id == 0);
            let found = others.filter_map(|(index, font)| Some((Some(index), glyph(font.as_ref()?, c)?)));
            let (font, glyph) = found.into_iter().next().unwrap_or((None, shipped));
            let glyph = (glyph, at..at + c.len_utf8());
            match stretches.last_mut() {
                Some(last) if last.font == font => last.glyphs.push(glyph),
                _ => stretches.push(GlyphRun { font, glyphs: vec![glyph] }),
            }
        }
        stretches
    }

    /// Draws the outline of a glyph at `size`, with the baseline at 0 and the y axis pointing up.
    pub(crate) fn outline(&self, font: Option<usize>, glyph: u32, size: f64, pen: &mut impl OutlinePen) {
        let Some(index) = font else { return outline(glyph, size, pen) };
        let Some(font) = self.0.get(index).and_then(FallbackFont::read) else { return };
        if let Some(glyph) = font.outline_glyphs().get(GlyphId::new(glyph)) {
            let settings = DrawSettings::unhinted(Size::new(size as f32), LocationRef::default());
            // A glyph that can't be drawn leaves a gap.
            let _ = glyph.draw(settings, pen);
        }
    }

    /// Returns the width of a text at `size` as it is drawn, in the unit of `size`.
    pub(crate) fn width(&self, text: &str, size: f64) -> f64 {
        let stretches = self.stretches(&self.shown(text));
        stretches.iter().flat_map(|stretch| &stretch.glyphs).map(|(glyph, _)| glyph.advance).sum::<f64>()
            * size
    }

    /// Returns `text`, cut off with an ellipsis if it is drawn wider than `room`.
    pub(crate) fn fitted(&self, text: &str, size: f64, room: f64) -> String {
        if self.width(text, size) <= room {
            return text.to_owned();
        }
        let mut left = room - width("…", size);
        let mut buffer = [0; 4];
        let head = text.char_indices().find_map(|(at, c)| {
            left -= self.width(c.encode_utf8(&mut buffer), size);
            (left < 0.0).then(|| text.get(..at)).flatten()
        });
        format!("{}…", head.unwrap_or_default().trim_end())
    }
}

/// Returns the glyph of a character; `None` if the font does not have it as an outline.
fn glyph(font: &FontRef<'_>, c: char) -> Option<Glyph> {
    let id = font.charmap().map(c).filter(|id| *id != GlyphId::NOTDEF)?;
    font.outline_glyphs().get(id)?;
    let advance = font.glyph_metrics(Size::new(1.0), LocationRef::default()).advance_width(id)?;
    Some(Glyph { id: id.to_u32(), advance: f64::from(advance) })
}

/// DejaVu Sans, unmodified. Its licence is in the same folder.
pub(crate) const BYTES: &[u8] = include_bytes!("../../font/DejaVuSans.ttf");

/// The family of the shipped font.
pub(crate) const FAMILY: &str = "DejaVu Sans";

/// The font families in SVG: the shipped one, then some that are about as wide or narrower.
pub(crate) const STACK: &str = "DejaVu Sans,Verdana,Arial,sans-serif";

/// The height of capital letters, in ems.
pub(crate) const CAP_HEIGHT: f64 = 0.729;

/// The advance of a glyph that the font does not define, in ems.
const USUAL_ADVANCE: f64 = 0.6;

static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::new(BYTES).ok());

/// A character's glyph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Glyph {
    /// The glyph's number in the font; 0 if the font lacks the character.
    pub(crate) id: u32,
    /// The distance to the next glyph, in ems.
    pub(crate) advance: f64,
}

/// Returns the glyphs of `text`, one per character.
fn glyphs(text: &str) -> impl Iterator<Item = Glyph> {
    let charmap = FONT.as_ref().map(|font| font.charmap());
    let metrics = FONT.as_ref().map(|font| font.glyph_metrics(Size::new(1.0), LocationRef::default()));
    text.chars().map(move |c| {
        let id = charmap.as_ref().and_then(|map| map.map(c)).unwrap_or(GlyphId::NOTDEF);
        let advance = metrics.as_ref().and_then(|m| m.advance_width(id)).map_or(USUAL_ADVANCE, f64::from);
        Glyph { id: id.to_u32(), advance }
    })
}

/// Draws the outline of a glyph at `size`, with the baseline at 0 and the y axis pointing up.
fn outline(glyph: u32, size: f64, pen: &mut impl OutlinePen) {
    let glyphs = FONT.as_ref().map(|font| font.outline_glyphs());
    if let Some(glyph) = glyphs.and_then(|glyphs| glyphs.get(GlyphId::new(glyph))) {
        let settings = DrawSettings::unhinted(Size::new(size as f32), LocationRef::default());
        // A glyph that can't be drawn leaves a gap; the shipped font has no such glyph.
        let _ = glyph.draw(settings, pen);
    }
}

/// Returns the width of `text` at `size`, in the unit of `size`.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    glyphs(text).map(|glyph| glyph.advance).sum::<f64>() * size
}

/// Returns `text`, cut off with an ellipsis if it is wider than `room`.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", size);
    let head = text.char_indices().zip(glyphs(text)).find_map(|((at, _), glyph)| {
        left -= glyph.advance * size;
        (left < 0.0).then(|| text.get(..at)).flatten()
    });
    format!("{}…", head.unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_that_no_font_has_is_escaped() {
        let fonts = Fonts::default();
        assert_eq!(fonts.shown("Größe/配 plain"), "Größe/<U+914D> plain");
        assert!(matches!(fonts.shown("Größe – plain"), Cow::Borrowed(_)));
        for stretch in fonts.stretches(&fonts.shown("配\u{1f600}\u{10fffd}x")) {
            assert!(stretch.font.is_none() && stretch.glyphs.iter().all(|(glyph, _)| glyph.id != 0));
        }
        assert!(fonts.width("配", 10.0) > width("<U+>", 10.0));
        assert_eq!(fonts.fitted("配配", 10.0, 100.0), "配…");
    }

    #[test]
    fn fallback_font_draws_what_the_shipped_one_lacks() {
        // The shipped font as its own fallback has no more characters.
        let same = FallbackFont::new(BYTES.to_vec(), 0).unwrap();
        assert!(same.has('ö') && !same.has('配'));
        let fonts = Fonts([same].into());
        assert_eq!(fonts.shown("ö配"), "ö<U+914D>");
        assert_eq!(fonts.stretches("ö").first().map(|stretch| stretch.font), Some(None));
        assert_eq!(FallbackFont::new(BYTES.to_vec(), 1), None);
    }

    #[test]
    fn shipped_font_can_be_read() {
        assert!(FONT.is_some());
        assert!(glyphs("Requests–…·÷").all(|glyph| glyph.id != 0));
        assert!((width("0", 10.0) - 6.36).abs() < 0.01);
        assert!(width("WWW", 10.0) > width("iii", 10.0));
    }

    #[test]
    fn texts_are_cut_to_their_room() {
        assert_eq!(fitted("spring", 10.0, 100.0), "spring");
        let cut = fitted("a-framework-with-a-name-that-never-ends", 10.0, 80.0);
        assert!(cut.ends_with('…') && cut.starts_with("a-fr"), "{cut}");
        assert!(width(&cut, 10.0) <= 80.0);
        assert_eq!(fitted("spring", 10.0, 0.0), "…");
    }
}
