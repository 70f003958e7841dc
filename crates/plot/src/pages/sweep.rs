//! The page of one run by load: throughput, response times and CPU, with the knee.

use perfpipe_analyze::format::counted;
use perfpipe_analyze::sweep::{Growth, LoadStep};
use perfpipe_analyze::{Knee, Sweep};

use super::figure::LoadFigure;
use super::footer::chosen;
use super::sheet::{self, PageTexts};
use crate::charts::chart::{Height, TimeChart};
use crate::charts::response::log_words;
use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::layout::frame::{ChartFrame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::{Drawing, Point, dot_radius};
use crate::pages::footer;
use crate::palette::{Color, FRAME, INK, quantile_color, series_color};
use crate::style::Style;
use crate::text::number::{LONG_MS, measured, response, trimmed};

/// The widths of lines, in points: the data, their spread, the bounds, the knee.
const WIDTHS: (f64, f64, f64, f64) = (1.4, 0.8, 0.8, 1.0);
/// The colour of the knee.
const KNEE: Color = Color(0xc0, 0x39, 0x2b);
/// The size of a step's dot, relative to the usual dot of a line.
const DOT: f64 = 1.4;
/// Steps are marked with dots up to this number of steps.
const MARKED: usize = 60;

/// Draws the page of a sweep.
pub(crate) fn draw(sweep: &Sweep, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let room = PageTexts {
        title,
        chosen: &chosen([(&sweep.view, &sweep.info)]),
        subtitle: &[figures(sweep)],
        footer: &facts(sweep),
    }
    .draw(&mut drawing);
    let charts = charts(sweep, style);
    let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
    let column = Rect { left: room.left + labels.fold(sheet::LEAST_LABEL, f64::max) + LABEL_GAP, ..room };
    let most = greatest(sweep, |step| Some(step.load_max)).unwrap_or(1.0);
    let axis = TimeAxis::of_load(most, column.width());
    sheet::draw(&mut drawing, &charts, column, axis, &PhaseBand::none());
    drawing
}

/// Returns the charts, from top to bottom.
pub(crate) fn charts<'a>(sweep: &'a Sweep, style: &'a Style) -> Vec<Box<dyn TimeChart + 'a>> {
    vec![
        Box::new(LoadThroughput(sweep)),
        Box::new(LoadResponse(sweep, style)),
        Box::new(LoadCpu(sweep, style)),
    ]
}

/// A chart of a sweep that stands alone: its key says what the line of the knee is.
pub(super) struct AloneChart<'a> {
    chart: Box<dyn TimeChart + 'a>,
    sweep: &'a Sweep,
}

impl<'a> AloneChart<'a> {
    /// Creates the chart of a figure.
    pub(super) fn new(figure: LoadFigure, sweep: &'a Sweep, style: &'a Style) -> Self {
        let chart: Box<dyn TimeChart> = match figure {
            LoadFigure::Throughput => Box::new(LoadThroughput(sweep)),
            LoadFigure::Response => Box::new(LoadResponse(sweep, style)),
            LoadFigure::Cpu => Box::new(LoadCpu(sweep, style)),
        };
        Self { chart, sweep }
    }

    /// Returns the axis of the loads, `room` points wide.
    pub(super) fn loads(sweep: &Sweep, room: f64) -> TimeAxis {
        TimeAxis::of_load(greatest(sweep, |step| Some(step.load_max)).unwrap_or(1.0), room)
    }
}

impl TimeChart for AloneChart<'_> {
    fn legend(&self) -> Legend {
        let mut legend = self.chart.legend();
        let swatch = Swatch::Line(KNEE, WIDTHS.3);
        if let Some(knee) = self.sweep.knee.filter(|_| !legend.entries.iter().any(|one| one.swatch == swatch))
        {
            legend.entries.push(knee_entry(&knee));
        }
        legend
    }

    fn alt(&self) -> String {
        self.chart.alt()
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        self.chart.axis()
    }

    fn height(&self) -> Height {
        self.chart.height()
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        self.chart.draw(drawing, frame);
    }
}

/// Returns the entry of a key for the line of a knee.
fn knee_entry(knee: &Knee) -> LegendEntry {
    let at = if knee.begins_beyond { "at or below " } else { "" };
    LegendEntry::new(Swatch::Line(KNEE, WIDTHS.3), format!("Knee: {at}{} threads", measured(knee.load)))
}

/// Returns the number of loads, and the knee in words, as in `throughput stops growing at about 23 threads`.
pub(crate) fn figures(sweep: &Sweep) -> Vec<String> {
    vec![counted(sweep.steps.len() as u64, "load"), growth(sweep)]
}

/// Describes how throughput depends on the load.
fn growth(sweep: &Sweep) -> String {
    if let Some(knee) = sweep.knee {
        let least = if knee.begins_beyond { ", the least load of 3 seconds or more" } else { "" };
        let (at, load, throughput) = (knee.at(), measured(knee.load), measured(knee.throughput));
        return format!("throughput stops growing {at} {load} threads{least}, at {throughput}/s");
    }
    match sweep.growth() {
        Growth::Untold => "too few load levels to find a knee".to_owned(),
        Growth::Flat => "throughput does not grow beyond the least load".to_owned(),
        Growth::Peaks(at) => {
            let load = sweep.steps.get(at).map(|step| measured(step.load)).unwrap_or_default();
            format!(
                "no knee: throughput is largest at {load} threads, and noise hides where it stops growing"
            )
        }
        Growth::GoesOn => "no knee: throughput is not seen to stop growing".to_owned(),
    }
}

fn facts(sweep: &Sweep) -> Vec<String> {
    let mut facts: Vec<String> = footer::load(&sweep.view).collect();
    facts.push(match sweep.bin {
        Some(width) => {
            format!("Each point: the seconds within {} of each other", counted(width as u64, "thread"))
        }
        None => "Each point: the seconds at one step of the load".to_owned(),
    });
    if sweep.left_out > 0 {
        facts.push(format!(
            "{} between steps or at the end left out",
            counted(sweep.left_out.into(), "second")
        ));
    }
    if sweep.knee.is_some() {
        facts.push("Knee: where the asymptotic bounds N / R and X meet (Denning & Buzen 1978)".to_owned());
    }
    facts.push(footer::percentiles(&sweep.percentiles));
    facts.extend(footer::damage(&sweep.info));
    facts
}

/// Returns the largest finite value over the steps.
fn greatest(sweep: &Sweep, value: impl Fn(&LoadStep) -> Option<f64>) -> Option<f64> {
    sweep.steps.iter().filter_map(value).filter(|value| value.is_finite()).reduce(f64::max)
}

/// Describes the largest value over the steps, as in `at most 1,767 at 50 threads`.
fn most(
    sweep: &Sweep,
    value: impl Fn(&LoadStep) -> Option<f64>,
    shown: impl Fn(f64) -> String,
) -> Option<String> {
    let values = sweep.steps.iter().filter_map(|step| Some((value(step)?, step.load)));
    let (most, load) = values.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(format!("at most {} at {} threads", shown(most), measured(load)))
}

/// Draws a line through the steps' values, broken at absent ones, with a dot at each.
fn line(
    drawing: &mut Drawing,
    frame: &ChartFrame,
    sweep: &Sweep,
    (width, color): (f64, Color),
    value: impl Fn(&LoadStep) -> Option<f64>,
) {
    let at = |step: &LoadStep| value(step).map(|value| frame.at(step.load, value));
    for stretch in sweep.steps.chunk_by(|a, b| at(a).is_some() == at(b).is_some()) {
        let points: Vec<Point> = stretch.iter().filter_map(at).collect();
        if sweep.steps.len() <= MARKED {
            points.iter().for_each(|point| drawing.dot(*point, dot_radius(width) * DOT, color));
        }
        drawing.line(points, width, color);
    }
}

/// Draws the knee as a vertical line across a chart.
fn knee(drawing: &mut Drawing, frame: &ChartFrame, sweep: &Sweep) {
    if let Some(knee) = sweep.knee {
        let x = frame.x(knee.load);
        drawing.line(vec![(x, frame.area.top), (x, frame.area.bottom)], WIDTHS.3, KNEE);
    }
}

/// The chart of throughput by load.
struct LoadThroughput<'a>(&'a Sweep);

impl LoadThroughput<'_> {
    /// Returns a step's throughput minus and plus one standard deviation.
    fn spread(step: &LoadStep) -> (f64, f64) {
        let (mean, sd) = (step.summary.throughput, step.throughput_sd.unwrap_or(0.0));
        ((mean - sd).max(0.0), mean + sd)
    }
}

impl TimeChart for LoadThroughput<'_> {
    fn legend(&self) -> Legend {
        let mut entries = vec![LegendEntry::new(
            Swatch::Line(series_color(0), WIDTHS.0),
            "Mean of the seconds ± standard deviation",
        )];
        if let Some(knee) = self.0.knee {
            let bounds = if knee.begins_beyond { "Capacity" } else { "Asymptotic bounds" };
            entries.push(LegendEntry::new(Swatch::Line(FRAME, WIDTHS.2), bounds));
            entries.push(knee_entry(&knee));
        }
        Legend { heading: "Successes per second".to_owned(), entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let most = most(self.0, |step| Some(step.summary.throughput), measured);
        format!("Successes per second by load: {}; {}.", most.unwrap_or("none".to_owned()), growth(self.0))
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = greatest(self.0, |step| Some(Self::spread(step).1)).filter(|max| *max > 0.0);
        Ok(ValueAxis::new(ValueTicks::up_to(max.ok_or("No request succeeded")?, 6, Steps::Whole)))
    }

    fn height(&self) -> Height {
        Height::Share(1.15)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let Self(sweep) = self;
        if let Some(found) = sweep.knee {
            let bend = frame.at(found.load, found.throughput);
            // Beyond the knee, the bound N / R was not measured.
            let rise = (!found.begins_beyond).then(|| frame.at(0.0, 0.0));
            let bounds = rise.into_iter().chain([bend, (frame.area.right, bend.1)]).collect();
            drawing.line(bounds, WIDTHS.2, FRAME);
        }
        knee(drawing, frame, sweep);
        for step in &sweep.steps {
            let (low, high) = Self::spread(step);
            if high > low {
                let ends = vec![frame.at(step.load, low), frame.at(step.load, high)];
                drawing.line(ends, WIDTHS.1, series_color(0));
            }
        }
        line(drawing, frame, sweep, (WIDTHS.0, series_color(0)), |step| Some(step.summary.throughput));
    }
}

/// The chart of response times by load.
struct LoadResponse<'a>(&'a Sweep, &'a Style);

impl LoadResponse<'_> {
    /// Returns the indexes of the sweep's percentiles, in ascending order of the percentiles.
    fn ascending(&self) -> Vec<usize> {
        let percentile = |at: &usize| self.0.percentiles.get(*at).copied().unwrap_or_default();
        let mut places: Vec<usize> = (0..self.0.percentiles.len()).collect();
        places.sort_by(|a, b| percentile(a).total_cmp(&percentile(b)));
        places
    }

    fn value(step: &LoadStep, at: usize) -> Option<f64> {
        step.summary.percentiles.get(at).copied().flatten()
    }

    /// Returns the largest value, in ms.
    fn max(&self) -> Option<f64> {
        let places = self.ascending();
        places.iter().filter_map(|at| greatest(self.0, |step| Self::value(step, *at))).reduce(f64::max)
    }

    /// Returns the least value that is greater than 0, in ms.
    fn least(&self) -> f64 {
        let values = self.0.steps.iter().flat_map(|step| &step.summary.percentiles).flatten();
        values.copied().filter(|value| *value > 0.0).reduce(f64::min).unwrap_or(1.0)
    }

    /// Returns the unit of the axis in ms, and its name.
    fn unit(&self) -> (f64, &'static str) {
        if self.max().is_some_and(|max| max >= LONG_MS) { (1000.0, "s") } else { (1.0, "ms") }
    }
}

impl TimeChart for LoadResponse<'_> {
    fn legend(&self) -> Legend {
        let places = self.ascending();
        let entry = |(rank, at): (usize, &usize)| {
            let name = self.0.percentiles.get(*at).copied().unwrap_or_default();
            let swatch = Swatch::Line(quantile_color(rank, places.len()), WIDTHS.0);
            LegendEntry::new(swatch, format!("p{}", trimmed(name)))
        };
        let entries = places.iter().enumerate().map(entry).collect();
        let heading = format!("Response time ({}{})", self.unit().1, log_words(self.1));
        Legend { heading, entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let most = |at: &usize| {
            let most = most(self.0, |step| Self::value(step, *at), response)?;
            Some(format!("p{} {most}", trimmed(self.0.percentiles.get(*at).copied()?)))
        };
        let all: Vec<String> = self.ascending().iter().filter_map(most).collect();
        match all.is_empty() {
            true => "No request succeeded.".to_owned(),
            false => format!("Response time by load: {}.", all.join(", ")),
        }
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = self.max().ok_or("No request succeeded")?;
        let unit = self.unit().0;
        if self.1.log_scale {
            return Ok(ValueAxis::log(self.least() / unit, max / unit));
        }
        Ok(ValueAxis::new(ValueTicks::up_to(max / unit, 6, Steps::Any)))
    }

    fn height(&self) -> Height {
        Height::Share(1.15)
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let (places, unit) = (self.ascending(), self.unit().0);
        knee(drawing, frame, self.0);
        for (rank, at) in places.iter().enumerate() {
            let look = (WIDTHS.0, quantile_color(rank, places.len()));
            line(drawing, frame, self.0, look, |step| Some(Self::value(step, *at)? / unit));
        }
    }
}

/// The chart of CPU by load.
struct LoadCpu<'a>(&'a Sweep, &'a Style);

impl TimeChart for LoadCpu<'_> {
    fn legend(&self) -> Legend {
        let entry = LegendEntry::new(Swatch::Line(INK, WIDTHS.0), "Mean of the seconds");
        let entries = if self.axis().is_ok() { vec![entry] } else { Vec::new() };
        Legend { heading: "CPU utilisation (%)".to_owned(), entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let most = most(self.0, |step| step.summary.cpu_mean, |cpu| format!("{} %", measured(cpu)));
        most.map_or("No CPU readings for this run.".to_owned(), |most| {
            format!("CPU utilisation by load: {most}.")
        })
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let max = greatest(self.0, |step| step.summary.cpu_mean).ok_or("No CPU readings for this run")?;
        Ok(match self.1.cpu_top() {
            Some(top) => ValueAxis::ending_at(top.max(max), 4, Steps::Any).with_room(max),
            None => ValueAxis::new(ValueTicks::up_to(max, 4, Steps::Any)),
        })
    }

    fn height(&self) -> Height {
        if self.axis().is_ok() { Height::Share(0.8) } else { Height::Fixed(40.0) }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        knee(drawing, frame, self.0);
        line(drawing, frame, self.0, (WIDTHS.0, INK), |step| step.summary.cpu_mean);
    }
}
