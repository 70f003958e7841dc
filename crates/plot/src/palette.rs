//! The colours: a scale from purple to red for the load, and fixed ones for all else.

/// A colour: red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Titles and figures.
pub(crate) const INK: Color = Color(0x1a, 0x1a, 0x1a);
/// Labels and small print.
pub(crate) const SOFT: Color = Color(0x55, 0x55, 0x55);
/// Frames of charts.
pub(crate) const FRAME: Color = Color(0x8a, 0x8a, 0x8a);
/// Grid lines.
pub(crate) const GRID: Color = Color(0xdd, 0xdd, 0xdd);
/// The paper.
pub(crate) const PAPER: Color = Color(0xff, 0xff, 0xff);
/// Failures, a colour that the scale does not have.
pub(crate) const FAILURE: Color = Color(0x11, 0x11, 0x11);
/// Where there is nothing to colour by.
pub(crate) const NEUTRAL: Color = Color(0x8c, 0x96, 0xa0);

/// How many colours the scale has.
pub(crate) const STEPS: usize = 64;

/// Purple, blue, cyan, green, yellow, orange and red, evenly spaced.
const STOPS: [Color; 7] = [
    Color(0x6a, 0x1f, 0xb8),
    Color(0x2c, 0x6b, 0xe0),
    Color(0x1f, 0xa9, 0xc4),
    Color(0x2f, 0xad, 0x4e),
    Color(0xe6, 0xcf, 0x1b),
    Color(0xf2, 0x8a, 0x1a),
    Color(0xd4, 0x1a, 0x1f),
];

/// Colours that people of any colour vision can tell apart, for lines over each other.
pub(crate) const SERIES: [Color; 10] = [
    Color(0x00, 0x72, 0xb2),
    Color(0xd5, 0x5e, 0x00),
    Color(0x00, 0x9e, 0x73),
    Color(0xc2, 0x5a, 0x9b),
    Color(0x22, 0x22, 0x22),
    Color(0x56, 0xb4, 0xe9),
    Color(0xe6, 0x9f, 0x00),
    Color(0x88, 0x22, 0x55),
    Color(0x99, 0x99, 0x33),
    Color(0x33, 0x22, 0x88),
];

/// The palest and the darkest of the thin percentile lines.
const PALE: Color = Color(0x9d, 0xbd, 0xd6);
const DARK: Color = Color(0x16, 0x3a, 0x5f);

impl Color {
    /// The colour `share` of the way to `other`.
    pub(crate) fn toward(self, other: Self, share: f64) -> Self {
        let mix = |a: u8, b: u8| {
            (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0)).round() as u8
        };
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// The colour thinned with white.
    pub(crate) fn tint(self, share: f64) -> Self {
        self.toward(PAPER, share)
    }
}

/// The scale's colour of step `step`, from 0 to [`STEPS`] − 1.
pub(crate) fn step_color(step: usize) -> Color {
    let along = step.min(STEPS - 1) as f64 / (STEPS - 1) as f64 * (STOPS.len() - 1) as f64;
    let at = (along.floor() as usize).min(STOPS.len() - 2);
    match STOPS.get(at..=at + 1) {
        Some([low, high]) => low.toward(*high, along - at as f64),
        _ => NEUTRAL,
    }
}

/// The colour of the thin percentile line `index` of `count`, paler for the lower.
pub(crate) fn quantile_color(index: usize, count: usize) -> Color {
    let share = if count < 2 { 0.6 } else { index as f64 / (count - 1) as f64 };
    PALE.toward(DARK, share)
}

/// The colour of the framework line `index`.
pub(crate) fn series_color(index: usize) -> Color {
    SERIES.get(index % SERIES.len()).copied().unwrap_or(INK)
}

/// What colours a run's page: a measure from 0 to its largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColorScale {
    max: Option<f64>,
}

impl ColorScale {
    /// A scale for `values`.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        Self { max: values.filter(|value| value.is_finite()).reduce(f64::max) }
    }

    /// The value at the scale's red end; `None` where there is no value at all.
    pub(crate) fn max(&self) -> Option<f64> {
        self.max
    }

    /// The colour of a value, grey for an absent one.
    pub(crate) fn color(&self, value: Option<f64>) -> Color {
        match (value, self.max) {
            (Some(value), Some(max)) if max > 0.0 => {
                step_color((value / max * STEPS as f64).max(0.0) as usize)
            }
            (Some(_), Some(_)) => step_color(0),
            _ => NEUTRAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_runs_from_purple_to_red() {
        assert_eq!(step_color(0), STOPS[0]);
        assert_eq!(step_color(STEPS - 1), STOPS[6]);
        assert_eq!(step_color(STEPS + 9), STOPS[6]);
    }

    #[test]
    fn what_is_absent_is_grey() {
        let scale = ColorScale::new([0.0, 10.0].into_iter());
        assert_eq!(scale.color(None), NEUTRAL);
        assert_eq!(scale.color(Some(10.0)), STOPS[6]);
        assert_eq!(scale.color(Some(0.0)), STOPS[0]);
        assert_eq!(ColorScale::new(std::iter::empty()).color(Some(1.0)), NEUTRAL);
        assert_eq!(ColorScale::new(std::iter::once(0.0)).color(Some(0.0)), STOPS[0]);
    }

    #[test]
    fn no_series_color_repeats() {
        let mut seen: Vec<_> = (0..SERIES.len()).map(series_color).collect();
        seen.dedup();
        assert_eq!(seen.len(), SERIES.len());
    }
}
