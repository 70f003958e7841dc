//! The phases of a run on its page: a band above the charts, and a light shade within each.

use perfpipe_analyze::{Phase, Timeline};

use super::axis::Scale;
use super::frame::{ChartFrame, Rect, TimeAxis};
use crate::output::drawing::{Anchor, Drawing, PageFigure, PagePart, TextLine};
use crate::palette::{Color, SOFT};
use crate::text::fonts;
use crate::text::number::count;

/// The height of the band, the gap below it, and the size of its labels, in points.
const BAND: f64 = 9.0;
const BELOW: f64 = 6.0;
const SIZE: f64 = 7.0;
/// The width of the lines between phases, in points.
const EDGE: f64 = 0.5;
/// The colour of the lines between phases.
const LINE: Color = Color(0x77, 0x7f, 0x8a);

/// A phase with its start and its end, in seconds from t0.
struct PhaseSpan {
    phase: Phase,
    start: f64,
    end: f64,
}

/// The phases that a page shows; none if there are fewer than two.
pub(crate) struct PhaseBand(Vec<PhaseSpan>);

impl PhaseBand {
    /// Collects the phases within the seconds shown.
    pub(crate) fn new(timeline: &Timeline, (first, end): (f64, f64)) -> Self {
        let part = |(phase, span): (Phase, perfpipe_analyze::Span)| {
            let start = f64::from(span.first).max(first);
            let end = (f64::from(span.last) + 1.0).min(end);
            (start < end).then_some(PhaseSpan { phase, start, end })
        };
        let parts: Vec<PhaseSpan> = timeline.phases.all().filter_map(part).collect();
        Self(if parts.len() > 1 { parts } else { Vec::new() })
    }

    /// Returns a band without phases.
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns the height of the band above the charts, in points.
    pub(crate) fn height(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { BAND + BELOW }
    }

    /// Draws the band at the upper edge of `column`, each phase with its name if that fits.
    pub(crate) fn draw(&self, drawing: &mut Drawing, column: Rect, time: TimeAxis) {
        if !self.0.is_empty() {
            drawing.begin(PagePart::Figure(PageFigure::new("Phases", self.alt(), column.top)));
        }
        let frame =
            ChartFrame { area: column.rows(column.top, column.top + BAND), time, scale: Scale::Linear(1.0) };
        for PhaseSpan { phase, start, end } in &self.0 {
            let (left, right) = (frame.x(*start), frame.x(*end));
            drawing.rect((left, frame.area.top), (right, frame.area.bottom), strong(*phase));
            if fonts::width(phase.name(), SIZE) + 4.0 <= right - left {
                let place = ((left + right) / 2.0, (frame.area.top + frame.area.bottom) / 2.0);
                drawing.text(TextLine::new(phase.name(), place, SIZE, Anchor::Middle, SOFT));
            }
        }
        self.edges(drawing, &frame);
    }

    fn alt(&self) -> String {
        let part = |PhaseSpan { phase, start, end }: &PhaseSpan| {
            let (first, last) = (*start as u64, (end - 1.0).max(0.0) as u64);
            match first == last {
                true => format!("{phase} in second {}", count(first)),
                false => format!("{phase} from second {} to {}", count(first), count(last)),
            }
        };
        format!("Phases: {}.", self.0.iter().map(part).collect::<Vec<_>>().join(", "))
    }

    /// Shades the seconds outside of the hold.
    pub(crate) fn shade(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        for PhaseSpan { phase, start, end } in self.0.iter().filter(|part| part.phase != Phase::Hold) {
            let Rect { top, bottom, .. } = frame.area;
            drawing.rect((frame.x(*start), top), (frame.x(*end), bottom), light(*phase));
        }
    }

    /// Draws a line between each two phases.
    pub(crate) fn edges(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        for PhaseSpan { start, .. } in self.0.iter().skip(1) {
            let x = frame.x(*start);
            drawing.line(vec![(x, frame.area.top), (x, frame.area.bottom)], EDGE, LINE);
        }
    }
}

/// Returns the colour of a phase in the band.
fn strong(phase: Phase) -> Color {
    match phase {
        Phase::Ramp => Color(0xdf, 0xe6, 0xef),
        Phase::Hold => Color(0xc3, 0xd0, 0xde),
        Phase::Tail => Color(0xe8, 0xe2, 0xd8),
    }
}

/// Returns the colour of a phase behind the data.
fn light(phase: Phase) -> Color {
    strong(phase).tint(0.6)
}
