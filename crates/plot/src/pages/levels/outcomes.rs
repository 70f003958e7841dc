//! How the requests of each level ended: shares stacked on each other, and the greatest share of failures of a repeat.

use perfpipe_analyze::points::Level;

use super::series::{FAILED, LevelPlaces, LevelSeries, cross};
use crate::charts::chart::{Height, TimeChart};
use crate::layout::axis::{LABEL, Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::output::drawing::{Anchor, Drawing, Point, TextLine, dot_radius};
use crate::pages::levels::bars;
use crate::palette::{Color, INK};
use crate::text::number::percent;

/// The part of white in the colour of successes, and the colour of time-outs.
const PALE: f64 = 0.45;
const LATE: Color = Color(0x6b, 0x1d, 0x14);
/// The room above a bar of 100 % for the share of failures, in percent.
const ROOM: f64 = 112.0;
/// The height of the chart where there is nothing to draw, in points.
const EMPTY: f64 = 40.0;

/// The chart.
pub(super) struct OutcomesLevels<'a> {
    pub(super) series: &'a LevelSeries<'a>,
    pub(super) places: &'a LevelPlaces,
}

impl OutcomesLevels<'_> {
    /// Returns the levels with the shares of successes, failures and time-outs.
    fn shares(&self) -> impl Iterator<Item = (u32, [f64; 3])> {
        self.series.levels.iter().filter_map(|(at, level)| Some((*at, level.outcomes?.shares()?)))
    }
}

impl TimeChart for OutcomesLevels<'_> {
    fn legend(&self) -> Legend {
        let any = |part: fn([f64; 3]) -> f64| self.shares().any(|(_, shares)| part(shares) > 0.0);
        let entry = |color: Color, text: &str| LegendEntry::new(Swatch::Bar(color), text);
        let mut entries = vec![entry(self.series.color.tint(PALE), "Successes")];
        entries.extend(any(|[_, failed, _]| failed).then(|| entry(FAILED, "Failures")));
        entries.extend(any(|[.., late]| late).then(|| entry(LATE, "Time-outs")));
        let heading = "Outcomes (% of requests, all repeats)".to_owned();
        Legend { heading, entries: if self.axis().is_ok() { entries } else { Vec::new() }, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let describe = |(at, [_, failed, late]): (u32, [f64; 3])| {
            let of_these = if late > 0.0 { format!(", time-outs {}", percent(late)) } else { String::new() };
            (failed + late > 0.0).then(|| format!("at {at} failures {}{of_these}", percent(failed)))
        };
        let words: Vec<String> = self.shares().filter_map(describe).collect();
        match (self.axis(), words.is_empty()) {
            (Err(words), _) => format!("{words}."),
            (Ok(_), true) => "All requests succeeded.".to_owned(),
            (Ok(_), false) => format!("Outcomes by {}: {}.", self.places.name(), words.join("; ")),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        match self.shares().next() {
            Some(_) => Ok(ValueAxis::new(ValueTicks { top: ROOM, step: 25.0 })),
            None => Err("The tool reports no failures"),
        }
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(0.7) } else { Height::Fixed(EMPTY) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        let half = bars::half_width(frame);
        for (at, shares) in self.shares() {
            let x = frame.x(self.places.at(at));
            let mut base = 0.0;
            for (share, color) in shares.into_iter().zip([self.series.color.tint(PALE), FAILED, LATE]) {
                let top = base + share * 100.0;
                if share > 0.0 {
                    drawing.rect((x - half, frame.y(top)), (x + half, frame.y(base)), color);
                }
                base = top;
            }
            let [_, failed, late] = shares;
            if failed + late > 0.0 {
                let place = (x, frame.y(100.0) - LABEL);
                drawing.text(TextLine::new(&percent(failed + late), place, LABEL, Anchor::Middle, FAILED));
            }
        }
        for (at, _) in self.series.levels.iter().filter(|(_, level)| level.aborted > 0) {
            cross(drawing, (frame.x(self.places.at(*at)), frame.area.bottom), INK);
        }
    }
}

/// The width of the lines, in points.
const WIDTH: f64 = 1.1;
/// The size of a level's dot, relative to the usual dot of a line.
const DOT: f64 = 1.4;
/// The height of the chart where there is nothing to draw, in points.
const NO_FAILURES: f64 = 40.0;

/// The chart. Colours are those of the throughput above it; of one series alone, that of failures.
pub(super) struct FailuresLevels<'a> {
    pub(super) series: &'a [LevelSeries<'a>],
    pub(super) places: &'a LevelPlaces,
}

impl FailuresLevels<'_> {
    /// Returns the greatest share, in percent, with its series and its level.
    fn most(&self) -> Option<(f64, &str, u32)> {
        let of = |series: &'_ LevelSeries<'_>| -> Vec<(f64, u32)> {
            series.levels.iter().filter_map(|(at, level)| Some((level.failures_percent?, *at))).collect()
        };
        let all = self
            .series
            .iter()
            .flat_map(|series| of(series).into_iter().map(|(share, at)| (share, series.name.as_str(), at)));
        all.reduce(|most, other| if other.0 > most.0 { other } else { most })
    }
}

impl TimeChart for FailuresLevels<'_> {
    fn legend(&self) -> Legend {
        let heading = "Failures (% of requests, the repeat with most)".to_owned();
        Legend { heading, entries: Vec::new(), notes: Vec::new() }
    }

    fn alt(&self) -> String {
        match self.most() {
            None => "The tools report no failures.".to_owned(),
            Some((share, ..)) if share <= 0.0 => "No request failed.".to_owned(),
            Some((share, name, at)) => format!(
                "Failures by {}: at most {} of the requests, of {name} at {at}.",
                self.places.name(),
                percent(share / 100.0)
            ),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let (most, ..) = self.most().ok_or("The tools report no failures")?;
        match most > 0.0 {
            true => Ok(ValueAxis::new(ValueTicks::up_to(most, 4, Steps::Any))),
            false => Err("No request failed"),
        }
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(0.5) } else { Height::Fixed(NO_FAILURES) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        for series in self.series.iter().rev() {
            let color = if self.series.len() == 1 { FAILED } else { series.color };
            let at =
                |(at, level): &(u32, &Level)| Some(frame.at(self.places.at(*at), level.failures_percent?));
            for stretch in series.levels.chunk_by(|a, b| at(a).is_some() == at(b).is_some()) {
                let points: Vec<Point> = stretch.iter().filter_map(at).collect();
                points.iter().for_each(|point| drawing.dot(*point, dot_radius(WIDTH) * DOT, color));
                drawing.line(points, WIDTH, color);
            }
        }
    }
}
