//! What a value is compared with: a limit, and how exactly it is known.

/// Units in the last place of the largest number that went into a comparison, within which two numbers are the same: a
/// few operations on 64 bits, each of which rounds.
const UNITS: f64 = 8.0;

/// A limit, computed from numbers of some size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    limit: f64,
    /// The largest magnitude of a number that the limit was computed from.
    scale: f64,
}

impl Bound {
    /// A limit as it was written.
    pub(super) fn of(limit: f64) -> Self {
        Self { limit, scale: limit.abs() }
    }

    /// A sum of two numbers.
    pub(super) fn sum(one: f64, other: f64) -> Self {
        Self { limit: one + other, scale: one.abs().max(other.abs()) }
    }

    /// The limit as a value is compared with it: the value itself, where the two differ no more than rounding explains.
    pub(super) fn against(self, value: f64) -> f64 {
        let scale = self.scale.max(value.abs());
        if (value - self.limit).abs() <= UNITS * f64::EPSILON * scale { value } else { self.limit }
    }

    /// The limit where there is no value.
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
