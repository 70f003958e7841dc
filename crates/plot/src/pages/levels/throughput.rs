//! Throughput by level: a line for each framework and tool, with the spread of the repeats.

use perfpipe_analyze::points::{Level, Spread};

use super::series::{LevelPlaces, LevelSeries, cross, ring};
use crate::charts::chart::{Height, TimeChart};
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::output::drawing::{Drawing, Point};
use crate::text::number::measured;

/// The widths of the lines and of the bands' edges, in points.
const WIDTHS: (f64, f64) = (1.3, 0.4);
/// The opacity of bands.
const BAND: f64 = 0.16;
/// The distance between crosses of several series at one level, in points.
const BESIDE: f64 = 9.0;
/// The number of series that the chart's description names; the rest are counted.
const NAMED: usize = 20;

/// The chart.
pub(super) struct ThroughputLevels<'a> {
    pub(super) series: &'a [LevelSeries<'a>],
    pub(super) places: &'a LevelPlaces,
}

impl TimeChart for ThroughputLevels<'_> {
    fn legend(&self) -> Legend {
        let entry = |series: &LevelSeries<'_>| {
            LegendEntry::new(Swatch::Marked(series.color, WIDTHS.0, series.marker), series.name.clone())
        };
        let entries =
            if self.series.len() > 1 { self.series.iter().map(entry).collect() } else { Vec::new() };
        Legend { heading: "Successes per second".to_owned(), entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let words: Vec<String> = self.series.iter().take(NAMED).filter_map(describe).collect();
        let more = self.series.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        match words.is_empty() {
            true => "No level has a throughput.".to_owned(),
            false => format!("Successes per second by {}: {}{more}.", self.places.name(), words.join("; ")),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let levels = self.series.iter().flat_map(|series| &series.levels);
        let max = levels.filter_map(|(_, level)| level.throughput).map(|spread| spread.greatest);
        let max = max.reduce(f64::max).ok_or("No level has a throughput")?;
        Ok(ValueAxis::new(ValueTicks::up_to(max, 6, Steps::Any)))
    }

    fn height(&self) -> Height {
        Height::Share(1.3)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        let at = |level: u32, value: f64| frame.at(self.places.at(level), value);
        for series in self.series {
            band(drawing, series, at);
        }
        // The best is drawn last, above the others.
        for series in self.series.iter().rev() {
            if let Some((level, spread)) = series.knee().and_then(|(at, level)| Some((at, level.throughput?)))
            {
                ring(drawing, at(level, spread.median), series.color);
            }
            for stretch in stretches(series) {
                let points = stretch.iter().map(|(level, spread)| at(*level, spread.median));
                drawing.line(points.collect(), WIDTHS.0, series.color);
            }
            for (level, of) in &series.levels {
                let Some(spread) = of.throughput else { continue };
                let marker = if of.is_failing() { series.marker.hollow() } else { series.marker };
                marker.draw(drawing, at(*level, spread.median), series.color);
            }
        }
        self.crosses(drawing, frame);
    }
}

impl ThroughputLevels<'_> {
    /// Draws a cross on the base line for each level with aborted repeats, those of several series beside each other.
    fn crosses(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let is_aborted = |series: &&LevelSeries<'_>| series.levels.iter().any(|(_, level)| level.aborted > 0);
        let aborted: Vec<&LevelSeries<'_>> = self.series.iter().filter(is_aborted).collect();
        for (rank, series) in aborted.iter().enumerate() {
            let shift = (rank as f64 - (aborted.len() as f64 - 1.0) / 2.0) * BESIDE;
            for (level, _) in series.levels.iter().filter(|(_, level)| level.aborted > 0) {
                let place = (frame.x(self.places.at(*level)) + shift, frame.area.bottom);
                cross(drawing, place, series.color);
            }
        }
    }
}

/// Describes the greatest throughput of a series, and its knee.
fn describe(series: &LevelSeries<'_>) -> Option<String> {
    let (at, most) = series.greatest()?;
    let knee = series.knee_words().map(|level| format!(", knee at {level}")).unwrap_or_default();
    let aborted: Vec<String> =
        series.levels.iter().filter(|(_, level)| level.aborted > 0).map(|(at, _)| at.to_string()).collect();
    let aborted =
        if aborted.is_empty() { String::new() } else { format!(", aborted at {}", aborted.join(", ")) };
    Some(format!("{} at most {} at {at}{knee}{aborted}", series.name, measured(most)))
}

/// Returns the runs of levels that have a throughput; a level without one breaks the line.
fn stretches(series: &LevelSeries<'_>) -> Vec<Vec<(u32, Spread)>> {
    let has = |(_, level): &(u32, &Level)| level.throughput.is_some();
    let runs = series.levels.chunk_by(|a, b| has(a) == has(b));
    let known = |run: &[(u32, &Level)]| -> Vec<(u32, Spread)> {
        run.iter().filter_map(|(at, level)| Some((*at, level.throughput?))).collect()
    };
    runs.map(known).filter(|run| !run.is_empty()).collect()
}

/// Draws a band from the least to the greatest of the repeats.
fn band(drawing: &mut Drawing, series: &LevelSeries<'_>, at: impl Fn(u32, f64) -> Point) {
    for stretch in stretches(series).iter().filter(|stretch| stretch.len() > 1) {
        let least: Vec<Point> = stretch.iter().map(|(level, spread)| at(*level, spread.least)).collect();
        let greatest: Vec<Point> =
            stretch.iter().map(|(level, spread)| at(*level, spread.greatest)).collect();
        let around = greatest.iter().chain(least.iter().rev()).copied().collect();
        drawing.veil(around, series.color, BAND);
        for edge in [least, greatest] {
            drawing.line(edge, WIDTHS.1, series.color.tint(0.5));
        }
    }
}
