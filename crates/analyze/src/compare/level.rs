//! The limits of a share and of a rate at one level of a load, by the noise of its seconds or of its repeats.

use super::figure::{FigureKind, PartFigure, SumNoise};
use super::memory::Scatter;
use crate::stats::student::{self, count_limits};

/// The least number of repeats whose scatter is the noise, as in a comparison of one side.
const REPEATS: usize = 3;

/// The degrees of freedom of a noise that is known.
const KNOWN: f64 = 1e6;

/// The requests of a second: those outside of an objective, and all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CountedRequests {
    pub(crate) outside: f64,
    pub(crate) all: f64,
}

/// The seconds of one repeat of a level.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LevelSeconds {
    pub(crate) requests: Vec<CountedRequests>,
    /// In each second, the requests beyond a time that more of them exceed than the objective's: they show how much slow
    /// requests come together where few are outside.
    pub(crate) slower: Option<Vec<f64>>,
}

/// Returns the share of the requests that are outside of an objective, and its limits; a share of `missed` of such limits
/// miss the true one. `None` without requests.
///
/// The noise is that of the repeats, with three or more, and never less than that of the seconds. Slow requests come
/// together, as those in one queue do. Where only few are outside, that is known of those beyond a lower time: how many
/// exceed a high time together does not depend on how high it is (the extremal index; Leadbetter, "Extremes and local
/// dependence in stationary sequences", 1983).
pub(crate) fn share_limits(repeats: &[&LevelSeconds], missed: f64) -> Option<(f64, (f64, f64))> {
    let sum = |of: fn(&CountedRequests) -> f64| -> f64 {
        repeats.iter().flat_map(|seconds| &seconds.requests).map(of).sum()
    };
    let (outside, all) = (sum(|counts| counts.outside), sum(|counts| counts.all));
    if all <= 0.0 {
        return None;
    }
    let share = outside / all;
    let rare = outside.min(all - outside);
    let errors = |counts: &CountedRequests| counts.outside - share * counts.all;
    let series: Vec<Vec<f64>> =
        repeats.iter().map(|seconds| seconds.requests.iter().map(errors).collect()).collect();
    let mut noises: Vec<(f64, f64)> = Vec::new();
    let mut add = |noise: SumNoise, of: f64| {
        if of > 0.0 && noise.variance.is_finite() {
            noises.push((noise.variance / of, noise.degrees));
        }
    };
    add(of_seconds(&series, rare, all), rare);
    if let Some(noise) = of_repeats(&series.iter().map(|series| series.iter().sum()).collect::<Vec<f64>>()) {
        add(noise, rare);
    }
    if outside <= all - outside
        && let Some((noise, slower)) = of_slower(repeats, all)
    {
        add(noise, slower * (1.0 - slower / all));
    }
    // Independent requests vary at least this much, which is known and not estimated.
    let least = 1.0 - rare / all;
    noises.push((least, KNOWN));
    // The noise that has the widest limits counts.
    let limits = noises.into_iter().map(|(dispersion, degrees)| {
        let deviations = student::distance(missed, degrees.max(1.0));
        count_limits(rare, dispersion.max(least), deviations)
    });
    let (low, high) = limits.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    let (low, high) = (low / all, (high / all).min(1.0));
    Some((share, if outside <= all - outside { (low, high) } else { (1.0 - high, 1.0 - low) }))
}

/// Returns the mean of the seconds' values, and its limits, of which a share of `missed` miss the true one; `None` without
/// seconds.
pub(crate) fn rate_limits(repeats: &[Vec<f64>], missed: f64) -> Option<(f64, (f64, f64))> {
    let seconds: f64 = repeats.iter().map(|seconds| seconds.len() as f64).sum();
    if seconds <= 0.0 {
        return None;
    }
    let mean = repeats.iter().flatten().sum::<f64>() / seconds;
    let series: Vec<Vec<f64>> =
        repeats.iter().map(|seconds| seconds.iter().map(|value| value - mean).collect()).collect();
    let kind = FigureKind::Mean { of: seconds };
    let of_repeats = of_repeats(&series.iter().map(|series| series.iter().sum()).collect::<Vec<f64>>());
    let noises = std::iter::once(noise(&series, kind)).chain(of_repeats);
    let reach = noises
        .map(|noise| student::distance(missed, noise.degrees.max(1.0)) * noise.variance.sqrt() / seconds)
        .fold(0.0, f64::max);
    Some((mean, (mean - reach, mean + reach)))
}

/// Returns the noise of a sum of counts by the seconds of some repeats.
fn of_seconds(series: &[Vec<f64>], count: f64, of: f64) -> SumNoise {
    noise(series, FigureKind::Share { count: count as u64, of: of as u64 })
}

/// Returns the noise of a sum over several series, whose values are errors from their common mean.
fn noise(series: &[Vec<f64>], kind: FigureKind) -> SumNoise {
    let scatters = series.iter().map(|series| Scatter::of(series.clone(), true)).collect();
    let values = series.iter().map(Vec::len).sum();
    let figure = PartFigure { value: None, kind, scatters, values };
    figure.noise(PartFigure::memory(&[&figure]))
}

/// Returns the noise of a sum by the sums of repeats, whose errors are from their common mean; `None` with too few of them.
fn of_repeats(sums: &[f64]) -> Option<SumNoise> {
    let (count, degrees) = (sums.len() as f64, sums.len() as f64 - 1.0);
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    (sums.len() >= REPEATS).then(|| SumNoise { variance: count / degrees * squares, degrees })
}

/// Returns the noise of the number of the requests beyond the lower time, and that number; `None` if it is not known, or if
/// there are none.
fn of_slower(repeats: &[&LevelSeconds], all: f64) -> Option<(SumNoise, f64)> {
    let slower: Vec<&Vec<f64>> =
        repeats.iter().map(|seconds| seconds.slower.as_ref()).collect::<Option<_>>()?;
    let count: f64 = slower.iter().copied().flatten().sum();
    let share = count / all;
    let error = |seconds: &&LevelSeconds, slower: &Vec<f64>| -> Vec<f64> {
        seconds.requests.iter().zip(slower).map(|(counts, slower)| slower - share * counts.all).collect()
    };
    let series: Vec<Vec<f64>> =
        repeats.iter().zip(&slower).map(|(seconds, slower)| error(seconds, slower)).collect();
    (count > 0.0 && count < all).then(|| (of_seconds(&series, count.min(all - count), all), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(outside: &[f64], all: f64) -> LevelSeconds {
        let requests = outside.iter().map(|outside| CountedRequests { outside: *outside, all }).collect();
        LevelSeconds { requests, slower: None }
    }

    #[test]
    fn few_requests_outside_are_less_certain_where_slow_ones_come_together() {
        let none = seconds(&[0.0; 120], 50.0);
        let (share, alone) = share_limits(&[&none], 0.05).unwrap();
        assert_eq!((share, alone.0), (0.0, 0.0));
        // The limit of a Poisson count of zero.
        assert!((3.6..3.8).contains(&(alone.1 * 6000.0)), "{alone:?}");
        let bursts: Vec<f64> = (0..120).map(|at| if at % 20 == 7 { 40.0 } else { 0.0 }).collect();
        let together = LevelSeconds { slower: Some(bursts), ..none };
        let (_, limits) = share_limits(&[&together], 0.05).unwrap();
        assert!(limits.1 > 5.0 * alone.1, "{limits:?}");
    }

    #[test]
    fn limits_are_alike_for_what_is_inside_and_outside() {
        let outside: Vec<f64> = (0..60).map(|at| f64::from(at % 7)).collect();
        let inside: Vec<f64> = outside.iter().map(|outside| 100.0 - outside).collect();
        let (share, (low, high)) = share_limits(&[&seconds(&outside, 100.0)], 0.05).unwrap();
        let (other, limits) = share_limits(&[&seconds(&inside, 100.0)], 0.05).unwrap();
        assert!((share + other - 1.0).abs() < 1e-12);
        assert!((low + limits.1 - 1.0).abs() < 1e-9 && (high + limits.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn repeats_that_differ_more_than_their_seconds_are_the_noise() {
        let level = |outside: f64| seconds(&[outside; 60], 100.0);
        let (few, more, many) = (level(1.0), level(2.0), level(6.0));
        let (share, (low, high)) = share_limits(&[&few, &more, &many], 0.05).unwrap();
        assert!((share - 0.03).abs() < 1e-12 && low < 0.01 && high > 0.08, "{low} {high}");
        let rates = [vec![10.0; 60], vec![12.0; 60], vec![14.0; 60]];
        let (mean, (low, high)) = rate_limits(&rates, 0.05).unwrap();
        assert!((mean - 12.0).abs() < 1e-12 && (low - 7.03).abs() < 0.02 && (high - 16.97).abs() < 0.02);
    }

    #[test]
    fn nothing_is_known_without_requests_or_seconds() {
        assert_eq!(share_limits(&[], 0.05), None);
        assert_eq!(share_limits(&[&seconds(&[0.0; 40], 0.0)], 0.05), None);
        assert_eq!(rate_limits(&[], 0.05), None);
        assert!(share_limits(&[&seconds(&[1.0], 2.0)], 0.05).is_some());
    }
}
