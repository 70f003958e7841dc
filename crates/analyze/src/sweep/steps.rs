//! The steps of a load: which seconds count, and which of them belong together.

use std::collections::BTreeMap;

use crate::timeline::load::LoadCurve;
use crate::timeline::selection::Selection;
use crate::view::phases::{Phase, Phases};

/// The least number of consecutive seconds at exactly the same load that make a step.
const STEP: usize = 3;
/// The least share of seconds at steps for a stepped load. Seconds at the commonest load do not count.
const AT_STEPS: f64 = 2.0 / 3.0;
/// The largest number of steps; a load with more is gathered into bins.
const MOST_STEPS: usize = 50;
/// The approximate number of bins.
const BINS: f64 = 20.0;

/// Returns the seconds that count, each with its load.
pub(super) fn loads(curve: &LoadCurve, selection: &Selection<'_>) -> Vec<(u32, f64)> {
    let last = selection.run.info.seconds.saturating_sub(1);
    let tail = Phases::of_loads(&curve.heard()).tail.filter(|_| selection.view.phase != Some(Phase::Tail));
    let counts = |second: &u32| *second != last && tail.is_none_or(|tail| !tail.holds(*second));
    let window = || selection.window.0..=selection.window.1;
    let of = |second| Some((second, curve.at(second)?));
    let counted: Vec<(u32, f64)> = window().filter(counts).filter_map(of).collect();
    if counted.is_empty() { window().filter_map(of).collect() } else { counted }
}

/// Looks up a second in a sorted list.
pub(super) fn at<T: Copy>(seconds: &[(u32, T)], second: u32) -> Option<T> {
    let at = seconds.binary_search_by_key(&second, |(second, _)| *second).ok()?;
    seconds.get(at).map(|(_, value)| *value)
}

/// Returns the width of the bins (`None` for steps), and the step or bin of each second that has one.
pub(super) fn keys(loads: &[(u32, f64)]) -> (Option<f64>, Vec<(u32, i64)>) {
    if let Some(steps) = steps(loads) {
        return (None, steps);
    }
    let width = bin_width(loads.iter().map(|(_, load)| *load).fold(0.0, f64::max));
    let bins = loads.iter().map(|(second, load)| (*second, (load / width).round() as i64));
    (Some(width), bins.collect())
}

/// Returns the seconds that are at a step, if the load is stepped.
fn steps(loads: &[(u32, f64)]) -> Option<Vec<(u32, i64)>> {
    let exact: Vec<(u32, i64)> =
        loads.iter().map(|(second, load)| (*second, (load * 1000.0).round() as i64)).collect();
    let kept = exact.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 == b.1).filter(|stretch| stretch.len() >= STEP);
    let mut levels: BTreeMap<i64, usize> = BTreeMap::new();
    for stretch in kept {
        *levels.entry(stretch.first()?.1).or_default() += stretch.len();
    }
    let at_steps: Vec<(u32, i64)> =
        exact.iter().filter(|(_, load)| levels.contains_key(load)).copied().collect();
    let commonest = levels.values().copied().max()?;
    let (others, others_at_steps) =
        (exact.len().saturating_sub(commonest), at_steps.len().saturating_sub(commonest));
    let stepped = others_at_steps as f64 >= AT_STEPS * others as f64;
    (stepped && levels.len() <= MOST_STEPS).then_some(at_steps)
}

/// Returns the width of bins: 1, 2 or 5 times a power of ten, at least 1, for about twenty bins up to `max`.
fn bin_width(max: f64) -> f64 {
    let least = (max / BINS).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|lead| lead * power)
        .find(|width| *width >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round() {
        let widths: Vec<f64> = [6.0, 20.0, 21.0, 60.0, 100.0, 101.0, 9000.0].map(bin_width).into();
        assert_eq!(widths, [1.0, 1.0, 2.0, 5.0, 5.0, 10.0, 500.0]);
    }
}
