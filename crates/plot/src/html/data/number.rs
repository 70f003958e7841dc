//! Numbers of the data, as short as they can be.

use serde::{Serialize, Serializer};

/// A number with at most three decimals; integers have no decimal point. `null` if absent or not finite.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) Option<f64>);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.filter(|value| value.is_finite()).map(|value| (value * 1000.0).round() / 1000.0) {
            None => to.serialize_none(),
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => to.serialize_i64(whole as i64),
            Some(value) => to.serialize_f64(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_absent_ones_null() {
        let values = [Some(12.0), Some(1.23456), None, Some(f64::NAN), Some(-0.5), Some(1e300)].map(Number);
        assert_eq!(serde_json::to_string(&values).unwrap(), "[12,1.235,null,null,-0.5,1e+300]");
    }
}
