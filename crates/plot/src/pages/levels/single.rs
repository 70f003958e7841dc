//! The page of one framework by one tool: latencies and outcomes by level; by workers, its scaling too.

use perfpipe_analyze::points::{Level, SweepBy};

use super::bars::{BytesLevels, ScalingLevels};
use super::latency::LatencyLevels;
use super::outcomes::OutcomesLevels;
use super::places::LevelPlaces;
use super::series::LevelSeries;
use super::{server, texts};
use crate::charts::chart::Chart;
use crate::output::drawing::Drawing;
use crate::pages::sheet::PageTexts;
use crate::style::Style;

/// Draws the page; all levels are of one series.
pub(crate) fn draw(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let all = LevelSeries::all(levels, by);
    let places = LevelPlaces::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = PageTexts {
        title,
        chosen: &texts::chosen(levels, by),
        subtitle: &[texts::figures(levels, &all)],
        footer: &texts::of_one(levels),
    };
    let room = sheet.draw(&mut drawing);
    let charts: Vec<Box<dyn Chart + '_>> =
        all.first().map(|series| charts(series, &places, (by, style))).unwrap_or_default();
    places.stack(&mut drawing, &charts, room);
    drawing
}

/// Returns the charts, from top to bottom.
fn charts<'a>(
    series: &'a LevelSeries<'a>,
    places: &'a LevelPlaces,
    (by, style): (SweepBy, &'a Style),
) -> Vec<Box<dyn Chart + 'a>> {
    let mut charts: Vec<Box<dyn Chart + 'a>> = Vec::new();
    if by == SweepBy::Workers {
        charts.push(Box::new(ScalingLevels { series, places }));
        let bytes = BytesLevels { series, places };
        if bytes.is_known() {
            charts.push(Box::new(bytes));
        }
    }
    charts.push(Box::new(LatencyLevels { series, places, style }));
    charts.push(Box::new(OutcomesLevels { series, places }));
    for server in server::charts(series, places) {
        charts.push(Box::new(server));
    }
    charts
}
