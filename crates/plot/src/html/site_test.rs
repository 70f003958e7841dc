//! The data of a test in a site: its league, and its trend.

use perfpipe_analyze::format::one_line;
use perfpipe_analyze::league::{Standing, median_repeats};
use perfpipe_analyze::{Drift, Goal, League, LevelChange, Timeline, Trend, TrendLevel, Trends, Version};
use serde::Serialize;

use super::site::{END, FORMAT, SiteTest, hex_digest, json, link_name, run_id};
use crate::error::Result;

/// The league of a test: the file `tests/ID.js`.
#[derive(Serialize)]
struct TestData {
    format: u32,
    name: String,
    /// The goals for response times that the league has figures of.
    goals: Vec<GoalColumn>,
    league: Vec<StandingRow>,
    notes: Vec<String>,
    changes: Vec<ShortChange>,
    trend: Option<String>,
}

/// A goal for response times.
#[derive(Serialize)]
struct GoalColumn {
    name: String,
    unit: &'static str,
}

/// A figure that changed its level, in short.
#[derive(Serialize)]
struct ShortChange {
    framework: String,
    figure: String,
    unit: String,
    since: String,
    t0: i64,
    before: f64,
    after: f64,
    percent: Option<f64>,
    direction: &'static str,
    /// The number of versions at the new level or later.
    age: usize,
}

/// The figures of a test from version to version: the file `tests/ID-trend-VERSION.js`.
#[derive(Serialize)]
struct TrendData {
    format: u32,
    name: String,
    by: String,
    least: usize,
    frameworks: Vec<FrameworkTrend>,
}

#[derive(Serialize)]
struct FrameworkTrend {
    framework: String,
    versions: Vec<TrendVersion>,
    figures: Vec<TrendFigure>,
    drifts: Vec<String>,
}

#[derive(Serialize)]
struct TrendVersion {
    name: String,
    t0: i64,
    /// The ids of its runs.
    runs: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrendFigure {
    figure: String,
    unit: String,
    more_is_better: Option<bool>,
    values: Vec<Option<f64>>,
    intervals: Vec<Option<(f64, f64)>>,
    /// For each version the values of its runs.
    runs: Vec<Vec<Option<f64>>>,
    levels: Vec<LevelData>,
    changes: Vec<ChangeData>,
    drifts: Vec<DriftData>,
}

#[derive(Serialize)]
struct LevelData {
    from: usize,
    to: usize,
    level: f64,
    band: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct ChangeData {
    version: usize,
    before: f64,
    after: f64,
    percent: Option<f64>,
    p: f64,
    direction: &'static str,
}

#[derive(Serialize)]
struct DriftData {
    from: usize,
    to: usize,
    before: f64,
    after: f64,
    percent: Option<f64>,
    direction: &'static str,
}

impl GoalColumn {
    fn new(goal: &Goal) -> Self {
        let unit = if matches!(goal, Goal::Within(_)) { "%" } else { "" };
        Self { name: goal.to_string(), unit }
    }
}

impl FrameworkTrend {
    fn new(trends: &Trends) -> Self {
        let version = |version: &Version| TrendVersion {
            name: one_line(&version.name),
            t0: version.start_ms,
            runs: version.runs.iter().map(|run| run_id(&run.info().key)).collect(),
        };
        Self {
            framework: trends.name.clone(),
            versions: trends.versions.iter().map(version).collect(),
            figures: trends.figures.iter().map(|trend| TrendFigure::new(trends, trend)).collect(),
            drifts: trends.drifts(),
        }
    }
}

impl TrendFigure {
    fn new(trends: &Trends, trend: &Trend) -> Self {
        let measure = &trend.measure;
        let of_runs =
            |version: &Version| version.runs.iter().map(|run| run.value(measure)).collect::<Vec<_>>();
        let level = |level: TrendLevel| {
            let (from, to) = level.versions;
            LevelData { from, to, level: level.mean, band: level.band }
        };
        let change = |change: &LevelChange| ChangeData {
            version: change.version,
            before: change.before,
            after: change.after,
            percent: change.percent(),
            p: change.p,
            direction: change.outcome.name(),
        };
        let drift = |drift: &Drift| DriftData {
            from: drift.versions.0,
            to: drift.versions.1,
            before: drift.before,
            after: drift.after,
            percent: drift.percent(),
            direction: drift.outcome.name(),
        };
        Self {
            figure: measure.column(),
            unit: measure.unit().to_owned(),
            more_is_better: measure.more_is_better(),
            values: trend.values.clone(),
            intervals: trend.intervals.clone(),
            runs: trends.versions.iter().map(of_runs).collect(),
            levels: trend.levels().into_iter().map(level).collect(),
            changes: trend.changes.iter().map(change).collect(),
            drifts: trend.drifts.iter().map(drift).collect(),
        }
    }
}

/// Returns the changes of level of a framework.
fn short_changes(trends: &Trends) -> Vec<ShortChange> {
    let of = |trend: &Trend, change: &LevelChange| {
        let version = trends.versions.get(change.version)?;
        Some(ShortChange {
            framework: trends.name.clone(),
            figure: trend.measure.column(),
            unit: trend.measure.unit().to_owned(),
            since: one_line(&version.name),
            t0: version.start_ms,
            before: change.before,
            after: change.after,
            percent: change.percent(),
            direction: change.outcome.name(),
            age: trends.versions.len() - change.version,
        })
    };
    let figures = trends.figures.iter();
    figures.flat_map(|trend| trend.changes.iter().filter_map(move |change| of(trend, change))).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StandingRow {
    framework: String,
    ranks: Option<[u64; 2]>,
    repeats: u64,
    /// The ids of its runs, the one of median throughput first.
    runs: Vec<String>,
    throughput: f64,
    throughput_range: [f64; 2],
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    failures_percent: Option<f64>,
    cpu: Option<f64>,
    load: Option<f64>,
    /// The figure of each goal.
    goals: Vec<Option<f64>>,
}

/// The files of a test, and its row in the list of all.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteTestFiles {
    /// Its row.
    pub test: SiteTest,
    /// The names of its files, each with its text: that of its league, and that of its trend if it has one.
    pub files: Vec<(String, String)>,
}

/// Writes the files of a test, given its runs, their league, and what their figures do from version to version; `by` says what
/// makes runs one version.
///
/// # Errors
/// [`crate::Error::Html`] if the data can't be written.
pub fn site_test(league: &League, runs: &[Timeline], trends: &[Trends], by: &str) -> Result<SiteTestFiles> {
    let medians = median_repeats(runs);
    let row = |standing: &Standing| {
        let mut own: Vec<&Timeline> =
            runs.iter().filter(|run| run.info.key.framework == standing.framework).collect();
        let is_median = |run: &Timeline| medians.iter().any(|median| std::ptr::eq(*median, run));
        own.sort_by_key(|run| (!is_median(run), run.info.key.repeat));
        StandingRow {
            framework: standing.framework.clone(),
            ranks: standing.rank.map(|ranks| [ranks.low, ranks.high]),
            repeats: standing.repeats,
            runs: own.iter().map(|run| run_id(&run.info.key)).collect(),
            throughput: standing.throughput,
            throughput_range: [standing.throughput_min, standing.throughput_max],
            p50: standing.p50,
            p95: standing.p95,
            p99: standing.p99,
            failures_percent: standing.failures_percent,
            cpu: standing.cpu_mean,
            load: standing.load_max,
            goals: standing.goals.clone(),
        }
    };
    let id = link_name(&[&league.test]);
    let mut files = Vec::new();
    let mut add = |kind: &str, call: String| {
        let file = format!("tests/{id}{kind}-{}.js", hex_digest(&[&call]));
        files.push((file.clone(), call));
        file
    };
    let trend = match trends.iter().any(|trends| trends.versions.len() > 1) {
        true => {
            let data = TrendData {
                format: FORMAT,
                name: league.test.clone(),
                by: by.to_owned(),
                least: Trends::LEAST_VERSIONS,
                frameworks: trends.iter().map(FrameworkTrend::new).collect(),
            };
            Some(add("-trend", format!("perfpipe.trend({},{}{END}", json(&id)?, json(&data)?)))
        }
        false => None,
    };
    let mut changes: Vec<ShortChange> = trends.iter().flat_map(short_changes).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.t0));
    let data = TestData {
        format: FORMAT,
        name: league.test.clone(),
        goals: league.goals.iter().map(GoalColumn::new).collect(),
        league: league.standings.iter().map(row).collect(),
        notes: league.notes().into_iter().chain(league.note_on_hold()).collect(),
        changes,
        trend: trend.clone(),
    };
    let file = add("", format!("perfpipe.test({},{}{END}", json(&id)?, json(&data)?));
    let (name, by) = (league.test.clone(), by.to_owned());
    Ok(SiteTestFiles { test: SiteTest { id, file, name, by, trend }, files })
}
