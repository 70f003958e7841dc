//! Colours: a scale for a measure, by palette, and fixed colours for everything else.

use crate::style::Palette;

/// A colour: red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// The colour of titles and figures.
pub(crate) const INK: Color = Color(0x1a, 0x1a, 0x1a);
/// The colour of labels and small print.
pub(crate) const SOFT: Color = Color(0x55, 0x55, 0x55);
/// The colour of charts' frames.
pub(crate) const FRAME: Color = Color(0x8a, 0x8a, 0x8a);
/// The colour of grid lines.
pub(crate) const GRID: Color = Color(0xdd, 0xdd, 0xdd);
/// The colour of the paper.
pub(crate) const PAPER: Color = Color(0xff, 0xff, 0xff);
/// The colour of failures, which the scale does not contain.
pub(crate) const FAILURE: Color = Color(0x11, 0x11, 0x11);
/// The colour of data without a measure to colour by.
pub(crate) const NEUTRAL: Color = Color(0x8c, 0x96, 0xa0);

/// The number of colours in the scale.
pub(crate) const STEPS: usize = 64;

/// Purple, blue, cyan, green, yellow, orange and red, evenly spaced.
const ORIGINAL: [Color; 7] = [
    Color(0x6a, 0x1f, 0xb8),
    Color(0x2c, 0x6b, 0xe0),
    Color(0x1f, 0xa9, 0xc4),
    Color(0x2f, 0xad, 0x4e),
    Color(0xe6, 0xcf, 0x1b),
    Color(0xf2, 0x8a, 0x1a),
    Color(0xd4, 0x1a, 0x1f),
];

/// Matplotlib's viridis at every eighth, except the last: its yellow is not visible on white.
const VIRIDIS: [Color; 8] = [
    Color(0x44, 0x01, 0x54),
    Color(0x47, 0x2d, 0x7b),
    Color(0x3b, 0x52, 0x8b),
    Color(0x2c, 0x72, 0x8e),
    Color(0x21, 0x91, 0x8c),
    Color(0x28, 0xae, 0x80),
    Color(0x5e, 0xc9, 0x62),
    Color(0xad, 0xdc, 0x30),
];

/// Blues of falling lightness. The lightest is visible on white, and failures are darker than the darkest.
const BLUES: [Color; 3] = [Color(0xa6, 0xc6, 0xe2), Color(0x5b, 0x93, 0xc6), Color(0x2a, 0x62, 0xa2)];

/// Colours for lines drawn over each other on white, distinguishable with any kind of colour vision.
///
/// They were derived from those of Okabe & Ito (2008) by maximising the least difference between two of them for
/// normal, protan, deutan and tritan eyes, with a contrast to white of at least 3. The first four differ more than the
/// rest.
pub(crate) const SERIES: [Color; 10] = [
    Color(0x29, 0x49, 0x76),
    Color(0xa4, 0x34, 0x05),
    Color(0x2d, 0xa2, 0xa1),
    Color(0x8a, 0x29, 0xd3),
    Color(0x0f, 0x0b, 0x1c),
    Color(0x84, 0x7c, 0xc8),
    Color(0xe5, 0x6d, 0x17),
    Color(0x5e, 0x1c, 0x1d),
    Color(0x92, 0x89, 0x49),
    Color(0x29, 0x0b, 0x73),
];

/// The palest and the darkest colour of the thin percentile lines.
const PALE: Color = Color(0x9d, 0xbd, 0xd6);
const DARK: Color = Color(0x16, 0x3a, 0x5f);

impl Color {
    /// Mixes the colour with `other`; `share` is that of `other`, 0 to 1.
    pub(crate) fn toward(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| {
            (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0)).round() as u8
        };
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Mixes the colour with white; `share` is that of white, 0 to 1.
    pub(crate) fn tint(self, share: f64) -> Self {
        self.toward(PAPER, share)
    }
}

impl Palette {
    fn stops(self) -> &'static [Color] {
        match self {
            Self::Original => &ORIGINAL,
            Self::Viridis => &VIRIDIS,
            Self::Blues => &BLUES,
        }
    }

    /// Returns the colour of a step of the scale, from 0 to [`STEPS`] − 1.
    pub(crate) fn step(self, step: usize) -> Color {
        let stops = self.stops();
        let along = step.min(STEPS - 1) as f64 / (STEPS - 1) as f64 * (stops.len() - 1) as f64;
        let at = (along.floor() as usize).min(stops.len() - 2);
        match stops.get(at..=at + 1) {
            Some([low, high]) => low.toward(*high, along - at as f64),
            _ => NEUTRAL,
        }
    }
}

/// Returns the colour of the thin percentile line `index` of `count`; lower ones are paler.
pub(crate) fn quantile_color(index: usize, count: usize) -> Color {
    let share = if count < 2 { 0.6 } else { index as f64 / (count - 1) as f64 };
    PALE.toward(DARK, share)
}

/// Returns the colour of a framework's line.
pub(crate) fn series_color(index: usize) -> Color {
    SERIES.get(index % SERIES.len()).copied().unwrap_or(INK)
}

/// The colour scale of a run's page, for a measure from 0 to its largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColorScale {
    pub(crate) palette: Palette,
    max: Option<f64>,
}

impl ColorScale {
    /// Creates a scale for `values`.
    pub(crate) fn new(palette: Palette, values: impl Iterator<Item = f64>) -> Self {
        Self { palette, max: values.filter(|value| value.is_finite()).reduce(f64::max) }
    }

    /// Returns the value at the upper end of the scale; `None` if there are no values.
    pub(crate) fn max(&self) -> Option<f64> {
        self.max
    }

    /// Returns the colour of a value, grey for an absent one.
    pub(crate) fn color(&self, value: Option<f64>) -> Color {
        match (value, self.max) {
            (Some(value), Some(max)) if max > 0.0 => {
                self.palette.step((value / max * STEPS as f64).max(0.0) as usize)
            }
            (Some(_), Some(_)) => self.palette.step(0),
            _ => NEUTRAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_run_from_end_to_end() {
        for palette in [Palette::Original, Palette::Viridis] {
            assert_eq!(palette.step(0), palette.stops()[0]);
            assert_eq!(palette.step(STEPS - 1), *palette.stops().last().unwrap());
            assert_eq!(palette.step(STEPS + 9), palette.step(STEPS - 1));
        }
    }

    #[test]
    fn absent_values_are_grey() {
        let scale = |values: &[f64]| ColorScale::new(Palette::Original, values.iter().copied());
        assert_eq!(scale(&[0.0, 10.0]).color(None), NEUTRAL);
        assert_eq!(scale(&[0.0, 10.0]).color(Some(10.0)), ORIGINAL[6]);
        assert_eq!(scale(&[0.0, 10.0]).color(Some(0.0)), ORIGINAL[0]);
        assert_eq!(scale(&[]).color(Some(1.0)), NEUTRAL);
        assert_eq!(scale(&[0.0]).color(Some(0.0)), ORIGINAL[0]);
    }
}
