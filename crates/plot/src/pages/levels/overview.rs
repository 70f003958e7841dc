//! The page of all frameworks and tools: throughput and failures by level.

use perfpipe_analyze::points::{Level, SweepBy};

use super::failures::FailuresLevels;
use super::places::LevelPlaces;
use super::series::LevelSeries;
use super::texts;
use super::throughput::ThroughputLevels;
use crate::charts::chart::Chart;
use crate::output::drawing::Drawing;
use crate::pages::sheet::PageTexts;
use crate::style::Style;

/// Draws the page.
pub(crate) fn draw(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.landscape()).with_fonts(style.fonts());
    let series = LevelSeries::all(levels, by);
    let places = LevelPlaces::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = PageTexts {
        title,
        chosen: &texts::chosen(levels, by),
        subtitle: &[texts::figures(levels, &series)],
        footer: &texts::of_overview(levels),
    };
    let room = sheet.draw(&mut drawing);
    let charts: Vec<Box<dyn Chart + '_>> = vec![
        Box::new(ThroughputLevels { series: &series, places: &places }),
        Box::new(FailuresLevels { series: &series, places: &places }),
    ];
    places.stack(&mut drawing, &charts, room);
    drawing
}
