//! The number of requests expected in each second, from those of the seconds around it.

use super::chance::{dispersion, variance_ratio};
use super::facts::Facts;
use super::seconds::{RuleSecond, requests};
use crate::stats::median::upper_median;

/// A second has few requests if they are at most this share of those expected.
const FEW: f64 = 0.5;
/// The number of seconds on either side from which the expected requests are computed.
const AROUND: usize = 30;
/// Below this median of requests per second, the median is too coarse: it is a whole number, and 0 below 0.7 per
/// second.
const RARE: f64 = 4.0;
/// Where requests are rare, the expected requests are computed from seconds with this many requests on either side.
const ENOUGH: f64 = 40.0;

/// A second: its number, its requests, and its expected requests.
#[derive(Clone, Copy)]
pub(super) struct ExpectedSecond {
    pub(super) second: u32,
    pub(super) count: f64,
    pub(super) expected: f64,
}

impl ExpectedSecond {
    pub(super) fn is_few(&self) -> bool {
        self.expected > 0.0 && self.count <= FEW * self.expected
    }
}

/// Returns the seconds with their expected requests, and the dispersion of the requests (1 for Poisson counts).
pub(super) fn rows(facts: &Facts<'_>) -> (Vec<ExpectedSecond>, f64) {
    let rows = facts.body();
    let known = |row: &RuleSecond| row.load().filter(|load| *load > 0.0 && !facts.load_follows);
    let loads: Vec<f64> = rows.iter().map(|row| known(row).unwrap_or(1.0)).collect();
    let counts: Vec<f64> = rows.iter().map(requests).collect();
    let rare = upper_median(&counts).is_none_or(|usual| usual < RARE);
    let is_known = rows.iter().any(|row| row.load().is_some());
    let rates = match (rare, is_known) {
        (true, _) => means(&counts, &loads),
        (false, true) => medians(&counts, &loads),
        (false, false) => least(&counts),
    };
    let row = |((row, load), rate): ((&RuleSecond, f64), f64)| ExpectedSecond {
        second: row.second,
        count: requests(row),
        expected: rate * load,
    };
    let rows: Vec<ExpectedSecond> = rows.iter().zip(loads).zip(rates).map(row).collect();
    let dispersion = if rare { variance_ratio(&counts).max(1.0) } else { dispersion(&usual(&rows)) };
    (rows, dispersion)
}

fn usual(rows: &[ExpectedSecond]) -> Vec<(f64, f64)> {
    rows.iter().filter(|row| !row.is_few()).map(|row| (row.count, row.expected)).collect()
}

/// Returns the expected requests per thread of each second where requests are rare: the mean around it or the overall
/// mean, whichever is less. A calm stretch of a run that is busier elsewhere is thus not a silent one.
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

/// Returns the expected requests per thread of each second: the median around it. It is computed repeatedly, without
/// the seconds that have few requests by the round before, so that long stalls do not hide themselves.
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

/// Returns the expected requests of each second where the log does not have the number of threads, so that threads may
/// begin or end at any time: the median before it or the median after it, whichever is less.
fn least(counts: &[f64]) -> Vec<f64> {
    let of =
        |from: usize, to: usize| upper_median(counts.get(from..to.min(counts.len())).unwrap_or_default());
    let sides = |at: usize| (of(at.saturating_sub(AROUND), at), of(at + 1, at + 1 + AROUND));
    let less = |(before, after): (Option<f64>, Option<f64>)| before.unwrap_or(0.0).min(after.unwrap_or(0.0));
    (0..counts.len()).map(sides).map(less).collect()
}

/// Returns the median of the usual, non-zero values around each value, or that of the whole series where there are
/// none, as in the middle of a long silence.
fn around(values: &[f64], usual: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = (from..to.min(values.len())).filter(|at| usual(*at));
        let near: Vec<f64> = near.filter_map(|at| values.get(at).copied()).collect();
        upper_median(&near).filter(|value| *value > 0.0)
    };
    let overall = of(0, values.len()).unwrap_or_default();
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at + AROUND + 1).unwrap_or(overall)).collect()
}

/// Returns the usual level beside each value: that of the values before it or after it, whichever is greater. Where the
/// level changes, each value is like those on one side. The level is the 40th percentile, below the median, since half
/// of the values may be out of the ordinary. Values that are not positive are ignored.
pub(super) fn beside(values: &[f64]) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let near = values.get(from..to.min(values.len())).unwrap_or_default().iter();
        let mut near: Vec<f64> = near.copied().filter(|value| *value > 0.0).collect();
        near.sort_by(f64::total_cmp);
        near.get(near.len() * 2 / 5).copied().unwrap_or(0.0)
    };
    (0..values.len()).map(|at| of(at.saturating_sub(AROUND), at).max(of(at + 1, at + 1 + AROUND))).collect()
}
