//! A figure of two sides, tested against a margin: by how much chance alone explains that it lies beyond.

use super::change::Noise;
use super::difference::{DifferenceSide, EstimatedDifference, degrees_of_both, difference_with, likelihood};
use super::measure::{Measure, Part};
use super::pairing::{ComparedSides, PairedValues};
use super::repeats::RepeatMeans;
use super::sessions::{self, BySession};
use super::sides::{FigurePair, Side, SideValues, figures, memory_of_server};

/// What a difference is tested against: a value of the baseline, times a number, plus another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Null {
    pub(crate) times: f64,
    pub(crate) plus: f64,
}

impl Null {
    /// Returns the value that the null hypothesis has for a value of the baseline.
    pub(crate) fn of(self, value: f64) -> f64 {
        value * self.times + self.plus
    }
}

/// A figure of a side, tested against that of a baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TestedFigure {
    /// The means of both sides.
    pub(crate) a: f64,
    pub(crate) b: f64,
    /// What the noise shows; `None` if it can't be estimated.
    pub(crate) known: Option<KnownNoise>,
    /// The number of runs of both sides, without those that are in no pair where pairs are compared.
    pub(crate) runs: (usize, usize),
}

/// A difference whose noise is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KnownNoise {
    /// The 99 % confidence interval of b − a.
    pub(crate) interval: (f64, f64),
    /// The 99 % confidence interval of the change in percent; `None` if the baseline may be 0.
    pub(crate) percent: Option<(f64, f64)>,
    /// The probability that chance alone brings the figure as far above what it is tested against, if it is not above; and
    /// as far below, if it is not below.
    pub(crate) above: f64,
    pub(crate) below: f64,
    /// The share of equal sides whose figure is above what it is tested against.
    pub(crate) equal_above: f64,
    /// True if the noise is known well enough to rule out a difference beyond it.
    pub(crate) is_sure: bool,
    /// The source of the noise.
    pub(crate) noise: Noise,
    /// True if the noise is that of sessions, which differ by more than the repeats within them.
    pub(crate) by_sessions: bool,
}

/// Tests a figure of all seconds that the views have; `None` if a side lacks it.
///
/// The noise is that of [`super::compare_sides`], but for sides of several sessions: where these differ by more than their
/// repeats explain, their scatter is the noise.
pub(crate) fn tested(baseline: &Side, other: &Side, measure: &Measure, null: Null) -> Option<TestedFigure> {
    let sides = ComparedSides::new(baseline, other);
    let figures = figures(&sides);
    let server = memory_of_server(&figures);
    let pair = figures.iter().find(|pair| pair.part == Part::Run && pair.measure == *measure)?;
    let (a, b) = (pair.a.mean?, pair.b.mean?);
    let known = match (pair.paired(), pair.memory) {
        (Some(paired), _) => by_pairs(&paired, null),
        (_, Some(memory)) => by_seconds(pair, memory, server, null),
        _ => by_repeats(pair, baseline, other, null),
    };
    Some(TestedFigure { a, b, known, runs: (sides.a.runs.len(), sides.b.runs.len()) })
}

fn by_pairs(paired: &PairedValues, null: Null) -> Option<KnownNoise> {
    let RepeatMeans { a, b, degrees, .. } = paired.means(null.times);
    let known = known((&a as &dyn DifferenceSide, &b as &dyn DifferenceSide), degrees, null)?;
    let EstimatedDifference { interval, percent, .. } = paired.compared()?.difference;
    Some(KnownNoise { interval, percent, noise: Noise::Pairs, ..known })
}

fn by_seconds(pair: &FigurePair<'_>, own: f64, server: f64, null: Null) -> Option<KnownNoise> {
    let (memory, is_sure) = pair.a.memory_with(&pair.b, own, server)?;
    let (a, b) = (pair.a.side(memory), pair.b.side(memory));
    let known = known((&*a, &*b), degrees_of_both(&*a, &*b), null)?;
    Some(KnownNoise { is_sure, noise: Noise::Seconds, ..known })
}

fn by_repeats(pair: &FigurePair<'_>, baseline: &Side, other: &Side, null: Null) -> Option<KnownNoise> {
    let (a, b) = (pair.a.repeats()?, pair.b.repeats()?);
    let pooled = a.means(b)?;
    let by_session = |of: &SideValues<'_>, side: &Side| {
        let values: Vec<f64> = of.figures.iter().filter_map(|figure| figure.value).collect();
        BySession::new(&values, &sessions::of_runs(&side.runs))
    };
    let (of_a, of_b) = (by_session(&pair.a, baseline), by_session(&pair.b, other));
    let sessions = of_a.means(&of_b, a.least().max(b.least()));
    let RepeatMeans { a, b, degrees, by_least, .. } = sessions.unwrap_or(pooled);
    let noise = if by_least { Noise::SecondsOfRepeats } else { Noise::Repeats };
    let known = known((&a as &dyn DifferenceSide, &b as &dyn DifferenceSide), degrees, null)?;
    Some(KnownNoise { noise, by_sessions: sessions.is_some(), ..known })
}

/// A pair of sides of a difference.
type SidePair<'a> = (&'a dyn DifferenceSide, &'a dyn DifferenceSide);

fn known((a, b): SidePair<'_>, degrees: f64, null: Null) -> Option<KnownNoise> {
    let EstimatedDifference { interval, percent, .. } = difference_with(a, b, degrees)?;
    let moved = Moved { side: a, null };
    let (above, below) = tails(&moved, b, degrees);
    // Of equal sides, b is where a is.
    let equal = Moved { side: b, null: Null { times: 1.0, plus: a.value() - b.value() } };
    let (_, equal_above) = tails(&moved, &equal, degrees);
    let (is_sure, noise, by_sessions) = (true, Noise::Repeats, false);
    Some(KnownNoise { interval, percent, above, below, equal_above, is_sure, noise, by_sessions })
}

/// Returns the probabilities that chance alone brings b as far above a, and as far below.
fn tails(a: &dyn DifferenceSide, b: &dyn DifferenceSide, degrees: f64) -> (f64, f64) {
    let one = likelihood(a, b, degrees) / 2.0;
    if b.value() > a.value() { (one, 1.0 - one) } else { (1.0 - one, one) }
}

/// A side of a difference, moved to what a null hypothesis has.
struct Moved<'a> {
    side: &'a dyn DifferenceSide,
    null: Null,
}

impl DifferenceSide for Moved<'_> {
    fn value(&self) -> f64 {
        self.null.of(self.side.value())
    }

    fn limits(&self, deviations: f64) -> (f64, f64) {
        let (low, high) = self.side.limits(deviations);
        (self.null.of(low), self.null.of(high))
    }

    fn degrees(&self) -> f64 {
        self.side.degrees()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::difference::OfMean;
    use crate::stats::student;

    fn side(mean: f64, error: f64) -> OfMean {
        OfMean { mean, error, degrees: 8.0 }
    }

    fn known_of(a: OfMean, b: OfMean, times: f64, plus: f64) -> KnownNoise {
        known((&a, &b), 8.0, Null { times, plus }).unwrap()
    }

    #[test]
    fn without_a_margin_the_tails_are_halves_of_p() {
        let (a, b) = (side(100.0, 3.0), side(110.0, 4.0));
        let found = known_of(a, b, 1.0, 0.0);
        let half = student::beyond(2.0, 8.0) / 2.0;
        assert!((found.above - half).abs() < 1e-6 && (found.below - 1.0 + half).abs() < 1e-6, "{found:?}");
        assert!((found.equal_above - 0.5).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn margin_moves_the_baseline_with_its_noise() {
        // 110 against 100 · 1.05 + 1 = 106: the error is that of 4 and of 1.05 · 3.
        let found = known_of(side(100.0, 3.0), side(110.0, 4.0), 1.05, 1.0);
        let distance = 4.0 / 4.0_f64.hypot(3.15);
        assert!((found.above - student::beyond(distance, 8.0) / 2.0).abs() < 1e-6, "{found:?}");
        // Of equal sides, 100 is 6 below.
        let equal = student::beyond(6.0 / 4.0_f64.hypot(3.15), 8.0) / 2.0;
        assert!((found.equal_above - equal).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn tail_is_below_half_a_percent_just_where_the_interval_is_beyond_the_margin() {
        for at in -300..300 {
            let b = side(100.0 + f64::from(at) / 10.0, 2.0);
            let found = known_of(side(100.0, 0.0), b, 1.0, 3.0);
            assert_eq!(found.above < 0.005, found.interval.0 > 3.0, "{found:?}");
            assert_eq!(found.below < 0.005, found.interval.1 < 3.0, "{found:?}");
        }
    }
}
