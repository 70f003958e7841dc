//! The heading of a chart and the key to its colours, on the same line or below it.

use super::dashes::{self, DashPattern};
use super::frame::Rect;
use crate::marks::Marker;
use crate::output::drawing::{Anchor, Drawing, Point, TextLine};
use crate::palette::{Color, INK, SOFT, STEPS};
use crate::style::Palette;
use crate::text::fonts::{self, Fonts};

/// The size of the heading, in points.
const HEADING: f64 = 10.0;
/// The size of the key's texts, in points.
pub(crate) const SIZE: f64 = 7.5;
/// The height of a line of the key, in points.
pub(crate) const ROW: f64 = 12.0;
/// The width of a swatch, in points.
const SWATCH: f64 = 16.0;
/// The gap from a swatch to its text, and that between entries, in points.
const GAPS: (f64, f64) = (4.0, 13.0);

/// The sample of colour before an entry's text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Swatch {
    /// Bars of one colour.
    Bar(Color),
    /// Bars coloured by a measure.
    ScaleBar(Palette),
    /// A line of one colour, with its width in points.
    Line(Color, f64),
    /// A dashed line of one colour, with its width in points.
    Dashes(Color, f64),
    /// A line of one colour with a pattern of its own, with its width in points.
    Pattern(Color, f64, DashPattern),
    /// A line of one colour with a marker, with its width in points.
    Marked(Color, f64, Marker),
    /// A line coloured by a measure, with its width in points.
    ScaleLine(Palette, f64),
    /// Nothing, before words about the other entries.
    Blank,
}

impl Swatch {
    /// Returns true if its colours are those of a measure.
    pub(crate) fn is_scale(self) -> bool {
        matches!(self, Self::ScaleBar(_) | Self::ScaleLine(..))
    }
}

/// An entry of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LegendEntry {
    pub(crate) swatch: Swatch,
    text: String,
}

impl LegendEntry {
    pub(crate) fn new(swatch: Swatch, text: impl Into<String>) -> Self {
        Self { swatch, text: text.into() }
    }

    fn width(&self) -> f64 {
        SWATCH + GAPS.0 + fonts::width(&self.text, SIZE)
    }
}

/// The heading and the key of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Legend {
    pub(crate) heading: String,
    pub(crate) entries: Vec<LegendEntry>,
    /// Notes on how to read the chart, each on a line.
    pub(crate) notes: Vec<String>,
}

impl Legend {
    /// Returns the height of the legend above a chart of `width` points, in points.
    pub(crate) fn height(&self, width: f64) -> f64 {
        let rows = self.rows(width).len();
        let below = rows - rows.min(usize::from(self.shares_a_line(width))) + self.notes.len();
        HEADING + 6.0 + ROW * below as f64
    }

    /// Draws the legend from `area.top` down, as wide as `area`.
    pub(crate) fn draw(&self, drawing: &mut Drawing, area: Rect) {
        let mut y = area.top + HEADING / 2.0;
        drawing.text(TextLine::new(&self.heading, (area.left, y), HEADING, Anchor::Start, INK));
        if !self.shares_a_line(area.width()) {
            y += ROW + 1.0;
        }
        for row in self.rows(area.width()) {
            let mut x = area.right - row_width(row);
            for entry in row {
                draw_entry(drawing, entry, (x, y));
                x += entry.width() + GAPS.1;
            }
            y += ROW;
        }
        for (note, above) in self.notes.iter().rev().zip(0..) {
            let y = area.bottom - 6.0 - ROW / 2.0 + 1.5 - ROW * f64::from(above);
            let note = fonts::fitted(note, SIZE, area.width());
            drawing.text(TextLine::new(&note, (area.left, y), SIZE, Anchor::Start, SOFT));
        }
    }

    /// Returns the lines of the key below a chart of `width` points: texts that are too long are cut, and entries that take
    /// more than `most` lines are counted.
    pub(crate) fn lines_below(&self, width: f64, most: usize, fonts: &Fonts) -> Vec<Vec<LegendEntry>> {
        let room = width - SWATCH - GAPS.0;
        let fitted = |entry: &LegendEntry| LegendEntry {
            text: fonts.fitted(&entry.text, SIZE, room),
            ..entry.clone()
        };
        let key = Self { entries: self.entries.iter().map(fitted).collect(), ..self.clone() };
        let mut lines: Vec<Vec<LegendEntry>> = key.rows(width).into_iter().map(<[_]>::to_vec).collect();
        if lines.len() > most {
            lines.truncate(most.saturating_sub(1));
            let shown: usize = lines.iter().map(Vec::len).sum();
            let rest = format!("and {} more", self.entries.len() - shown);
            lines.push(vec![LegendEntry::new(Swatch::Blank, rest)]);
        }
        lines
    }

    /// Draws lines of the key from `area.top` down, each from the left.
    pub(crate) fn draw_below(drawing: &mut Drawing, lines: &[Vec<LegendEntry>], area: Rect) {
        for (line, at) in lines.iter().zip(0..) {
            let mut x = area.left;
            for entry in line {
                draw_entry(drawing, entry, (x, area.top + ROW * (f64::from(at) + 0.5)));
                x += entry.width() + GAPS.1;
            }
        }
    }

    /// Returns true if heading and key fit side by side.
    fn shares_a_line(&self, width: f64) -> bool {
        row_width(&self.entries) + fonts::width(&self.heading, HEADING) + 2.0 * GAPS.1 <= width
    }

    /// Returns the entries divided into lines.
    fn rows(&self, width: f64) -> Vec<&[LegendEntry]> {
        let mut rows = Vec::new();
        let mut rest = self.entries.as_slice();
        while !rest.is_empty() {
            let fits =
                (1..=rest.len()).rev().find(|&n| rest.get(..n).is_some_and(|row| row_width(row) <= width));
            let (row, tail) = rest.split_at(fits.unwrap_or(1));
            rows.push(row);
            rest = tail;
        }
        rows
    }
}

fn row_width(row: &[LegendEntry]) -> f64 {
    row.iter().map(|entry| entry.width() + GAPS.1).sum::<f64>() - GAPS.1
}

fn draw_entry(drawing: &mut Drawing, entry: &LegendEntry, (x, y): Point) {
    let middle = |share: f64| x + SWATCH * share;
    match entry.swatch {
        Swatch::Bar(color) => drawing.rect((x, y - 3.5), (x + SWATCH, y + 3.5), color),
        Swatch::Line(color, width) => drawing.line(vec![(x, y), (x + SWATCH, y)], width, color),
        Swatch::Dashes(color, width) => dashes::draw(drawing, &[(x, y), (x + SWATCH, y)], width, color),
        Swatch::Pattern(color, width, pattern) => {
            pattern.draw(drawing, vec![(x, y), (x + SWATCH, y)], width, color);
        }
        Swatch::Marked(color, width, marker) => {
            drawing.line(vec![(x, y), (x + SWATCH, y)], width, color);
            marker.draw(drawing, (middle(0.5), y), color);
        }
        Swatch::ScaleBar(palette) => draw_scale(drawing, palette, middle, (y, 3.5)),
        Swatch::ScaleLine(palette, width) => draw_scale(drawing, palette, middle, (y, width / 2.0)),
        Swatch::Blank => {}
    }
    let place = (x + SWATCH + GAPS.0, y);
    drawing.text(TextLine::new(&entry.text, place, SIZE, Anchor::Start, SOFT));
}

/// Draws a palette from left to right; `half` is its extent above and below `y`.
fn draw_scale(drawing: &mut Drawing, palette: Palette, x: impl Fn(f64) -> f64, (y, half): (f64, f64)) {
    for part in 0..16 {
        let color = palette.step(part * STEPS / 16 + 2);
        let end = x(((part + 1) as f64 / 16.0 + 0.01).min(1.0));
        drawing.rect((x(part as f64 / 16.0), y - half), (end, y + half), color);
    }
}
