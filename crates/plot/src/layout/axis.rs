//! Value axes, their scale, and round ticks: values in steps of 1, 2, 2.5 and 5, times in steps of minutes and hours.

use crate::text::fonts;
use crate::text::number::grouped;

/// The size of the axes' labels, in points.
pub(crate) const LABEL: f64 = 7.5;

/// The least room for a label at the axis' top, as a share of a step.
const LEAST_STEP: f64 = 0.4;

/// The scale of a value axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// From 0 up to a top that is greater than 0.
    Linear(f64),
    /// Logarithmic, from one value to another that is greater, both greater than 0.
    Log(f64, f64),
}

impl Scale {
    /// Returns where a value is between the axis' ends, 0 to 1; what lies beyond them is at the end.
    pub(crate) fn share(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(top) => value / top,
            Self::Log(bottom, top) => (value.max(bottom) / bottom).ln() / (top / bottom).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    /// Returns the top of the axis.
    pub(crate) fn top(self) -> f64 {
        match self {
            Self::Linear(top) | Self::Log(_, top) => top,
        }
    }
}

/// A value axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueAxis {
    pub(crate) scale: Scale,
    /// Values with their labels, in ascending order from the lower end.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl ValueAxis {
    /// Creates an axis with a label at every tick of `values`.
    pub(crate) fn new(values: ValueTicks) -> Self {
        let label = |tick| (tick, grouped(tick, values.decimals()));
        Self { scale: Scale::Linear(values.top), ticks: values.ticks().map(label).collect() }
    }

    /// Creates a logarithmic axis from below `min`, which is positive, to beyond `max`.
    pub(crate) fn log(min: f64, max: f64) -> Self {
        let decades = Decades::holding(min, max);
        let decimals = |tick: f64| (-tick.log10().floor()).clamp(0.0, 6.0) as usize;
        let label = |tick: &f64| (*tick, grouped(*tick, decimals(*tick)));
        Self {
            scale: Scale::Log(decades.bottom, decades.top),
            ticks: decades.ticks.iter().map(label).collect(),
        }
    }

    /// Creates an axis that ends exactly at `top`, with a label there if it fits.
    pub(crate) fn ending_at(top: f64, count: u32, steps: Steps) -> Self {
        let values = ValueTicks::ending_at(top, count, steps);
        let mut axis = Self::new(values);
        let last = axis.ticks.last().map_or(0.0, |(tick, _)| *tick);
        let allowed = steps == Steps::Any || top.fract() == 0.0;
        if allowed && top - last > values.step * LEAST_STEP {
            axis.ticks.push((top, grouped(top, values.decimals())));
        }
        axis
    }

    /// Raises the top of the axis, without a further tick, if there would be no room above `max`.
    pub(crate) fn with_room(self, max: f64) -> Self {
        match self.scale {
            Scale::Linear(top) => Self { scale: Scale::Linear(with_room(top, max)), ..self },
            Scale::Log(..) => self,
        }
    }

    /// Creates an axis with labels only at its ends.
    pub(crate) fn ends(top: f64, decimals: usize) -> Self {
        Self { scale: Scale::Linear(top), ticks: vec![(0.0, "0".to_owned()), (top, grouped(top, decimals))] }
    }

    /// Returns the width of the widest label, in points.
    pub(crate) fn label_width(&self) -> f64 {
        self.ticks.iter().map(|(_, label)| fonts::width(label, LABEL)).fold(0.0, f64::max)
    }
}

/// The room above the largest value on an axis, as a share of the value: a value on the frame could not be seen.
const ROOM: f64 = 0.04;

/// The steps that an axis can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Any round number.
    Any,
    /// Only whole numbers, for what is counted.
    Whole,
}

impl Steps {
    /// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `raw`.
    fn round(self, raw: f64) -> f64 {
        let raw = if self == Self::Whole { raw.max(1.0) } else { raw };
        let power = 10f64.powf(raw.log10().floor());
        let allowed = |step: f64| self == Self::Any || step.fract() == 0.0;
        [1.0, 2.0, 2.5, 5.0]
            .into_iter()
            .map(|lead| lead * power)
            .find(|step| *step >= raw * (1.0 - 1e-9) && allowed(*step))
            .unwrap_or(10.0 * power)
    }
}

/// The ticks of a value axis that begins at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ValueTicks {
    /// The top of the axis, greater than 0 and than the largest value.
    pub(crate) top: f64,
    /// The distance between ticks.
    pub(crate) step: f64,
}

impl ValueTicks {
    /// Creates an axis up to beyond `max`, with about `count` round steps.
    pub(crate) fn up_to(max: f64, count: u32, steps: Steps) -> Self {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        let usual = Self::holding(max, steps.round(max / f64::from(count.max(1))));
        // A few more steps are preferred if they leave less of the axis empty.
        let finer = Self::holding(max, steps.round(max / f64::from(count + count / 3)));
        if finer.top < usual.top { finer } else { usual }
    }

    /// Creates the shortest axis with a tick at or beyond `max`, and with room above `max`.
    fn holding(max: f64, step: f64) -> Self {
        let last = (max / step - 1e-9).ceil().max(1.0) * step;
        Self { top: with_room(last, max), step }
    }

    /// Creates an axis that ends exactly at `top`, even if there is no tick.
    fn ending_at(top: f64, count: u32, steps: Steps) -> Self {
        Self { top, step: steps.round(top / f64::from(count.max(1))) }
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

/// Returns the top of an axis, raised if there would be no room above `max`.
pub(crate) fn with_room(top: f64, max: f64) -> f64 {
    top.max(max * (1.0 + ROOM))
}

/// The steps of a time axis, in seconds.
const TIME_STEPS: [u32; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400,
    172_800, 604_800,
];

/// Returns the smallest round step, in seconds, that divides `span` seconds into at most `count` parts.
pub(super) fn time_step(span: f64, count: f64) -> u32 {
    let least = span / count.max(1.0);
    TIME_STEPS.into_iter().find(|step| f64::from(*step) >= least).unwrap_or_else(|| {
        let days = (least / 86_400.0).ceil().min(f64::from(u32::MAX / 86_400));
        days as u32 * 86_400
    })
}

/// Returns the multiples of `step` from `start` to `end`, both included.
pub(super) fn multiples(start: f64, end: f64, step: u32) -> impl Iterator<Item = f64> {
    let step = f64::from(step.max(1));
    let (first, last) = ((start / step).ceil() as i64, (end / step).floor() as i64);
    (first..=last).map(move |n| n as f64 * step)
}

/// The ticks of a logarithmic value axis.
#[derive(Debug, Clone, PartialEq)]
struct Decades {
    /// The lower end, less than the least value.
    bottom: f64,
    /// The top of the axis, greater than the largest value.
    top: f64,
    ticks: Vec<f64>,
}

impl Decades {
    /// Up to this many decades have ticks at twice and five times a power of ten too.
    const FEW: f64 = 3.5;

    /// Creates an axis from below `min`, which is positive, to beyond `max`.
    fn holding(min: f64, max: f64) -> Self {
        let (min, max) = if min > 0.0 && max.is_finite() { (min.min(max), max) } else { (1.0, 1.0) };
        let (first, last) = (min.log10().floor() as i32, max.log10().ceil() as i32);
        let leads: &[f64] = if f64::from(last - first) <= Self::FEW { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = (first - 1..=last).flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)));
        let all: Vec<f64> = all.collect();
        let below = all.iter().rposition(|tick| *tick < min * (1.0 - 1e-9)).unwrap_or(0);
        let above = all.iter().position(|tick| *tick >= max * (1.0 - 1e-9)).unwrap_or(all.len());
        let ticks = all.get(below..=above).unwrap_or(&all).to_vec();
        let ends = ticks.first().zip(ticks.last()).map_or((1.0, 10.0), |(first, last)| (*first, *last));
        Self { bottom: ends.0, top: ends.1.max(max * (ends.1 / ends.0).powf(ROOM)), ticks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &ValueAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn decades_are_equally_high() {
        let scale = Scale::Log(1.0, 1000.0);
        let shares = [0.0, 1.0, 10.0, 100.0, 1000.0, 1e9].map(|value| scale.share(value));
        for (share, expected) in shares.into_iter().zip([0.0, 0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0]) {
            assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        }
        assert_eq!(Scale::Linear(10.0).share(2.5), 0.25);
    }

    #[test]
    fn top_is_labelled_where_there_is_room() {
        assert_eq!(
            labels(&ValueAxis::ending_at(7200.0, 4, Steps::Any)),
            ["0", "2,000", "4,000", "6,000", "7,200"]
        );
        assert_eq!(labels(&ValueAxis::ending_at(8100.0, 4, Steps::Any)), ["0", "2,500", "5,000", "7,500"]);
        assert_eq!(labels(&ValueAxis::ending_at(800.0, 4, Steps::Any)), ["0", "200", "400", "600", "800"]);
        assert_eq!(labels(&ValueAxis::log(0.3, 40.0)), ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&ValueAxis::ends(1234.0, 0)), ["0", "1,234"]);
        // Half a thread is no thread.
        assert_eq!(labels(&ValueAxis::ending_at(3.5, 10, Steps::Whole)), ["0", "1", "2", "3"]);
        assert_eq!(labels(&ValueAxis::ending_at(13.0, 4, Steps::Whole)), ["0", "5", "10", "13"]);
    }

    fn ticks(max: f64) -> Vec<f64> {
        ValueTicks::up_to(max, 5, Steps::Any).ticks().collect()
    }

    #[test]
    fn counts_have_whole_ticks() {
        for max in 1..2000 {
            let max = f64::from(max);
            for count in [4, 6, 10] {
                let values = ValueTicks::up_to(max, count, Steps::Whole);
                assert!(values.ticks().all(|tick| tick.fract() == 0.0), "{max} {values:?}");
                assert!(values.ticks().count() <= 15, "{max} {values:?}");
                let ending = ValueTicks::ending_at(max, count, Steps::Whole);
                assert!(ending.ticks().all(|tick| tick.fract() == 0.0), "{max} {ending:?}");
            }
        }
        assert_eq!(ValueTicks::up_to(14.0, 6, Steps::Whole).step, 2.0);
        assert_eq!(ValueTicks::up_to(100.0, 4, Steps::Whole).step, 25.0);
    }

    #[test]
    fn no_value_lies_on_the_frame() {
        for max in [1.0, 2.0, 9.99, 10.0, 100.0, 1999.0, 2000.0, 2001.0, 1e12] {
            for steps in [Steps::Any, Steps::Whole] {
                let values = ValueTicks::up_to(max, 6, steps);
                assert!(values.top >= max * 1.039, "{max} {values:?}");
                let last = values.ticks().last().unwrap();
                assert!(last >= max && last <= values.top, "{max} {values:?}");
            }
        }
    }

    #[test]
    fn values_have_round_ticks() {
        assert_eq!(ticks(58_300.0), [0.0, 20_000.0, 40_000.0, 60_000.0]);
        // With steps of 1,000, a quarter of the axis would be empty.
        assert_eq!(ValueTicks::up_to(3_100.0, 6, Steps::Whole), ValueTicks { top: 3_500.0, step: 500.0 });
        assert_eq!(ticks(1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ValueTicks::up_to(1.0, 5, Steps::Any).decimals(), 1);
        assert_eq!(ValueTicks::up_to(3.0, 5, Steps::Whole).step, 1.0);
        assert_eq!(ticks(f64::NAN).last(), Some(&1.0));
        assert_eq!(ValueTicks::ending_at(7200.0, 5, Steps::Any).top, 7200.0);
    }

    #[test]
    fn times_have_round_steps() {
        assert_eq!(time_step(420.0, 12.0), 60);
        assert_eq!(time_step(5.0, 12.0), 1);
        assert_eq!(time_step(86_400.0, 13.0), 7200);
        assert_eq!(time_step(86_400.0 * 400.0, 10.0), 40 * 86_400);
        assert_eq!(multiples(10.0, 65.0, 30).collect::<Vec<_>>(), [30.0, 60.0]);
        assert_eq!(multiples(65.0, 70.0, 30).count(), 0);
    }

    #[test]
    fn decades_hold_all_values_with_room() {
        let axis = Decades::holding(12.0, 249.0);
        assert_eq!(
            (axis.bottom, axis.ticks.as_slice()),
            (10.0, &[10.0, 20.0, 50.0, 100.0, 200.0, 500.0][..])
        );
        assert_eq!(axis.top, 500.0);
        assert_eq!(Decades::holding(3.0, 63_000.0).ticks, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        let full = Decades::holding(10.0, 100.0);
        assert!(full.top > 105.0 && full.ticks.last() == Some(&100.0), "{full:?}");
        for (min, max) in [(1.0, 1.0), (0.0, 0.0), (f64::NAN, 5.0), (1e-3, 1e300), (7.0, 7.0)] {
            let axis = Decades::holding(min, max);
            assert!(axis.top > axis.bottom && axis.bottom > 0.0, "{axis:?}");
            assert!(!axis.ticks.is_empty(), "{axis:?}");
        }
    }
}
