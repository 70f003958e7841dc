//! The levels of a sweep by framework and tool, and where they are on the horizontal axis.

use std::collections::BTreeSet;

use perfpipe_analyze::points::{Level, SweepBy};

use crate::charts::chart::TimeChart;
use crate::layout::axis::LABEL;
use crate::layout::frame::{ChartFrame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::phase_band::PhaseBand;
use crate::marks::Marker;
use crate::output::drawing::{Anchor, Drawing, Point, TextLine};
use crate::pages::sheet;
use crate::pages::sheet::LEAST_LABEL;
use crate::palette::{Color, FRAME, GRID, PAPER, SOFT, series_color};
use crate::text::fonts;
use crate::text::number::count;

/// The colour of failures.
pub(super) const FAILED: Color = Color(0xc0, 0x39, 0x2b);
/// Half the size of the cross of a level that was aborted, and the width of its lines, in points.
const CROSS: (f64, f64) = (3.2, 1.3);
/// The outer and the inner radius of the ring around a knee, in points.
const RING: (f64, f64) = (6.6, 5.2);

/// The levels of one framework by one tool, with a colour and a marker.
pub(super) struct LevelSeries<'a> {
    /// The framework, and what else distinguishes it from the other series of the page.
    pub(super) name: String,
    /// Levels whose number is known, ascending.
    pub(super) levels: Vec<(u32, &'a Level)>,
    pub(super) color: Color,
    pub(super) marker: Marker,
}

impl<'a> LevelSeries<'a> {
    /// Returns the series of a test, that of the greatest throughput first, as in the league of a test.
    pub(super) fn all(levels: &'a [Level], by: SweepBy) -> Vec<Self> {
        let is_same = |a: &Level, b: &Level| key(a) == key(b);
        let mut sweeps: Vec<&'a [Level]> = levels.chunk_by(is_same).collect();
        sweeps.sort_by(|a, b| greatest(b).total_cmp(&greatest(a)));
        let several =
            |part: fn(&Level) -> Option<String>| levels.iter().map(part).collect::<BTreeSet<_>>().len() > 1;
        let by_tool = several(|level| Some(level.tool.clone()));
        let by_other = several(|level| level.other.map(|other| other.to_string()));
        let of = |(rank, sweep): (usize, &'a [Level])| {
            let levels = sweep.iter().filter_map(|level| Some((level.level?, level))).collect();
            let name = sweep.first().map(|level| name(level, by, by_tool, by_other)).unwrap_or_default();
            Self { name, levels, color: series_color(rank), marker: Marker::of(rank) }
        };
        sweeps.into_iter().enumerate().map(of).collect()
    }

    /// Returns the level at the knee.
    pub(super) fn knee(&self) -> Option<(u32, &'a Level)> {
        self.levels.iter().find(|(_, level)| level.is_knee).copied()
    }

    /// Names the level of the knee. At the least level measured, the knee may be below it.
    pub(super) fn knee_words(&self) -> Option<String> {
        let (knee, level) = self.knee()?;
        Some(format!("{knee}{}", if level.knee_or_below { " or below" } else { "" }))
    }

    /// Returns the greatest throughput, and the first level that has it.
    pub(super) fn greatest(&self) -> Option<(u32, f64)> {
        let known = self.levels.iter().filter_map(|(at, level)| Some((*at, level.throughput?.median)));
        known.reduce(|best, other| if other.1 > best.1 { other } else { best })
    }
}

fn key(level: &Level) -> (&str, &str, Option<u32>) {
    (&level.framework, &level.tool, level.other)
}

fn greatest(levels: &[Level]) -> f64 {
    levels.iter().filter_map(|level| level.throughput).map(|spread| spread.median).fold(0.0, f64::max)
}

/// Names a series by its framework, its tool, and its number of workers or connections.
fn name(level: &Level, by: SweepBy, by_tool: bool, by_other: bool) -> String {
    let tool = if by_tool { format!(" by {}", level.tool) } else { String::new() };
    let other = level.other.filter(|_| by_other).map(|other| format!(", {}", other_words(other, by)));
    format!("{}{tool}{}", level.framework, other.unwrap_or_default())
}

/// Describes the number that is the same for all levels of a sweep.
pub(super) fn other_words(other: u32, by: SweepBy) -> String {
    match by {
        SweepBy::Workers => format!("concurrency {other}"),
        _ if other == 1 => "1 worker".to_owned(),
        _ => format!("{other} workers"),
    }
}

/// Draws a cross on a base line at `y`, for a level that was aborted.
pub(super) fn cross(drawing: &mut Drawing, (x, y): Point, color: Color) {
    let (half, width) = CROSS;
    let y = y - half - width;
    drawing.line(vec![(x - half, y - half), (x + half, y + half)], width, color);
    drawing.line(vec![(x - half, y + half), (x + half, y - half)], width, color);
}

/// Draws the ring of a knee.
pub(super) fn ring(drawing: &mut Drawing, at: Point, color: Color) {
    drawing.dot(at, RING.0, color);
    drawing.dot(at, RING.1, PAPER);
}

/// The distances from the frame to the middle of the labels and of the axis' title, in points.
const LABEL_DROP: f64 = 9.0;
const TITLE_DROP: f64 = 21.0;
/// The least gap between two labels, in points.
const LABEL_SPACE: f64 = 5.0;
/// The size of the axis' title, in points.
const TITLE: f64 = 8.0;

/// The places of levels: a step for each doubling where all levels are powers of two, otherwise a step for each level.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelPlaces {
    /// Levels, ascending, each once.
    levels: Vec<u32>,
    is_log: bool,
    by: SweepBy,
}

impl LevelPlaces {
    pub(super) fn new(levels: impl Iterator<Item = u32>, by: SweepBy) -> Self {
        let mut levels: Vec<u32> = levels.collect();
        levels.sort_unstable();
        levels.dedup();
        let is_log = levels.iter().all(|level| level.is_power_of_two());
        Self { levels, is_log, by }
    }

    /// Returns the place of a level, 0 for the least.
    pub(super) fn at(&self, level: u32) -> f64 {
        let first = self.levels.first().copied().unwrap_or(1);
        match self.is_log {
            true => f64::from(level.max(1).ilog2()) - f64::from(first.max(1).ilog2()),
            false => self.levels.partition_point(|other| *other < level) as f64,
        }
    }

    /// Returns the axis, half a step longer than the levels at either end.
    fn axis(&self) -> TimeAxis {
        TimeAxis::of_places(self.levels.last().map_or(1, |last| self.at(*last) as usize + 1))
    }

    /// Returns the width of a step on a frame, in points.
    pub(super) fn step(frame: &ChartFrame) -> f64 {
        frame.area.width() / (frame.time.end() - frame.time.start()).max(1.0)
    }

    /// Returns what the levels are, within a sentence.
    pub(super) fn name(&self) -> &'static str {
        match self.by {
            SweepBy::Workers => "workers",
            _ => "concurrency",
        }
    }

    /// Returns the name of the axis.
    fn title(&self) -> &'static str {
        match self.by {
            SweepBy::Workers => "Workers of the server",
            _ => "Concurrency (connections or users of the tool)",
        }
    }

    /// Draws a vertical line at each level, and the labels that fit below the frame.
    pub(super) fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let Rect { top, bottom, .. } = frame.area;
        let mut free = f64::NEG_INFINITY;
        for level in &self.levels {
            let x = frame.x(self.at(*level));
            drawing.line(vec![(x, top), (x, bottom)], 0.5, GRID);
            let label = count(u64::from(*level));
            let half = fonts::width(&label, LABEL) / 2.0;
            if x - half < free {
                continue;
            }
            free = x + half + LABEL_SPACE;
            drawing.line(vec![(x, bottom), (x, bottom + 3.0)], 0.6, FRAME);
            drawing.text(TextLine::new(&label, (x, bottom + LABEL_DROP), LABEL, Anchor::Middle, SOFT));
        }
    }

    /// Draws charts one below the other over the axis, and its name below the last.
    pub(super) fn stack(&self, drawing: &mut Drawing, charts: &[Box<dyn TimeChart + '_>], room: Rect) {
        let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
        let column = Rect { left: room.left + labels.fold(LEAST_LABEL, f64::max) + LABEL_GAP, ..room };
        sheet::draw(drawing, charts, column, self.axis(), &PhaseBand::none());
        let place = ((column.left + column.right) / 2.0, column.bottom - sheet::BELOW + TITLE_DROP);
        drawing.text(TextLine::new(self.title(), place, TITLE, Anchor::Middle, SOFT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::axis::Scale;

    fn places(levels: &[u32]) -> Vec<f64> {
        let places = LevelPlaces::new(levels.iter().copied(), SweepBy::Concurrency);
        levels.iter().map(|level| places.at(*level)).collect()
    }

    #[test]
    fn doublings_are_equally_far_and_other_levels_too() {
        assert_eq!(places(&[8, 16, 64]), [0.0, 1.0, 3.0]);
        assert_eq!(places(&[10, 100, 120]), [0.0, 1.0, 2.0]);
        assert_eq!(places(&[2, 3, 4, 3]), [0.0, 1.0, 2.0, 1.0]);
        assert_eq!(places(&[0, 1]), [0.0, 1.0]);
    }

    #[test]
    fn labels_never_overlap() {
        let places = LevelPlaces::new((0..200).map(|at| 1000 + at * 7), SweepBy::Concurrency);
        let mut drawing = Drawing::new((600.0, 100.0));
        let area = Rect { left: 40.0, top: 10.0, right: 560.0, bottom: 80.0 };
        places.draw(&mut drawing, &ChartFrame { area, time: places.axis(), scale: Scale::Linear(1.0) });
        let text = |shape: &crate::output::drawing::Shape| match shape {
            crate::output::drawing::Shape::Text(text) => {
                Some((text.at.0, fonts::width(&text.text, LABEL) / 2.0))
            }
            _ => None,
        };
        let texts: Vec<(f64, f64)> = drawing.shapes.iter().filter_map(text).collect();
        assert!(texts.len() > 10 && texts.len() < 40, "{texts:?}");
        assert!(texts.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0 - pair[1].1), "{texts:?}");
    }
}
