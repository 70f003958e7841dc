//! What chance does to a difference: the bootstrap over blocks of seconds.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::blocks::{Block, ENOUGH, Stratum, figures};

/// Times that the seconds are drawn anew.
const DRAWS: u64 = 1000;
/// The share of the draws left out at either end: the interval holds 99 % of them.
const TAIL: f64 = 0.005;

/// For each figure, between which two values the difference of two runs (the second less the first) lies in 99 of 100
/// draws; `None` where a run is too short to tell, or a figure absent.
///
/// Efron's percentile bootstrap, over blocks of seconds that are drawn with replacement within their phase (the blocks
/// because seconds depend on those before them: Künsch 1989). The same runs give the same interval.
pub(super) fn intervals(
    one: &[Stratum],
    other: &[Stratum],
    percentiles: &[f64],
    count: usize,
) -> Vec<Option<(f64, f64)>> {
    if [one, other].iter().any(|strata| strata.iter().map(Vec::len).sum::<usize>() < ENOUGH) {
        return vec![None; count];
    }
    let draws: Vec<Vec<Option<f64>>> = (0..DRAWS)
        .into_par_iter()
        .map(|draw| {
            let mut chance = fastrand::Rng::with_seed(draw);
            let one = figures(redrawn(one, &mut chance), percentiles);
            let other = figures(redrawn(other, &mut chance), percentiles);
            one.into_iter().zip(other).map(|(one, other)| Some(other? - one?)).collect()
        })
        .collect();
    (0..count).map(|at| interval(draws.iter().map(|draw| draw.get(at).copied().flatten()))).collect()
}

/// As many blocks of each stratum as it has, drawn from it.
fn redrawn<'a>(strata: &'a [Stratum], chance: &mut fastrand::Rng) -> Vec<&'a Block> {
    strata
        .iter()
        .flat_map(|stratum| {
            stratum
                .iter()
                .map(|_| chance.usize(..stratum.len()))
                .filter_map(|at| stratum.get(at))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn interval(differences: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let mut differences = differences.collect::<Option<Vec<f64>>>()?;
    differences.sort_by(f64::total_cmp);
    let cut = (differences.len() as f64 * TAIL) as usize;
    Some((*differences.get(cut)?, *differences.get(differences.len().checked_sub(cut + 1)?)?))
}
