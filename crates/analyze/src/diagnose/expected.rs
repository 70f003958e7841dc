//! The requests that each second is expected to have, from those of the seconds around it.

use super::chance::dispersion;
use super::facts::Facts;
use super::seconds::requests;
use crate::stats::median::upper_median;
use crate::timeline::Second;

/// The share of what is expected up to which a second's requests are few.
const FEW: f64 = 0.5;
/// Seconds on either side that tell what is expected.
const AROUND: usize = 30;
/// Requests a second below which a median says nothing: it is a whole number, and 0 of fewer than 0.7 a second.
const RARE: f64 = 4.0;
/// Where requests are rare, what is expected is told by as many seconds as have so many requests on either side.
const ENOUGH: f64 = 40.0;

/// A second: its number, its requests, and those it is expected to have.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) second: u32,
    pub(super) count: f64,
    pub(super) expected: f64,
}

impl Row {
    pub(super) fn is_few(&self) -> bool {
        self.expected > 0.0 && self.count <= FEW * self.expected
    }
}

/// The seconds with what is expected of them, and how much more their requests vary than by chance alone.
pub(super) fn rows(facts: &Facts<'_>) -> (Vec<Row>, f64) {
    let rows = facts.body();
    let loads: Vec<f64> = rows.iter().map(|row| row.load.filter(|load| *load > 0.0).unwrap_or(1.0)).collect();
    let counts: Vec<f64> = rows.iter().map(requests).collect();
    let rare = upper_median(&counts).is_none_or(|usual| usual < RARE);
    let is_known = rows.iter().any(|row| row.load.is_some());
    let rates = match (rare, is_known) {
        (true, _) => means(&counts, &loads),
        (false, true) => medians(&counts, &loads),
        (false, false) => least(&counts),
    };
    let row = |((row, load), rate): ((&Second, f64), f64)| Row {
        second: row.second,
        count: requests(row),
        expected: rate * load,
    };
    let rows: Vec<Row> = rows.iter().zip(loads).zip(rates).map(row).collect();
    let dispersion = if rare { spread(&counts) } else { dispersion(&usual(&rows)) };
    (rows, dispersion)
}

fn usual(rows: &[Row]) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| !row.is_few()).map(|row| (row.count, row.expected)).collect()
}

/// The variance of counts over their mean, 1 at least.
fn spread(counts: &[f64]) -> f64 {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    if mean > 0.0 { (variance / mean).max(1.0) } else { 1.0 }
}

/// The requests a thread to expect of each second where they are rare: the mean of those around it, or of all, whichever
/// is less, so that a calm stretch of a run that was busier elsewhere is none that is silent.
fn means(counts: &[f64], loads: &[f64]) -> Vec<f64> {
    let sums = |values: &[f64]| -> Vec<f64> {
        let add = |sum: &mut f64, value: &f64| {
            *sum += value;
            Some(*sum)
        };
        std::iter::once(0.0).chain(values.iter().scan(0.0, add)).collect()
    };
    let (counted, loaded) = (sums(counts), sums(loads));
    let mean = |from: usize, to: usize| {
        let of = |sums: &[f64]| Some(sums.get(to)? - sums.get(from)?);
        of(&counted)
            .zip(of(&loaded))
            .filter(|(_, load)| *load > 0.0)
            .map_or(0.0, |(count, load)| count / load)
    };
    let length = counts.len();
    let overall = mean(0, length);
    let near = |at: usize| {
        let here = counted.get(at).copied().unwrap_or(0.0);
        let from = counted.partition_point(|sum| *sum < here - ENOUGH);
        let to = counted.partition_point(|sum| *sum < here + ENOUGH);
        mean(from, to.min(length))
    };
    (0..length).map(|at| near(at).min(overall)).collect()
}

/// The requests a thread to expect of each second: the median of those around it. It is taken twice: the second time
/// without the seconds that have few, so that long stalls do not hide themselves.
fn medians(counts: &[f64], loads: &[f64]) -> Vec<f64> {
    let each: Vec<f64> = counts.iter().zip(loads).map(|(count, load)| count / load).collect();
    let mut expected = around(&each, |_| true);
    for _ in 0..2 {
        let usual =
            |at: usize| each.get(at).zip(expected.get(at)).is_some_and(|(own, rate)| own > &(FEW * rate));
        expected = around(&each, usual);
    }
    expected
}

/// The requests to expect of each second where threads are not in the log, and may begin or end: the median of those before
/// it or of those after it, whichever is less.
fn least(counts: &[f64]) -> Vec<f64> {
    let of =
        |from: usize, to: usize| upper_median(counts.get(from..to.min(counts.len())).unwrap_or_default());
    let sides = |at: usize| (of(at.saturating_sub(AROUND), at), of(at + 1, at + 1 + AROUND));
    let less = |(before, after): (Option<f64>, Option<f64>)| before.unwrap_or(0.0).min(after.unwrap_or(0.0));
    (0..counts.len()).map(sides).map(less).collect()
}

/// The median of those values around each that are usual and not 0; in the middle of a long silence there is nothing
/// around, and that of all is taken.
fn around(values: &[f64], usual: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = (from..to.min(values.len())).filter(|at| usual(*at));
        let near: Vec<f64> = near.filter_map(|at| values.get(at).copied()).collect();
        upper_median(&near).filter(|value| *value > 0.0)
    };
    let overall = of(0, values.len()).unwrap_or_default();
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at + AROUND + 1).unwrap_or(overall)).collect()
}

/// What is usual of the values before each or of those after it, whichever is greater: where the level changes, each value
/// is like those on one side. It is a bit less than the median, since half of them may be out of the ordinary. Values of 0
/// are none.
pub(super) fn beside(values: &[f64]) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = values.get(from..to.min(values.len())).unwrap_or_default().iter();
        let mut near: Vec<f64> = near.copied().filter(|value| *value > 0.0).collect();
        near.sort_by(f64::total_cmp);
        near.get(near.len() * 2 / 5).copied().unwrap_or(0.0)
    };
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at).max(of(at + 1, at + 1 + AROUND))).collect()
}
