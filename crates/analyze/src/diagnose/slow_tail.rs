//! A tail that grows apart from the median: the slowest requests get slower while most do not.

use super::facts::{Facts, figure, span};
use super::{Finding, Kind};
use crate::error::Result;
use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::view::View;

/// How much the 99th percentile grows at least, from the first third of the hold to the last, and to the middle one.
const GROWS: (f64, f64) = (2.0, 1.25);
/// How much the median grows at most.
const STAYS: f64 = 1.25;
/// Requests that a third must have for its 99th percentile to be sure.
const REQUESTS: u64 = 2000;

/// Compares the thirds of the hold.
pub(super) fn find(facts: &Facts<'_>) -> Result<Option<Finding>> {
    let rows = facts.steady();
    let third = rows.len().div_ceil(3);
    let mut thirds: Vec<Summary> = Vec::new();
    for part in rows.chunks(third.max(1)) {
        let Some(part) = span(part) else { continue };
        let view = View { from: Some(part.first), to: Some(part.last), phase: None, ..facts.view.clone() };
        thirds.push(Timeline::new(facts.run, &view)?.summary);
    }
    let [first, middle, last] = thirds.as_slice() else { return Ok(None) };
    Ok(compare(first, middle, last).and_then(|(what, evidence)| {
        Some(Finding { kind: Kind::SlowTail, span: span(rows)?, what, evidence })
    }))
}

/// What and evidence, if the tail of the last third is apart from its median, and that of the first is not.
fn compare(first: &Summary, middle: &Summary, last: &Summary) -> Option<(String, String)> {
    let averaged = |third: &Summary| third.successes;
    if [first, middle, last].into_iter().map(averaged).min()? < REQUESTS {
        return None;
    }
    let (median, tail) = ((first.p50?, last.p50?), (first.p99?, last.p99?));
    let stays = median.1 <= STAYS * median.0;
    let grows = tail.1 >= GROWS.0 * tail.0 && middle.p99? >= GROWS.1 * tail.0;
    (stays && grows && tail.0 > 0.0).then(|| {
        let what = format!(
            "the slowest requests take {} times as long at the end, the others do not",
            figure(tail.1 / tail.0)
        );
        let ms = |(one, other): (f64, f64)| format!("from {} to {} ms", figure(one), figure(other));
        (what, format!("p99 {}, p50 {}, first third to last", ms(tail), ms(median)))
    })
}
