//! The limit of a rule, compared with a tolerance for rounding.

/// Two numbers are equal if they differ by at most this many units in the last place of the largest number involved.
/// It covers a few 64-bit operations, each of which rounds.
const UNITS: f64 = 8.0;

/// A limit, with the size of the numbers that it was computed from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    limit: f64,
    /// The largest magnitude among the numbers that the limit was computed from.
    scale: f64,
}

impl Bound {
    /// Creates a limit from a number written in a rule.
    pub(super) fn of(limit: f64) -> Self {
        Self { limit, scale: limit.abs() }
    }

    /// Creates a limit that is the sum of two numbers.
    pub(super) fn sum(one: f64, other: f64) -> Self {
        Self { limit: one + other, scale: one.abs().max(other.abs()) }
    }

    /// Returns the limit to compare a value with: the value itself if the two differ by no more than rounding explains.
    pub(super) fn against(self, value: f64) -> f64 {
        let scale = self.scale.max(value.abs());
        if (value - self.limit).abs() <= UNITS * f64::EPSILON * scale { value } else { self.limit }
    }

    /// Returns the limit as computed, for use without a value.
    pub(super) fn limit(self) -> f64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_told_from_a_difference() {
        let limit = Bound::sum(50.0 * 1.14, 0.0);
        assert_eq!((limit.limit(), limit.against(57.0)), (56.99999999999999, 57.0));
        assert_eq!(limit.against(57.0 + 1e-12), 56.99999999999999);
        assert_eq!(Bound::sum(1000.1, -1000.0).against(0.1), 0.1);
        assert_eq!(Bound::of(0.0).against(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(Bound::of(0.0).against(1e-300), 0.0);
    }
}
