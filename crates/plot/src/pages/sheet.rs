//! The texts around the charts of a page, and the charts between them, one below the other over a common axis.

use crate::charts::chart;
use crate::charts::chart::{Height, TIME_LABELS, TimeChart};
use crate::layout::frame::{Rect, TimeAxis};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::{Anchor, Drawing, PagePart, TextLine};
use crate::palette::{GRID, INK, SOFT};
use crate::text::fonts::Fonts;

/// The page's margin, in points.
pub(super) const MARGIN: f64 = 36.0;
/// The sizes of the title, the line below it, and the footer, in points.
const SIZES: (f64, f64, f64) = (17.0, 9.0, 7.0);
/// The distance between the lines below the title, in points.
const SUBTITLE: f64 = 12.0;
/// The distance between the lines of the footer, in points.
const LEADING: f64 = 10.0;
/// The least room for labels to the left of charts, in points.
pub(super) const LEAST_LABEL: f64 = 14.0;

/// The texts of a page.
pub(crate) struct PageTexts<'a> {
    pub(crate) title: &'a str,
    /// What was chosen of the runs, wrapped between choices.
    pub(crate) chosen: &'a [String],
    /// The most important figures, each of these on a line.
    pub(super) subtitle: &'a [Vec<String>],
    /// Further facts, wrapped between facts.
    pub(crate) footer: &'a [String],
}

impl PageTexts<'_> {
    /// Draws the texts and returns the room between them.
    pub(crate) fn draw(&self, drawing: &mut Drawing) -> Rect {
        let (width, height) = drawing.size;
        let page = Rect { left: MARGIN, top: MARGIN, right: width - MARGIN, bottom: height - MARGIN };
        let fonts = drawing.fonts.clone();
        let mut line = |part: PagePart, text: &str, y: f64, size: f64, color| {
            let text = fonts.fitted(text, size, page.width());
            drawing.begin(part);
            drawing.text(TextLine::new(&text, (page.left, y), size, Anchor::Start, color));
        };
        line(PagePart::Heading, self.title, page.top + SIZES.0 / 2.0, SIZES.0, INK);
        let chosen = wrapped(self.chosen, &fonts, SIZES.1, page.width()).into_iter().map(|line| (line, INK));
        let figures = self.subtitle.iter().filter(|figures| !figures.is_empty());
        let figures = figures.map(|figures| (figures.join(SEPARATOR), SOFT));
        let mut below = page.top + SIZES.0 + 11.0;
        for (text, color) in chosen.chain(figures) {
            line(PagePart::Paragraph, &text, below, SIZES.1, color);
            below += SUBTITLE;
        }
        let lines = wrapped(self.footer, &fonts, SIZES.2, page.width());
        let first = page.bottom - LEADING * lines.len() as f64;
        for (at, text) in lines.iter().enumerate() {
            line(PagePart::Foot, text, first + LEADING * (at as f64 + 0.5), SIZES.2, SOFT);
        }
        drawing.begin(PagePart::Decoration);
        drawing.line(vec![(page.left, first - 6.0), (page.right, first - 6.0)], 0.5, GRID);
        let two_lines = page.top + SIZES.0 + 34.0;
        page.rows(two_lines.max(below + 5.0), first - 14.0)
    }
}

/// The separator of figures and of facts.
const SEPARATOR: &str = "  ·  ";

/// Joins parts to lines no wider than `room`, without breaking a part.
fn wrapped(parts: &[String], fonts: &Fonts, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if fonts.width(&format!("{line}{SEPARATOR}{part}"), size) <= room => {
                line.push_str(SEPARATOR);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

/// The gap between a chart's time labels and the next heading, in points.
const GAP: f64 = 9.0;
/// The height of the time axis' title, in points.
const TIME_TITLE: f64 = 12.0;
/// The room below the last chart's frame, in points.
pub(crate) const BELOW: f64 = TIME_LABELS + TIME_TITLE;

/// Draws charts one below the other, over a common axis.
pub(crate) fn draw(
    drawing: &mut Drawing,
    charts: &[Box<dyn TimeChart + '_>],
    column: Rect,
    time: TimeAxis,
    phases: &PhaseBand,
) {
    phases.draw(drawing, column, time);
    let column = column.rows(column.top + phases.height(), column.bottom);
    let mut top = column.top;
    let mut last = None;
    for (chart, height) in charts.iter().zip(heights(charts, column)) {
        top += chart.legend().height(column.width());
        let area = column.rows(top, top + height);
        last = Some(chart::draw(chart.as_ref(), drawing, area, time, phases));
        top = area.bottom + below(chart.as_ref());
    }
    if let Some(frame) = last {
        frame.time_title(drawing);
    }
}

/// Returns the room below a chart's frame, in points.
fn below(chart: &dyn TimeChart) -> f64 {
    GAP + if chart.has_time_labels() { TIME_LABELS } else { 0.0 }
}

/// Returns the heights of the charts' frames that make the charts fill `column`, in points.
fn heights(charts: &[Box<dyn TimeChart + '_>], column: Rect) -> Vec<f64> {
    let legends: f64 = charts.iter().map(|chart| chart.legend().height(column.width())).sum();
    let gaps: f64 = charts.iter().map(|chart| below(chart.as_ref())).sum::<f64>() - GAP + TIME_TITLE;
    let (mut fixed, mut shares) = (0.0, 0.0);
    for chart in charts {
        match chart.height() {
            Height::Fixed(points) => fixed += points,
            Height::Share(share) => shares += share,
        }
    }
    let free = column.height() - legends - gaps - fixed;
    let height = |wanted| match wanted {
        Height::Fixed(points) => points,
        Height::Share(share) => free * share / shares,
    };
    charts.iter().map(|chart| height(chart.height())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_never_broken() {
        let parts = ["one fact", "another fact", "a third"].map(str::to_owned);
        let fonts = Fonts::default();
        let lines = wrapped(&parts, &fonts, 10.0, 100.0);
        assert_eq!(lines, ["one fact", "another fact", "a third"].map(str::to_owned));
        assert_eq!(wrapped(&parts, &fonts, 10.0, 1000.0).len(), 1);
    }
}
