//! The unit of a log's values. The log does not report it, except by Interval_Max, which by convention is in ms.

use super::flaw::IntervalFlaw;

/// The number of values in a ms, for values in ms, µs and ns.
const UNITS: [u32; 3] = [1, 1000, 1_000_000];

/// Returns how many of a histogram's values are a ms, by its largest value and the log's figure for it; `None` if both
/// are 0, which they are in any unit.
pub(super) fn per_ms(largest: u64, interval_max: f64, digits: u8) -> Result<Option<u32>, IntervalFlaw> {
    if largest == 0 {
        return Ok(None);
    }
    // A value counts as those that it is rounded to, and the figure has three decimals.
    let rounding = 0.1_f64.powi(digits.clamp(1, 5).into());
    let fits = |unit: &u32| {
        let in_ms = largest as f64 / f64::from(*unit);
        (in_ms - interval_max).abs() <= in_ms * rounding + 0.0006
    };
    match UNITS.into_iter().find(fits) {
        Some(1) => Err(IntervalFlaw::NoUnit),
        Some(unit) => Ok(Some(unit)),
        None => Err(IntervalFlaw::Unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_is_that_in_which_the_largest_value_is_the_figure_in_ms() {
        for (largest, figure, unit) in [
            (19_999, "19.999", Ok(Some(1000))),
            (27_407, "27.407", Ok(Some(1000))),
            (9_117_695, "9.118", Ok(Some(1_000_000))),
            (300, "0.000", Ok(Some(1_000_000))),
            (1, "0.001", Ok(Some(1000))),
            (0, "0.000", Ok(None)),
            (9119, "9119.0", Err(IntervalFlaw::NoUnit)),
            (9119, "12.000", Err(IntervalFlaw::Unit)),
            (9119, "NaN", Err(IntervalFlaw::Unit)),
            (9119, "-9.119", Err(IntervalFlaw::Unit)),
            (u64::MAX, "inf", Err(IntervalFlaw::Unit)),
        ] {
            assert_eq!(per_ms(largest, figure.parse().unwrap(), 3), unit, "{largest} {figure}");
        }
        assert_eq!(per_ms(9119, 9.119, 0), Ok(Some(1000)));
    }
}
