//! The texts around the charts of a sweep of points.

use std::collections::BTreeSet;

use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::{Level, SweepBy};

use super::series::{Series, other_words};
use crate::text::number::measured;

/// The number of series whose knee is named.
const KNEES: usize = 4;

/// Tells what was chosen: the tools, and what is the same for all levels.
pub(super) fn chosen(levels: &[Level], by: SweepBy) -> Vec<String> {
    let tools: BTreeSet<&str> = levels.iter().map(|level| level.tool.as_str()).collect();
    let others: BTreeSet<Option<u32>> = levels.iter().map(|level| level.other).collect();
    let mut chosen = vec![format!("by {}", tools.into_iter().collect::<Vec<_>>().join(", "))];
    if let (1, Some(Some(other))) = (others.len(), others.first()) {
        chosen.push(other_words(*other, by));
    }
    chosen
}

/// Tells the numbers of levels and repeats, the best throughput of the first series, and the knees.
pub(super) fn figures(levels: &[Level], series: &[Series<'_>]) -> Vec<String> {
    let several = series.len() > 1;
    let named = |series: &Series<'_>| if several { format!("{}: ", series.name) } else { String::new() };
    let distinct: BTreeSet<u32> = levels.iter().filter_map(|level| level.level).collect();
    let mut figures = vec![counted(distinct.len() as u64, "level"), repeats(levels)];
    let best = series.first().and_then(|series| {
        let known = series.levels.iter().filter_map(|(at, level)| Some((*at, level.throughput?.median)));
        let (at, most) = known.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        Some(format!("{}at most {}/s, at {at}", named(series), measured(most)))
    });
    figures.extend(best);
    figures.extend(knees(series));
    figures
}

/// Tells where the knees are.
fn knees(series: &[Series<'_>]) -> Option<String> {
    if let [only] = series {
        return Some(format!("knee at {}", only.knee()?.0));
    }
    let knee = |series: &Series<'_>| Some(format!("{} at {}", series.name, series.knee()?.0));
    let knees: Vec<String> = series.iter().filter_map(knee).take(KNEES).collect();
    (!knees.is_empty()).then(|| format!("knees: {}", knees.join(", ")))
}

/// Tells how many repeats each level has.
fn repeats(levels: &[Level]) -> String {
    let counts = || levels.iter().map(|level| level.repeats + level.aborted);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    match least == most {
        true => counted(most, "repeat"),
        false => format!("{least} to {}", counted(most, "repeat")),
    }
}

/// Tells how the charts of all series are read, as far as they have it.
pub(super) fn of_overview(levels: &[Level]) -> Vec<String> {
    let repeated = is_any(levels, |level| level.repeats > 1);
    let failing = is_any(levels, Level::is_failing);
    let knee = is_any(levels, |level| level.is_knee);
    let words = [
        (repeated, "Throughput: the median of the repeats, in a band from the least to the greatest"),
        (failing, "Hollow: more than 1 % of the requests of a repeat failed"),
        (knee, "Ring: the knee, the first level at 90 % of the greatest throughput"),
    ];
    let words = words.into_iter().filter(|(given, _)| *given).map(|(_, words)| words.to_owned());
    words.chain(of_all(levels)).collect()
}

/// Tells how the charts of one series are read, as far as they have it.
pub(super) fn of_one(levels: &[Level]) -> Vec<String> {
    let repeated = is_any(levels, |level| level.repeats > 1);
    let little = is_any(levels, |level| level.little_ms.is_some());
    let words = [
        (repeated, "Latencies: the medians of the repeats"),
        (little, "c/X: concurrency by answers per second, which no mean of a closed loop exceeds"),
    ];
    let words = words.into_iter().filter(|(given, _)| *given).map(|(_, words)| words.to_owned());
    words.chain(of_all(levels)).collect()
}

/// Tells what holds for any chart.
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
