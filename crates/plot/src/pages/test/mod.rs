//! The page of one test: the frameworks' successes per second, drawn over each other.

use perfpipe_analyze::league::{failing_frameworks, in_league_order, median_repeats};
use perfpipe_analyze::{League, Timeline};

use super::chosen::chosen;
use super::footer;
use super::sheet::{LEAST_LABEL, Sheet};
use crate::columns::{self, Column, Columns, Spread};
use crate::layout::axis::Axis;
use crate::layout::frame::{Frame, LABEL_GAP, Rect, TimeAxis};
use crate::layout::ticks::{Steps, Values};
use crate::marks::line::Line;
use crate::marks::marker::Marker;
use crate::output::drawing::{Anchor, Drawing, Text};
use crate::output::part::{Figure, Part};
use crate::palette::{Color, INK, SOFT, series_color};
use crate::style::{ColorBy, Style};
use crate::text::clock::duration;
use crate::text::font;
use crate::text::fonts::Fonts;
use crate::text::number::measured;

/// The height of the time axis' labels and title, in points.
const BELOW: f64 = 26.0;
/// The height of the heading, in points.
const HEADING: f64 = 16.0;
/// The width of the lines, in points.
const WIDTH: f64 = 0.9;
/// The width of a band's edges, in points.
const EDGE: f64 = 0.4;
/// How much a band's edges are mixed with white, as a share.
const EDGE_TINT: f64 = 0.5;
/// The number of markers on each line.
const MARKERS: usize = 8;
/// The largest width of a name in the key, the width of a swatch, and the gaps around them, in points.
const NAME: f64 = 150.0;
const SWATCH: f64 = 24.0;
const GAP: f64 = 12.0;
/// The size of the key's texts, and the largest distance between its lines, in points.
const KEY_SIZE: f64 = 8.0;
const KEY_LEADING: f64 = 16.0;
/// The least distance between lines of the key, in points; entries that do not fit are counted.
const LEAST_LEADING: f64 = 9.0;

/// The suffix of the name of a framework that fails.
const FAILING: &str = " (failing)";
/// The number of best frameworks that are named; the rest are counted.
const BEST: usize = 4;

/// The number of frameworks that the chart's description names; the rest are counted.
const NAMED: usize = 20;

/// The line of a framework.
struct Series {
    /// The framework.
    framework: String,
    /// The name in the key.
    name: String,
    throughput: f64,
    failing: bool,
    columns: Columns,
    color: Color,
    marker: Marker,
}

/// Draws the page of a test.
pub(crate) fn draw(runs: Vec<&Timeline>, style: &Style, title: &str) -> Drawing {
    let count = runs.len();
    let best = best(&runs);
    let failing = failing_frameworks(runs.iter().copied());
    let ranked = in_league_order(runs.iter().copied());
    let mut timelines = median_repeats(runs);
    let repeated = timelines.len() < count;
    timelines.sort_by_key(|timeline| place(&ranked, timeline));
    let span = span(&timelines);
    let width = columns::width((span.1 - span.0) as u32);
    let fonts = style.fonts();
    let series = |(rank, timeline): (usize, &&Timeline)| {
        let failing = failing.contains(&*timeline.info.key.framework);
        Series::new(rank, timeline, width, failing, &fonts)
    };
    let series: Vec<Series> = timelines.iter().enumerate().map(series).collect();
    let mut drawing = Drawing::new(style.paper.landscape()).with_fonts(style.fonts());
    let subtitle = &[subtitle(&series, repeated, &best)];
    let chosen = chosen(timelines.iter().map(|timeline| (&timeline.view, &timeline.info)));
    let room = Sheet { title, chosen: &chosen, subtitle, footer: &facts(&series, width) }.draw(&mut drawing);
    let axis = axis(&series);
    let key = Key::new(&series, &fonts);
    let area = Rect {
        left: room.left + axis.label_width().max(LEAST_LABEL) + LABEL_GAP,
        top: room.top + HEADING,
        right: room.right - key.width(),
        bottom: room.bottom - BELOW,
    };
    let heading = Text::new("Successes per second", (area.left, room.top + 5.0), 10.0, Anchor::Start, INK);
    drawing.begin(Part::Figure(Figure::new("Successes per second", alt(&series), room.top)));
    drawing.text(heading);
    chart(&mut drawing, &series, &axis, area, span);
    key.draw(&mut drawing, &series, area);
    drawing
}

/// Describes the chart in a sentence.
fn alt(series: &[Series]) -> String {
    let of = |line: &Series| format!("{} {}", line.name, value(line));
    let named: Vec<String> = series.iter().take(NAMED).map(of).collect();
    let more = series.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    match series {
        [] => "No runs of this test.".to_owned(),
        _ => format!("Successes per second over time, on average: {}{more}.", named.join(", ")),
    }
}

/// Returns the index of a run in the league's order of its test.
pub(crate) fn place(ranked: &[&Timeline], run: &Timeline) -> Option<usize> {
    ranked.iter().position(|other| std::ptr::eq(*other, run))
}

fn chart(drawing: &mut Drawing, series: &[Series], axis: &Axis, area: Rect, span: (f64, f64)) {
    let frame = Frame { area, time: TimeAxis::new(span, area.width(), None), scale: axis.scale };
    frame.time_grid(drawing);
    frame.value_grid(drawing, axis);
    if series.is_empty() {
        frame.notice(drawing, "No runs of this test");
    }
    // The best is drawn last, above the others.
    for line in series.iter().rev() {
        line.draw(drawing, &frame);
    }
    for (rank, line) in series.iter().enumerate().rev() {
        line.mark(drawing, &frame, rank, series.len());
    }
    frame.border(drawing);
    frame.time_labels(drawing);
    frame.time_title(drawing);
}

impl Series {
    fn new(rank: usize, timeline: &Timeline, width: u32, failing: bool, fonts: &Fonts) -> Self {
        let key = &timeline.info.key;
        let suffix = [
            if key.repeat == 1 { String::new() } else { format!(" #{}", key.repeat) },
            if timeline.info.is_partial() { footer::PARTIAL.to_owned() } else { String::new() },
            if failing { FAILING.to_owned() } else { String::new() },
        ]
        .concat();
        let room = NAME - font::width(&suffix, KEY_SIZE);
        Self {
            framework: key.framework.clone(),
            name: fonts.fitted(&key.framework, KEY_SIZE, room) + &suffix,
            throughput: timeline.summary.throughput,
            failing,
            columns: Columns::new(timeline, width, ColorBy::Throughput),
            color: series_color(rank),
            marker: Marker::of(rank),
        }
    }

    fn draw(&self, drawing: &mut Drawing, frame: &Frame) {
        if self.columns.binned() {
            self.band(drawing, frame);
        }
        let line =
            Line { values: |c: &Column| Some(c.successes), color: |_: &Column| self.color, width: WIDTH };
        line.draw(drawing, frame, &self.columns.columns);
    }

    /// Draws a transparent band between the columns' minima and maxima.
    fn band(&self, drawing: &mut Drawing, frame: &Frame) {
        let touching = |a: &Column, b: &Column| a.end >= b.start;
        for run in self.columns.columns.chunk_by(touching) {
            let upper = run.iter().map(|c| frame.at(c.middle(), c.successes.max));
            let lower = run.iter().rev().map(|c| frame.at(c.middle(), c.successes.min));
            drawing.veil(upper.chain(lower).collect(), self.color, 0.22);
        }
        for edge in [|s: Spread| s.min, |s: Spread| s.max] {
            let values = |column: &Column| Some(column.successes.at(edge));
            let line = Line { values, color: |_: &Column| self.color.tint(EDGE_TINT), width: EDGE };
            line.draw(drawing, frame, &self.columns.columns);
        }
    }

    /// Draws markers on the line, at other times than those of other lines.
    fn mark(&self, drawing: &mut Drawing, frame: &Frame, rank: usize, lines: usize) {
        let (start, end) = (frame.time.start(), frame.time.end());
        for place in 0..MARKERS {
            let share = (place as f64 + (rank as f64 + 0.5) / lines.max(1) as f64) / MARKERS as f64;
            let time = start + share * (end - start);
            let column = self.columns.columns.iter().find(|c| c.start <= time && time < c.end);
            if let Some(column) = column {
                let at = frame.at(column.middle(), column.successes.mean);
                self.marker.draw(drawing, at, self.color);
            }
        }
    }
}

/// The layout of the key beside the chart, with names and averages.
struct Key {
    name: f64,
    value: f64,
}

impl Key {
    fn new(series: &[Series], fonts: &Fonts) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| fonts.width(&text, KEY_SIZE)).fold(0.0, f64::max)
        };
        let names = widest(&mut series.iter().map(|s| s.name.clone()));
        let values = widest(&mut series.iter().map(value).chain([AVERAGE.to_owned()]));
        Self { name: names.min(NAME), value: values }
    }

    fn width(&self) -> f64 {
        GAP + SWATCH + GAP / 2.0 + self.name + GAP + self.value
    }

    fn draw(&self, drawing: &mut Drawing, series: &[Series], area: Rect) {
        let right = area.right + self.width();
        let top = area.top + KEY_SIZE / 2.0;
        drawing.text(Text::new(AVERAGE, (right, top - KEY_LEADING), KEY_SIZE, Anchor::End, SOFT));
        let most = (area.height() / LEAST_LEADING) as usize;
        let shown = if series.len() > most { most.saturating_sub(1) } else { series.len() };
        let leading = (area.height() / series.len().max(1) as f64).clamp(LEAST_LEADING, KEY_LEADING);
        for (rank, line) in series.iter().take(shown).enumerate() {
            self.entry(drawing, line, (area.right + GAP, top + leading * rank as f64));
        }
        if shown < series.len() {
            let place = (area.right + GAP, top + leading * shown as f64);
            let rest = format!("and {} more", series.len() - shown);
            drawing.text(Text::new(&rest, place, KEY_SIZE, Anchor::Start, SOFT));
        }
    }

    fn entry(&self, drawing: &mut Drawing, line: &Series, (x, y): (f64, f64)) {
        drawing.line(vec![(x, y), (x + SWATCH, y)], WIDTH * 1.6, line.color);
        line.marker.draw(drawing, (x + SWATCH / 2.0, y), line.color);
        let left = x + SWATCH + GAP / 2.0;
        drawing.text(Text::new(&line.name, (left, y), KEY_SIZE, Anchor::Start, INK));
        let right = left + self.name + GAP + self.value;
        drawing.text(Text::new(&value(line), (right, y), KEY_SIZE, Anchor::End, INK));
    }
}

/// The heading of the averages.
const AVERAGE: &str = "Average/s";

fn value(line: &Series) -> String {
    measured(line.throughput)
}

/// Returns the time from the first second of any run to the end of the last, in seconds from t0.
fn span(timelines: &[&Timeline]) -> (f64, f64) {
    let spans = timelines.iter().map(|timeline| columns::span(timeline));
    let (start, end) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 1));
    (f64::from(start), f64::from(end))
}

fn axis(series: &[Series]) -> Axis {
    let columns = series.iter().flat_map(|line| &line.columns.columns);
    Axis::new(Values::up_to(columns.map(|c| c.successes.max).fold(0.0, f64::max), 6, Steps::Whole))
}

/// Returns the frameworks of the first rank; none if the runs are of several tests.
fn best(runs: &[&Timeline]) -> Vec<String> {
    let league = League::new(runs.iter().copied()).unwrap_or_default();
    let first = league.standings.into_iter().filter(|standing| standing.rank == Some(1));
    first.map(|standing| standing.framework).collect()
}

/// Returns a remark if lines stand for several repeats, and the best frameworks, which share the first rank if there are
/// several.
fn subtitle(series: &[Series], repeated: bool, best: &[String]) -> Vec<String> {
    let which = repeated.then(|| "of several repeats the one of median throughput".to_owned());
    let best = match best {
        [] => None,
        [only] => {
            let line = series.iter().find(|line| line.framework == *only);
            line.map(|line| format!("best: {only}, {}/s", value(line)))
        }
        several => {
            let named: Vec<&str> = several.iter().take(BEST).map(String::as_str).collect();
            let more = several.len().checked_sub(BEST).filter(|more| *more > 0);
            let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
            Some(format!("best: {}{more}", named.join(", ")))
        }
    };
    which.into_iter().chain(best).collect()
}

fn facts(series: &[Series], width: u32) -> Vec<String> {
    let mut facts = vec![
        "Average: successes ÷ duration, from the first start to the last end, silences counted".to_owned(),
    ];
    if series.iter().any(|line| line.failing) {
        facts
            .push("Failing: more than 1 % of the requests failed, so the framework is not ranked".to_owned());
    }
    if width > 1 {
        let column = duration(width);
        facts.push(format!(
            "Each point stands for {column}: line at the mean, band from the least to the greatest second"
        ));
    }
    facts
}

#[cfg(test)]
mod tests {
    use crate::support::steady;
    use crate::{Page, Style};

    fn page(runs: &[perfpipe_analyze::Timeline]) -> String {
        Page::test("2048", runs, &Style::default()).svg()
    }

    #[test]
    fn framework_that_fails_is_not_the_best() {
        let mut runs = [steady("fast", 2000.0, 0.1, 30), steady("calm", 1000.0, 0.1, 30)];
        assert!(page(&runs).contains("best: fast"));
        runs[0].summary.failures = runs[0].summary.successes / 50;
        let shown = page(&runs);
        assert!(shown.contains("best: calm") && shown.contains(">fast (failing)<"), "{shown}");
        assert!(!shown.contains("calm (failing)"));
    }

    #[test]
    fn all_that_share_the_first_rank_are_the_best() {
        let mut runs = Vec::new();
        for (repeat, rates) in [(1, [1000.0, 1010.0, 500.0]), (2, [1012.0, 1002.0, 502.0])] {
            for (framework, rate) in ["go", "rails", "slow"].into_iter().zip(rates) {
                let mut run = steady(framework, rate, 0.0, 30);
                run.info.key.repeat = repeat;
                runs.push(run);
            }
        }
        let shown = page(&runs);
        assert!(shown.contains("best: go, rails<") || shown.contains("best: rails, go<"), "{shown}");
    }

    #[test]
    fn page_of_one_framework_is_not_that_of_all() {
        let runs = [steady("go", 900.0, 0.1, 30), steady("rails", 1000.0, 0.1, 30)];
        assert_eq!(Page::test("2048", &runs, &Style::default()).title(), "2 frameworks – 2048");
        assert_eq!(Page::test("2048", &runs[..1], &Style::default()).title(), "go – 2048");
    }

    #[test]
    fn middle_repeat_stands_for_its_framework() {
        let alone = [steady("go", 900.0, 0.1, 30), steady("rails", 1000.0, 0.1, 30)];
        assert!(!page(&alone).contains("of several repeats"));
        let mut runs = vec![steady("go", 500.0, 0.1, 30), steady("go", 1500.0, 0.1, 30)];
        runs.extend(alone.clone());
        let shown = page(&runs);
        assert!(shown.contains("2 frameworks") && shown.contains("of several repeats"), "{shown}");
        let path = |svg: &str| {
            svg.lines().filter(|line| line.contains("<path ")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(path(&shown), path(&page(&alone)));
    }
}
