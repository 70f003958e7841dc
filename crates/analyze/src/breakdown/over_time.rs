//! Labels and failures over time, in columns of a chart.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey};
use perfpipe_model::run::Resolution;

use super::labels::LabelStats;
use super::round_width;
use crate::error::Result;
use crate::stats::percentile::{Merger, Percentiles};
use crate::timeline::selection::{Selection, in_seconds};
use crate::view::View;

/// The largest number of columns.
const COLUMNS: u32 = 300;

/// The largest number of labels, those with the most requests.
const LABELS: usize = 30;

/// The largest number of pairs of label and response code, those with the most failures.
const FAILURES: usize = 60;

/// The percentiles of a label, in percent.
const PERCENTS: [f64; 2] = [50.0, 95.0];

/// The labels with the most requests and the most frequent failures, by time.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OverTime {
    /// The number of seconds in a column.
    pub width: u32,
    /// The first second of the first column.
    pub first: u32,
    /// The labels, that with the most requests first.
    pub labels: Vec<LabelOverTime>,
    /// Failures by label and response code, the most frequent first.
    pub failures: Vec<FailuresOverTime>,
}

/// A label by time: a value for each column. Times are in ms.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LabelOverTime {
    /// The label.
    pub label: String,
    /// The number of successful requests.
    pub successes: Vec<u64>,
    /// The number of failed requests.
    pub failures: Vec<u64>,
    /// The 50th percentile of elapsed.
    pub p50: Vec<Option<f64>>,
    /// The 95th percentile of elapsed.
    pub p95: Vec<Option<f64>>,
}

/// The failures of one label with one response code, by time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailuresOverTime {
    /// The label.
    pub label: String,
    /// The response code; empty where the log has none.
    pub response_code: String,
    /// The number of failures in each column.
    pub counts: Vec<u64>,
}

impl OverTime {
    /// Computes labels and failures by time; `labels` are all labels that the view selects.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`].
    pub fn new(run: &StoredRun, view: &View, labels: &[LabelStats]) -> Result<Self> {
        let selection = Selection::new(run, view)?;
        let (first, last) = selection.window;
        let width = round_width((last - first + 1).div_ceil(COLUMNS));
        let columns = ((last - first) / width + 1) as usize;
        let labels = of_labels(&selection, (width, columns), labels)?;
        Ok(Self { width, first, labels, failures: of_failures(run, view, (width, columns))? })
    }
}

/// Computes the labels with the most requests, by time.
fn of_labels(
    selection: &Selection<'_>,
    (width, columns): (u32, usize),
    labels: &[LabelStats],
) -> Result<Vec<LabelOverTime>> {
    let mut most: Vec<&LabelStats> = labels.iter().collect();
    most.sort_by_key(|label| std::cmp::Reverse(label.successes + label.failures));
    most.truncate(LABELS);
    let empty = |label: &&LabelStats| LabelOverTime {
        label: label.label.clone(),
        successes: vec![0; columns],
        failures: vec![0; columns],
        p50: vec![None; columns],
        p95: vec![None; columns],
    };
    let mut series: Vec<LabelOverTime> = most.iter().map(empty).collect();
    let place = |index: u32| {
        let name = selection.run.cells.labels.get(index as usize)?;
        most.iter().position(|label| label.label == *name)
    };
    let places: Vec<Option<usize>> = (0..).map(place).take(selection.run.cells.labels.len()).collect();
    let mut column = OpenColumn { unit: selection.run.info.resolution, ..OpenColumn::default() };
    for cell in selection.cells_that(|key| selection.is_counted(key)) {
        let (key, cell) = cell?;
        let at = ((key.second - selection.window.0) / width) as usize;
        if at != column.at {
            column.close(&mut series);
            column.at = at;
        }
        let place = places.get(key.label as usize).copied().flatten();
        if let Some((place, label)) = place.and_then(|place| Some((place, series.get_mut(place)?))) {
            column.add(place, label, &key, cell, selection.is_averaged(&key));
        }
    }
    column.close(&mut series);
    Ok(series)
}

/// A column that is being read, with the elapsed times of each label.
#[derive(Default)]
struct OpenColumn {
    unit: Resolution,
    at: usize,
    elapsed: BTreeMap<usize, Vec<Vec<(i32, u64)>>>,
}

impl OpenColumn {
    fn add(&mut self, place: usize, label: &mut LabelOverTime, key: &CellKey, cell: Cell, averaged: bool) {
        let counts = if key.success { &mut label.successes } else { &mut label.failures };
        if let Some(count) = counts.get_mut(self.at) {
            *count = count.saturating_add(cell.samples());
        }
        if averaged {
            self.elapsed.entry(place).or_default().push(cell.elapsed);
        }
    }

    /// Computes the percentiles of the column, and forgets its times.
    fn close(&mut self, series: &mut [LabelOverTime]) {
        let mut merger = Merger::default();
        for (place, lists) in std::mem::take(&mut self.elapsed) {
            let Some(label) = series.get_mut(place) else { continue };
            let lists: Vec<&[(i32, u64)]> = lists.iter().map(Vec::as_slice).collect();
            let counts = merger.merge(&lists);
            let samples = counts.iter().map(|(_, samples)| samples).sum();
            let values = Percentiles::new(&PERCENTS).of(samples, counts.iter().copied(), self.unit);
            for (series, value) in [&mut label.p50, &mut label.p95].into_iter().zip(values) {
                if let Some(place) = series.get_mut(self.at) {
                    *place = value;
                }
            }
        }
    }
}

/// Computes the most frequent failures by label and response code, by time.
fn of_failures(
    run: &StoredRun,
    view: &View,
    (width, columns): (u32, usize),
) -> Result<Vec<FailuresOverTime>> {
    let view = in_seconds(run, view)?;
    let selection = Selection::new(run, &view)?;
    let mut all: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
    for error in run.errors.iter().filter(|error| selection.holds_error(error)) {
        let counts = all.entry((&error.label, &error.response_code)).or_insert_with(|| vec![0; columns]);
        let at = (error.second - selection.window.0) / width;
        if let Some(count) = counts.get_mut(at as usize) {
            *count = count.saturating_add(error.count);
        }
    }
    let named = |((label, code), counts): ((&str, &str), Vec<u64>)| FailuresOverTime {
        label: label.to_owned(),
        response_code: code.to_owned(),
        counts,
    };
    let mut all: Vec<FailuresOverTime> = all.into_iter().map(named).collect();
    all.sort_by_key(|failures| std::cmp::Reverse(failures.counts.iter().sum::<u64>()));
    all.truncate(FAILURES);
    Ok(all)
}
