//! The levels of a sweep by framework and tool, as they are drawn.

use std::collections::BTreeSet;

use perfpipe_analyze::points::{Level, SweepBy};

use crate::marks::marker::Marker;
use crate::output::drawing::Drawing;
use crate::palette::{Color, PAPER, series_color};

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

/// Draws a cross that stands on a base line at `y`, for a level that was aborted.
pub(super) fn cross(drawing: &mut Drawing, (x, y): (f64, f64), color: Color) {
    let (half, width) = CROSS;
    let y = y - half - width;
    drawing.line(vec![(x - half, y - half), (x + half, y + half)], width, color);
    drawing.line(vec![(x - half, y + half), (x + half, y - half)], width, color);
}

/// Draws the ring of a knee.
pub(super) fn ring(drawing: &mut Drawing, at: (f64, f64), color: Color) {
    drawing.dot(at, RING.0, color);
    drawing.dot(at, RING.1, PAPER);
}
