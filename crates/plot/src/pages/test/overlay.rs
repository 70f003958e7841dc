//! A figure of all frameworks, drawn over each other.

use perfpipe_analyze::Timeline;

use super::framework::Framework;
use crate::charts::shared::SharedSeries;
use crate::columns::{ColumnSpread, TimeColumn};
use crate::layout::axis::Axis;
use crate::layout::frame::{Frame, Rect, TimeAxis};
use crate::layout::ticks::{Steps, Values};
use crate::output::drawing::{Anchor, Drawing, Text};
use crate::output::part::{PageFigure, PagePart};
use crate::palette::INK;
use crate::text::number::measured;

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
    pub(super) fn average(&self) -> String {
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

    pub(super) fn axis(&self, frameworks: &[Framework<'_>]) -> Axis {
        let greatest = |line: &Framework<'_>| line.greatest(&|run, column| self.values(run, column));
        let most = frameworks.iter().map(greatest).fold(0.0, f64::max);
        Axis::new(match self {
            Self::Successes => Values::up_to(most, 6, Steps::Whole),
            Self::Series(_) => Values::up_to(most, 4, Steps::Any),
        })
    }

    /// Draws the chart without the labels of its time axis. Returns its frame.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        frameworks: &[Framework<'_>],
        area: Rect,
        time: TimeAxis,
    ) -> Frame {
        let (heading, top) = (self.heading(), area.top - HEADING);
        drawing.begin(PagePart::Figure(PageFigure::new(&heading, self.alt(frameworks), top)));
        drawing.text(Text::new(&heading, (area.left, top + 5.0), 10.0, Anchor::Start, INK));
        let axis = self.axis(frameworks);
        let frame = Frame { area, time, scale: axis.scale };
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
