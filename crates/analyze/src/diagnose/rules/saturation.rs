//! Saturation: throughput that is flat while the load climbs, from the knee of the sweep.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::sweep::LoadStep;
use crate::view::phases::Span;

/// Reports the knee, if there is one (see [`crate::Knee`]). A load that follows the requests has none.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let sweep = facts.sweep.as_ref().filter(|_| !facts.load_follows)?;
    let knee = sweep.knee?;
    let (first, last) = (sweep.steps.get(knee.step)?, sweep.steps.last()?);
    let before = knee.step.checked_sub(1).and_then(|at| sweep.steps.get(at));
    let mut figures = FindingFigures::default();
    let what = format!(
        "throughput stops growing {} {} threads, while the load goes on to {}",
        knee.at(),
        figures.few("load", knee.load, "threads"),
        figures.few("load_most", last.load, "threads")
    );
    let named = before.map(|before| (BEFORE, before)).into_iter().chain([(AT, first), (LAST, last)]);
    let steps: Vec<String> = named.map(|(names, step)| describe(step, names, &mut figures)).collect();
    Some(Finding {
        kind: FindingKind::Saturation,
        span: beyond(facts, first.load_min)?,
        what,
        evidence: steps.join("; "),
        figures: figures.done(),
        injector: None,
    })
}

/// Names of the figures of a load step: throughput, load, CPU.
type FigureNames = [&'static str; 3];

/// The step before the knee, that of the knee, and the last one.
const BEFORE: FigureNames = ["throughput_before_knee", "load_before_knee", "cpu_before_knee"];
const AT: FigureNames = ["throughput_at_knee", "load_at_knee", "cpu_at_knee"];
const LAST: FigureNames = ["throughput_last", "load_last", "cpu_last"];

/// Describes a load step.
fn describe(step: &LoadStep, [throughput, load, cpu]: FigureNames, figures: &mut FindingFigures) -> String {
    let throughput = figures.few(throughput, step.summary.throughput, "1/s");
    let load = figures.few(load, step.load, "threads");
    let cpu = step.summary.cpu_mean.map(|mean| format!(", CPU {} %", figures.few(cpu, mean, "%")));
    format!("{throughput}/s at {load} threads{}", cpu.unwrap_or_default())
}

/// Returns the first and the last second with at least this load.
fn beyond(facts: &Facts<'_>, load: f64) -> Option<Span> {
    let mut loaded = facts.body().iter().filter(|row| row.load().is_some_and(|own| own >= load));
    let first = loaded.next()?.second;
    Some(Span { first, last: loaded.next_back().map_or(first, |row| row.second) })
}

/// Returns the seconds beyond the knee.
pub(in crate::diagnose) fn seconds(facts: &Facts<'_>) -> Option<Span> {
    find(facts).map(|finding| finding.span)
}
