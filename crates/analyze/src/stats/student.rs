//! Distributions for intervals: Student's t, and the number of few events.

use super::percentile::fraction;

/// ln Γ by Lanczos's approximation ("A precision approximation of the gamma function", 1964), with the coefficients for
/// g = 5 and six terms: accurate to 2·10⁻¹⁰ for every x > 0.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        1.208_650_973_866_179e-3,
        -5.395_239_384_953e-6,
    ];
    let series: f64 = (1..).zip(TERMS).map(|(at, term)| term / (x + f64::from(at))).sum();
    let base = x + 5.5;
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * (1.000_000_000_190_015 + series) / x).ln()
}

/// Evaluates the continued fraction of the incomplete beta function, from its end to its beginning.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    // It converges after about √max(a, b) terms.
    let terms = 60 + 4 * (a.max(b).sqrt() as i32);
    (1..=terms).rev().fold(1.0, |below, term| {
        let half = f64::from(term / 2);
        let factor = if term % 2 == 0 {
            half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half))
        } else {
            -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0))
        };
        1.0 + factor / below
    })
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front / (a * continued_fraction(a, b, x))
    } else {
        1.0 - front / (b * continued_fraction(b, a, 1.0 - x))
    }
}

/// Returns the two-sided tail probability: that a value of Student's t distribution is at least this far from 0.
pub(crate) fn beyond(distance: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + distance * distance))
}

/// Returns the two-sided quantile: the distance from 0 beyond which this share of Student's t distribution lies.
pub(crate) fn distance(share: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e15);
    for _ in 0..150 {
        // Bisects by the geometric mean for large values, since heavy tails reach far.
        let middle = if low > 1.0 { f64::sqrt(low * high) } else { f64::midpoint(low, f64::min(high, 4.0)) };
        if middle <= low || middle >= high {
            break;
        }
        if beyond(middle, degrees) > share { low = middle } else { high = middle }
    }
    low
}

/// The regularised lower incomplete gamma function P(a, x), by its series (Abramowitz and Stegun, "Handbook of mathematical
/// functions", 1964, 6.5.29).
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut term, mut sum, mut at) = (1.0, 1.0, a);
    // Terms grow up to x ≈ a, and then shrink.
    while term > sum * 1e-15 && at < a + 1e6 {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    (sum * (a * x.ln() - x - ln_gamma(a + 1.0)).exp()).min(1.0)
}

/// Returns the quantile of the chi-square distribution: the value that this share of it does not exceed.
pub(crate) fn chi_square(share: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, degrees + 40.0 * (degrees + 10.0).sqrt());
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if incomplete_gamma(degrees / 2.0, middle / 2.0) < share { low = middle } else { high = middle }
    }
    low
}

/// The number of deviations of a 99 % interval.
const OF_99_PERCENT: f64 = 2.5758;

/// Returns the smaller of a share and its complement.
pub(crate) fn tail(share: f64) -> f64 {
    share.min(1.0 - share)
}

/// Returns the limits of the mean of a count, given one observed count whose variance is `dispersion` times its mean.
///
/// Exact limits of a Poisson count by Wilson and Hilferty ("The distribution of chi-square", 1931), which are right for
/// small and large counts.
pub(crate) fn count_limits(count: f64, dispersion: f64, deviations: f64) -> (f64, f64) {
    let cube = |count: f64, deviations: f64| {
        let root = 1.0 - 1.0 / (9.0 * count) + deviations / (3.0 * count.sqrt());
        count * root.max(0.0).powi(3)
    };
    let seen = count / dispersion;
    let low = if seen > 0.0 { cube(seen, -deviations) } else { 0.0 };
    (dispersion * low.min(seen), dispersion * cube(seen + 1.0, deviations).max(seen))
}

/// Returns the number of values beyond a percentile, given in percent, if they are so few, fewer than five, that none of
/// the values is the limit of its 99 % interval. A comparison calls such a percentile unknown. The least and the greatest
/// value are what they are.
pub(crate) fn few_beyond(percent: f64, values: u64) -> Option<f64> {
    let beyond = tail(fraction(percent)) * values as f64;
    (beyond > 0.0 && count_limits(beyond, 1.0, OF_99_PERCENT).0 < 1.0).then_some(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_chi_square_are_those_of_tables() {
        // Abramowitz and Stegun, table 26.8.
        let table = [
            (0.05, 1.0, 0.003_932_14),
            (0.95, 1.0, 3.841_46),
            (0.05, 2.0, 0.102_587),
            (0.95, 2.0, 5.991_46),
            (0.05, 11.0, 4.574_81),
            (0.95, 11.0, 19.6751),
            (0.05, 100.0, 77.9295),
            (0.95, 100.0, 124.342),
        ];
        for (share, degrees, expected) in table {
            let found = chi_square(share, degrees);
            assert!((found / expected - 1.0).abs() < 1e-5, "{share} {degrees}: {found}");
        }
    }

    #[test]
    fn distances_are_those_of_the_tables() {
        // Two-sided 99 %, then 99.9 %.
        for (degrees, tabled) in [(1.0, 63.657), (2.0, 9.925), (5.0, 4.032), (30.0, 2.750), (120.0, 2.617)] {
            assert!((distance(0.01, degrees) / tabled - 1.0).abs() < 2e-4, "{degrees}");
        }
        for (degrees, tabled) in [(1.0, 636.62), (2.0, 31.599), (5.0, 6.869), (30.0, 3.646), (1e6, 3.291)] {
            assert!((distance(0.001, degrees) / tabled - 1.0).abs() < 2e-4, "{degrees}");
        }
    }

    #[test]
    fn likelihood_and_its_distance_belong_together() {
        for degrees in [0.7, 1.0, 2.5, 14.0, 90.0, 700.0] {
            for share in [0.9, 0.3, 0.01, 1e-4, 1e-9] {
                let back = beyond(distance(share, degrees), degrees);
                assert!((back / share - 1.0).abs() < 1e-5, "{share} at {degrees}: {back}");
            }
        }
        assert_eq!(beyond(0.0, 3.0), 1.0);
    }

    #[test]
    fn tails_are_those_of_the_printed_tables() {
        for (freedom, t, tail) in [
            (1.0, 12.7062, 0.05),
            (2.0, 4.30265, 0.05),
            (4.0, 4.60409, 0.01),
            (8.0, 2.30600, 0.05),
            (30.0, 3.64596, 0.001),
            (100.0, 1.98397, 0.05),
            (100_000.0, 1.95999, 0.05),
        ] {
            let found = beyond(t, freedom);
            assert!((found / tail - 1.0).abs() < 1e-3, "{freedom}: {found}");
            assert_eq!(found, beyond(-t, freedom));
        }
        assert_eq!(beyond(f64::INFINITY, 3.0), 0.0);
        assert_eq!(beyond(0.0, 3.5), 1.0);
    }

    #[test]
    fn limits_of_counts_are_the_exact_ones() {
        // 99 %, from the tables of Garwood ("Fiducial limits for the Poisson distribution", 1936).
        for (count, low, high) in
            [(0.0, 0.0, 5.30), (1.0, 0.00501, 7.43), (5.0, 1.08, 14.15), (20.0, 10.35, 34.67)]
        {
            let found = count_limits(count, 1.0, OF_99_PERCENT);
            assert!((found.0 - low).abs() < 0.05 && (found.1 - high).abs() < 0.1, "{count}: {found:?}");
        }
        let (low, high) = count_limits(400.0, 4.0, 2.0);
        assert!((low - 322.0).abs() < 3.0 && (high - 486.0).abs() < 4.0, "{low} {high}");
    }

    #[test]
    fn percentile_is_known_with_five_values_beyond_it() {
        assert!(few_beyond(99.0, 400).is_some_and(|beyond| (beyond - 4.0).abs() < 1e-9));
        assert_eq!((few_beyond(99.0, 500), few_beyond(1.0, 500), few_beyond(50.0, 10)), (None, None, None));
        assert!(few_beyond(50.0, 8).is_some() && few_beyond(99.9, 4000).is_some());
        assert_eq!((few_beyond(100.0, 1), few_beyond(0.0, 1), few_beyond(99.0, 0)), (None, None, None));
    }
}
