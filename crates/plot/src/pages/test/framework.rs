//! A framework on the page of a test: its name, its columns and how it is drawn.

use perfpipe_analyze::Timeline;

use super::super::footer;
use crate::layout::frame::ChartFrame;
use crate::marks::{ColumnLine, Marker};
use crate::output::drawing::Drawing;
use crate::palette::{Color, series_color};
use crate::style::ColorBy;
use crate::text::fonts;
use crate::text::fonts::Fonts;
use crate::time_columns::{ColumnSpread, RunColumns, TimeColumn};

/// The largest width of a name in the key, and the size of the key's texts, in points.
pub(super) const NAME: f64 = 150.0;
pub(super) const KEY_SIZE: f64 = 8.0;
/// The width of the lines, in points.
pub(super) const WIDTH: f64 = 0.9;
/// The width of a band's edges, in points.
const EDGE: f64 = 0.4;
/// How much a band's edges are mixed with white, as a share.
const EDGE_TINT: f64 = 0.5;
/// The number of markers on each line.
const MARKERS: usize = 8;
/// The suffix of the name of a framework that fails.
const FAILING: &str = " (failing)";

/// A framework, with its repeats.
pub(super) struct Framework<'a> {
    /// The repeats, each with its columns.
    repeats: Vec<(&'a Timeline, RunColumns)>,
    /// The columns that any of them has, in ascending order.
    columns: Vec<TimeColumn>,
    /// True if a column is more than one second.
    binned: bool,
    /// The name in the key.
    pub(super) shown: String,
    pub(super) failing: bool,
    pub(super) color: Color,
    pub(super) marker: Marker,
}

/// Returns the values of a run's column.
type RunValues<'a> = &'a dyn Fn(&Timeline, &TimeColumn) -> Option<ColumnSpread>;

impl<'a> Framework<'a> {
    /// Prepares a framework, given its rank and its repeats, at least one. All columns begin a number of widths after the
    /// first second of any run.
    pub(super) fn new(
        rank: usize,
        repeats: &[&'a Timeline],
        (first, width): (u32, u32),
        failing: bool,
        fonts: &Fonts,
    ) -> Option<Self> {
        let key = &repeats.first()?.info.key;
        let suffix = [
            if repeats.len() > 1 || key.repeat == 1 { String::new() } else { format!(" #{}", key.repeat) },
            if repeats.iter().any(|run| run.info.is_partial()) { footer::PARTIAL } else { "" }.to_owned(),
            if failing { FAILING.to_owned() } else { String::new() },
        ]
        .concat();
        let room = NAME - fonts::width(&suffix, KEY_SIZE);
        let of = |run: &&'a Timeline| (*run, RunColumns::since(first, run, width, ColorBy::Throughput));
        let repeats: Vec<(&Timeline, RunColumns)> = repeats.iter().map(of).collect();
        let mut columns: Vec<TimeColumn> =
            repeats.iter().flat_map(|(_, columns)| &columns.columns).cloned().collect();
        columns.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
        columns.dedup_by(|later, first| later.start == first.start);
        Some(Self {
            shown: fonts.fitted(&key.framework, KEY_SIZE, room) + &suffix,
            binned: width > 1,
            repeats,
            columns,
            failing,
            color: series_color(rank),
            marker: Marker::of(rank),
        })
    }

    /// Returns the framework's name.
    pub(super) fn name(&self) -> &str {
        self.repeats.first().map_or("", |(run, _)| &run.info.key.framework)
    }

    /// Returns the number of repeats.
    pub(super) fn repeats(&self) -> usize {
        self.repeats.len()
    }

    /// Returns the median of a figure over the repeats, as the league has it.
    pub(super) fn median(&self, figure: impl Fn(&Timeline) -> Option<f64>) -> Option<f64> {
        median(self.repeats.iter().filter_map(|(run, _)| figure(run)).collect())
    }

    /// Returns the greatest value of any repeat.
    pub(super) fn greatest(&self, values: RunValues<'_>) -> f64 {
        let all = self.repeats.iter().flat_map(|(run, columns)| {
            columns.columns.iter().filter_map(|column| Some(values(run, column)?.max))
        });
        all.fold(0.0, f64::max)
    }

    /// Returns the middles of the columns in which any repeat has a value above `top`.
    pub(super) fn times_beyond(&self, top: f64, values: RunValues<'_>) -> Vec<f64> {
        let mut times: Vec<f64> = Vec::new();
        for (run, columns) in &self.repeats {
            let is_beyond = |column: &&TimeColumn| values(run, column).is_some_and(|spread| spread.max > top);
            times.extend(columns.columns.iter().filter(is_beyond).map(TimeColumn::middle));
        }
        times.sort_by(f64::total_cmp);
        times
    }

    /// Returns the values of each column over all repeats: the median of their means where more than half of them have a
    /// value, between the least and the greatest of all.
    pub(super) fn spreads(&self, values: RunValues<'_>) -> Vec<(Option<f64>, ColumnSpread)> {
        let mut found: Vec<Vec<ColumnSpread>> = vec![Vec::new(); self.columns.len()];
        for (run, columns) in &self.repeats {
            for column in &columns.columns {
                let at = self.columns.partition_point(|other| other.start < column.start);
                if let (Some(all), Some(spread)) = (found.get_mut(at), values(run, column)) {
                    all.push(spread);
                }
            }
        }
        let over = |all: Vec<ColumnSpread>| {
            let nothing = ColumnSpread { mean: f64::NAN, min: f64::INFINITY, max: f64::NEG_INFINITY };
            let ends = all.iter().fold(nothing, |ends, spread| ColumnSpread {
                min: ends.min.min(spread.min),
                max: ends.max.max(spread.max),
                ..ends
            });
            let means: Vec<f64> = all.iter().map(|spread| spread.mean).collect();
            let is_most = 2 * means.len() > self.repeats.len();
            (median(means).filter(|_| is_most), ends)
        };
        found.into_iter().map(over).collect()
    }

    /// Draws a figure: a line at the median of the repeats, over a band from the least to the greatest.
    pub(super) fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame, of: RunValues<'_>) {
        let spreads = self.spreads(of);
        let at = |column: &TimeColumn| {
            spreads.get(self.columns.partition_point(|other| other.start < column.start)).copied()
        };
        if self.binned || self.repeats.len() > 1 {
            let ends =
                |column: &TimeColumn| at(column).map(|(_, ends)| ends).filter(|ends| ends.max >= ends.min);
            self.band(drawing, frame, &ends);
        }
        let values =
            |column: &TimeColumn| at(column)?.0.map(|mean| ColumnSpread { mean, min: mean, max: mean });
        ColumnLine { values, color: |_: &TimeColumn| self.color, width: WIDTH }.draw(
            drawing,
            frame,
            &self.columns,
        );
    }

    /// Draws a transparent band between the columns' minima and maxima.
    fn band(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        values: &impl Fn(&TimeColumn) -> Option<ColumnSpread>,
    ) {
        let known: Vec<(&TimeColumn, ColumnSpread)> =
            self.columns.iter().filter_map(|column| Some((column, values(column)?))).collect();
        let touching =
            |a: &(&TimeColumn, ColumnSpread), b: &(&TimeColumn, ColumnSpread)| a.0.end >= b.0.start;
        for run in known.chunk_by(touching) {
            let upper = run.iter().map(|(column, spread)| frame.at(column.middle(), spread.max));
            let lower = run.iter().rev().map(|(column, spread)| frame.at(column.middle(), spread.min));
            drawing.veil(upper.chain(lower).collect(), self.color, 0.22);
        }
        for edge in [|s: ColumnSpread| s.min, |s: ColumnSpread| s.max] {
            let values = |column: &TimeColumn| Some(values(column)?.at(edge));
            let line = ColumnLine { values, color: |_: &TimeColumn| self.color.tint(EDGE_TINT), width: EDGE };
            line.draw(drawing, frame, &self.columns);
        }
    }

    /// Draws markers on the line, at other times than those of other lines. The framework is the one at `rank` of
    /// `lines`.
    pub(super) fn mark(
        &self,
        drawing: &mut Drawing,
        frame: &ChartFrame,
        (rank, lines): (usize, usize),
        values: RunValues<'_>,
    ) {
        let (start, end) = (frame.time.start(), frame.time.end());
        let spreads = self.spreads(values);
        for place in 0..MARKERS {
            let share = (place as f64 + (rank as f64 + 0.5) / lines.max(1) as f64) / MARKERS as f64;
            let time = start + share * (end - start);
            let mut columns = self.columns.iter().zip(&spreads);
            let column = columns.find(|(column, _)| column.start <= time && time < column.end);
            if let Some((column, (Some(mean), _))) = column {
                self.marker.draw(drawing, frame.at(column.middle(), *mean), self.color);
            }
        }
    }
}

/// Returns the median; of an even number of values, the mean of the middle two.
fn median(values: Vec<f64>) -> Option<f64> {
    perfpipe_analyze::points::Spread::of(values).map(|spread| spread.median)
}
