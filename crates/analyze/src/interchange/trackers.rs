//! Summaries of runs in the formats of services that follow figures over time: Bencher, github-action-benchmark and Apache
//! Otava.

use std::collections::{BTreeMap, BTreeSet};

use perfpipe_model::RunKey;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::format::{decimals, instant};
use crate::stats::percentile::column_name;
use crate::table::{Format, Table};
use crate::timeline::Timeline;
use crate::timeline::summary::summary_percentiles;

/// The figures of a run that services follow: throughput, the share of failures, the mean response time and the
/// percentiles of the view.
#[derive(Debug, Clone)]
pub struct TrackedRun {
    key: RunKey,
    t0_ms: i64,
    tags: BTreeMap<String, String>,
    figures: Vec<TrackedFigure>,
}

#[derive(Debug, Clone, PartialEq)]
struct TrackedFigure {
    /// Its name, which has the unit of times and shares.
    name: String,
    unit: &'static str,
    is_bigger_better: bool,
    value: f64,
}

impl TrackedRun {
    /// Takes the figures from a run's summary. Absent ones are left out.
    pub fn new(timeline: &Timeline) -> Self {
        let (info, summary) = (&timeline.info, &timeline.summary);
        let figure = |name: &str, unit, is_bigger_better, value: Option<f64>| {
            let value = value.filter(|value| value.is_finite())?;
            Some(TrackedFigure { name: name.to_owned(), unit, is_bigger_better, value })
        };
        let failures = summary.failure_share().map(|share| share * 100.0);
        let named = [
            figure("throughput", "requests/s", true, Some(summary.throughput)),
            figure("failures_percent", "%", false, failures),
            figure("elapsed_mean_ms", "ms", false, summary.elapsed_mean),
        ];
        let percentiles = summary_percentiles(&timeline.percentiles, summary).into_iter();
        let percentiles = percentiles.filter_map(|(percent, value)| {
            figure(&format!("{}_ms", column_name(percent)), "ms", false, value)
        });
        Self {
            key: info.key.clone(),
            t0_ms: info.t0_ms,
            tags: info.options.tags.clone(),
            figures: named.into_iter().flatten().chain(percentiles).collect(),
        }
    }
}

/// A figure of all repeats of a framework and a test.
struct RepeatedFigure<'a> {
    /// `framework_test`.
    run: String,
    figure: &'a TrackedFigure,
    /// The values of the repeats, in ascending order; at least one.
    values: Vec<f64>,
}

impl RepeatedFigure<'_> {
    fn median(&self) -> f64 {
        let middle = |at: usize| self.values.get(at).copied().unwrap_or(f64::NAN);
        let half = self.values.len() / 2;
        if self.values.len() % 2 == 1 {
            middle(half)
        } else {
            f64::midpoint(middle(half.saturating_sub(1)), middle(half))
        }
    }

    /// The least and the greatest value, if there are several.
    fn range(&self) -> Option<(f64, f64)> {
        let (least, greatest) = (self.values.first()?, self.values.last()?);
        (self.values.len() > 1).then_some((*least, *greatest))
    }
}

/// Gathers the figures of repeats, in the order in which they come first.
fn by_repeats(runs: &[TrackedRun]) -> Vec<RepeatedFigure<'_>> {
    let mut all: Vec<RepeatedFigure<'_>> = Vec::new();
    for run in runs {
        let name = run.key.clone().with_repeat(1).to_string();
        for figure in &run.figures {
            match all.iter_mut().find(|one| one.run == name && one.figure.name == figure.name) {
                Some(one) => one.values.push(figure.value),
                None => all.push(RepeatedFigure { run: name.clone(), figure, values: vec![figure.value] }),
            }
        }
    }
    all.iter_mut().for_each(|one| one.values.sort_by(f64::total_cmp));
    all
}

/// Writes runs in Bencher Metric Format: `{"go_2048": {"p95_ms": {"value": 38.0}}}`.
///
/// A benchmark is a framework and a test, a measure one of the figures `throughput`, `failures_percent`, `elapsed_mean_ms`
/// and percentiles such as `p95_ms`. Of several repeats, the value is the median, and `lower_value` and `upper_value` are the
/// least and the greatest.
///
/// # Errors
/// None in practice: the figures are finite.
///
/// Source of the format: Bencher's documentation, "Bencher Metric Format (BMF)".
pub fn bencher_metrics(runs: &[TrackedRun]) -> Result<String> {
    #[derive(Serialize)]
    struct Metric {
        value: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        lower_value: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        upper_value: Option<f64>,
    }
    let figures = by_repeats(runs);
    let mut benchmarks: BTreeMap<&str, BTreeMap<&str, Metric>> = BTreeMap::new();
    for one in &figures {
        let (lower_value, upper_value) = one.range().unzip();
        let metric = Metric { value: one.median(), lower_value, upper_value };
        benchmarks.entry(&one.run).or_default().insert(&one.figure.name, metric);
    }
    json(&benchmarks)
}

/// Writes the figures of which less is better, as github-action-benchmark reads them with the tool `customSmallerIsBetter`.
///
/// An entry is named as in `go_2048 p95_ms`. Of several repeats, the value is the median, and the range has the least and
/// the greatest.
///
/// # Errors
/// None in practice: the figures are finite.
///
/// Source of the format: the README of github-action-benchmark, "Examples", "Custom benchmarks".
pub fn smaller_is_better(runs: &[TrackedRun]) -> Result<String> {
    entries(runs, false)
}

/// Writes the figures of which more is better, as [`smaller_is_better`] does, for the tool `customBiggerIsBetter`.
///
/// # Errors
/// As [`smaller_is_better`].
pub fn bigger_is_better(runs: &[TrackedRun]) -> Result<String> {
    entries(runs, true)
}

fn entries(runs: &[TrackedRun], is_bigger_better: bool) -> Result<String> {
    #[derive(Serialize)]
    struct Entry {
        name: String,
        unit: &'static str,
        value: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra: Option<String>,
    }
    let figures = by_repeats(runs);
    let chosen = figures.iter().filter(|one| one.figure.is_bigger_better == is_bigger_better);
    let entries: Vec<Entry> = chosen
        .map(|one| Entry {
            name: format!("{} {}", one.run, one.figure.name),
            unit: one.figure.unit,
            value: one.median(),
            range: one.range().map(|(low, high)| format!("{} to {}", decimals(low, 2), decimals(high, 2))),
            extra: one.range().map(|_| format!("median of {} repeats", one.values.len())),
        })
        .collect();
    json(&entries)
}

fn json(document: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(|e| Error::convert("JSON", e))
}

/// Writes runs as CSV for Apache Otava: a row for each run, in the order in which they began.
///
/// The column `time` has the start (UTC); those of tags are attributes, as `commit`, and `branch` selects runs; all others
/// are metrics: those that every run has, since Otava takes no empty ones. The runs should be of one framework and test.
///
/// # Errors
/// None in practice: a text is written.
///
/// Source of the format: the documentation of Apache Otava, "Importing results from CSV".
pub fn otava_csv(runs: &[TrackedRun]) -> Result<String> {
    let mut runs: Vec<&TrackedRun> = runs.iter().collect();
    runs.sort_by(|a, b| (a.t0_ms, &a.key).cmp(&(b.t0_ms, &b.key)));
    let value =
        |run: &TrackedRun, name: &str| run.figures.iter().find(|one| one.name == name).map(|one| one.value);
    let first = runs.first().map(|run| run.figures.as_slice()).unwrap_or_default();
    let names = first.iter().map(|figure| figure.name.as_str());
    let metrics: Vec<&str> = names.filter(|name| runs.iter().all(|run| value(run, name).is_some())).collect();
    let own = ["time", "framework", "test"];
    let tags: BTreeSet<&str> = runs.iter().flat_map(|run| run.tags.keys().map(String::as_str)).collect();
    let tags = tags.into_iter().filter(|tag| !own.contains(tag) && !metrics.contains(tag));
    let table = Table::of(&runs)
        .column("time", |run| instant(run.t0_ms).map(|time| format!("{time} +0000")))
        .column("framework", |run| Some(run.key.framework.clone()))
        .column("test", |run| Some(run.key.test.clone()));
    let table = tags.fold(table, |table, tag| {
        table.column(tag, move |run| Some(run.tags.get(tag).cloned().unwrap_or_default()))
    });
    let table = metrics.iter().fold(table, |table, name| table.column(*name, |run| value(run, name)));
    let mut text = Vec::new();
    table.done().write(Format::Csv, &mut text)?;
    String::from_utf8(text).map_err(|e| Error::convert("CSV", e))
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::{RunInfo, StoredRun};

    use super::*;
    use crate::view::View;

    /// A run of two seconds whose requests take so long.
    fn run(repeat: u32, elapsed: i32, tags: &[(&str, &str)]) -> TrackedRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells =
            [0, 1].map(|second| (key(second), Cell { elapsed: vec![(elapsed, 5)], ..Cell::default() }));
        let t0 = i64::from(repeat) * -1000;
        let mut info = RunInfo::new(RunKey::new("go", "t").with_repeat(repeat), t0, t0 + 1999);
        info.options.tags =
            tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
        TrackedRun::new(&Timeline::new(&run, &View::default().with_percentiles([95.0])).unwrap())
    }

    #[test]
    fn repeats_are_one_benchmark_with_its_range() {
        let runs = [run(1, 10, &[]), run(2, 30, &[]), run(3, 20, &[])];
        let bencher: serde_json::Value = serde_json::from_str(&bencher_metrics(&runs).unwrap()).unwrap();
        assert_eq!(
            bencher["go_t"]["p95_ms"],
            serde_json::json!({"value": 20.0, "lower_value": 10.0, "upper_value": 30.0})
        );
        let alone: serde_json::Value = serde_json::from_str(&bencher_metrics(&runs[..1]).unwrap()).unwrap();
        assert_eq!(alone["go_t"]["p95_ms"], serde_json::json!({"value": 10.0}));
    }

    #[test]
    fn entries_are_split_by_what_is_better() {
        let runs = [run(1, 10, &[]), run(2, 30, &[])];
        let smaller: serde_json::Value = serde_json::from_str(&smaller_is_better(&runs).unwrap()).unwrap();
        let names: Vec<&str> =
            smaller.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            ["go_t failures_percent", "go_t elapsed_mean_ms", "go_t p50_ms", "go_t p95_ms", "go_t p99_ms"]
        );
        assert_eq!(smaller[4]["range"], "10.00 to 30.00");
        assert_eq!((&smaller[4]["unit"], &smaller[4]["value"]), (&"ms".into(), &20.0.into()));
        let bigger: serde_json::Value = serde_json::from_str(&bigger_is_better(&runs).unwrap()).unwrap();
        assert_eq!((bigger.as_array().unwrap().len(), &bigger[0]["name"]), (1, &"go_t throughput".into()));
    }

    #[test]
    fn rows_for_otava_are_in_the_order_of_time_with_tags_as_attributes() {
        let runs = [run(1, 10, &[("commit", "b"), ("time", "x")]), run(2, 30, &[("branch", "main,2")])];
        assert_eq!(
            otava_csv(&runs).unwrap(),
            "time,framework,test,branch,commit,throughput,failures_percent,elapsed_mean_ms,p50_ms,p95_ms,p99_ms\n\
             1969-12-31 23:59:58 +0000,go,t,\"main,2\",\"\",5,0,30,30,30,30\n\
             1969-12-31 23:59:59 +0000,go,t,\"\",b,5,0,10,10,10,10\n"
        );
    }
}
