//! The shipped font: its bytes, its metrics, and the fitting of texts to a width.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

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
pub(crate) fn glyphs(text: &str) -> impl Iterator<Item = Glyph> {
    let charmap = FONT.as_ref().map(|font| font.charmap());
    let metrics = FONT.as_ref().map(|font| font.glyph_metrics(Size::new(1.0), LocationRef::default()));
    text.chars().map(move |c| {
        let id = charmap.as_ref().and_then(|map| map.map(c)).unwrap_or(GlyphId::NOTDEF);
        let advance = metrics.as_ref().and_then(|m| m.advance_width(id)).map_or(USUAL_ADVANCE, f64::from);
        Glyph { id: id.to_u32(), advance }
    })
}

/// Draws the outline of a glyph at `size`, with the baseline at 0 and the y axis pointing up.
pub(crate) fn outline(glyph: u32, size: f64, pen: &mut impl OutlinePen) {
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
