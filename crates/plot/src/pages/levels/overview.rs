//! The page of all frameworks and tools: throughput and failures by level.

use perfpipe_analyze::points::{Level, SweepBy};

use super::failures::Failures;
use super::places::Places;
use super::series::Series;
use super::texts;
use super::throughput::Throughput;
use crate::charts::chart::Chart;
use crate::output::drawing::Drawing;
use crate::pages::sheet::Sheet;
use crate::style::Style;

/// Draws the page.
pub(crate) fn draw(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.landscape()).with_fonts(style.fonts());
    let series = Series::all(levels, by);
    let places = Places::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = Sheet {
        title,
        chosen: &texts::chosen(levels, by),
        subtitle: &[texts::figures(levels, &series)],
        footer: &texts::of_overview(levels),
    };
    let room = sheet.draw(&mut drawing);
    let charts: Vec<Box<dyn Chart + '_>> = vec![
        Box::new(Throughput { series: &series, places: &places }),
        Box::new(Failures { series: &series, places: &places }),
    ];
    places.stack(&mut drawing, &charts, room);
    drawing
}
