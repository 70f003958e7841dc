//! The stretch of a series that differs most from the rest, the step of a circular binary segmentation (Olshen,
//! Venkatraman, Lucito and Wigler, "Circular binary segmentation for the analysis of array-based DNA copy number data",
//! 2004); and its best divisions into levels.

/// A stretch of a series, and the sum of squares between it and the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SquaresStretch {
    /// The index of the first value.
    pub(crate) from: usize,
    /// The index after the last value.
    pub(crate) to: usize,
    pub(crate) between: f64,
}

/// A series as the sums of its first so many values: of values from their mean, times weights, and of weights.
#[derive(Debug)]
pub(crate) struct Sums(Vec<(f64, f64)>);

impl Sums {
    /// Adds up values with their weights, given their weighted mean.
    pub(crate) fn of(values: impl Iterator<Item = (f64, f64)>, mean: f64) -> Self {
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut all) = (0.0, 0.0);
        for (value, weight) in values {
            (sum, all) = (sum + (value - mean) * weight, all + weight);
            sums.push((sum, all));
        }
        Self(sums)
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Returns the sum of squares between a stretch and the rest; `None` beyond the series.
    pub(crate) fn stretch(&self, from: usize, to: usize) -> Option<SquaresStretch> {
        let (all, before, until) = (self.0.last()?.1, self.0.get(from)?, self.0.get(to)?);
        Some(SquaresStretch { from, to, between: between(*before, *until, all) })
    }

    /// Returns the stretch of at least so many values that differs most from the rest, among those that are allowed by
    /// their first index and the one after their last; `None` if none is.
    pub(crate) fn most_different(
        &self,
        least: usize,
        is_allowed: impl Fn(usize, usize) -> bool,
    ) -> Option<SquaresStretch> {
        let all = self.0.last()?.1;
        let mut most: Option<SquaresStretch> = None;
        for (from, before) in self.0.iter().enumerate() {
            for (to, until) in self.0.iter().enumerate().skip(from + least) {
                if !is_allowed(from, to) {
                    continue;
                }
                let between = between(*before, *until, all);
                if most.is_none_or(|most| between > most.between) {
                    most = Some(SquaresStretch { from, to, between });
                }
            }
        }
        most
    }

    /// Divides the series into one level, two and so on up to one more than `most`, each of at least so many values, by
    /// least squares (Bellman, "On the approximation of curves by line segments using dynamic programming", 1961). Returns
    /// the sum of squares between the levels of each division, and the indices where its levels begin, but for the first.
    pub(crate) fn divisions(&self, most: usize, least: usize) -> Vec<(f64, Vec<usize>)> {
        let level = |from: usize, to: usize| {
            let (Some(before), Some(until)) = (self.0.get(from), self.0.get(to)) else { return 0.0 };
            (until.0 - before.0).powi(2) / (until.1 - before.1)
        };
        let one = |to: usize| if to < least { f64::NEG_INFINITY } else { level(0, to) };
        // The best division of the first so many values into so many levels, and where its last level begins.
        let mut best: Vec<Vec<(f64, usize)>> = vec![(0..=self.len()).map(|to| (one(to), 0)).collect()];
        for steps in 0..most {
            let Some(before) = best.get(steps) else { break };
            let divided = |to: usize| {
                let last = |(from, (between, _)): (usize, &(f64, usize))| (between + level(from, to), from);
                let all = before.iter().enumerate().take((to + 1).saturating_sub(least)).map(last);
                all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NEG_INFINITY, 0))
            };
            let next = (0..=self.len()).map(divided).collect();
            best.push(next);
        }
        let division = |steps: usize| {
            let at = |steps: usize, to: usize| best.get(steps)?.get(to).copied();
            let (between, mut begin) = at(steps, self.len())?;
            let mut begins = Vec::new();
            for steps in (0..steps).rev() {
                begins.push(begin);
                begin = at(steps, begin)?.1;
            }
            begins.reverse();
            Some((between, begins))
        };
        (0..=most).map_while(division).collect()
    }
}

/// Returns the sum of squares between a stretch and the rest, from the sums before it and up to its end, and all weights.
fn between(before: (f64, f64), until: (f64, f64), all: f64) -> f64 {
    let (sum, inside) = (until.0 - before.0, until.1 - before.1);
    sum * sum * all / (inside * (all - inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the largest sum of squares between levels that begin at some of the indices from one on.
    fn most_between(sums: &Sums, begins: &mut Vec<usize>, steps: usize, least: usize) -> f64 {
        let from = begins.last().copied().unwrap_or(0);
        if steps == 0 {
            if sums.len() - from < least {
                return f64::NEG_INFINITY;
            }
            let edges: Vec<usize> = [0].iter().chain(&*begins).chain([&sums.len()]).copied().collect();
            let level = |(from, to): (&usize, &usize)| {
                (sums.0[*to].0 - sums.0[*from].0).powi(2) / (sums.0[*to].1 - sums.0[*from].1)
            };
            return edges.iter().zip(edges.iter().skip(1)).map(level).sum();
        }
        let mut most = f64::NEG_INFINITY;
        for begin in from + least..sums.len() {
            begins.push(begin);
            most = most.max(most_between(sums, begins, steps - 1, least));
            begins.pop();
        }
        most
    }

    #[test]
    fn divisions_are_the_best_ones() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let series: Vec<(f64, f64)> =
                (0..rng.usize(8..14)).map(|_| (rng.f64(), 0.5 + rng.f64())).collect();
            let weight: f64 = series.iter().map(|(_, weight)| weight).sum();
            let mean = series.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight;
            let sums = Sums::of(series.into_iter(), mean);
            for least in 1..3 {
                let divisions = sums.divisions(3, least);
                assert_eq!(divisions.len(), 4);
                for (steps, (between, begins)) in divisions.iter().enumerate() {
                    assert_eq!(begins.len(), steps);
                    let best = most_between(&sums, &mut Vec::new(), steps, least);
                    assert!((between - best).abs() < 1e-9, "{seed}, {steps} steps: {between}, not {best}");
                }
            }
        }
    }
}
