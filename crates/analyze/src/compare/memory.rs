//! The memory of noise: the scatter of a series of seconds and its autocorrelations, how long a second affects those after
//! it, and the number of independent blocks in a run.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// An autocorrelation is significant above this many times √(log₁₀ n ÷ n). Politis and White use 2. With two runs, a
/// little less finds long memory more often, and has a false alarm in about one of some hundred pairs without any.
const SEEN: f64 = 1.75;
/// The number of consecutive lags without significant correlation that end the memory (Politis and White's K).
const NOTHING: usize = 5;
/// The least number of blocks; with fewer, slow changes can't be distinguished from a difference.
pub(super) const ENOUGH: f64 = 7.0;
/// Correlations are assumed to fade more slowly than estimated, by this many standard errors.
const SLOWER: f64 = 0.5;
/// The slowest fade from lag to lag that is assumed: no run is long enough to show a slower one.
const SLOWEST_FADE: f64 = 0.995;
/// The largest correction of correlations, as a share of 1 − r. They are biased since the mean is the run's own.
const LOST: f64 = 0.35;

/// The memory of noise whose end can't be seen.
pub(super) const ENDLESS: f64 = f64::INFINITY;
/// Series with fewer values are short: their correlations don't show all slow noise.
const SHORT: usize = 150;
/// The threshold of the sum of [`Scatter::wander`] over two series, exceeded by 1.5 % of the pairs without memory
/// (Hansen, "Testing for parameter instability in linear models", 1992, table 1).
const WANDERS: f64 = 1.0;

/// Returns true if short series wander although their correlations don't show it.
pub(super) fn wanders(scatters: &[&Scatter]) -> bool {
    let short = scatters.iter().filter(|scatter| scatter.values < SHORT);
    short.map(|scatter| scatter.wander()).sum::<f64>() > WANDERS
}

/// Estimates how much of the noise is slow: Σ|k|·R(k) ÷ ΣR(k) over all lags k, for autocorrelations R; 0 without
/// memory.
///
/// The correlations of all series are pooled, since the noise in all of them is of one kind. Returns the larger of two
/// estimates: that of Politis and White ("Automatic block-length selection for the dependent bootstrap", 2004, with the
/// correction by Patton, Politis and White 2009), and that of a process whose correlations fade by a constant factor
/// from lag to lag (ARMA(1,1)), for memory that is longer than what can be seen of it.
pub(super) fn of(scatters: &[&Scatter]) -> f64 {
    let values: usize = scatters.iter().map(|scatter| scatter.values).sum();
    let joint = joint_correlations(scatters, values);
    let seen = SEEN * ((values.max(2) as f64).log10() / values.max(1) as f64).sqrt();
    let (mut slow, mut sum) = (0.0, 1.0);
    // The bias depends on the memory, and the memory on the bias.
    for _ in 0..3 {
        let lost = (f64::max(sum, 1.0) * scatters.len() as f64 / values.max(1) as f64).min(LOST);
        let mended: Vec<f64> = joint.iter().map(|r| r + lost * (1.0 - r)).collect();
        let (a, b) = (flat_top(&mended, seen), fading(&mended, seen, values));
        let sums = if a.0 >= b.0 { a } else { b };
        (slow, sum) = (sums.0, f64::max(a.1, b.1));
    }
    slow
}

/// Returns the length of a block in values: Politis and White's for the circular bootstrap, at least 1.
pub(super) fn length(memory: f64, values: usize) -> f64 {
    (1.5 * memory * memory * values as f64).cbrt().max(1.0)
}

/// Returns the mean of the series' correlations for each lag, weighted by length.
fn joint_correlations(scatters: &[&Scatter], values: usize) -> Vec<f64> {
    let lags = scatters.iter().map(|scatter| scatter.correlations.len()).max().unwrap_or(0);
    let at = |lag: usize| {
        let of = |scatter: &&Scatter| Some(scatter.values as f64 * scatter.correlations.get(lag)?);
        scatters.iter().filter_map(of).sum::<f64>() / values.max(1) as f64
    };
    (0..lags).map(at).collect()
}

/// Computes Σ|k|·R(k) ÷ ΣR(k), and ΣR(k), with a flat-top window of twice the last significant lag.
fn flat_top(correlations: &[f64], seen: f64) -> (f64, f64) {
    let nothing = |lags: &[f64]| lags.iter().all(|r| r.abs() < seen);
    let last = correlations.windows(NOTHING).take(correlations.len() / 2).position(nothing);
    let window = 2 * last.unwrap_or(correlations.len() / 2).max(1);
    let (mut weighted, mut sum) = (0.0, 1.0);
    for (lag, r) in (1..=window).zip(correlations) {
        let weight = (2.0 * (1.0 - lag as f64 / window as f64)).min(1.0);
        weighted += 2.0 * weight * lag as f64 * r;
        sum += 2.0 * weight * r;
    }
    // Dividing by at least 1 can overestimate slow noise if fast noise dominates, but never underestimates it.
    (weighted.max(0.0) / sum.max(1.0), sum)
}

/// Computes Σ|k|·R(k) ÷ ΣR(k), and ΣR(k), for correlations that fade as the unbroken significant ones from lag 1 on do,
/// but somewhat more slowly ([`SLOWER`]): long memory may show only a little in a short run.
fn fading(correlations: &[f64], seen: f64, values: usize) -> (f64, f64) {
    let run = correlations.iter().take_while(|r| **r >= seen).count();
    let Some(first) = correlations.first().filter(|_| run > 0) else { return (0.0, 1.0) };
    let sum = |from: usize| correlations.iter().skip(from).take(run).sum::<f64>();
    let fade = sum(1) / sum(0);
    let error = (1.0 + fade * fade).sqrt() * (run as f64 / values as f64).sqrt() / sum(0);
    let fade = (fade + SLOWER * error).clamp(first.min(SLOWEST_FADE), SLOWEST_FADE);
    let share = (first / fade).min(1.0);
    let all = 1.0 - share + share * (1.0 + fade) / (1.0 - fade);
    (2.0 * share * fade / (1.0 - fade).powi(2) / all, all)
}

/// The largest lag of a correlation.
const MOST_LAGS: usize = 512;

/// The scatter of one figure over consecutive seconds of one phase.
///
/// The series holds each second's contribution to the figure's error: its sum is the error of the figure.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Scatter {
    /// The number of values in the series.
    pub(super) values: usize,
    /// The variance of one value.
    of_one: f64,
    /// The squared cosine coefficients of the series for 1, 2, … half waves. Where the spectrum is flat, the expected
    /// value of each is the variance of the sum ÷ the number of values.
    pub(super) powers: Vec<f64>,
    /// Autocorrelations from lag 1.
    correlations: Vec<f64>,
    /// True if the load is level: only then are slow changes a sign of long memory.
    pub(super) is_level: bool,
}

impl Scatter {
    pub(super) fn of(mut series: Vec<f64>, is_level: bool) -> Self {
        let slope = if is_level { 0.0 } else { slope(&series) };
        take_out(&mut series, slope);
        let squares: f64 = series.iter().map(|value| value * value).sum();
        Self {
            values: series.len(),
            of_one: squares / series.len().max(1) as f64,
            powers: powers(&series),
            correlations: correlations(&series),
            is_level,
        }
    }

    /// Returns the number of cosines to use if seconds do not depend on each other: few enough, compared with all, that
    /// a dependence too weak to be seen does little harm (Lazarus, Lewis, Stock and Watson 2018).
    pub(super) fn most_cosines(&self) -> usize {
        self.powers.len()
    }

    /// Returns the variance of the series' sum if all its values varied as one.
    pub(super) fn variance_as_one(&self) -> f64 {
        (self.values as f64).powi(2) * self.of_one
    }

    /// Returns how much of the scatter is in the slowest cosines: the mean square of the series' partial sums, divided
    /// by the variance of one value and the number of values (Nyblom, "Testing for the constancy of parameters over
    /// time", 1989).
    pub(super) fn wander(&self) -> f64 {
        let half_waves = (1..).map(|half_waves: u32| f64::from(half_waves).powi(2));
        let slow: f64 = self.powers.iter().zip(half_waves).map(|(power, squared)| power / squared).sum();
        if self.of_one > 0.0 { slow / (self.of_one * PI * PI) } else { 0.0 }
    }

    /// Estimates the variance of the series' sum from the given number of slowest cosines.
    pub(super) fn variance(&self, cosines: usize) -> f64 {
        let used = cosines.clamp(1, self.powers.len().max(1));
        self.values as f64 * self.powers.iter().take(used).sum::<f64>() / used as f64
    }
}

/// Returns the slope per value of the least-squares line through a series.
fn slope(series: &[f64]) -> f64 {
    let middle = (series.len() as f64 - 1.0) / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (at, value) in series.iter().enumerate() {
        let from_middle = at as f64 - middle;
        product += from_middle * value;
        square += from_middle * from_middle;
    }
    if square > 0.0 { product / square } else { 0.0 }
}

/// Subtracts the mean and a line of the given slope from a series.
fn take_out(series: &mut [f64], slope: f64) {
    let middle = (series.len() as f64 - 1.0) / 2.0;
    let mean = crate::stats::mean(series);
    for (at, value) in series.iter_mut().enumerate() {
        *value -= mean + slope * (at as f64 - middle);
    }
}

/// Returns the squared coefficients of the cosine transform, slowest first, without the constant.
fn powers(series: &[f64]) -> Vec<f64> {
    let values = series.len();
    let most = ((values as f64).powf(2.0 / 3.0) as usize).min(values.saturating_sub(1));
    let power = |half_waves: usize| {
        let step = PI * half_waves as f64 / values as f64;
        let sum: f64 =
            series.iter().enumerate().map(|(at, value)| value * (step * (at as f64 + 0.5)).cos()).sum();
        2.0 * sum * sum / values as f64
    };
    (1..=most).map(power).collect()
}

fn correlations(series: &[f64]) -> Vec<f64> {
    let own: f64 = series.iter().map(|value| value * value).sum();
    let lags = (series.len() / 2).min(MOST_LAGS);
    let at = |lag: usize| {
        let product: f64 = series.iter().zip(series.iter().skip(lag)).map(|(a, b)| a * b).sum();
        if own > 0.0 { product / own } else { 0.0 }
    };
    (1..=lags).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process whose value is `fade` times the previous one plus noise.
    fn series(chance: &mut fastrand::Rng, fade: f64, values: usize) -> Scatter {
        let mut now = 0.0;
        let mut next = || {
            let new = (0..12).map(|_| chance.f64()).sum::<f64>() - 6.0;
            now = fade * now + (1.0 - fade * fade).sqrt() * new;
            now
        };
        (0..100).for_each(|_| {
            next();
        });
        Scatter::of((0..values).map(|_| next()).collect(), true)
    }

    fn blocks(chance: &mut fastrand::Rng, fade: f64, values: usize) -> f64 {
        let two = [series(chance, fade, values), series(chance, fade, values)];
        values as f64 / length(of(&two.each_ref()), values)
    }

    #[test]
    fn block_is_as_long_as_theory_has_it() {
        // For such a process Σ|k|·R(k) ÷ ΣR(k) is 2ρ/(1−ρ²).
        let mut chance = fastrand::Rng::with_seed(1);
        for fade in [0.5, 0.8, 0.9] {
            let expected = 20_000.0 / length(2.0 * fade / (1.0 - fade * fade), 20_000);
            let found = blocks(&mut chance, fade, 20_000);
            assert!((found / expected - 1.0).abs() < 0.2, "{fade}: {found} for {expected}");
        }
    }

    #[test]
    fn long_memory_leaves_too_few_blocks_and_none_leaves_enough() {
        let mut chance = fastrand::Rng::with_seed(2);
        let mut enough =
            |fade, values| (0..200).filter(|_| blocks(&mut chance, fade, values) >= ENOUGH).count();
        assert!(enough(0.0, 60) >= 198);
        assert!(enough(0.0, 300) >= 199);
        assert!(enough(0.9, 60) <= 10);
        assert!(enough(0.9, 900) >= 190);
        assert!(enough(0.98, 60) <= 2);
        assert!(enough(0.98, 300) <= 6);
    }

    #[test]
    fn short_run_that_wanders_is_seen_though_its_fast_noise_hides_it() {
        let mut chance = fastrand::Rng::with_seed(4);
        let mut seen = |fade: f64, slow: f64| {
            let of = |chance: &mut fastrand::Rng| {
                let (mut now, mut values) = (0.0, Vec::new());
                for _ in 0..160 {
                    let mut normal = || (0..12).map(|_| chance.f64()).sum::<f64>() - 6.0;
                    now = fade * now + (1.0 - fade * fade).sqrt() * normal();
                    values.push(slow * now + normal());
                }
                Scatter::of(values.split_off(100), true)
            };
            let pairs = (0..1000).map(|_| [of(&mut chance), of(&mut chance)]);
            pairs.filter(|two| wanders(&two.each_ref())).count()
        };
        // 1.5 % of the pairs without memory are expected.
        let calm = seen(0.0, 0.0);
        assert!((5..=28).contains(&calm), "{calm} of 1,000");
        let slow = seen(0.98, 2.0);
        assert!(slow > 800, "{slow} of 1,000");
    }

    #[test]
    fn periodic_values_have_no_long_memory() {
        let teeth: Vec<f64> = (0..100).map(|at| f64::from(at % 7)).collect();
        let two = [Scatter::of(teeth.clone(), true), Scatter::of(teeth, true)];
        let blocks = 100.0 / length(of(&two.each_ref()), 100);
        assert!(blocks > 1.0, "{blocks}");
    }

    fn normal(chance: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| chance.f64()).sum::<f64>() - 6.0
    }

    #[test]
    fn all_cosines_together_have_the_variance_of_the_values() {
        let mut chance = fastrand::Rng::with_seed(3);
        let (mut found, mut all) = (0.0, 0.0);
        for _ in 0..200 {
            let series: Vec<f64> = (0..100).map(|_| 3.0 * normal(&mut chance)).collect();
            let scatter = Scatter::of(series, true);
            found += scatter.variance(scatter.most_cosines());
            all += 900.0;
        }
        assert!((found / all - 1.0).abs() < 0.05, "{found} for {all}");
    }

    #[test]
    fn line_is_no_scatter_where_the_load_is_not_level() {
        let line: Vec<f64> = (0..50).map(f64::from).collect();
        assert!(Scatter::of(line.clone(), false).variance(5) < 1e-12);
        assert!(Scatter::of(line, true).variance(5) > 1000.0);
    }

    #[test]
    fn scatter_needs_two_values() {
        for series in [vec![], vec![7.0]] {
            assert_eq!(Scatter::of(series, false).variance(3), 0.0);
        }
    }
}
