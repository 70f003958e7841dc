//! Failures by level: the greatest share of a repeat.

use perfpipe_analyze::points::Level;

use super::places::LevelPlaces;
use super::series::{FAILED, LevelSeries};
use crate::charts::chart::{Chart, Height};
use crate::layout::axis::Axis;
use crate::layout::frame::Frame;
use crate::layout::legend::Legend;
use crate::layout::ticks::{Steps, Values};
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::text::number::percent;

/// The width of the lines, in points.
const WIDTH: f64 = 1.1;
/// The size of a level's dot, relative to the usual dot of a line.
const DOT: f64 = 1.4;
/// The height of the chart where there is nothing to draw, in points.
const EMPTY: f64 = 40.0;

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

impl Chart for FailuresLevels<'_> {
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

    fn axis(&self) -> Result<Axis, &'static str> {
        let (most, ..) = self.most().ok_or("The tools report no failures")?;
        match most > 0.0 {
            true => Ok(Axis::new(Values::up_to(most, 4, Steps::Any))),
            false => Err("No request failed"),
        }
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(0.5) } else { Height::Fixed(EMPTY) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &Frame) {
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
