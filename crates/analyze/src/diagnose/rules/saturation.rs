//! Saturation: throughput that is flat while the load climbs, from the knee of the sweep.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingKind};
use crate::format::figure;
use crate::sweep::LoadStep;
use crate::view::phases::Span;

/// Reports the knee, if there is one (see [`crate::Knee`]). A load that follows the requests has none.
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
        kind: FindingKind::Saturation,
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

/// Returns the first and the last second with at least this load.
fn beyond(facts: &Facts<'_>, load: f64) -> Option<Span> {
    let mut loaded = facts.body().iter().filter(|row| row.load.is_some_and(|own| own >= load));
    let first = loaded.next()?.second;
    Some(Span { first, last: loaded.next_back().map_or(first, |row| row.second) })
}

/// Returns the seconds beyond the knee.
pub(in crate::diagnose) fn seconds(facts: &Facts<'_>) -> Option<Span> {
    find(facts).map(|finding| finding.span)
}
