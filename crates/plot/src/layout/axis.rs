//! Value axes: their scale and the labelled ticks.

use super::ticks::{Decades, Steps, Values, with_room};
use crate::text::font;
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
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    /// Values with their labels, in ascending order from the lower end.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Creates an axis with a label at every tick of `values`.
    pub(crate) fn new(values: Values) -> Self {
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
        let values = Values::ending_at(top, count, steps);
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
        self.ticks.iter().map(|(_, label)| font::width(label, LABEL)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
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
    fn top_is_told_where_there_is_room() {
        assert_eq!(
            labels(&Axis::ending_at(7200.0, 4, Steps::Any)),
            ["0", "2,000", "4,000", "6,000", "7,200"]
        );
        assert_eq!(labels(&Axis::ending_at(8100.0, 4, Steps::Any)), ["0", "2,500", "5,000", "7,500"]);
        assert_eq!(labels(&Axis::ending_at(800.0, 4, Steps::Any)), ["0", "200", "400", "600", "800"]);
        assert_eq!(labels(&Axis::log(0.3, 40.0)), ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&Axis::ends(1234.0, 0)), ["0", "1,234"]);
        // Half a thread is no thread.
        assert_eq!(labels(&Axis::ending_at(3.5, 10, Steps::Whole)), ["0", "1", "2", "3"]);
        assert_eq!(labels(&Axis::ending_at(13.0, 4, Steps::Whole)), ["0", "5", "10", "13"]);
    }
}
