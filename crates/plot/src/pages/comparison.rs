//! The page that compares two runs: throughput, response times, CPU and other series, drawn over each other.

use perfpipe_analyze::Timeline;

use super::footer::chosen;
use super::sheet::{self, PageTexts};
use crate::charts::chart::{Height, TimeChart};
use crate::charts::reach::Reach;
use crate::charts::response::log_words;
use crate::charts::series::SharedSeries;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::{LABEL_GAP, Rect, TimeAxis};
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::layout::phase_band::PhaseBand;
use crate::marks;
use crate::marks::ColumnLine;
use crate::output::drawing::Drawing;
use crate::pages::footer;
use crate::palette::{Color, series_color};
use crate::style::{ColorBy, Style};
use crate::text::clock::duration;
use crate::text::number::{measured, response, trimmed};
use crate::time_columns::{self, ColumnSpread, RunColumns, TimeColumn};

/// The width of the lines, in points.
const WIDTH: f64 = 1.1;
/// The height of a chart without data, in points.
const NOTHING: f64 = 40.0;

/// One of the two runs.
struct RunSide<'a> {
    letter: char,
    timeline: &'a Timeline,
    columns: RunColumns,
    color: Color,
}

/// Returns the values of a side's column.
type SideColumn<'a> = dyn Fn(&RunSide<'_>, &TimeColumn) -> Option<ColumnSpread> + 'a;

/// Returns the figure of a whole run, in words.
type WholeFigure<'a> = dyn Fn(&Timeline) -> Option<String> + 'a;

/// The chart of one figure of both runs over time.
struct PairChart<'a> {
    sides: &'a [RunSide<'a>; 2],
    heading: String,
    values: Box<SideColumn<'a>>,
    whole: Box<WholeFigure<'a>>,
    /// What the chart does not show.
    notes: Vec<String>,
    /// The height among the charts.
    share: f64,
    /// The words to show if neither run has the figure.
    missing: &'static str,
    steps: Steps,
    /// How far the axis reaches, if that is not to the largest value.
    reach: Option<Reach>,
    /// True if the axis is logarithmic.
    log_scale: bool,
}

/// Draws the page.
pub(crate) fn draw(a: &Timeline, b: &Timeline, style: &Style, title: &str) -> Drawing {
    let (first, end) = {
        let (one, other) = (time_columns::span(a), time_columns::span(b));
        (one.0.min(other.0), one.1.max(other.1))
    };
    let width = time_columns::width(end - first);
    let side = |at: usize, letter, timeline| RunSide {
        letter,
        timeline,
        columns: RunColumns::new(timeline, width, ColorBy::Throughput),
        color: series_color(at),
    };
    let sides = [side(0, 'A', a), side(1, 'B', b)];
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let names = sides.iter().map(RunSide::name).collect();
    let chosen = chosen([a, b].map(|timeline| (&timeline.view, &timeline.info)));
    let room = PageTexts { title, chosen: &chosen, subtitle: &[names], footer: &facts(&sides, width) };
    let room = room.draw(&mut drawing);
    let charts = charts(&sides, style);
    let charts: Vec<Box<dyn TimeChart + '_>> =
        charts.into_iter().map(|chart| Box::new(chart) as Box<dyn TimeChart>).collect();
    let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
    let column = Rect { left: room.left + labels.fold(sheet::LEAST_LABEL, f64::max) + LABEL_GAP, ..room };
    let time = TimeAxis::new((f64::from(first), f64::from(end)), column.width(), None);
    sheet::draw(&mut drawing, &charts, column, time, &PhaseBand::none());
    drawing
}

impl RunSide<'_> {
    fn name(&self) -> String {
        let key = &self.timeline.info.key;
        let partial = if self.timeline.info.is_partial() { footer::PARTIAL } else { "" };
        format!("{}: {key}{partial}", self.letter)
    }
}

/// Returns the charts: throughput, each percentile, CPU, the other series.
fn charts<'a>(sides: &'a [RunSide<'a>; 2], style: &Style) -> Vec<PairChart<'a>> {
    let mut charts = vec![PairChart {
        sides,
        heading: "Successes per second".into(),
        values: Box::new(|_, column| column.successes),
        whole: Box::new(|timeline| Some(format!("mean {}/s", measured(timeline.summary.throughput)))),
        notes: Vec::new(),
        share: 1.0,
        missing: "No request succeeded",
        steps: Steps::Whole,
        reach: None,
        log_scale: false,
    }];
    let [a, b] = sides;
    for (at, percent) in a.timeline.percentiles.iter().enumerate() {
        charts.push(PairChart {
            sides,
            heading: format!("Response time, p{} (ms{})", trimmed(*percent), log_words(style)),
            values: Box::new(move |_, column| column.percentiles.get(at).copied().flatten()),
            whole: Box::new(move |timeline| {
                timeline.summary.percentiles.get(at).copied().flatten().map(response)
            }),
            notes: Vec::new(),
            share: 1.0,
            missing: "No request succeeded",
            steps: Steps::Any,
            reach: Reach::of(&[a.timeline, b.timeline], |second| second.percentile(at))
                .map(|reach| reach.on(style.log_scale)),
            log_scale: style.log_scale,
        });
    }
    charts.push(PairChart {
        sides,
        heading: "CPU utilisation (%)".into(),
        values: Box::new(|_, column| column.cpu),
        whole: Box::new(|timeline| Some(format!("mean {} %", measured(timeline.summary.cpu_mean?)))),
        notes: Vec::new(),
        share: 1.0,
        missing: "No CPU readings for these runs",
        steps: Steps::Any,
        reach: None,
        log_scale: false,
    });
    let (series, left_out) = SharedSeries::of_runs(&[a.timeline, b.timeline]);
    charts.extend(series.into_iter().map(|series| of_series(sides, series)));
    if let Some(last) = charts.last_mut().filter(|_| left_out > 0) {
        last.notes.push(format!("Series that are not drawn: {left_out}."));
    }
    charts
}

/// Returns the chart of a series that any of the runs has.
fn of_series<'a>(sides: &'a [RunSide<'a>; 2], series: SharedSeries) -> PairChart<'a> {
    let shared = series.clone();
    let whole = move |timeline: &Timeline| {
        let mean =
            shared.mean(timeline).map(|mean| format!("mean {} {}", measured(mean), shared.scaled.unit));
        Some(mean.unwrap_or_else(|| "no readings".to_owned()))
    };
    PairChart {
        sides,
        heading: series.heading(),
        notes: series.scaled.note().into_iter().collect(),
        values: Box::new(move |side, column| series.values(side.timeline, column)),
        whole: Box::new(whole),
        share: 0.7,
        missing: "No readings for these runs",
        steps: Steps::Any,
        reach: None,
        log_scale: false,
    }
}

impl PairChart<'_> {
    fn max(&self) -> Option<f64> {
        let columns =
            self.sides.iter().flat_map(|side| side.columns.columns.iter().map(move |column| (side, column)));
        let most = |(side, column): (&RunSide<'_>, &TimeColumn)| Some((self.values)(side, column)?.max);
        let greatest = || columns.filter_map(most).reduce(f64::max);
        self.reach.map(|reach| reach.top).or_else(greatest)
    }
}

impl TimeChart for PairChart<'_> {
    fn legend(&self) -> Legend {
        let entry = |side: &RunSide<'_>| {
            let whole = (self.whole)(side.timeline).map(|whole| format!(": {whole}")).unwrap_or_default();
            LegendEntry::new(Swatch::Line(side.color, WIDTH), format!("{}{whole}", side.letter))
        };
        let beyond = self.reach.and_then(|reach| reach.note());
        let notes = beyond.into_iter().chain(self.notes.iter().cloned()).collect();
        Legend { heading: self.heading.clone(), entries: self.sides.iter().map(entry).collect(), notes }
    }

    fn alt(&self) -> String {
        let side = |side: &RunSide<'_>| {
            let whole = (self.whole)(side.timeline).unwrap_or_else(|| "none".to_owned());
            format!("{} {whole}", side.name())
        };
        match self.max() {
            Some(_) => {
                format!("{}: {}.", self.heading, self.sides.iter().map(side).collect::<Vec<_>>().join("; "))
            }
            None => format!("{}.", self.missing),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.max().filter(|max| *max > 0.0).ok_or(self.missing)?;
        Ok(match self.reach {
            Some(reach) => reach.axis(1.0, 4, self.log_scale),
            None => ValueAxis::new(ValueTicks::up_to(max, if self.share < 1.0 { 2 } else { 4 }, self.steps)),
        })
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(self.share) } else { Height::Fixed(NOTHING) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &crate::layout::frame::ChartFrame) {
        for side in self.sides.iter().rev() {
            let values = |column: &TimeColumn| (self.values)(side, column);
            let line = ColumnLine { values, color: |_: &TimeColumn| side.color, width: WIDTH };
            line.draw(drawing, frame, &side.columns.columns);
            let columns = side.columns.columns.iter();
            let is_beyond =
                |column: &&TimeColumn| values(column).is_some_and(|spread| spread.max > frame.scale.top());
            marks::draw_arrows(drawing, frame, columns.filter(is_beyond).map(TimeColumn::middle), side.color);
        }
    }
}

fn facts(sides: &[RunSide<'_>; 2], width: u32) -> Vec<String> {
    let mut facts = Vec::new();
    for side in sides {
        let info = &side.timeline.info;
        facts.push(format!(
            "{}: t0 {}, {}",
            side.letter,
            crate::text::clock::utc(info.t0_ms),
            perfpipe_analyze::format::lasting(side.timeline.duration.seconds)
        ));
        facts.extend(footer::damage(info));
    }
    let [a, _] = sides;
    facts.push(footer::percentiles(&a.timeline.percentiles));
    if width > 1 {
        facts.push(format!("Each point is the mean of {}", duration(width)));
    }
    facts
}
