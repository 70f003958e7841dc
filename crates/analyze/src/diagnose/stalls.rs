//! Seconds with no requests, or with few: nothing began, since every thread waited.

use super::chance::{SURPRISE, dispersion, surprise};
use super::facts::{Facts, figure, loads, requests};
use super::{Finding, Kind};
use crate::level::median;
use crate::phases::Span;
use crate::timeline::Second;

/// The share of what is expected up to which requests are few.
const FEW: f64 = 0.25;
/// Seconds on either side that tell what is expected.
const AROUND: usize = 30;
/// Stalls told one by one; of more, the longest are, and the rest is counted with the last.
const TOLD: usize = 10;

/// A stretch of few requests.
struct Stall {
    span: Span,
    requests: f64,
    expected: f64,
}

/// A second: its number, its requests, and those it is expected to have.
#[derive(Clone, Copy)]
struct Row {
    second: u32,
    count: f64,
    expected: f64,
}

impl Row {
    fn is_few(&self) -> bool {
        self.expected > 0.0 && self.count <= FEW * self.expected
    }
}

/// Stretches in which requests are few, each together too few to be chance.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let rows = rows(facts);
    let usual: Vec<(f64, f64)> =
        rows.iter().filter(|row| !row.is_few()).map(|row| (row.count, row.expected)).collect();
    let dispersion = dispersion(&usual);
    let stall = |stretch: &[Row]| {
        let span = Span { first: stretch.first()?.second, last: stretch.last()?.second };
        let surprised: f64 = stretch.iter().map(|row| surprise(row.count, row.expected)).sum();
        let sum = |of: fn(&Row) -> f64| stretch.iter().map(of).sum();
        let stall = Stall { span, requests: sum(|row| row.count), expected: sum(|row| row.expected) };
        (stretch.first()?.is_few() && surprised / dispersion >= SURPRISE).then_some(stall)
    };
    told(rows.chunk_by(|a, b| a.is_few() == b.is_few()).filter_map(stall).collect())
}

/// The seconds, each expected to have the median of its neighbours' requests a thread, times its threads. The median is
/// taken twice: the second time without the seconds that have few, so that long stalls do not hide themselves.
fn rows(facts: &Facts<'_>) -> Vec<Row> {
    let rows = facts.body();
    let loads: Vec<f64> =
        loads(rows).into_iter().map(|load| load.filter(|l| *l > 0.0).unwrap_or(1.0)).collect();
    let each: Vec<f64> = rows.iter().zip(&loads).map(|(row, load)| requests(row) / load).collect();
    let mut expected = rates(&each, |_| true);
    for _ in 0..2 {
        let usual =
            |at: usize| each.get(at).zip(expected.get(at)).is_some_and(|(own, rate)| own > &(FEW * rate));
        expected = rates(&each, usual);
    }
    let row = |((row, load), rate): ((&Second, f64), f64)| Row {
        second: row.second,
        count: requests(row),
        expected: rate * load,
    };
    rows.iter().zip(loads).zip(expected).map(row).collect()
}

/// The requests a thread to expect in each second, from those around it that are usual.
fn rates(each: &[f64], usual: impl Fn(usize) -> bool) -> Vec<f64> {
    let of = |from: usize, to: usize| {
        let around =
            (from..to.min(each.len())).filter(|at| usual(*at)).filter_map(|at| each.get(at).copied());
        median(&around.collect::<Vec<_>>()).filter(|rate| *rate > 0.0)
    };
    // In the middle of a long silence there is nothing around.
    let overall = of(0, each.len()).unwrap_or_default();
    (0..each.len()).map(|at| of(at.saturating_sub(AROUND), at + AROUND + 1).unwrap_or(overall)).collect()
}

fn told(mut stalls: Vec<Stall>) -> Vec<Finding> {
    stalls.sort_by_key(|stall| (std::cmp::Reverse(stall.span.seconds()), stall.span.first));
    let more = stalls.len().saturating_sub(TOLD);
    let finding = |(at, stall): (usize, &Stall)| {
        let seconds = stall.span.seconds();
        let rest = if more > 0 && at + 1 == TOLD {
            format!("; {more} shorter ones are not told")
        } else {
            String::new()
        };
        let few = if stall.requests == 0.0 { "no requests" } else { "few requests" };
        Finding {
            kind: Kind::Stall,
            span: stall.span,
            what: format!("{few} for {seconds} s{rest}"),
            evidence: format!(
                "{} requests, where {} are expected",
                figure(stall.requests),
                figure(stall.expected.round())
            ),
        }
    };
    stalls.iter().take(TOLD).enumerate().map(finding).collect()
}
