//! The memory of noise: how long a second affects those after it, and the number of independent blocks in a run.

use super::scatter::Scatter;

/// An autocorrelation is significant above this many times √(log₁₀ n ÷ n). Politis and White use 2. With two runs, a
/// little less finds long memory more often, and has a false alarm in about one of some hundred pairs without any.
const SEEN: f64 = 1.75;
/// The number of consecutive lags without significant correlation that end the memory (Politis and White's K).
const NOTHING: usize = 5;
/// The least number of blocks; with fewer, slow changes can't be distinguished from a difference.
pub(super) const ENOUGH: f64 = 7.0;
/// Correlations are taken to fade more slowly than estimated, by this many standard errors.
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
    let joint = correlations(scatters, values);
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
fn correlations(scatters: &[&Scatter], values: usize) -> Vec<f64> {
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
}
