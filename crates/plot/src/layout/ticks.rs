//! Round ticks for axes: values in steps of 1, 2, 2.5 and 5, times in steps of minutes and hours.

/// The ticks of a value axis that begins at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Values {
    /// The top of the axis, greater than 0.
    pub(crate) top: f64,
    /// The distance between ticks.
    pub(crate) step: f64,
}

impl Values {
    /// Creates an axis up to at least `max`, with about `count` round steps that are not smaller than `least`.
    pub(crate) fn up_to(max: f64, count: u32, least: f64) -> Self {
        let max = if max.is_finite() && max > 0.0 { max } else { least.max(1.0) };
        let usual = Self::holding(max, round_step(max / f64::from(count.max(1))).max(least));
        // A few more steps are preferred if they leave less of the axis empty.
        let finer = Self::holding(max, round_step(max / f64::from(count + count / 3)).max(least));
        if finer.top < usual.top { finer } else { usual }
    }

    /// Creates the shortest axis of whole steps that includes `max`.
    fn holding(max: f64, step: f64) -> Self {
        Self { top: (max / step - 1e-9).ceil().max(1.0) * step, step }
    }

    /// Creates an axis that ends exactly at `top`, even if there is no tick.
    pub(crate) fn ending_at(top: f64, count: u32) -> Self {
        Self { top, step: round_step(top / f64::from(count.max(1))) }
    }

    /// Returns the ticks, from 0 to at most the top.
    pub(crate) fn ticks(self) -> impl Iterator<Item = f64> {
        let count = (self.top / self.step + 1e-9).floor() as u32;
        (0..=count).map(move |tick| f64::from(tick) * self.step)
    }

    /// Returns the number of decimals that the ticks need.
    pub(crate) fn decimals(self) -> usize {
        (0..6)
            .find(|&digits| {
                let shifted = self.step * 10f64.powi(digits);
                (shifted - shifted.round()).abs() < 1e-6
            })
            .unwrap_or(6) as usize
    }
}

/// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `raw`.
fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .map(|lead| lead * power)
        .find(|step| *step >= raw * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// The steps of a time axis, in seconds.
const TIME_STEPS: [u32; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400,
    172_800, 604_800,
];

/// Returns the smallest round step, in seconds, that divides `span` seconds into at most `count` parts.
pub(crate) fn time_step(span: f64, count: f64) -> u32 {
    let least = span / count.max(1.0);
    TIME_STEPS.into_iter().find(|step| f64::from(*step) >= least).unwrap_or_else(|| {
        let days = (least / 86_400.0).ceil().min(f64::from(u32::MAX / 86_400));
        days as u32 * 86_400
    })
}

/// Returns the multiples of `step` from `start` to `end`, both included.
pub(crate) fn multiples(start: f64, end: f64, step: u32) -> impl Iterator<Item = u32> {
    let step = step.max(1);
    let first = (start.max(0.0) / f64::from(step)).ceil() as u32;
    let last = (end.max(0.0) / f64::from(step)).floor() as u32;
    (first..=last).map_while(move |n| n.checked_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(max: f64) -> Vec<f64> {
        Values::up_to(max, 5, 0.0).ticks().collect()
    }

    #[test]
    fn values_have_round_ticks() {
        assert_eq!(ticks(58_300.0), [0.0, 20_000.0, 40_000.0, 60_000.0]);
        // With steps of 1,000, a quarter of the axis would be empty.
        assert_eq!(Values::up_to(3_100.0, 6, 1.0), Values { top: 3_500.0, step: 500.0 });
        assert_eq!(ticks(1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Values::up_to(1.0, 5, 0.0).decimals(), 1);
        assert_eq!(Values::up_to(3.0, 5, 1.0).step, 1.0);
        assert_eq!(ticks(f64::NAN).last(), Some(&1.0));
        assert_eq!(Values::ending_at(7200.0, 5).top, 7200.0);
    }

    #[test]
    fn times_have_round_steps() {
        assert_eq!(time_step(420.0, 12.0), 60);
        assert_eq!(time_step(5.0, 12.0), 1);
        assert_eq!(time_step(86_400.0, 13.0), 7200);
        assert_eq!(time_step(86_400.0 * 400.0, 10.0), 40 * 86_400);
        assert_eq!(multiples(10.0, 65.0, 30).collect::<Vec<_>>(), [30, 60]);
    }
}
