//! Student's t distribution: how often chance makes a difference of means as large.

use std::f64::consts::FRAC_PI_2;

/// Steps of an integral, an even number.
const STEPS: u32 = 400;
/// Standard deviations beyond which nothing is added up, where there are many degrees of freedom.
const FAR: f64 = 40.0;

/// How often a t of some degrees of freedom, one or more, is as far from zero as `t`, on either side.
///
/// With t = √ν · tan θ the density is proportional to cos^(ν − 1) θ, so that only two smooth integrals are needed.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    let density = |angle: f64| angle.cos().max(0.0).powf(freedom - 1.0);
    let end = FRAC_PI_2.min(FAR / freedom.sqrt());
    let beyond = (t.abs() / freedom.sqrt()).atan().min(end);
    integral(&density, beyond, end) / integral(&density, 0.0, end)
}

/// Simpson's rule.
fn integral(of: &impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    let width = (to - from) / f64::from(STEPS);
    let weight = |step: u32| match step {
        0 | STEPS => 1.0,
        step if step % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|step| weight(step) * of(from + f64::from(step) * width)).sum();
    sum * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::two_sided;

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
            let found = two_sided(t, freedom);
            assert!((found / tail - 1.0).abs() < 1e-3, "{freedom}: {found}");
            assert_eq!(found, two_sided(-t, freedom));
        }
        assert_eq!(two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(two_sided(0.0, 3.5), 1.0);
    }
}
