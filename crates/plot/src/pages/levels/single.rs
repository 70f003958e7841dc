//! The page of one framework by one tool: latencies and outcomes by level; by workers, its scaling too.

use perfpipe_analyze::points::{Level, SweepBy};

use super::bars::{Bytes, Scaling};
use super::latency::Latency;
use super::outcomes::Outcomes;
use super::places::Places;
use super::series::Series;
use super::{server, texts};
use crate::charts::chart::Chart;
use crate::output::drawing::Drawing;
use crate::pages::sheet::Sheet;
use crate::style::Style;

/// Draws the page; all levels are of one series.
pub(crate) fn draw(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let all = Series::all(levels, by);
    let places = Places::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = Sheet {
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
    series: &'a Series<'a>,
    places: &'a Places,
    (by, style): (SweepBy, &'a Style),
) -> Vec<Box<dyn Chart + 'a>> {
    let mut charts: Vec<Box<dyn Chart + 'a>> = Vec::new();
    if by == SweepBy::Workers {
        charts.push(Box::new(Scaling { series, places }));
        let bytes = Bytes { series, places };
        if bytes.is_known() {
            charts.push(Box::new(bytes));
        }
    }
    charts.push(Box::new(Latency { series, places, style }));
    charts.push(Box::new(Outcomes { series, places }));
    for server in server::charts(series, places) {
        charts.push(Box::new(server));
    }
    charts
}
