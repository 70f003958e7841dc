//! The key beside a chart of all frameworks: their names and averages.

use super::framework::{Framework, KEY_SIZE, NAME, WIDTH};
use super::overlay::Overlay;
use crate::layout::frame::Rect;
use crate::output::drawing::{Anchor, Drawing, Text};
use crate::palette::{INK, SOFT};
use crate::text::fonts::Fonts;

/// The width of a swatch, and the gaps around names, in points.
const SWATCH: f64 = 24.0;
const GAP: f64 = 12.0;
/// The largest distance between lines of the key, in points.
const KEY_LEADING: f64 = 16.0;
/// The least distance between lines of the key, in points; entries that do not fit are counted.
const LEAST_LEADING: f64 = 9.0;

/// The layout of the keys beside the charts, with names and averages.
pub(super) struct Key {
    name: f64,
    value: f64,
}

impl Key {
    pub(super) fn new(frameworks: &[Framework<'_>], overlays: &[Overlay], fonts: &Fonts) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| fonts.width(&text, KEY_SIZE)).fold(0.0, f64::max)
        };
        let names = widest(&mut frameworks.iter().map(|line| line.shown.clone()));
        let values = widest(&mut overlays.iter().flat_map(|overlay| {
            frameworks.iter().map(|line| overlay.average_of(line)).chain([overlay.average()])
        }));
        Self { name: names.min(NAME), value: values }
    }

    pub(super) fn width(&self) -> f64 {
        GAP + SWATCH + GAP / 2.0 + self.name + GAP + self.value
    }

    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        frameworks: &[Framework<'_>],
        overlay: &Overlay,
        area: Rect,
    ) {
        let right = area.right + self.width();
        let top = area.top + KEY_SIZE / 2.0;
        drawing.text(Text::new(&overlay.average(), (right, top - KEY_LEADING), KEY_SIZE, Anchor::End, SOFT));
        let most = (area.height() / LEAST_LEADING) as usize;
        let shown = if frameworks.len() > most { most.saturating_sub(1) } else { frameworks.len() };
        let leading = (area.height() / frameworks.len().max(1) as f64).clamp(LEAST_LEADING, KEY_LEADING);
        for (rank, line) in frameworks.iter().take(shown).enumerate() {
            let place = (area.right + GAP, top + leading * rank as f64);
            self.entry(drawing, line, &overlay.average_of(line), place);
        }
        if shown < frameworks.len() {
            let place = (area.right + GAP, top + leading * shown as f64);
            let rest = format!("and {} more", frameworks.len() - shown);
            drawing.text(Text::new(&rest, place, KEY_SIZE, Anchor::Start, SOFT));
        }
    }

    fn entry(&self, drawing: &mut Drawing, line: &Framework<'_>, value: &str, (x, y): (f64, f64)) {
        drawing.line(vec![(x, y), (x + SWATCH, y)], WIDTH * 1.6, line.color);
        line.marker.draw(drawing, (x + SWATCH / 2.0, y), line.color);
        let left = x + SWATCH + GAP / 2.0;
        drawing.text(Text::new(&line.shown, (left, y), KEY_SIZE, Anchor::Start, INK));
        let right = left + self.name + GAP + self.value;
        drawing.text(Text::new(value, (right, y), KEY_SIZE, Anchor::End, INK));
    }
}
