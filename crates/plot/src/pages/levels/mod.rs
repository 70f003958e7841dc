//! The pages of a sweep of load tools' points: all frameworks together, and each by itself.

mod bars;
mod latency;
mod outcomes;
mod series;
mod server;
mod throughput;

use std::collections::BTreeSet;

use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::{Level, SweepBy};

use self::bars::{BytesLevels, ScalingLevels};
use self::latency::LatencyLevels;
use self::outcomes::{FailuresLevels, OutcomesLevels};
use self::series::{LevelPlaces, LevelSeries, other_words};
use self::throughput::ThroughputLevels;
use super::sheet::PageTexts;
use crate::charts::chart::TimeChart;
use crate::output::drawing::Drawing;
use crate::style::Style;
use crate::text::number::measured;

/// Draws the page.
pub(super) fn draw_overview(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.landscape()).with_fonts(style.fonts());
    let series = LevelSeries::all(levels, by);
    let places = LevelPlaces::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = PageTexts {
        title,
        chosen: &chosen(levels, by),
        subtitle: &[figures(levels, &series)],
        footer: &of_overview(levels),
    };
    let room = sheet.draw(&mut drawing);
    let charts: Vec<Box<dyn TimeChart + '_>> = vec![
        Box::new(ThroughputLevels { series: &series, places: &places }),
        Box::new(FailuresLevels { series: &series, places: &places }),
    ];
    places.stack(&mut drawing, &charts, room);
    drawing
}

/// Draws the page; all levels are of one series.
pub(super) fn draw_single(levels: &[Level], by: SweepBy, style: &Style, title: &str) -> Drawing {
    let mut drawing = Drawing::new(style.paper.portrait()).with_fonts(style.fonts());
    let all = LevelSeries::all(levels, by);
    let places = LevelPlaces::new(levels.iter().filter_map(|level| level.level), by);
    let sheet = PageTexts {
        title,
        chosen: &chosen(levels, by),
        subtitle: &[figures(levels, &all)],
        footer: &of_one(levels),
    };
    let room = sheet.draw(&mut drawing);
    let charts: Vec<Box<dyn TimeChart + '_>> =
        all.first().map(|series| charts(series, &places, (by, style))).unwrap_or_default();
    places.stack(&mut drawing, &charts, room);
    drawing
}

/// Returns the charts, from top to bottom.
fn charts<'a>(
    series: &'a LevelSeries<'a>,
    places: &'a LevelPlaces,
    (by, style): (SweepBy, &'a Style),
) -> Vec<Box<dyn TimeChart + 'a>> {
    let mut charts: Vec<Box<dyn TimeChart + 'a>> = Vec::new();
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

/// The number of series whose greatest throughput and knee are named.
const NAMED: usize = 4;

/// Describes what was chosen: the tools, and what is the same for all levels.
fn chosen(levels: &[Level], by: SweepBy) -> Vec<String> {
    let tools: BTreeSet<&str> = levels.iter().map(|level| level.tool.as_str()).collect();
    let others: BTreeSet<Option<u32>> = levels.iter().map(|level| level.other).collect();
    let mut chosen = vec![format!("by {}", tools.into_iter().collect::<Vec<_>>().join(", "))];
    if let (1, Some(Some(other))) = (others.len(), others.first()) {
        chosen.push(other_words(*other, by));
    }
    chosen
}

/// Describes the numbers of levels and repeats, and the greatest throughput and the knee of each series.
fn figures(levels: &[Level], series: &[LevelSeries<'_>]) -> Vec<String> {
    let distinct: BTreeSet<u32> = levels.iter().filter_map(|level| level.level).collect();
    let mut figures = vec![counted(distinct.len() as u64, "level"), repeats(levels)];
    if let [only] = series {
        let most = |(at, most)| format!("at most {}/s, at {at}", measured(most));
        figures.extend(only.greatest().map(most));
        figures.extend(only.knee_words().map(|level| format!("knee at {level}")));
        return figures;
    }
    let most = |of: &LevelSeries<'_>| {
        let (at, most) = of.greatest()?;
        Some(format!("{} {}/s at {at}", of.name, measured(most)))
    };
    figures.extend(named("at most", series.iter().filter_map(most).collect()));
    let knee = |of: &LevelSeries<'_>| Some(format!("{} at {}", of.name, of.knee_words()?));
    figures.extend(named("knees", series.iter().filter_map(knee).collect()));
    figures
}

/// Names the first few, and counts the rest; `None` if there are none.
fn named(what: &str, mut all: Vec<String>) -> Option<String> {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("{what}: {}{more}", all.join(", ")))
}

/// Says how many repeats each level has.
fn repeats(levels: &[Level]) -> String {
    let counts = || levels.iter().map(|level| level.repeats + level.aborted);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    match least == most {
        true => counted(most, "repeat"),
        false => format!("{least} to {}", counted(most, "repeat")),
    }
}

/// Explains how the charts of all series are read, as far as they have it.
fn of_overview(levels: &[Level]) -> Vec<String> {
    let repeated = is_any(levels, |level| level.repeats > 1);
    let failing = is_any(levels, Level::is_failing);
    let knee = is_any(levels, |level| level.is_knee);
    let words = [
        (repeated, "Throughput: the median of the repeats, in a band from the least to the greatest"),
        (failing, "Hollow: more than 1 % of the requests of a repeat failed"),
        (knee, "Ring: the first level at the knee or above it"),
    ];
    let words = words.into_iter().filter(|(given, _)| *given).map(|(_, words)| words.to_owned());
    words.chain(of_all(levels)).collect()
}

/// Explains how the charts of one series are read, as far as they have it.
fn of_one(levels: &[Level]) -> Vec<String> {
    let repeated = is_any(levels, |level| level.repeats > 1);
    let little = is_any(levels, |level| level.little_ms.is_some());
    let words = [
        (repeated, "Latencies: the medians of the repeats"),
        (little, "c/X: concurrency by answers per second, which no mean of a closed loop exceeds"),
    ];
    let words = words.into_iter().filter(|(given, _)| *given).map(|(_, words)| words.to_owned());
    words.chain(of_all(levels)).collect()
}

/// Explains what holds for any chart.
fn of_all(levels: &[Level]) -> impl Iterator<Item = String> {
    let aborted = is_any(levels, |level| level.aborted > 0);
    let failed = is_any(levels, |level| level.failures.is_some_and(|failures| failures > 0));
    let unknown = levels.iter().filter(|level| level.level.is_none()).count() as u64;
    [
        failed.then(|| "Failures: the most that the outputs allow, time-outs included".to_owned()),
        aborted.then(|| "Cross: a repeat that the tool ended early, without figures".to_owned()),
        (unknown > 0).then(|| format!("{} of unknown number left out", counted(unknown, "level"))),
    ]
    .into_iter()
    .flatten()
}

fn is_any(levels: &[Level], test: fn(&Level) -> bool) -> bool {
    levels.iter().any(test)
}
