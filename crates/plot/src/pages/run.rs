//! The page of one run: its charts, one below the other, over a common time axis.

use perfpipe_analyze::Timeline;

use super::footer::chosen;
use super::sheet::{self, PageTexts};
use crate::charts::chart::{ColorBar, TimeChart};
use crate::charts::load::LoadChart;
use crate::charts::requests::{FailuresChart, RequestsChart};
use crate::charts::response::ResponseChart;
use crate::charts::run::RunData;
use crate::charts::series;
use crate::charts::series::CpuChart;
use crate::layout::frame::{LABEL_GAP, Rect, TimeAxis};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::Drawing;
use crate::pages::footer;
use crate::style::Style;

/// Returns the charts, from top to bottom.
fn charts<'a>(run: &'a RunData<'a>) -> Vec<Box<dyn TimeChart + 'a>> {
    let mut charts: Vec<Box<dyn TimeChart>> = vec![Box::new(RequestsChart(run)), Box::new(CpuChart(run))];
    charts.extend(LoadChart::new(run).map(|chart| Box::new(chart) as Box<dyn TimeChart>));
    charts.extend(series::charts(run).map(|chart| Box::new(chart) as Box<dyn TimeChart>));
    charts.push(Box::new(ResponseChart::new(run)));
    if run.summary().failures > 0 {
        charts.push(Box::new(FailuresChart(run)));
    }
    charts
}

/// Draws the page of a run.
pub(crate) fn draw(timeline: &Timeline, style: &Style, title: &str) -> Drawing {
    let run = RunData::new(timeline, style);
    let phases = PhaseBand::new(timeline, run.columns.span);
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let room = PageTexts {
        title,
        chosen: &chosen([(&timeline.view, &timeline.info)]),
        subtitle: &footer::figures(timeline),
        footer: &footer::facts(&run),
    }
    .draw(&mut drawing);
    let charts = charts(&run);
    let bar = ColorBar::new(style.color_by, &run.scale);
    let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
    let column = Rect {
        left: room.left + labels.fold(sheet::LEAST_LABEL, f64::max) + LABEL_GAP,
        right: room.right - bar.as_ref().map_or(0.0, ColorBar::width),
        ..room
    };
    let time = TimeAxis::new(run.columns.span, column.width(), run.clock);
    sheet::draw(&mut drawing, &charts, column, time, &phases);
    if let Some(bar) = bar {
        bar.draw(&mut drawing, bar_area(&charts, column.rows(column.top + phases.height(), column.bottom)));
    }
    drawing
}

/// Returns the area from the first chart's frame to the last one's, for the colour bar.
fn bar_area(charts: &[Box<dyn TimeChart + '_>], column: Rect) -> Rect {
    let above = charts.first().map_or(0.0, |chart| chart.legend().height(column.width()));
    column.rows(column.top + above, column.bottom - sheet::BELOW)
}
