//! Latencies by level, beside c/X, which no mean of a closed loop exceeds.

use perfpipe_analyze::points::Level;

use super::series::{LevelPlaces, LevelSeries};
use crate::charts::chart::{Height, TimeChart};
use crate::charts::response::log_words;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::dashes;
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::{Color, INK, quantile_color, series_color};
use crate::style::Style;
use crate::text::number::{LONG_MS, response};

/// The width of the lines, in points.
const WIDTH: f64 = 1.2;
/// The size of a level's dot, relative to the usual dot of a line.
const DOT: f64 = 1.4;

/// The opacity of the shade behind levels with time-outs.
const SHADE: f64 = 0.09;

/// What a line shows.
struct LatencyLine {
    name: &'static str,
    color: Color,
    value: fn(&Level) -> Option<f64>,
}

/// The percentiles, ascending, and the mean.
fn lines() -> [LatencyLine; 4] {
    let line = |name, color, value| LatencyLine { name, color, value };
    [
        line("p50", quantile_color(0, 3), |level| level.percentiles_ms[0]),
        line("p90", quantile_color(1, 3), |level| level.percentiles_ms[1]),
        line("p99", quantile_color(2, 3), |level| level.percentiles_ms[2]),
        line("Mean", series_color(6), |level| level.mean_ms),
    ]
}

/// The chart.
pub(super) struct LatencyLevels<'a> {
    pub(super) series: &'a LevelSeries<'a>,
    pub(super) places: &'a LevelPlaces,
    pub(super) style: &'a Style,
}

impl LatencyLevels<'_> {
    /// Returns the lines that have a value.
    fn known_lines(&self) -> Vec<LatencyLine> {
        let any =
            |line: &LatencyLine| self.series.levels.iter().any(|(_, level)| (line.value)(level).is_some());
        lines().into_iter().filter(any).collect()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let of = |(_, level): &(u32, &Level)| {
            let level = *level;
            lines()
                .into_iter()
                .filter_map(|line| (line.value)(level))
                .chain(level.little_ms)
                .collect::<Vec<_>>()
        };
        self.series.levels.iter().flat_map(of).filter(|value| value.is_finite())
    }

    /// Returns the unit of the axis in ms, and its name.
    fn unit(&self) -> (f64, &'static str) {
        let is_long = self.values().any(|value| value >= LONG_MS);
        if is_long { (1000.0, "s") } else { (1.0, "ms") }
    }

    /// Returns the levels of which a test holds, as in `8, 16`.
    fn levels(&self, is: fn(&Level) -> bool) -> Option<String> {
        let found: Vec<String> =
            self.series.levels.iter().filter(|(_, level)| is(level)).map(|(at, _)| at.to_string()).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }

    /// Says where the figures come from, and what they lack.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.known_lines().is_empty() && self.values().next().is_some() {
            notes.push("The tool reports no latencies: their mean is at most c/X".to_owned());
        }
        let exact = self.levels(|level| level.latency_source == Some("exact"));
        let printed = self.levels(|level| level.latency_source == Some("printed"));
        let both = self.levels(|level| level.latency_source == Some("both"));
        match (exact, printed, both) {
            (None, None, None) => {}
            (Some(_), None, None) => notes.push("Exact, computed from counts of each latency".to_owned()),
            (None, Some(_), None) => notes.push("As the tool printed them".to_owned()),
            (exact, ..) => notes.push(format!(
                "Exact at {}; elsewhere some or all are as the tool printed them",
                exact.unwrap_or_else(|| "no level".to_owned())
            )),
        }
        if let Some(levels) = self.levels(|level| level.is_failing() && level.latencies_of_failures > 0) {
            notes.push(format!(
                "Latencies include those of failures, more than 1 % of the requests: at {levels}"
            ));
        }
        if let Some(levels) = self.levels(|level| level.impossible_means > 0) {
            notes.push(format!(
                "Some printed means are impossibly high (above concurrency ÷ answers/s): at {levels}"
            ));
        }
        notes
    }
}

fn is_late(level: &Level) -> bool {
    level.timeouts.is_some_and(|timeouts| timeouts > 0)
}

/// The colour behind levels with time-outs.
fn shade() -> Color {
    INK.tint(1.0 - SHADE)
}

impl TimeChart for LatencyLevels<'_> {
    fn legend(&self) -> Legend {
        let line = |line: &LatencyLine| LegendEntry::new(Swatch::Line(line.color, WIDTH), line.name);
        let mut entries: Vec<LegendEntry> = self.known_lines().iter().map(line).collect();
        let has_little = self.series.levels.iter().any(|(_, level)| level.little_ms.is_some());
        entries
            .extend(has_little.then(|| LegendEntry::new(Swatch::Dashes(INK, WIDTH), "c/X (Little's law)")));
        let late = self.levels(is_late);
        entries.extend(late.map(|_| LegendEntry::new(Swatch::Bar(shade()), "Time-outs, in no latency")));
        let heading = format!("Latency ({}{})", self.unit().1, log_words(self.style));
        Legend { heading, entries, notes: self.notes() }
    }

    fn alt(&self) -> String {
        let describe = |line: &LatencyLine| {
            let known: Vec<(u32, f64)> = self
                .series
                .levels
                .iter()
                .filter_map(|(at, level)| Some((*at, (line.value)(level)?)))
                .collect();
            let ((first, from), (last, to)) = known.first().copied().zip(known.last().copied())?;
            let (from, to) = (response(from), response(to));
            Some(format!("{} from {from} at {first} to {to} at {last}", line.name))
        };
        let words: Vec<String> = self.known_lines().iter().filter_map(describe).collect();
        match words.is_empty() {
            true => "The tool reports no latencies.".to_owned(),
            false => {
                let notes: String = self.notes().iter().map(|note| format!(" {note}.")).collect();
                format!("Latency by {}: {}.{notes}", self.places.name(), words.join(", "))
            }
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        if self.values().next().is_none() {
            return Err("The tool reports no latencies");
        }
        let unit = self.unit().0;
        let max = self.values().reduce(f64::max).unwrap_or(1.0);
        if self.style.log_scale {
            let least = self.values().filter(|value| *value > 0.0).reduce(f64::min).unwrap_or(max);
            return Ok(ValueAxis::log(least / unit, max / unit));
        }
        Ok(ValueAxis::new(ValueTicks::up_to(max / unit, 6, Steps::Any)))
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(1.1) } else { Height::Fixed(40.0) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let unit = self.unit().0;
        for (at, _) in self.series.levels.iter().filter(|(_, level)| is_late(level)) {
            let (x, half) = (frame.x(self.places.at(*at)), LevelPlaces::step(frame) / 2.0);
            let (top, bottom) = (frame.area.top, frame.area.bottom);
            let corners = vec![(x - half, top), (x + half, top), (x + half, bottom), (x - half, bottom)];
            drawing.veil(corners, INK, SHADE);
        }
        self.places.draw(drawing, frame);
        let stretches = |value: &dyn Fn(&Level) -> Option<f64>| -> Vec<Vec<Point>> {
            let at = |(at, level): &(u32, &Level)| Some(frame.at(self.places.at(*at), value(level)? / unit));
            let runs = self.series.levels.chunk_by(|a, b| at(a).is_some() == at(b).is_some());
            runs.map(|run| run.iter().filter_map(at).collect()).collect()
        };
        for line in self.known_lines() {
            for points in stretches(&line.value) {
                points.iter().for_each(|point| drawing.dot(*point, dot_radius(WIDTH) * DOT, line.color));
                drawing.line(points, WIDTH, line.color);
            }
        }
        for points in stretches(&|level| level.little_ms) {
            dashes::draw(drawing, &points, WIDTH, INK);
        }
    }
}
