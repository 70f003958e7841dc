//! Throughput that is flat while the load climbs: the knee of the sweep.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, Kind};
use crate::format::figure;
use crate::sweep::LoadStep;
use crate::view::phases::Span;

/// The knee, where there is one: see [`crate::Knee`] for when it is. A load that follows the requests has none.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let sweep = facts.sweep.as_ref().filter(|_| !facts.load_follows)?;
    let knee = sweep.knee?;
    let (first, last) = (sweep.steps.get(knee.step)?, sweep.steps.last()?);
    let before = knee.step.checked_sub(1).and_then(|at| sweep.steps.get(at));
    let told = |step: &LoadStep| {
        let cpu = step.summary.cpu_mean.map(|cpu| format!(", CPU {} %", figure(cpu))).unwrap_or_default();
        format!("{}/s at {} threads{cpu}", figure(step.summary.throughput), figure(step.load))
    };
    let steps: Vec<String> = before.into_iter().chain([first, last]).map(told).collect();
    Some(Finding {
        kind: Kind::Saturation,
        span: beyond(facts, first.load_min)?,
        what: format!(
            "throughput stops growing {} {} threads, while the load goes on to {}",
            knee.at(),
            figure(knee.load),
            figure(last.load)
        ),
        evidence: steps.join("; "),
    })
}

/// The seconds from the first to the last in which the load is at least so much.
fn beyond(facts: &Facts<'_>, load: f64) -> Option<Span> {
    let mut loaded = facts.body().iter().filter(|row| row.load.is_some_and(|own| own >= load));
    let first = loaded.next()?.second;
    Some(Span { first, last: loaded.next_back().map_or(first, |row| row.second) })
}

/// The seconds beyond the knee, for what is found there.
pub(in crate::diagnose) fn seconds(facts: &Facts<'_>) -> Option<Span> {
    find(facts).map(|finding| finding.span)
}
