//! The course of a series: its levels, and the lines along which it rises or falls.
//!
//! Each step of the search looks for the [stretch](crate::stats::stretch) that differs most from the rest, so that both a
//! lasting step and a change that ends are found. The edges found are judged jointly, once all are known: an edge stays
//! if without it, even the noise that then fits best makes the series less likely by far. So a step between two levels is
//! found, and a slow wander is noise. The limits of these gains come from simulated systems, see `tests/rates/changes.rs`.

use super::noise::SeriesNoise;
use crate::stats::mean;
use crate::stats::percentile::upper_median;
use crate::stats::stretch::{SquaresStretch, Sums};

/// The least number of values in which a change is looked for.
pub(super) const LEAST: usize = 15;
/// The least number of values of a level: the least, and the usual one. Shorter stretches of slow requests happen in a
/// queue by chance.
const SIDE: (usize, usize) = (4, 15);
/// The least gain of a change, in the logarithm of the likelihood and for its size: where values scatter equally around
/// their levels, where they wander around them, and where they scatter more around one level than around others.
const GAIN: (f64, f64, f64) = (13.5, 26.0, 35.0);
/// The same of a line, which has no place that is chosen among many: where values scatter around it, and where they wander.
const LINE: (f64, f64) = (8.8, 21.0);
/// The gain in the logarithm of the likelihood from which values wander around levels.
const WANDERS: f64 = 1.5;
/// The same around a line.
const CLEARLY: f64 = 4.0;
/// Values scatter more around one level from this ratio of the variances on.
const UNEQUAL: f64 = 2.5;
/// The gain for the size of a change, per square of its logarithm, and the largest such gain: large changes are rarer
/// than small ones where nothing is amiss.
const SIZE: (f64, f64) = (10.8, 5.2);
/// The number of values from which it is all gained.
const ENOUGH: f64 = 100.0;
/// The largest number of edges that are judged.
const EDGES: usize = 8;
/// A stretch has edges to be judged if it explains this many times the variance of a value, times the logarithm of the
/// number of values.
const EXPLAINS: f64 = 4.0;

/// A part of a series, in which it is level, or rises or falls along a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeriesPart {
    /// The index of the first value.
    pub(super) from: usize,
    /// The index after the last value.
    pub(super) to: usize,
    /// The first and the last value of the line; both are the level where it is level.
    pub(super) ends: (f64, f64),
}

impl SeriesPart {
    /// Returns true if the part is level.
    pub(super) fn is_level(&self) -> bool {
        self.ends.0 == self.ends.1
    }

    /// Returns the value at an index.
    fn at(&self, at: usize) -> f64 {
        let steps = (self.to - self.from).max(2) - 1;
        self.ends.0 + (self.ends.1 - self.ends.0) * (at - self.from) as f64 / steps as f64
    }
}

/// What differences matter: of two levels, and of the ends of a line.
pub(super) struct Matters<'a> {
    /// Returns the ratio of two values, at least 1.
    pub(super) ratio: &'a dyn Fn(f64, f64) -> f64,
    /// The least ratio of two levels.
    pub(super) step: f64,
    /// The least ratio of the ends of a line.
    pub(super) line: f64,
    /// Whether values scatter more by chance while they are high, as waiting times do.
    pub(super) swells: bool,
}

/// Finds the parts of a series, in order, with the changes between them that noise does not explain as well.
pub(super) fn parts(series: &[f64], matters: &Matters<'_>) -> Vec<SeriesPart> {
    if series.len() < LEAST {
        return level_parts(series, &[]);
    }
    let steps = level_parts(series, &judged(series, matters));
    // A line over everything is preferred to steps that climb it.
    if let Some(line) = line(series, 0, matters) {
        let (of_line, of_steps) = (squares(series, &[line]), squares(series, &steps));
        // Each step has a place and a level, which must explain more than chance (Schwarz 1978).
        let length = series.len() as f64;
        let better = 1.0 + 2.0 * steps.len().saturating_sub(1) as f64 * length.ln() / length;
        if of_line < better * of_steps {
            return vec![line];
        }
    }
    let of_part = |part: SeriesPart| {
        let values = series.get(part.from..part.to).unwrap_or_default();
        line(values, part.from, matters).filter(|_| steps.len() > 1).unwrap_or(part)
    };
    steps.iter().map(|part| of_part(*part)).collect()
}

/// Returns the least number of values of a level in a series of this length. The first and the last may be shorter, if
/// the level is the same before and after a change.
pub(super) fn side(length: usize) -> usize {
    (length / 4).clamp(SIDE.0, SIDE.1)
}

/// Returns the levels between edges.
fn level_parts(series: &[f64], edges: &[usize]) -> Vec<SeriesPart> {
    let bounds: Vec<usize> = std::iter::once(0).chain(edges.iter().copied()).chain([series.len()]).collect();
    let part = |(from, to): (&usize, &usize)| {
        let level = mean(series.get(*from..*to).unwrap_or_default());
        SeriesPart { from: *from, to: *to, ends: (level, level) }
    };
    bounds.iter().zip(bounds.iter().skip(1)).map(part).collect()
}

/// Returns the sum of squared distances from the parts.
fn squares(series: &[f64], parts: &[SeriesPart]) -> f64 {
    let of = |part: &SeriesPart| {
        let values = (part.from..part.to).zip(series.get(part.from..part.to).unwrap_or_default());
        values.map(|(at, value)| (value - part.at(at)).powi(2)).sum::<f64>()
    };
    parts.iter().map(of).sum()
}

/// Returns the edges between levels that noise does not explain as well, and whose levels differ enough.
fn judged(series: &[f64], matters: &Matters<'_>) -> Vec<usize> {
    let mut edges = candidates(series);
    let mut with = SeriesNoise::around(series, &columns(series, &edges));
    while !edges.is_empty() {
        let levels = level_parts(series, &edges);
        let without = |place: usize| {
            let mut fewer = edges.clone();
            fewer.remove(place);
            improve(series, &mut fewer);
            let noise = SeriesNoise::around(series, &columns(series, &fewer));
            (noise, fewer)
        };
        let small = levels.iter().zip(levels.iter().skip(1)).position(|(one, next)| {
            let is_short = one.from > 0 && one.to - one.from < side(series.len());
            is_short || (matters.ratio)(one.ends.0, next.ends.0) < matters.step
        });
        let weakest = match small {
            Some(place) => Some(without(place)),
            None => {
                let pairs = levels.iter().zip(levels.iter().skip(1));
                let all = (0..).zip(pairs).map(|(place, (one, next))| {
                    let (noise, fewer) = without(place);
                    let size = (matters.ratio)(one.ends.0, next.ends.0);
                    (with.likelihood - noise.likelihood + of_size(size, series.len()), (noise, fewer))
                });
                let least = all.min_by(|a, b| a.0.total_cmp(&b.0));
                least
                    .filter(|(gain, _)| *gain < least_gain(series, &levels, &with, matters.swells))
                    .map(|(_, weakest)| weakest)
            }
        };
        let Some((noise, fewer)) = weakest else { return edges };
        (with, edges) = (noise, fewer);
    }
    edges
}

/// Returns the least gain of an edge between levels. In a queue that fills and empties by chance, times scatter more while
/// they are long; they do not where a server is slow for a while.
fn least_gain(series: &[f64], levels: &[SeriesPart], noise: &SeriesNoise, swells: bool) -> f64 {
    let all = squares(series, levels);
    let is_unequal = |part: &SeriesPart| {
        let (inside, length) = (squares(series, &[*part]), (part.to - part.from) as f64);
        let rest = (all - inside) / (series.len() as f64 - length);
        inside / length > UNEQUAL * rest
    };
    match (noise.wanders_by(WANDERS), swells && levels.iter().any(is_unequal)) {
        (_, true) => GAIN.2,
        (false, _) => GAIN.0,
        _ => GAIN.1,
    }
}

/// Returns the gain for the size of a change in a series of so many values; of few values, large changes are not rare.
fn of_size(ratio: f64, length: usize) -> f64 {
    (SIZE.0 * ratio.ln().powi(2)).min(SIZE.1) * (length as f64 / ENOUGH).min(1.0)
}

/// Returns the columns of a model with levels between edges.
fn columns(series: &[f64], edges: &[usize]) -> Vec<Vec<f64>> {
    let from = |edge: usize| (0..series.len()).map(|at| if at < edge { 0.0 } else { 1.0 }).collect();
    std::iter::once(0).chain(edges.iter().copied()).map(from).collect()
}

/// Returns places where the level may change: stretches that differ from the rest of their part, and parts of those.
fn candidates(series: &[f64]) -> Vec<usize> {
    // The variance of a value from its neighbours, on which changes of level have no effect.
    let differences: Vec<f64> =
        series.iter().zip(series.iter().skip(1)).map(|(one, next)| (next - one).abs()).collect();
    let middle = 1.4826 * upper_median(&differences).unwrap_or(0.0);
    let least = EXPLAINS * (series.len() as f64).ln() * middle * middle / 2.0;
    let mut edges: Vec<usize> = Vec::new();
    let (mut parts, side) = (vec![(0, series.len())], side(series.len()));
    while let Some((from, to)) = parts.pop() {
        let stretch = most_different(series.get(from..to).unwrap_or_default(), side);
        let enough = stretch.filter(|stretch| stretch.between > least && edges.len() < EDGES);
        let Some(stretch) = enough else { continue };
        let ends = [from + stretch.from, from + stretch.to].into_iter();
        let inner = ends.filter(|edge| *edge > from && *edge < to);
        let bounds: Vec<usize> = std::iter::once(from).chain(inner.clone()).chain([to]).collect();
        edges.extend(inner);
        parts.extend(bounds.iter().zip(bounds.iter().skip(1)).map(|(from, to)| (*from, *to)));
    }
    edges.sort_unstable();
    edges
}

/// Returns the stretch that differs most from the rest. The first level and the last may be shorter than others.
fn most_different(values: &[f64], side: usize) -> Option<SquaresStretch> {
    let length = values.len();
    let is_room = |values: usize| values == 0 || values >= SIDE.0;
    let sums = Sums::of(values.iter().map(|value| (*value, 1.0)), mean(values));
    sums.most_different(side, |from, to| {
        is_room(from) && is_room(length - to) && length - (to - from) >= SIDE.0
    })
}

/// Moves each edge to where it separates its neighbours best.
fn improve(series: &[f64], edges: &mut [usize]) {
    let side = side(series.len());
    for place in 0..edges.len() {
        let from = place.checked_sub(1).and_then(|before| edges.get(before)).copied().unwrap_or(0);
        let to = edges.get(place + 1).copied().unwrap_or(series.len());
        let values = series.get(from..to).unwrap_or_default();
        let first = if from == 0 { SIDE.0 } else { side };
        let last = if to == series.len() { SIDE.0 } else { side };
        let center = mean(values);
        let (mut sum, mut best) = (0.0, None);
        for (at, value) in values.iter().enumerate() {
            let (before, after) = (at as f64, (values.len() - at) as f64);
            if at >= first && values.len() - at >= last {
                let gain = sum * sum / (before * after);
                best = best.filter(|(largest, _)| *largest >= gain).or(Some((gain, at)));
            }
            sum += value - center;
        }
        if let (Some((_, at)), Some(edge)) = (best, edges.get_mut(place)) {
            *edge = from + at;
        }
    }
}

/// Returns the least-squares line of some values, if its ends differ enough and chance does not explain it.
fn line(values: &[f64], from: usize, matters: &Matters<'_>) -> Option<SeriesPart> {
    if values.len() < LEAST {
        return None;
    }
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let places: Vec<f64> = (0..values.len()).map(|at| at as f64 - middle).collect();
    let spread: f64 = places.iter().map(|place| place * place).sum();
    let slope = places.iter().zip(values).map(|(place, value)| place * value).sum::<f64>() / spread;
    let level = mean(values);
    let ends = (level - slope * middle, level + slope * middle);
    let level_only = columns(values, &[]);
    let with = SeriesNoise::around(values, &[level_only.clone(), vec![places]].concat());
    let ratio = (matters.ratio)(ends.0, ends.1);
    let gain =
        with.likelihood - SeriesNoise::around(values, &level_only).likelihood + of_size(ratio, values.len());
    let (is_line, differs) =
        (gain >= if with.wanders_by(CLEARLY) { LINE.1 } else { LINE.0 }, ratio >= matters.line);
    (is_line && differs).then_some(SeriesPart { from, to: from + values.len(), ends })
}

/// Returns true if values wander around their level.
pub(super) fn wanders(values: &[f64]) -> bool {
    SeriesNoise::around(values, &columns(values, &[])).wanders_by(CLEARLY)
}

/// Returns the standard deviation of values around a level: from the median distance or from the noise of their means,
/// whichever is larger.
pub(super) fn deviation(values: &[f64], level: f64) -> f64 {
    let distances: Vec<f64> = values.iter().map(|value| (value - level).abs()).collect();
    let noise = SeriesNoise::around(values, &columns(values, &[]));
    (1.4826 * upper_median(&distances).unwrap_or(0.0)).max(noise.of_mean(values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The deviation of the noise.
    const SD: f64 = 0.2;
    const MATTERS: Matters<'static> =
        Matters { ratio: &|one, other| (other - one).abs().exp(), step: 1.25, line: 1.5, swells: true };

    fn normal(chance: &mut fastrand::Rng) -> f64 {
        (-2.0 * (1.0 - chance.f64()).ln()).sqrt() * (std::f64::consts::TAU * chance.f64()).cos()
    }

    /// A first-order autoregression.
    fn wander(seed: u64, length: usize, correlation: f64) -> Vec<f64> {
        let mut chance = fastrand::Rng::with_seed(seed);
        let mut value = normal(&mut chance);
        let next = |_| {
            let now = value;
            value = correlation * value + (1.0 - correlation * correlation).sqrt() * normal(&mut chance);
            SD * now
        };
        (0..length).map(next).collect()
    }

    fn with_level(noise: &[f64], level: impl Fn(usize) -> f64) -> Vec<f64> {
        noise.iter().enumerate().map(|(at, value)| value + level(at)).collect()
    }

    #[test]
    fn steps_stretches_and_lines_are_found_with_their_ends() {
        for seed in 0..50 {
            let noise = wander(seed, 200, 0.0);
            let near = |place: usize, truth: usize| place.abs_diff(truth) <= 3;
            let step = parts(&with_level(&noise, |at| if at < 120 { 0.0 } else { 0.8 }), &MATTERS);
            let [before, after] = step.as_slice() else { panic!("{seed}: {step:?}") };
            assert!(near(after.from, 120) && before.ends.0.abs() < 0.1, "{seed}: {step:?}");
            assert!((after.ends.0 - 0.8).abs() < 0.1 && after.is_level(), "{seed}: {step:?}");
            let stretch = with_level(&noise, |at| if (80..110).contains(&at) { 0.8 } else { 0.0 });
            let stretch = parts(&stretch, &MATTERS);
            let [_, inside, after] = stretch.as_slice() else { panic!("{seed}: {stretch:?}") };
            assert!(near(inside.from, 80) && near(after.from, 110), "{seed}: {stretch:?}");
            let line = parts(&with_level(&noise, |at| at as f64 * 0.008), &MATTERS);
            let [SeriesPart { ends: (first, last), .. }] = line.as_slice() else {
                panic!("{seed}: {line:?}")
            };
            assert!(first.abs() < 0.2 && (last - 1.6).abs() < 0.2, "{seed}: {line:?}");
        }
    }

    #[test]
    fn chance_is_no_change() {
        for (length, correlation) in [(LEAST, 0.0), (40, 0.3), (300, 0.0), (300, 0.9), (300, 0.99)] {
            let changes = (0..1000).filter(|seed| {
                let parts = parts(&wander(*seed, length, correlation), &MATTERS);
                !matches!(parts.as_slice(), [part] if part.is_level())
            });
            let changes = changes.count();
            assert!(changes <= 5, "{length} values, correlation {correlation}: {changes} of 1,000");
        }
        assert_eq!(parts(&[7.0; 100], &MATTERS).len(), 1);
    }
}
