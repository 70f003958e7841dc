//! The parts common to the backends: the grid of units, and the placement of texts.

use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{BackendTextStyle, FontTransform};

use crate::text::font;

/// The number of canvas units in a point. Plotters only has integer coordinates, so units are small.
pub(crate) const UNITS: f64 = 100.0;

/// Returns the size in units of the canvas for a page whose size is in points.
pub(crate) fn size((width, height): (f64, f64)) -> (u32, u32) {
    ((width * UNITS).round() as u32, (height * UNITS).round() as u32)
}

/// Returns the distance from a text's place down to its baseline, in the unit of the text's size.
pub(crate) fn drop<S: BackendTextStyle>(style: &S) -> f64 {
    let ems = match style.anchor().v_pos {
        VPos::Top => font::ASCENT,
        VPos::Center => font::CAP_HEIGHT / 2.0,
        VPos::Bottom => -font::DESCENT,
    };
    ems * style.size()
}

/// Returns the part of a text that is to the left of its place, as a share of its width.
pub(crate) fn lead<S: BackendTextStyle>(style: &S) -> f64 {
    match style.anchor().h_pos {
        HPos::Left => 0.0,
        HPos::Center => 0.5,
        HPos::Right => 1.0,
    }
}

/// Returns the rotation of a text, in degrees clockwise.
pub(crate) fn turn<S: BackendTextStyle>(style: &S) -> u16 {
    match style.transform() {
        FontTransform::None => 0,
        FontTransform::Rotate90 => 90,
        FontTransform::Rotate180 => 180,
        FontTransform::Rotate270 => 270,
    }
}

/// Returns the width and the height of a text, in units.
pub(crate) fn text_size<S: BackendTextStyle>(text: &str, style: &S) -> (u32, u32) {
    let height = (font::ASCENT + font::DESCENT) * style.size();
    (font::width(text, style.size()).ceil() as u32, height.ceil() as u32)
}
