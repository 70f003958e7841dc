//! A figure of a run with its noise, and its confidence limits.

use std::sync::Arc;

use perfpipe_model::run::Resolution;
use serde::{Deserialize, Serialize};

use super::memory::{self, ENOUGH, Scatter};
use crate::stats::histogram::Histogram;
use crate::stats::student::{count_limits, tail};

/// Fewer events than this show nothing about the memory of the noise.
const FEW: f64 = 20.0;
/// Degrees of freedom of the noise if all seconds are assumed to vary as one.
const AS_ONE: f64 = 2.0;
/// The least number of cosines used where the load is not level.
const SLOPING: f64 = 4.0;
/// The least number of values for each cosine used: in a short run, slow noise shows only in the slowest cosines.
const SECONDS_A_COSINE: usize = 6;
/// The number of slow cosines looked at first.
const SLOWEST: usize = 7;

/// A figure over some seconds of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PartFigure {
    pub(super) value: Option<f64>,
    pub(super) kind: FigureKind,
    /// The scatter of each phase that is long enough to have one.
    pub(super) scatters: Vec<Scatter>,
    /// The number of values of all phases. Phases that are too short for a scatter are assumed to be as noisy as the
    /// others.
    pub(super) values: usize,
}

/// The definition of a figure. Counts are totals over its seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum FigureKind {
    /// A sum divided by a number of seconds or requests.
    Mean { of: f64 },
    /// The greatest value. The seconds of a run do not show how much it scatters.
    Greatest,
    /// A share in percent: `count` of `of`, as failures among requests.
    Share { count: u64, of: u64 },
    /// The value that a share of all samples, 0 to 1, does not exceed.
    Percentile {
        share: f64,
        /// All percentiles of a part have the same one, which is kept beside them.
        #[serde(skip)]
        distribution: Arc<SampleRanks>,
        tied: f64,
    },
}

/// Values in ascending order, each with the number of samples up to and including it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SampleRanks {
    /// The unit of the values.
    unit: Resolution,
    up_to: Vec<(i32, u64)>,
}

/// The noise of a figure's sum: its variance, and the degrees of freedom of that estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumNoise {
    pub(super) variance: f64,
    pub(super) degrees: f64,
}

impl FigureKind {
    pub(super) fn distribution(&self) -> Option<&Arc<SampleRanks>> {
        match self {
            Self::Percentile { distribution, .. } => Some(distribution),
            _ => None,
        }
    }
}

impl PartFigure {
    /// Returns how much of the noise of these figures is slow (see [`memory::of`]).
    pub(super) fn memory(figures: &[&Self]) -> f64 {
        let level = |figure: &&Self| -> Vec<Scatter> {
            figure.scatters.iter().filter(|scatter| scatter.is_level).cloned().collect()
        };
        if figures.iter().any(|figure| figure.events() < FEW) {
            return 0.0;
        }
        let level: Vec<Scatter> = figures.iter().flat_map(level).collect();
        let is_slow =
            |scatter: &Scatter| scatter.variance(SLOWEST) > scatter.variance(scatter.most_cosines());
        if !level.iter().any(is_slow) {
            return 0.0;
        }
        memory::of(&level.iter().collect::<Vec<_>>())
    }

    /// Returns true if figures of short runs wander although their correlations don't show it (see
    /// [`memory::wanders`]).
    pub(super) fn wanders(figures: &[&Self]) -> bool {
        let scatters = figures.iter().flat_map(|figure| &figure.scatters);
        memory::wanders(&scatters.filter(|scatter| scatter.is_level).collect::<Vec<_>>())
    }

    /// Returns true if each level phase has enough blocks for noise with such a memory.
    pub(super) fn has_enough(&self, memory: f64) -> bool {
        let level = self.scatters.iter().filter(|scatter| scatter.is_level);
        level.into_iter().all(|scatter| blocks_of(scatter, memory) >= ENOUGH)
    }

    /// Estimates the noise for a given memory (see [`memory::of`]). Where that is too long for the phase to show it, all seconds
    /// are assumed to vary as one.
    pub(super) fn noise(&self, memory: f64) -> SumNoise {
        self.noise_by(memory, noise_of)
    }

    /// Estimates the noise that there is at least: what the seconds show of it, although it may be more.
    pub(super) fn least_noise(&self, memory: f64) -> SumNoise {
        self.noise_by(memory, seen_noise)
    }

    fn noise_by(&self, memory: f64, of: fn(&Scatter, f64) -> (f64, f64)) -> SumNoise {
        let (mut variance, mut squares, mut known) = (0.0, 0.0, 0);
        for scatter in &self.scatters {
            let (of_phase, degrees) = of(scatter, memory);
            variance += of_phase;
            squares += of_phase * of_phase / degrees;
            known += scatter.values;
        }
        let degrees = if squares > 0.0 { variance * variance / squares } else { self.cosines() };
        SumNoise { variance: variance * self.values as f64 / known.max(1) as f64, degrees }
    }

    /// Returns the standard error for a noise, which is at least that of [rounding](Self::rounding).
    pub(super) fn error(&self, noise: SumNoise) -> f64 {
        let (low, high) = self.limits(noise, 3.0);
        ((high - low) / 6.0).max(self.rounding())
    }

    /// Returns the standard error of rounding to whole units of the run: percentiles of several runs may be equal and yet be
    /// noisy. 0 for other figures.
    pub(super) fn rounding(&self) -> f64 {
        match &self.kind {
            FigureKind::Percentile { distribution, .. } => {
                distribution.unit.ms(1.0) * (1.0_f64 / 12.0).sqrt()
            }
            _ => 0.0,
        }
    }

    /// Returns the standard error that the figure has at least, whatever its seconds share with those of other runs: that of
    /// rounding, and of a share that of the count of independent events.
    pub(super) fn least_error(&self) -> f64 {
        match &self.kind {
            FigureKind::Share { count, of } => {
                let count = (*count).min(of.saturating_sub(*count)).max(1) as f64;
                100.0 * count.sqrt() / (*of).max(1) as f64
            }
            _ => self.rounding(),
        }
    }

    fn cosines(&self) -> f64 {
        self.scatters.iter().map(|scatter| scatter.most_cosines() as f64).sum::<f64>().max(1.0)
    }

    /// Returns the number of events the figure depends on; infinite where single events don't matter.
    fn events(&self) -> f64 {
        match &self.kind {
            FigureKind::Mean { .. } | FigureKind::Greatest => f64::INFINITY,
            FigureKind::Share { count, of } => (*count).min(of.saturating_sub(*count)) as f64,
            FigureKind::Percentile { share, distribution, .. } => {
                tail(*share) * distribution.samples() as f64
            }
        }
    }

    /// Returns the limits of the figure at a number of standard deviations; infinite where the figure has too few data.
    pub(super) fn limits(&self, noise: SumNoise, deviations: f64) -> (f64, f64) {
        let Some(value) = self.value else { return (f64::NEG_INFINITY, f64::INFINITY) };
        match &self.kind {
            FigureKind::Mean { of } => {
                let error = deviations * noise.variance.sqrt() / of;
                (value - error, value + error)
            }
            FigureKind::Greatest => (f64::NEG_INFINITY, f64::INFINITY),
            FigureKind::Share { count, of } => share_limits(*count, *of, noise.variance, deviations),
            FigureKind::Percentile { share, distribution, tied } => {
                distribution.limits(*share, noise.variance + tied, deviations)
            }
        }
    }
}

/// Returns the variance of a phase's sum, and its degrees of freedom.
fn noise_of(scatter: &Scatter, memory: f64) -> (f64, f64) {
    let blocks = blocks_of(scatter, memory);
    if scatter.is_level && blocks < ENOUGH {
        return (scatter.variance_as_one(), AS_ONE);
    }
    seen_noise(scatter, memory)
}

/// Returns the variance of a phase's sum as far as the phase shows it, and its degrees of freedom.
fn seen_noise(scatter: &Scatter, memory: f64) -> (f64, f64) {
    let blocks = blocks_of(scatter, memory);
    // Where the load climbs, the slow part is the climb itself.
    let most = scatter.most_cosines().min(scatter.values / SECONDS_A_COSINE) as f64;
    let cosines = blocks.max(SLOPING).min(most).floor().max(1.0);
    // The number of cosines was estimated from the same seconds, so only half of them count as degrees of freedom.
    (scatter.variance(cosines as usize), cosines / 2.0)
}

fn blocks_of(scatter: &Scatter, memory: f64) -> f64 {
    scatter.values as f64 / memory::length(memory, scatter.values)
}

/// Returns the limits of a share, in percent.
fn share_limits(count: u64, of: u64, variance: f64, deviations: f64) -> (f64, f64) {
    let rest = of.saturating_sub(count);
    if rest < count {
        let (low, high) = share_limits(rest, of, variance, deviations);
        return (100.0 - high, 100.0 - low);
    }
    let share = count as f64 / of as f64;
    // Independent failures vary at least this much.
    let least = 1.0 - share;
    let dispersion = if count > 0 { (variance / count as f64).max(least) } else { least };
    let (low, high) = count_limits(count as f64, dispersion, deviations);
    (low / of as f64 * 100.0, (high / of as f64 * 100.0).min(100.0))
}

impl SampleRanks {
    pub(super) fn of(elapsed: &Histogram) -> Self {
        let mut all = 0u64;
        let up_to = |(value, samples)| {
            all = all.saturating_add(samples);
            (value, all)
        };
        Self { unit: elapsed.unit(), up_to: elapsed.counts().map(up_to).collect() }
    }

    pub(super) fn samples(&self) -> u64 {
        self.up_to.last().map_or(0, |(_, samples)| *samples)
    }

    /// Returns the value that a share of all samples does not exceed, in the unit.
    pub(super) fn mark(&self, share: f64) -> i32 {
        let rank = (share * self.samples().saturating_sub(1) as f64) as u64;
        self.at(rank).unwrap_or_default()
    }

    /// The value at a rank, counted from 0.
    fn at(&self, rank: u64) -> Option<i32> {
        self.up_to.get(self.up_to.partition_point(|(_, up_to)| *up_to <= rank)).map(|(value, _)| *value)
    }

    /// Returns the limits of the value that a share of the samples does not exceed. `variance` is that of the number of
    /// samples up to the value; the limits are the values at the limits of that number (Woodruff, "Confidence intervals
    /// for medians and other position measures", 1952).
    fn limits(&self, share: f64, variance: f64, deviations: f64) -> (f64, f64) {
        let samples = self.samples() as f64;
        let in_tail = tail(share) * samples;
        let (least, most) = count_limits(in_tail, (variance / in_tail).max(1e-6), deviations);
        let (low, high) =
            if share < 0.5 { (least - 1.0, most) } else { (samples - most - 1.0, samples - least) };
        let low = self.between(low.max(-1.0)).unwrap_or(f64::NEG_INFINITY);
        (low, self.between(high).unwrap_or(f64::INFINITY))
    }

    /// Returns the value at a fractional rank in ms, by linear interpolation; `None` before the first and after the last.
    fn between(&self, rank: f64) -> Option<f64> {
        if rank < 0.0 || rank.is_nan() {
            return None;
        }
        let at = |rank: u64| Some(self.unit.ms(f64::from(self.at(rank)?)));
        let (below, part) = (at(rank as u64)?, rank.fract());
        if part == 0.0 {
            return Some(below);
        }
        Some(below + part * (at(rank as u64 + 1)? - below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded_alike_from_either_side() {
        let (few, many) = (share_limits(3, 1000, 3.0, 2.6), share_limits(997, 1000, 3.0, 2.6));
        assert!((few.0 + many.1 - 100.0).abs() < 1e-9 && (few.1 + many.0 - 100.0).abs() < 1e-9);
        assert!(few.0 > 0.0 && few.0 < 0.3 && few.1 > 0.3);
        assert_eq!(share_limits(0, 1000, 0.0, 2.6).0, 0.0);
    }

    #[test]
    fn percentile_lies_between_values_that_were_seen() {
        let distribution = SampleRanks::of(&(1..=1000).collect());
        let (low, high) = distribution.limits(0.5, 250.0, 2.0);
        assert!((low - 468.0).abs() < 3.0 && (high - 533.0).abs() < 3.0, "{low} {high}");
        // The largest values of a small sample have no upper limit.
        assert_eq!(distribution.limits(0.999, 1.0, 3.0).1, f64::INFINITY);
        assert_eq!((distribution.mark(0.0), distribution.mark(0.5), distribution.mark(1.0)), (1, 500, 1000));
    }
}
