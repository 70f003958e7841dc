//! The stretch of a series that differs most from the rest, the step of a circular binary segmentation (Olshen,
//! Venkatraman, Lucito and Wigler, "Circular binary segmentation for the analysis of array-based DNA copy number data",
//! 2004).

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
}

/// Returns the sum of squares between a stretch and the rest, from the sums before it and up to its end, and all weights.
fn between(before: (f64, f64), until: (f64, f64), all: f64) -> f64 {
    let (sum, inside) = (until.0 - before.0, until.1 - before.1);
    sum * sum * all / (inside * (all - inside))
}
