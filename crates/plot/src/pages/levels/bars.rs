//! Bars by workers: throughput beside the ideal, and bytes per second.

use perfpipe_analyze::points::{Level, Spread};

use super::series::{LevelPlaces, LevelSeries, cross};
use crate::charts::chart::{Height, TimeChart};
use crate::layout::axis::{LABEL, Steps, ValueAxis, ValueTicks};
use crate::layout::dashes;
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::output::drawing::{Anchor, Drawing, Point, TextLine};
use crate::palette::{INK, PAPER, SOFT};
use crate::text::fonts;
use crate::text::number::{grouped, measured, percent};

/// The widest bar, in points, and the part of a step that a bar takes.
const WIDEST: f64 = 34.0;
const OF_STEP: f64 = 0.56;
/// The widths of the ideal line and of the lines of the spread, in points.
const WIDTHS: (f64, f64) = (1.0, 0.9);
/// The part of white in the colour of the bars.
const PALE: f64 = 0.3;
/// The room above the bars for what is written there, as a part of the greatest value.
const ROOM: f64 = 1.2;
/// The room between lines of text, in points.
const LEADING: f64 = 1.5;
/// Bytes in the units of the axis.
const KILOBYTE: f64 = 1e3;
const MEGABYTE: f64 = 1e6;

/// Returns half the width of a bar, in points.
pub(super) fn half_width(frame: &ChartFrame) -> f64 {
    (LevelPlaces::step(frame) * OF_STEP).min(WIDEST) / 2.0
}

/// The throughput by workers, with the speed-up above each bar.
pub(super) struct ScalingLevels<'a> {
    pub(super) series: &'a LevelSeries<'a>,
    pub(super) places: &'a LevelPlaces,
}

impl ScalingLevels<'_> {
    fn known(&self) -> impl Iterator<Item = (u32, &Level, Spread)> {
        self.series.levels.iter().filter_map(|(at, level)| Some((*at, *level, level.throughput?)))
    }

    /// Returns the throughput at each level if it grew as the workers do from the fewest.
    fn ideal(&self) -> Vec<(u32, f64)> {
        let Some((fewest, _, least)) = self.known().next().filter(|(fewest, ..)| *fewest > 0) else {
            return Vec::new();
        };
        let at = |(workers, ..): (u32, &Level, Spread)| {
            (workers, least.median * f64::from(workers) / f64::from(fewest))
        };
        self.known().map(at).collect()
    }
}

impl TimeChart for ScalingLevels<'_> {
    fn legend(&self) -> Legend {
        let is_repeated = self.known().any(|(_, level, _)| level.repeats > 1);
        let bar = if is_repeated { "Median (line: least to greatest)" } else { "Measured" };
        let entries = vec![
            LegendEntry::new(Swatch::Bar(self.series.color.tint(PALE)), bar),
            LegendEntry::new(Swatch::Dashes(INK, WIDTHS.0), "Ideal, from the fewest workers"),
        ];
        let note =
            "Above each bar: the speed-up, and the efficiency, which is the speed-up by worker".to_owned();
        Legend { heading: "Successes per second".to_owned(), entries, notes: vec![note] }
    }

    fn alt(&self) -> String {
        let describe = |(at, level, spread): (u32, &Level, Spread)| {
            let times = level.speed_up.map(|times| format!(" (× {})", grouped(times, 2))).unwrap_or_default();
            format!("{} at {at}{times}", measured(spread.median))
        };
        let words: Vec<String> = self.known().map(describe).collect();
        match words.is_empty() {
            true => "No level has a throughput.".to_owned(),
            false => format!("Successes per second by workers, with the speed-up: {}.", words.join(", ")),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let ideal = self.ideal().into_iter().map(|(_, value)| value);
        let max = self.known().map(|(.., spread)| spread.greatest * ROOM).chain(ideal).reduce(f64::max);
        Ok(ValueAxis::new(ValueTicks::up_to(max.ok_or("No level has a throughput")?, 6, Steps::Any)))
    }

    fn height(&self) -> Height {
        Height::Share(1.2)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        let half = half_width(frame);
        let x = |workers: u32| frame.x(self.places.at(workers));
        for (at, _, spread) in self.known() {
            let (left, right) = (x(at) - half, x(at) + half);
            let color = self.series.color;
            drawing.rect((left, frame.y(spread.median)), (right, frame.area.bottom), color.tint(PALE));
            if spread.least < spread.greatest {
                let ends = vec![(x(at), frame.y(spread.least)), (x(at), frame.y(spread.greatest))];
                drawing.line(ends, WIDTHS.1, color);
            }
        }
        let ideal: Vec<Point> = self.ideal().into_iter().map(|(at, value)| (x(at), frame.y(value))).collect();
        dashes::draw(drawing, &ideal, WIDTHS.0, INK);
        for ((at, level, spread), (_, ideal)) in self.known().zip(&ideal) {
            let Some(times) = level.speed_up else { continue };
            let efficiency = level.efficiency_percent.unwrap_or_default() / 100.0;
            let lines = [percent(efficiency), format!("× {}", grouped(times, 2))];
            write_above(drawing, (x(at), frame.y(spread.greatest)), *ideal, &lines);
        }
        for (at, _) in self.series.levels.iter().filter(|(_, level)| level.aborted > 0) {
            cross(drawing, (x(*at), frame.area.bottom), INK);
        }
    }
}

/// Writes lines above the top of a bar, from below to above; above the ideal too, where that is near. What is behind them
/// is covered, so that the line of the ideal crosses no text.
fn write_above(drawing: &mut Drawing, (x, top): Point, ideal: f64, lines: &[String]) {
    let height = (LABEL + LEADING) * lines.len() as f64;
    let base = if ideal < top && top - ideal < height { ideal } else { top };
    for (line, text) in lines.iter().enumerate() {
        let y = base - LABEL - (LABEL + LEADING) * line as f64;
        let half = fonts::width(text, LABEL) / 2.0 + LEADING;
        drawing.rect((x - half, y - LABEL / 2.0 - LEADING), (x + half, y + LABEL / 2.0), PAPER);
        drawing.text(TextLine::new(text, (x, y), LABEL, Anchor::Middle, INK));
    }
}

/// Bytes received per second, by level.
pub(super) struct BytesLevels<'a> {
    pub(super) series: &'a LevelSeries<'a>,
    pub(super) places: &'a LevelPlaces,
}

impl BytesLevels<'_> {
    fn known(&self) -> impl Iterator<Item = (u32, f64)> {
        let of = |(at, level): &(u32, &Level)| Some((*at, level.bytes_per_second?));
        self.series.levels.iter().filter_map(of)
    }

    /// Returns the number of bytes in the unit of the axis, and its name.
    fn unit(&self) -> (f64, &'static str) {
        let is_large = self.known().any(|(_, value)| value >= MEGABYTE);
        if is_large { (MEGABYTE, "MB") } else { (KILOBYTE, "kB") }
    }

    /// Returns true if any level reports its bytes.
    pub(super) fn is_known(&self) -> bool {
        self.known().next().is_some()
    }
}

impl TimeChart for BytesLevels<'_> {
    fn legend(&self) -> Legend {
        let heading = match self.unit() {
            (_, unit @ "kB") => format!("Received ({unit}/s, 1 kB = 1,000 bytes)"),
            (_, unit) => format!("Received ({unit}/s, 1 MB = 1,000,000 bytes)"),
        };
        Legend { heading, entries: Vec::new(), notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let (size, unit) = self.unit();
        let words: Vec<String> =
            self.known().map(|(at, value)| format!("{} at {at}", measured(value / size))).collect();
        format!("Received by {}, in {unit}/s: {}.", self.places.name(), words.join(", "))
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.known().map(|(_, value)| value / self.unit().0).reduce(f64::max);
        Ok(ValueAxis::new(ValueTicks::up_to(max.ok_or("The tool reports no bytes")?, 4, Steps::Any)))
    }

    fn height(&self) -> Height {
        Height::Share(0.6)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        let (half, unit) = (half_width(frame), self.unit().0);
        for (at, value) in self.known() {
            let x = frame.x(self.places.at(at));
            drawing.rect((x - half, frame.y(value / unit)), (x + half, frame.area.bottom), SOFT.tint(0.5));
        }
    }
}
