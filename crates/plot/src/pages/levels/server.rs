//! What the server read of itself, such as its memory, by level.

use perfpipe_model::points::Readings;

use super::series::{LevelPlaces, LevelSeries};
use crate::charts::chart::{Height, TimeChart};
use crate::charts::series::ScaledSeries;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::ChartFrame;
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::palette::{Color, series_color};
use crate::text::number::measured;

/// The width of the lines, in points.
const WIDTH: f64 = 1.2;
/// The size of a level's dot, relative to the usual dot of a line.
const DOT: f64 = 1.4;
/// The part of white in the colour of the mean.
const PALE: f64 = 0.45;

/// The chart of one series of the server.
pub(super) struct ServerLevels<'a> {
    series: &'a LevelSeries<'a>,
    places: &'a LevelPlaces,
    /// The readings of the levels that have some.
    readings: Vec<(u32, &'a Readings)>,
    scaled: ScaledSeries,
}

/// Returns the charts of all series that any level has readings of.
pub(super) fn charts<'a>(series: &'a LevelSeries<'a>, places: &'a LevelPlaces) -> Vec<ServerLevels<'a>> {
    let all = || series.levels.iter().flat_map(|(at, level)| level.readings.iter().map(move |of| (*at, of)));
    let mut names: Vec<(&str, &str)> = all().map(|(_, of)| (of.name.as_str(), of.unit.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let one = |(name, unit): (&str, &str)| {
        let readings: Vec<(u32, &'a Readings)> =
            all().filter(|(_, of)| (of.name.as_str(), of.unit.as_str()) == (name, unit)).collect();
        let max = readings.iter().map(|(_, of)| of.greatest).fold(0.0, f64::max);
        ServerLevels { series, places, readings, scaled: ScaledSeries::up_to(unit, max) }
    };
    names.into_iter().map(one).collect()
}

impl ServerLevels<'_> {
    fn color(&self) -> Color {
        series_color(4)
    }

    fn name(&self) -> &str {
        self.readings.first().map_or("", |(_, of)| of.name.as_str())
    }

    fn line(&self, drawing: &mut Drawing, frame: &ChartFrame, value: fn(&Readings) -> f64, color: Color) {
        let at = |(at, _): &(u32, _)| {
            let found = self.readings.iter().find(|(level, _)| level == at)?;
            Some(frame.at(self.places.at(*at), value(found.1) / self.scaled.factor))
        };
        for run in self.series.levels.chunk_by(|a, b| at(a).is_some() == at(b).is_some()) {
            let points: Vec<Point> = run.iter().filter_map(at).collect();
            points.iter().for_each(|point| drawing.dot(*point, dot_radius(WIDTH) * DOT, color));
            drawing.line(points, WIDTH, color);
        }
    }
}

impl TimeChart for ServerLevels<'_> {
    fn legend(&self) -> Legend {
        let entries = vec![
            LegendEntry::new(Swatch::Line(self.color(), WIDTH), "Greatest"),
            LegendEntry::new(Swatch::Line(self.color().tint(PALE), WIDTH), "Mean"),
        ];
        let heading = format!("{} of the server ({})", self.name(), self.scaled.unit);
        Legend { heading, entries, notes: self.scaled.note().into_iter().collect() }
    }

    fn alt(&self) -> String {
        let describe =
            |(at, of): &(u32, &Readings)| format!("{} at {at}", measured(of.greatest / self.scaled.factor));
        let words: Vec<String> = self.readings.iter().map(describe).collect();
        format!(
            "{} by {}, at most, in {}: {}.",
            self.name(),
            self.places.name(),
            self.scaled.unit,
            words.join(", ")
        )
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.readings.iter().map(|(_, of)| of.greatest / self.scaled.factor).reduce(f64::max);
        Ok(ValueAxis::new(ValueTicks::up_to(max.ok_or("No readings")?.max(0.0), 4, Steps::Any)))
    }

    fn height(&self) -> Height {
        Height::Share(0.6)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.places.draw(drawing, frame);
        self.line(drawing, frame, |of| of.mean, self.color().tint(PALE));
        self.line(drawing, frame, |of| of.greatest, self.color());
    }
}
