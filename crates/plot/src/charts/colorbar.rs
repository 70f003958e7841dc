//! The colour bar, which shows the values that colours stand for.

use crate::layout::axis::{Axis, LABEL};
use crate::layout::frame::Rect;
use crate::layout::ticks::Steps;
use crate::marks::stairs::OVERLAP;
use crate::output::drawing::{Anchor, Drawing, Text};
use crate::output::part::{PageFigure, PagePart};
use crate::palette::{ColorScale, FRAME, SOFT, STEPS};
use crate::style::{ColorBy, Palette};
use crate::text::number::{count, measured};

/// Widths in points: the gap before the bar, the bar, the gap before its labels, the gap before its title, the title.
const WIDTHS: (f64, f64, f64, f64, f64) = (14.0, 10.0, 5.0, 5.0, 8.0);

/// The colour bar of a page.
pub(crate) struct ColorBar {
    by: ColorBy,
    palette: Palette,
    axis: Axis,
}

impl ColorBar {
    /// Creates the bar for a scale; `None` if there is nothing to colour by.
    pub(crate) fn new(by: ColorBy, scale: &ColorScale) -> Option<Self> {
        let max = scale.max().filter(|max| *max > 0.0)?;
        let counted = matches!(by, ColorBy::Load | ColorBy::Throughput) && max >= 1.0;
        let steps = if counted { Steps::Whole } else { Steps::Any };
        Some(Self { by, palette: scale.palette, axis: Axis::ending_at(max, 10, steps) })
    }

    /// Returns the width it takes to the right of the charts, in points.
    pub(crate) fn width(&self) -> f64 {
        WIDTHS.0 + WIDTHS.1 + WIDTHS.2 + self.axis.label_width() + WIDTHS.3 + WIDTHS.4
    }

    /// Draws the bar to the right of `area`, as high as `area`.
    pub(crate) fn draw(&self, drawing: &mut Drawing, area: Rect) {
        let top = self.axis.scale.top();
        let top = if top.fract() == 0.0 { count(top as u64) } else { measured(top) };
        let alt = format!("Colours: {} from 0 to {top}.", self.by.noun());
        drawing.begin(PagePart::Figure(PageFigure::new("Colours", alt, area.top)));
        let bar = Rect { left: area.right + WIDTHS.0, right: area.right + WIDTHS.0 + WIDTHS.1, ..area };
        let y = |share: f64| bar.bottom - share * bar.height();
        for step in 0..STEPS {
            let low = y(step as f64 / STEPS as f64);
            let high = y((step + 1) as f64 / STEPS as f64);
            drawing.rect(
                (bar.left, (high - OVERLAP).max(bar.top)),
                (bar.right, low),
                self.palette.step(step),
            );
        }
        for (tick, label) in &self.axis.ticks {
            let y = y(self.axis.scale.share(*tick));
            drawing.line(vec![(bar.right, y), (bar.right + 2.5, y)], 0.6, FRAME);
            let place = (bar.right + WIDTHS.2, y);
            drawing.text(Text::new(label, place, LABEL, Anchor::Start, SOFT));
        }
        let place = (area.right + self.width() - WIDTHS.4 / 2.0, (bar.top + bar.bottom) / 2.0);
        drawing.text(Text::new(self.by.label(), place, 8.0, Anchor::Middle, SOFT).upwards());
    }
}
