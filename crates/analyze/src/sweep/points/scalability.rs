//! How throughput grows with the load, by the Universal Scalability Law (Gunther, "Guerrilla capacity planning", 2007,
//! chapter 4): X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)).

use crate::stats::student;

/// The least number of loads, and of values beyond the law's three parameters.
const LEAST: (usize, usize) = (3, 2);
/// The most steps of the fit, and the change of its parameters at which it ends, as a share of them.
const STEPS: (usize, f64) = (50, 1e-12);
/// The deviation from which a curve does not describe the values.
const UNLIKE: f64 = 0.15;
/// The share of intervals that do not cover.
const OUTSIDE: f64 = 0.05;

/// A fitted figure with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The figure.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// The Universal Scalability Law, fitted to the throughput of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Scalability {
    /// λ: successes per second at a load of 1.
    pub single: Fitted,
    /// σ, contention: the share of the work that waits for others. Below 0 where throughput grows faster than the load.
    pub contention: Fitted,
    /// κ, coherency: what each pair costs, as a share of the work of one.
    pub coherency: Fitted,
    /// The load of the greatest throughput, √((1 − σ) ÷ κ); absent unless κ is above 0 beyond chance.
    pub peak: Option<Fitted>,
    /// The standard deviation of the values around the law, as a share of them.
    pub deviation: f64,
    /// That around a straight line through a throughput of 0.
    pub deviation_from_line: f64,
}

impl Scalability {
    /// Fits the law to throughputs, each with its load: least squares of the logarithms (Gauss and Newton), as the error of a
    /// throughput is a share of it. Intervals are by Student's t. `None` for fewer than three loads or five values, or if the
    /// fit does not converge.
    pub(crate) fn fit(values: &[(f64, f64)]) -> Option<Self> {
        let values: Vec<(f64, f64)> =
            values.iter().copied().filter(|(load, throughput)| *load > 0.0 && *throughput > 0.0).collect();
        let mut loads: Vec<f64> = values.iter().map(|(load, _)| *load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let most = *loads.last()?;
        if loads.len() < LEAST.0 || values.len() < LEAST.1 + 3 || most <= 1.0 {
            return None;
        }
        // What contention and coherency are multiplied by, as shares of the largest, so that all are of one size.
        let (of_contention, of_coherency) = (most - 1.0, most * (most - 1.0));
        let terms = |load: f64| [(load - 1.0) / of_contention, load * (load - 1.0) / of_coherency];
        // In load ÷ throughput the law is linear, with parameters relative to that at a load of 1.
        let linear = values.iter().map(|(load, throughput)| {
            let [one, other] = terms(*load);
            ([1.0, one, other].map(|term| term * throughput / load), 1.0)
        });
        let [inverse, one, other] = Normal::of(linear)?.solution;
        let mut law = [-inverse.ln(), one / inverse, other / inverse];
        for _ in 0..STEPS.0 {
            let tangents: Vec<([f64; 3], f64)> = values
                .iter()
                .map(|(load, throughput)| {
                    let [one, other] = terms(*load);
                    let slow = 1.0 + law[1] * one + law[2] * other;
                    ([1.0, -one / slow, -other / slow], (throughput / load).ln() - law[0] + slow.ln())
                })
                .collect();
            let normal = Normal::of(tangents.iter().copied())?;
            law = added(law, normal.solution);
            if law.iter().any(|one| !one.is_finite()) {
                return None;
            }
            let is_done = |(change, one): (&f64, &f64)| change.abs() <= STEPS.1 * one.abs().max(1.0);
            if normal.solution.iter().zip(&law).all(is_done) {
                let degrees = values.len() as f64 - 3.0;
                let variance = tangents.iter().map(|(_, left)| left * left).sum::<f64>() / degrees;
                let covariance = normal.inverse.map(|row| row.map(|one| one * variance));
                let reach = student::distance(OUTSIDE, degrees);
                let scaled = Self::of(law, covariance, reach, [of_contention, of_coherency]);
                let deviation_from_line = deviation_from_line(&values);
                return Some(Self { deviation: variance.sqrt(), deviation_from_line, ..scaled });
            }
        }
        None
    }

    /// Describes a fit by its parameters, their covariance, the reach of an interval in errors, and the scales of contention
    /// and coherency.
    fn of(law: [f64; 3], covariance: [[f64; 3]; 3], reach: f64, scales: [f64; 2]) -> Self {
        let fitted = |value: f64, variance: f64, scale: f64| {
            let error = reach * variance.max(0.0).sqrt();
            Fitted { value: value / scale, low: (value - error) / scale, high: (value + error) / scale }
        };
        let logarithm = fitted(law[0], covariance[0][0], 1.0);
        let single =
            Fitted { value: logarithm.value.exp(), low: logarithm.low.exp(), high: logarithm.high.exp() };
        let contention = fitted(law[1], covariance[1][1], scales[0]);
        let coherency = fitted(law[2], covariance[2][2], scales[1]);
        let has_peak = coherency.low > 0.0 && contention.value < 1.0;
        let peak = has_peak.then(|| {
            let load = ((1.0 - contention.value) / coherency.value).sqrt();
            // The variance of its logarithm, to first order.
            let slopes = [0.5 / (1.0 - contention.value) / scales[0], 0.5 / law[2]];
            let variance = slopes[0].powi(2) * covariance[1][1]
                + slopes[1].powi(2) * covariance[2][2]
                + 2.0 * slopes[0] * slopes[1] * covariance[1][2];
            let times = (reach * variance.max(0.0).sqrt()).exp();
            Fitted { value: load, low: load / times, high: load * times }
        });
        Self { single, contention, coherency, peak, deviation: 0.0, deviation_from_line: 0.0 }
    }

    /// Returns true if throughput grows with the load: neither contention nor coherency is above 0 beyond chance, and a
    /// straight line describes it.
    pub fn is_straight(&self) -> bool {
        self.contention.low <= 0.0 && self.coherency.low <= 0.0 && self.deviation_from_line < UNLIKE
    }

    /// Returns true if the law describes the throughput: no other curve is so far from it.
    pub fn fits(&self) -> bool {
        self.deviation < UNLIKE
    }

    /// Returns the throughput at a load.
    pub fn throughput(&self, load: f64) -> f64 {
        let waits = self.contention.value * (load - 1.0) + self.coherency.value * load * (load - 1.0);
        self.single.value * load / (1.0 + waits)
    }
}

/// Returns the standard deviation of throughputs around a straight line through 0, as a share of them.
fn deviation_from_line(values: &[(f64, f64)]) -> f64 {
    let logarithms = || values.iter().map(|(load, throughput)| (throughput / load).ln());
    let mean = logarithms().sum::<f64>() / values.len() as f64;
    let squares: f64 = logarithms().map(|one| (one - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

fn added(one: [f64; 3], other: [f64; 3]) -> [f64; 3] {
    [one[0] + other[0], one[1] + other[1], one[2] + other[2]]
}

/// The solution of a linear least-squares problem with three unknowns.
struct Normal {
    solution: [f64; 3],
    /// The inverse of the matrix of its normal equations.
    inverse: [[f64; 3]; 3],
}

impl Normal {
    /// Solves it for rows of factors, each with its value; `None` if they do not determine the unknowns.
    fn of(rows: impl Iterator<Item = ([f64; 3], f64)>) -> Option<Self> {
        let ([mut a, mut b, mut c], [mut d, mut e, mut f], mut right) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        for ([x, y, z], value) in rows {
            [a, b, c] = added([a, b, c], [x * x, x * y, x * z]);
            [d, e, f] = added([d, e, f], [y * y, y * z, z * z]);
            right = added(right, [x * value, y * value, z * value]);
        }
        // The matrix is (a b c, b d e, c e f); its inverse by cofactors.
        let cofactors = [
            [d * f - e * e, c * e - b * f, b * e - c * d],
            [c * e - b * f, a * f - c * c, b * c - a * e],
            [b * e - c * d, b * c - a * e, a * d - b * b],
        ];
        let determinant = a * cofactors[0][0] + b * cofactors[0][1] + c * cofactors[0][2];
        let is_determined = determinant > f64::EPSILON * (a * d * f).abs();
        let inverse = is_determined.then(|| cofactors.map(|row| row.map(|one| one / determinant)))?;
        let solution = inverse.map(|row| row[0] * right[0] + row[1] * right[1] + row[2] * right[2]);
        Some(Self { solution, inverse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    /// The throughput of three repeats a load, with a deviation of 3 %.
    fn measured(rng: &mut fastrand::Rng, contention: f64, coherency: f64) -> Vec<(f64, f64)> {
        let mut normal = || {
            let (one, other) = (1.0 - rng.f64(), rng.f64());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        };
        let loads = LOADS.iter().flat_map(|load| [*load; 3]);
        let throughput = |load: f64| {
            let waits = contention * (load - 1.0) + coherency * load * (load - 1.0);
            100.0 * load / (1.0 + waits) * (0.03 * normal()).exp()
        };
        let mut throughput = throughput;
        loads.map(|load| (load, throughput(load))).collect()
    }

    #[test]
    fn intervals_cover_the_truth() {
        for (contention, coherency) in [(0.02, 0.0005), (0.05, 0.0001), (0.0, 0.0), (0.2, 0.001)] {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut covered = [0; 4];
            for _ in 0..1_000 {
                let fit = Scalability::fit(&measured(&mut rng, contention, coherency)).unwrap();
                let truth = [100.0, contention, coherency, ((1.0 - contention) / coherency).sqrt()];
                let peak = fit.peak.unwrap_or(Fitted { value: 0.0, low: 0.0, high: f64::INFINITY });
                let fitted = [fit.single, fit.contention, fit.coherency, peak];
                for (covered, (of, truth)) in covered.iter_mut().zip(fitted.into_iter().zip(truth)) {
                    *covered += usize::from((of.low..=of.high).contains(&truth));
                }
            }
            assert!(covered.iter().all(|covered| *covered >= 930), "{contention}, {coherency}: {covered:?}");
        }
    }

    #[test]
    fn line_does_not_bend_and_has_no_peak() {
        let mut rng = fastrand::Rng::with_seed(2);
        let fits = (0..200).filter_map(|_| Scalability::fit(&measured(&mut rng, 0.0, 0.0)));
        let straight = fits.filter(|fit| fit.is_straight() && fit.peak.is_none()).count();
        assert!(straight >= 180, "{straight} of 200");
        let exact: Vec<(f64, f64)> = LOADS.iter().map(|load| (*load, 100.0 * load)).collect();
        let fit = Scalability::fit(&exact).unwrap();
        assert!(fit.deviation < 1e-9 && fit.contention.value.abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn sweep_that_begins_beyond_its_knee_is_no_line() {
        let flat: Vec<(f64, f64)> =
            (1..10).map(|at| (50.0 * f64::from(at), 420.0 - 10.0 * f64::from(at % 3))).collect();
        assert!(Scalability::fit(&flat).is_none_or(|fit| !fit.is_straight()));
    }

    #[test]
    fn peak_is_where_throughput_is_greatest() {
        let law = |load: f64| 250.0 * load / (1.0 + 0.05 * (load - 1.0) + 0.0004 * load * (load - 1.0));
        let fit = Scalability::fit(&LOADS.map(|load| (load, law(load)))).unwrap();
        let peak = fit.peak.unwrap().value;
        assert!((peak - (0.95_f64 / 0.0004).sqrt()).abs() < 1e-6, "{fit:?}");
        assert!((fit.throughput(peak) - law(peak)).abs() < 1e-6);
        assert!(
            fit.throughput(peak) > fit.throughput(peak * 0.9)
                && fit.throughput(peak) > fit.throughput(peak * 1.1)
        );
    }

    #[test]
    fn few_values_are_not_fitted() {
        assert_eq!(Scalability::fit(&[]), None);
        assert_eq!(Scalability::fit(&[(1.0, 100.0), (2.0, 190.0), (4.0, 300.0), (8.0, 400.0)]), None);
        assert_eq!(Scalability::fit(&[(4.0, 100.0); 9]), None);
        assert_eq!(Scalability::fit(&[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)]), None);
    }
}
