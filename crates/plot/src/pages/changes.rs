//! The page of the changes from one side of a comparison to another: each figure's change with its interval.

use perfpipe_analyze::{Change, Direction, Measure, Noise, Outcome, Part};

use super::sheet::PageTexts;
use crate::charts::series::ScaledSeries;
use crate::layout::axis::{Steps, ValueTicks};
use crate::layout::frame::Rect;
use crate::output::drawing;
use crate::output::drawing::{Anchor, Drawing, PageFigure, Point, TextLine};
use crate::palette::{Color, FRAME, GRID, INK, SOFT};
use crate::style::Style;
use crate::text::fonts::Fonts;
use crate::text::number::{grouped, measured};

/// The sizes of headings and of other texts, in points.
const SIZES: (f64, f64) = (10.0, 8.0);
/// The heights of a row and of a heading, in points.
const ROWS: (f64, f64) = (17.0, 26.0);
/// The height of margins, title and foot, in points.
const AROUND: f64 = 160.0;
/// The widths of the columns beside the chart, in points: names to the left, figures to the right.
const COLUMNS: (f64, f64) = (84.0, 200.0);
/// The gap between a name and the chart, in points.
const GAP: f64 = 4.0;
/// The widths of lines, in points: intervals, and the line of no change.
const WIDTHS: (f64, f64) = (1.6, 0.8);
/// The radius of the dot at a change, in points.
const DOT: f64 = 2.6;
/// The colours of changes for the worse, for the better, and of what is not shown to change.
const COLORS: (Color, Color, Color) = (Color(0xc0, 0x39, 0x2b), Color(0x1b, 0x7a, 0x4b), FRAME);
/// The largest change that the axis reaches to, in percent; what is beyond it ends there.
const FARTHEST: f64 = 200.0;

/// Draws the page of the changes from `a`, the baseline, to `b`.
pub(crate) fn draw(a: &str, b: &str, changes: &[&Change], style: &Style, title: &str) -> Drawing {
    let parts = || changes.chunk_by(|a, b| a.part == b.part);
    let rows = ROWS.0 * changes.len() as f64 + 2.0 * ROWS.1 * parts().count() as f64;
    let (width, height) = style.paper.portrait();
    let size = (width, (AROUND + rows).min(height));
    let mut drawing = Drawing::new(size).with_fonts(style.fonts());
    let subtitle = [vec![outcomes(changes)]];
    let footer = facts(changes);
    let room = PageTexts { title, chosen: &[], subtitle: &subtitle, footer: &footer }.draw(&mut drawing);
    let alt = alt(a, b, changes);
    drawing.begin(drawing::PagePart::Figure(PageFigure::new("Changes", alt, room.top)));
    let chart = Rect { left: room.left + COLUMNS.0, right: room.right - COLUMNS.1, ..room };
    let values = ValueTicks::up_to(reach(changes), 3, Steps::Any);
    let plot = Plot { chart, values, sides: format!("{a} → {b}"), fonts: style.fonts() };
    let mut top = room.top;
    for rows in parts() {
        top = plot.rows(&mut drawing, rows, top);
    }
    drawing
}

/// Says how many figures changed.
fn outcomes(changes: &[&Change]) -> String {
    let mut parts: Vec<(&str, usize)> = Vec::new();
    for change in changes {
        let name = change.outcome.name();
        match parts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => parts.push((name, 1)),
        }
    }
    let words: Vec<String> = parts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    format!("Of {} figures: {}", changes.len(), words.join(", "))
}

fn facts(changes: &[&Change]) -> Vec<String> {
    let mut facts = vec!["Bars: 99 % confidence intervals of the change".to_owned()];
    let is_by = |noise: Noise| changes.iter().any(|change| change.noise == noise);
    let noise = match (is_by(Noise::Repeats), is_by(Noise::SecondsOfRepeats)) {
        _ if is_by(Noise::Pairs) => "noise: the scatter of the differences within pairs of runs",
        (true, false) => "noise: the scatter of the repeats",
        (_, true) => "noise: the scatter of the repeats, or of the seconds within them where that is greater",
        _ => "noise: the scatter of the seconds within these runs; starts of a server differ by more",
    };
    facts.push(noise.to_owned());
    facts.push("1 % mistakes over all figures that decide (Holm 1979)".to_owned());
    facts
}

/// Returns the page in words.
fn alt(a: &str, b: &str, changes: &[&Change]) -> String {
    let words = changes.iter().map(|change| format!("{} {}", name(change), figures(change)));
    format!("Changes from {a} to {b}: {}.", words.collect::<Vec<_>>().join("; "))
}

/// Returns the largest change or end of an interval, in percent. A few failures more are many percent, so that they would
/// hide all else.
fn reach(changes: &[&Change]) -> f64 {
    let others = changes.iter().filter(|change| change.measure != Measure::FailuresPercent);
    let ends = others.flat_map(|change| {
        let (low, high) = change.percent_interval.unzip();
        [change.percent(), low, high]
    });
    let finite = ends.flatten().map(f64::abs).filter(|end| end.is_finite());
    finite.fold(1.0, f64::max).min(FARTHEST)
}

fn color(change: &Change) -> Color {
    match change.outcome {
        Outcome::Shown(Direction::Worse) => COLORS.0,
        Outcome::Shown(Direction::Better) => COLORS.1,
        outcome if outcome.direction().is_some() => INK,
        _ => COLORS.2,
    }
}

fn name(change: &Change) -> String {
    change.measure.column().replace('_', " ")
}

/// Returns both values, the change and its outcome, as in `23.1 → 25.0 ms  +8.2 %  worse`.
fn figures(change: &Change) -> String {
    let greatest = change.a.into_iter().chain(change.b).fold(0.0, f64::max);
    let ScaledSeries { factor, unit, .. } = ScaledSeries::up_to(change.measure.unit(), greatest);
    let value = |value: Option<f64>| value.map_or("–".to_owned(), |value| measured(value / factor));
    let (a, b) = (value(change.a), value(change.b));
    let percent = change.percent().map(|percent| {
        let sign = if percent >= 0.05 { "+" } else { "" };
        format!("  {sign}{} %", grouped(percent, 1))
    });
    format!("{a} → {b} {unit}{}  {}", percent.unwrap_or_default(), change.outcome.name())
}

/// The chart of all changes.
struct Plot {
    chart: Rect,
    /// The values to either side of no change, in percent.
    values: ValueTicks,
    /// The names of both sides.
    sides: String,
    fonts: Fonts,
}

impl Plot {
    fn x(&self, percent: f64) -> f64 {
        let share = (percent / self.values.top).clamp(-1.0, 1.0);
        (self.chart.left + self.chart.right) / 2.0 + share * self.chart.width() / 2.0
    }

    /// Draws the changes of a part of the run from `top` down. Returns the end.
    fn rows(&self, drawing: &mut Drawing, rows: &[&Change], top: f64) -> f64 {
        let heading = match rows.first().map(|change| change.part) {
            Some(Part::Hold) => "Hold",
            Some(Part::Ramp) => "Ramp",
            Some(Part::Tail) => "Tail",
            Some(Part::Window) => "Chosen seconds",
            _ => "Whole run",
        };
        let left = self.chart.left - COLUMNS.0;
        let right = self.chart.right + COLUMNS.1;
        let mut text = |words: &str, at: Point, size: f64, anchor, color| {
            drawing.text(TextLine::new(words, at, size, anchor, color));
        };
        text(heading, (left, top + SIZES.0 / 2.0), SIZES.0, Anchor::Start, INK);
        text(&self.sides, (right, top + SIZES.0 / 2.0), SIZES.1, Anchor::End, SOFT);
        let first = top + ROWS.1 - 6.0;
        let bottom = first + ROWS.0 * rows.len() as f64;
        self.grid(drawing, self.chart.rows(first, bottom));
        for (at, change) in rows.iter().enumerate() {
            self.row(drawing, change, first + ROWS.0 * (at as f64 + 0.5));
        }
        bottom + ROWS.1
    }

    /// Draws the vertical lines with their labels below.
    fn grid(&self, drawing: &mut Drawing, Rect { top, bottom, .. }: Rect) {
        let ticks: Vec<f64> = self.values.ticks().collect();
        for percent in ticks.iter().rev().map(|tick| -tick).chain(ticks.iter().copied()) {
            let (x, is_zero) = (self.x(percent), percent == 0.0);
            let (width, color) = if is_zero { (WIDTHS.1, INK) } else { (0.5, GRID) };
            drawing.line(vec![(x, top), (x, bottom)], width, color);
            let sign = if percent > 0.0 { "+" } else { "" };
            let label = format!("{sign}{} %", grouped(percent + 0.0, self.values.decimals()));
            if !is_zero || percent.is_sign_positive() {
                drawing.text(TextLine::new(&label, (x, bottom + 7.0), 7.0, Anchor::Middle, SOFT));
            }
        }
    }

    fn row(&self, drawing: &mut Drawing, change: &Change, y: f64) {
        let (left, right) = (self.chart.left, self.chart.right);
        let color = color(change);
        let name = self.fonts.fitted(&name(change), SIZES.1, COLUMNS.0 - GAP);
        drawing.text(TextLine::new(&name, (left - COLUMNS.0, y), SIZES.1, Anchor::Start, INK));
        if let Some((low, high)) = change.percent_interval {
            let (low, high) = (self.x(low), self.x(high));
            drawing.line(vec![(low, y), (high, y)], WIDTHS.0, color);
            let inside = self.chart.left + 1.0..self.chart.right - 1.0;
            for end in [low, high].into_iter().filter(|end| inside.contains(end)) {
                drawing.line(vec![(end, y - 3.0), (end, y + 3.0)], WIDTHS.0 / 2.0, color);
            }
        }
        if let Some(percent) = change.percent().filter(|percent| percent.abs() <= self.values.top) {
            drawing.dot((self.x(percent), y), DOT, color);
        }
        let words = if color == COLORS.2 { SOFT } else { color };
        drawing.text(TextLine::new(&figures(change), (right + COLUMNS.1, y), SIZES.1, Anchor::End, words));
    }
}
