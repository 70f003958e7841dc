//! A figure of all frameworks, drawn over each other, with a key of their names and averages.

use perfpipe_analyze::Timeline;

use super::framework::{Framework, KEY_SIZE, NAME, WIDTH};
use crate::charts::series::SharedSeries;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::{ChartFrame, Rect, TimeAxis};
use crate::output::drawing::{Anchor, Drawing, PageFigure, PagePart, Point, TextLine};
use crate::palette::{INK, SOFT};
use crate::text::fonts::Fonts;
use crate::text::number::measured;
use crate::time_columns::{ColumnSpread, TimeColumn};

/// The height of a heading, in points.
const HEADING: f64 = 16.0;
/// The gap between a chart and the next heading, in points.
const GAP: f64 = 10.0;
/// The height of a chart of a series, as a share of that of the successes.
const SHARE: f64 = 0.5;
/// The number of frameworks that the chart's description names; the rest are counted.
const NAMED: usize = 20;

/// A figure of all frameworks.
pub(super) enum Overlay {
    /// Successes per second.
    Successes,
    /// A series of the server.
    Series(SharedSeries),
}

impl Overlay {
    /// Returns the heading of the averages in the key.
    fn average(&self) -> String {
        match self {
            Self::Successes => "Average/s".to_owned(),
            Self::Series(series) => format!("Average, {}", series.scaled.unit),
        }
    }

    /// Returns a framework's average, in words.
    pub(super) fn average_of(&self, line: &Framework<'_>) -> String {
        match self {
            Self::Successes => line.median(|run| Some(run.summary.throughput)),
            Self::Series(series) => line.median(|run| series.mean(run)),
        }
        .map_or_else(|| "–".to_owned(), measured)
    }

    /// Returns what the chart does not show.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Successes => None,
            Self::Series(series) => {
                series.scaled.note().map(|_| format!("{}: values below 0 are drawn at 0", series.name))
            }
        }
    }

    pub(super) fn axis(&self, frameworks: &[Framework<'_>]) -> ValueAxis {
        let greatest = |line: &Framework<'_>| line.greatest(&|run, column| self.values(run, column));
        let most = frameworks.iter().map(greatest).fold(0.0, f64::max);
        ValueAxis::new(match self {
            Self::Successes => ValueTicks::up_to(most, 6, Steps::Whole),
            Self::Series(_) => ValueTicks::up_to(most, 4, Steps::Any),
        })
    }

    /// Draws the chart without the labels of its time axis. Returns its frame.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        frameworks: &[Framework<'_>],
        area: Rect,
        time: TimeAxis,
    ) -> ChartFrame {
        let (heading, top) = (self.heading(), area.top - HEADING);
        drawing.begin(PagePart::Figure(PageFigure::new(&heading, self.alt(frameworks), top)));
        drawing.text(TextLine::new(&heading, (area.left, top + 5.0), 10.0, Anchor::Start, INK));
        let axis = self.axis(frameworks);
        let frame = ChartFrame { area, time, scale: axis.scale };
        frame.time_grid(drawing);
        frame.value_grid(drawing, &axis);
        if frameworks.is_empty() {
            frame.notice(drawing, "No runs of this test");
        }
        // The best is drawn last, above the others.
        for line in frameworks.iter().rev() {
            line.draw(drawing, &frame, &|run, column| self.values(run, column));
        }
        for (rank, line) in frameworks.iter().enumerate().rev() {
            line.mark(drawing, &frame, (rank, frameworks.len()), &|run, column| self.values(run, column));
        }
        frame.border(drawing);
        frame
    }

    fn heading(&self) -> String {
        match self {
            Self::Successes => "Successes per second".to_owned(),
            Self::Series(series) => series.heading(),
        }
    }

    fn values(&self, run: &Timeline, column: &TimeColumn) -> Option<ColumnSpread> {
        match self {
            Self::Successes => column.successes,
            Self::Series(series) => series.values(run, column),
        }
    }

    /// Describes the chart in a sentence.
    fn alt(&self, frameworks: &[Framework<'_>]) -> String {
        let of = |line: &Framework<'_>| format!("{} {}", line.shown, self.average_of(line));
        let named: Vec<String> = frameworks.iter().take(NAMED).map(of).collect();
        let more = frameworks.len().checked_sub(NAMED).filter(|more| *more > 0);
        let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
        match frameworks {
            [] => "No runs of this test.".to_owned(),
            _ => format!("{} over time, on average: {}{more}.", self.heading(), named.join(", ")),
        }
    }
}

/// Returns the areas of the charts' frames, one below the other.
pub(super) fn areas(overlays: &[Overlay], room: Rect) -> Vec<Rect> {
    let share = |overlay: &Overlay| if matches!(overlay, Overlay::Successes) { 1.0 } else { SHARE };
    let shares: f64 = overlays.iter().map(share).sum();
    let count = overlays.len() as f64;
    let free = room.height() - count * HEADING - (count - 1.0).max(0.0) * GAP;
    let mut top = room.top;
    let mut areas = Vec::with_capacity(overlays.len());
    for overlay in overlays {
        let bottom = top + HEADING + free * share(overlay) / shares.max(1.0);
        areas.push(room.rows(top + HEADING, bottom));
        top = bottom + GAP;
    }
    areas
}

/// The width of a swatch, and the gaps around names, in points.
const SWATCH: f64 = 24.0;
const KEY_GAP: f64 = 12.0;
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
        KEY_GAP + SWATCH + KEY_GAP / 2.0 + self.name + KEY_GAP + self.value
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
        drawing.text(TextLine::new(
            &overlay.average(),
            (right, top - KEY_LEADING),
            KEY_SIZE,
            Anchor::End,
            SOFT,
        ));
        let most = (area.height() / LEAST_LEADING) as usize;
        let shown = if frameworks.len() > most { most.saturating_sub(1) } else { frameworks.len() };
        let leading = (area.height() / frameworks.len().max(1) as f64).clamp(LEAST_LEADING, KEY_LEADING);
        for (rank, line) in frameworks.iter().take(shown).enumerate() {
            let place = (area.right + KEY_GAP, top + leading * rank as f64);
            self.entry(drawing, line, &overlay.average_of(line), place);
        }
        if shown < frameworks.len() {
            let place = (area.right + KEY_GAP, top + leading * shown as f64);
            let rest = format!("and {} more", frameworks.len() - shown);
            drawing.text(TextLine::new(&rest, place, KEY_SIZE, Anchor::Start, SOFT));
        }
    }

    fn entry(&self, drawing: &mut Drawing, line: &Framework<'_>, value: &str, (x, y): Point) {
        drawing.line(vec![(x, y), (x + SWATCH, y)], WIDTH * 1.6, line.color);
        line.marker.draw(drawing, (x + SWATCH / 2.0, y), line.color);
        let left = x + SWATCH + KEY_GAP / 2.0;
        drawing.text(TextLine::new(&line.shown, (left, y), KEY_SIZE, Anchor::Start, INK));
        let right = left + self.name + KEY_GAP + self.value;
        drawing.text(TextLine::new(value, (right, y), KEY_SIZE, Anchor::End, INK));
    }
}
