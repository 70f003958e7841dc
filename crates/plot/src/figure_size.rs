//! The size of a figure: that of the column of a paper, or of the window of a slide.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::error::Error;

/// The points of an inch.
const INCH: f64 = 72.0;
/// The points of a millimetre.
const MM: f64 = INCH / 25.4;
/// The widths and heights that a figure can have, in mm.
const WIDTHS: RangeInclusive<f64> = 50.0..=600.0;
const HEIGHTS: RangeInclusive<f64> = 35.0..=600.0;
/// The height of a figure whose height is not given: this share of its width, and at most so many mm.
const USUAL: (f64, f64) = (0.75, 80.0);
/// The dots of an inch in a PNG of a size on paper.
const PRINTED: f64 = 300.0;
/// The pixels of an inch in CSS, which a size in pixels is of.
const CSS: f64 = 96.0;

/// The size of a figure.
///
/// It is read from a width or a width and a height with a unit, mm, cm, in, pt or px: `84mm`, `84x60mm`, `1200x675px`. A pixel
/// is 1/96 inch. Widths are from 50 to 600 mm, heights from 35 to 600 mm.
///
/// ```
/// use perfpipe_plot::FigureSize;
///
/// let column: FigureSize = "84mm".parse()?;
/// assert_eq!((column.to_string().as_str(), column.dots_per_inch()), ("84mm", 300.0));
/// assert!("5mm".parse::<FigureSize>().is_err());
/// # Ok::<(), perfpipe_plot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FigureSize {
    /// The width in points.
    width: f64,
    /// The height in points, if it was given.
    height: Option<f64>,
    is_in_pixels: bool,
    /// The size as it was given.
    text: String,
}

impl FigureSize {
    /// Returns the width in points.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// Returns the height in points, if it was given.
    pub(crate) fn height(&self) -> Option<f64> {
        self.height
    }

    /// Returns the usual height of a figure of this width, in points.
    pub(crate) fn usual_height(&self) -> f64 {
        (self.width * USUAL.0).min(USUAL.1 * MM)
    }

    /// Returns the dots per inch of a PNG: 300, or as many as a size in pixels has.
    pub fn dots_per_inch(&self) -> f64 {
        if self.is_in_pixels { CSS } else { PRINTED }
    }

    /// Returns the pixels per point of a PNG, as [`crate::png()`] takes them.
    pub fn png_scale(&self) -> f64 {
        self.dots_per_inch() / INCH
    }
}

impl fmt::Display for FigureSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for FigureSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let unread = || Error::FigureSize(text.to_owned());
        let (numbers, points) = split_unit(text).ok_or_else(unread)?;
        let (width, height) = match numbers.split_once(['x', '×']) {
            // The unit may stand with the width, too.
            Some((width, height)) => (
                split_unit(width.trim())
                    .filter(|(_, other)| *other == points)
                    .map_or(width, |(width, _)| width),
                Some(height),
            ),
            None => (numbers, None),
        };
        let length = |text: &str| text.trim().parse::<f64>().ok().filter(|length| length.is_finite());
        let width = length(width).ok_or_else(unread)? * points;
        let height = height
            .map(|height| length(height).map(|height| height * points).ok_or_else(unread))
            .transpose()?;
        let is_within =
            |points: f64, range: RangeInclusive<f64>| range.contains(&((points / MM * 1e6).round() / 1e6));
        if !is_within(width, WIDTHS) || !height.is_none_or(|height| is_within(height, HEIGHTS)) {
            return Err(Error::FigureSizeRange(text.to_owned()));
        }
        Ok(Self { width, height, is_in_pixels: points == INCH / CSS, text: text.to_owned() })
    }
}

/// Splits a unit from the end of a text, and returns its points.
fn split_unit(text: &str) -> Option<(&str, f64)> {
    let units = [("mm", MM), ("cm", 10.0 * MM), ("in", INCH), ("pt", 1.0), ("px", INCH / CSS)];
    units.into_iter().find_map(|(unit, points)| Some((text.strip_suffix(unit)?.trim_end(), points)))
}

/// Formats a length in points as millimetres, rounded up.
pub(crate) fn millimetres(points: f64) -> String {
    format!("{} mm", (points / MM - 1e-6).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Result<(f64, Option<f64>), &'static str> {
        let round = |points: f64| (points * 100.0).round() / 100.0;
        let size = text.parse::<FigureSize>().map_err(|error| error.code())?;
        Ok((round(size.width), size.height.map(round)))
    }

    #[test]
    fn sizes_are_read_in_all_units() {
        assert_eq!(size("84mm"), Ok((238.11, None)));
        for text in ["84x60mm", "84mmx60mm", "84 × 60 mm", "8.4x6cm", "8.4cm x 6cm"] {
            assert_eq!(size(text), Ok((238.11, Some(170.08))), "{text}");
        }
        assert_eq!(size("3.5in"), Ok((252.0, None)));
        assert_eq!(size("252x180pt"), Ok((252.0, Some(180.0))));
        assert_eq!(size("1200x675px"), Ok((900.0, Some(506.25))));
    }

    #[test]
    fn what_is_no_size_of_a_figure_is_refused() {
        for text in ["", "mm", "84", "x60mm", "84xmm", "84in x60mm", "NaNmm", "infmm", "84x60x3mm", "1e999mm"]
        {
            assert_eq!(size(text), Err("figure-size"), "{text}");
        }
        for text in ["49mm", "-84mm", "0mm", "601mm", "84x34mm", "84x601mm", "84x-60mm"] {
            assert_eq!(size(text), Err("figure-size-range"), "{text}");
        }
    }

    #[test]
    fn picture_of_a_size_in_pixels_has_these_pixels() {
        let scale = |text: &str| {
            let size: FigureSize = text.parse().unwrap();
            (size.width * size.png_scale()).round()
        };
        assert_eq!((scale("1200px"), scale("84mm"), scale("8.4cm")), (1200.0, 992.0, 992.0));
    }
}
