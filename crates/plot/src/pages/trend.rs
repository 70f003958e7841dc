//! The page of a framework's figures over versions, with the changes of level.

use perfpipe_analyze::format::counted;
use perfpipe_analyze::{Direction, LevelChange, Measure, Trend, Trends};

use super::footer::chosen;
use super::sheet::{self, PageTexts};
use crate::charts::chart::{Height, TIME_LABELS, TimeChart};
use crate::charts::response::log_words;
use crate::layout::axis::{LABEL, Scale, Steps, ValueAxis, ValueTicks};
use crate::layout::frame::{ChartFrame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::legend::{Legend, LegendEntry, Swatch};
use crate::layout::phase_band::PhaseBand;
use crate::output::drawing::{Anchor, Drawing, TextLine, dot_radius};
use crate::palette::{Color, INK, SOFT, quantile_color, series_color};
use crate::style::Style;
use crate::text::fonts;
use crate::text::fonts::Fonts;
use crate::text::number::{LONG_MS, grouped, measured, trimmed};

/// The widths of lines, in points: from value to value, the intervals, the changes.
const WIDTHS: (f64, f64, f64) = (0.7, 1.1, 0.8);
/// The size of a version's dot, relative to the usual dot of a line.
const DOT: f64 = 1.3;
/// The colours of changes for the worse, for the better, and of others.
const CHANGES: (Color, Color, Color) = (Color(0xc0, 0x39, 0x2b), Color(0x1b, 0x7a, 0x4b), INK);
/// The most room for the names of versions, in points.
const NAMES: f64 = 90.0;
/// The least distance between two names, in points.
const NAME_STEP: f64 = 10.0;
/// The opacity of the band between the intervals of versions.
const BAND: f64 = 0.12;
/// The least value that a logarithmic axis begins at, as a share of the largest.
const LEAST_OF_LOG: f64 = 1e-4;

/// Draws the page.
pub(crate) fn draw(trends: &Trends, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let (subtitle, facts) = (figures(trends), facts(trends));
    let first = trends.versions.iter().flat_map(|version| version.runs.first()).next();
    let chosen = chosen(first.map(|run| (run.view(), run.info())));
    let room = PageTexts { title, chosen: &chosen, subtitle: &subtitle, footer: &facts }.draw(&mut drawing);
    let charts = charts(trends, style);
    let labels = charts.iter().filter_map(|chart| chart.axis().ok()).map(|axis| axis.label_width());
    let left = room.left + labels.fold(sheet::LEAST_LABEL, f64::max) + LABEL_GAP;
    let column = Rect { left, bottom: room.bottom - name_room(trends, &drawing.fonts), ..room };
    let axis = TimeAxis::of_places(trends.versions.len());
    sheet::draw(&mut drawing, &charts, column, axis, &PhaseBand::none());
    names(
        &mut drawing,
        trends,
        Rect { top: column.bottom - sheet::BELOW + TIME_LABELS, bottom: room.bottom, ..column },
        axis,
    );
    drawing
}

/// Returns the numbers of versions and runs, and what changed.
fn figures(trends: &Trends) -> Vec<Vec<String>> {
    let runs: usize = trends.versions.iter().map(|version| version.runs.len()).sum();
    let changed = (0..trends.versions.len()).filter(|at| !trends.changes(*at).is_empty()).count();
    let versions = vec![counted(trends.versions.len() as u64, "version"), counted(runs as u64, "run")];
    let drifts = trends.figures.iter().filter(|figure| !figure.drifts.is_empty()).count();
    let changes = match changed {
        0 if drifts > 0 => "no level changes".to_owned(),
        0 => "no figure changes its level by more than chance".to_owned(),
        changed => format!("levels change with {}", counted(changed as u64, "version")),
    };
    let drift = (drifts > 0).then(|| format!("little by little: {}", counted(drifts as u64, "figure")));
    vec![versions.into_iter().chain([changes]).chain(drift).collect()]
}

fn facts(trends: &Trends) -> Vec<String> {
    let has_intervals = trends.figures.iter().any(|figure| figure.intervals.iter().any(Option::is_some));
    let mut facts = vec!["Each point: a version, in the order of the first tests".to_owned()];
    facts.extend(
        has_intervals.then(|| "bars: 99 % confidence intervals, by the scatter of the repeats".to_owned()),
    );
    facts.push("a change is marked by mistake in 1 of 100 unchanged series (Olshen et al. 2004)".to_owned());
    facts
}

/// Returns the charts, from top to bottom. A figure that no version has gets none.
fn charts<'a>(trends: &'a Trends, style: &Style) -> Vec<Box<dyn TimeChart + 'a>> {
    let mut percentiles: Vec<(f64, &Trend)> = Vec::new();
    let mut charts: Vec<VersionChart<'a>> = Vec::new();
    for trend in trends.figures.iter().filter(|trend| trend.values.iter().any(Option::is_some)) {
        let heading = match &trend.measure {
            Measure::Percentile(percent) => {
                percentiles.push((*percent, trend));
                continue;
            }
            Measure::Throughput => "Successes per second",
            Measure::CpuMean => "CPU utilisation (%)",
            Measure::FailuresPercent => "Failures (%)",
            // The percentiles say more.
            _ => continue,
        };
        charts.push(VersionChart::one(heading, trend));
    }
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let responses = VersionChart::percentiles(&percentiles, style);
    charts.insert(charts.len().min(1), responses);
    charts.into_iter().map(|chart| Box::new(chart) as Box<dyn TimeChart + 'a>).collect()
}

/// A figure over the versions, as it is drawn.
struct VersionLine<'a> {
    name: String,
    color: Color,
    trend: &'a Trend,
}

impl VersionLine<'_> {
    /// Returns the intervals of consecutive versions that have one.
    fn intervals(&self) -> Vec<Vec<(usize, (f64, f64))>> {
        let known = (0..).zip(&self.trend.intervals);
        let known: Vec<(usize, (f64, f64))> =
            known.filter_map(|(version, interval)| Some((version, (*interval)?))).collect();
        known.chunk_by(|a, b| a.0 + 1 == b.0).filter(|all| all.len() > 1).map(<[_]>::to_vec).collect()
    }
}

/// A chart of figures with one unit.
struct VersionChart<'a> {
    heading: String,
    lines: Vec<VersionLine<'a>>,
    /// The figures' unit on the axis.
    unit: f64,
    share: f64,
    is_log: bool,
}

impl<'a> VersionChart<'a> {
    fn one(heading: &str, trend: &'a Trend) -> Self {
        let line = VersionLine { name: trend.measure.column(), color: series_color(0), trend };
        Self { heading: heading.to_owned(), lines: vec![line], unit: 1.0, share: 0.8, is_log: false }
    }

    /// Creates the chart of percentiles, which are in ascending order.
    fn percentiles(percentiles: &[(f64, &'a Trend)], style: &Style) -> Self {
        let line = |(rank, (percent, trend)): (usize, &(f64, &'a Trend))| VersionLine {
            name: format!("p{}", trimmed(*percent)),
            color: quantile_color(rank, percentiles.len()),
            trend,
        };
        let lines: Vec<VersionLine<'_>> = percentiles.iter().enumerate().map(line).collect();
        let mut chart =
            Self { heading: String::new(), lines, unit: 1.0, share: 1.2, is_log: style.log_scale };
        let in_seconds = chart.extent().is_some_and(|(_, most)| most >= LONG_MS);
        chart.unit = if in_seconds { 1000.0 } else { 1.0 };
        chart.heading =
            format!("Response time ({}{})", if in_seconds { "s" } else { "ms" }, log_words(style));
        chart
    }

    /// Returns the least and the greatest value, intervals included, in the unit of the axis.
    fn extent(&self) -> Option<(f64, f64)> {
        let values = self.lines.iter().flat_map(|line| {
            let ends = line.trend.intervals.iter().flatten().flat_map(|(low, high)| [*low, *high]);
            line.trend.values.iter().flatten().copied().chain(ends)
        });
        let extent = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), extent);
        (least <= most).then_some((least.max(0.0) / self.unit, most / self.unit))
    }

    /// Returns the change of level to be named at a version: the largest.
    fn change(&self, version: usize) -> Option<(&VersionLine<'_>, &LevelChange)> {
        let changes =
            self.lines.iter().flat_map(|line| line.trend.changes.iter().map(move |change| (line, change)));
        let size = |change: &LevelChange| change.percent().map_or(f64::INFINITY, f64::abs);
        changes
            .filter(|(_, change)| change.version == version)
            .max_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)))
    }

    /// Draws a change between two versions as a vertical line with its size.
    fn mark(&self, drawing: &mut Drawing, frame: &ChartFrame, line: &VersionLine<'_>, change: &LevelChange) {
        let x = frame.x(change.version as f64 - 0.5);
        let color = color(change.outcome);
        drawing.line(vec![(x, frame.area.top), (x, frame.area.bottom)], WIDTHS.2, color);
        let size = match change.percent() {
            Some(percent) => format!("{} %", signed(percent, 1)),
            None => signed((change.after - change.before) / self.unit, 2),
        };
        let name = if self.lines.len() > 1 { format!("{} ", line.name) } else { String::new() };
        let text = format!("{name}{size} ({})", change.outcome.name());
        let is_left = x + fonts::width(&text, LABEL) + 4.0 > frame.area.right;
        let (anchor, place) = if is_left { (Anchor::End, x - 3.0) } else { (Anchor::Start, x + 3.0) };
        drawing.text(TextLine::new(&text, (place, frame.area.top + 7.0), LABEL, anchor, color));
    }
}

/// Returns the colour of a change.
fn color(outcome: Direction) -> Color {
    match outcome {
        Direction::Worse => CHANGES.0,
        Direction::Better => CHANGES.1,
        _ => CHANGES.2,
    }
}

/// Formats a number with its sign.
fn signed(value: f64, decimals: usize) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", grouped(value, decimals))
}

impl TimeChart for VersionChart<'_> {
    fn legend(&self) -> Legend {
        let entry =
            |line: &VersionLine<'_>| LegendEntry::new(Swatch::Line(line.color, WIDTHS.1), line.name.clone());
        let entries = if self.lines.len() > 1 { self.lines.iter().map(entry).collect() } else { Vec::new() };
        Legend { heading: self.heading.clone(), entries, notes: Vec::new() }
    }

    fn alt(&self) -> String {
        let describe = |line: &VersionLine<'_>| {
            let known = || line.trend.values.iter().flatten();
            let (first, last) = (known().next()?, known().next_back()?);
            let name = if self.lines.len() > 1 { format!("{} ", line.name) } else { String::new() };
            let shown = |value: f64| measured(value / self.unit);
            Some(format!("{name}from {} to {}", shown(*first), shown(*last)))
        };
        let words: Vec<String> = self.lines.iter().filter_map(describe).collect();
        let changes: usize = self.lines.iter().map(|line| line.trend.changes.len()).sum();
        format!(
            "{} over versions: {}; {}.",
            self.heading,
            words.join(", "),
            counted(changes as u64, "level change")
        )
    }

    fn axis(&self) -> Result<ValueAxis, &'static str> {
        let (least, most) = self.extent().ok_or("No request succeeded")?;
        Ok(match self.is_log {
            true => ValueAxis::log(least.max(most * LEAST_OF_LOG), most),
            // From 0: a change of a few percent is not to look like a cliff.
            false => ValueAxis::new(ValueTicks::up_to(most, 5, Steps::Any)),
        })
    }

    fn height(&self) -> Height {
        Height::Share(self.share)
    }

    fn has_time_labels(&self) -> bool {
        false
    }

    fn draw(&self, drawing: &mut Drawing, frame: &ChartFrame) {
        let at = |version: usize, value: f64| frame.at(version as f64, value / self.unit);
        for line in &self.lines {
            for stretch in line.intervals() {
                let upper = stretch.iter().map(|(version, (_, high))| at(*version, *high));
                let lower = stretch.iter().rev().map(|(version, (low, _))| at(*version, low.max(0.0)));
                drawing.veil(upper.chain(lower).collect(), line.color, BAND);
            }
            let known =
                (0..).zip(&line.trend.values).filter_map(|(version, value)| Some((version, (*value)?)));
            let points: Vec<_> = known.map(|(version, value)| at(version, value)).collect();
            for (version, interval) in line.trend.intervals.iter().enumerate() {
                if let Some((low, high)) = interval {
                    let ends = vec![at(version, low.max(0.0)), at(version, *high)];
                    drawing.line(ends, WIDTHS.1, line.color.tint(0.4));
                }
            }
            drawing.line(points.clone(), WIDTHS.0, line.color);
            points.iter().for_each(|point| drawing.dot(*point, dot_radius(WIDTHS.0) * DOT, line.color));
        }
        for drift in self.lines.iter().flat_map(|line| &line.trend.drifts) {
            let ends = vec![at(drift.versions.0, drift.before), at(drift.versions.1, drift.after)];
            drawing.line(ends, WIDTHS.2, color(drift.outcome));
        }
        let versions = self.lines.iter().map(|line| line.trend.values.len()).max().unwrap_or_default();
        for (line, change) in (0..versions).filter_map(|version| self.change(version)) {
            self.mark(drawing, frame, line, change);
        }
    }
}

/// Returns the height that the versions' names need, in points.
fn name_room(trends: &Trends, fonts: &Fonts) -> f64 {
    let widths = trends.versions.iter().map(|version| fonts.width(&version.name, LABEL));
    widths.fold(0.0, f64::max).min(NAMES) - LABEL
}

/// Draws the versions' names upwards, from the top of `area` down; of many, every few.
fn names(drawing: &mut Drawing, trends: &Trends, area: Rect, axis: TimeAxis) {
    let frame = ChartFrame { area, time: axis, scale: Scale::Linear(1.0) };
    let distance = area.width() / trends.versions.len().max(1) as f64;
    let step = (NAME_STEP / distance).ceil().max(1.0) as usize;
    for (at, version) in trends.versions.iter().enumerate().step_by(step) {
        let name = drawing.fonts.fitted(&version.name, LABEL, NAMES);
        let place = (frame.x(at as f64), area.top + 5.0);
        drawing.text(TextLine::new(&name, place, LABEL, Anchor::End, SOFT).upwards());
    }
}
