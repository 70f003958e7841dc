//! Value axes: the top and the labelled ticks.

use super::ticks::{Steps, Values, with_room};
use crate::text::font;
use crate::text::number::grouped;

/// The size of the axes' labels, in points.
pub(crate) const LABEL: f64 = 7.5;

/// The least room for a label at the axis' top, as a share of a step.
const LEAST_STEP: f64 = 0.4;

/// A value axis that begins at 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// The top of the axis, greater than 0.
    pub(crate) top: f64,
    /// Values with their labels, in ascending order from 0.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Creates an axis with a label at every tick of `values`.
    pub(crate) fn new(values: Values) -> Self {
        let label = |tick| (tick, grouped(tick, values.decimals()));
        Self { top: values.top, ticks: values.ticks().map(label).collect() }
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
        Self { top: with_room(self.top, max), ..self }
    }

    /// Creates an axis with labels only at its ends.
    pub(crate) fn ends(top: f64, decimals: usize) -> Self {
        Self { top, ticks: vec![(0.0, "0".to_owned()), (top, grouped(top, decimals))] }
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
    fn top_is_told_where_there_is_room() {
        assert_eq!(
            labels(&Axis::ending_at(7200.0, 4, Steps::Any)),
            ["0", "2,000", "4,000", "6,000", "7,200"]
        );
        assert_eq!(labels(&Axis::ending_at(8100.0, 4, Steps::Any)), ["0", "2,500", "5,000", "7,500"]);
        assert_eq!(labels(&Axis::ending_at(800.0, 4, Steps::Any)), ["0", "200", "400", "600", "800"]);
        assert_eq!(labels(&Axis::ends(1234.0, 0)), ["0", "1,234"]);
        // Half a thread is no thread.
        assert_eq!(labels(&Axis::ending_at(3.5, 10, Steps::Whole)), ["0", "1", "2", "3"]);
        assert_eq!(labels(&Axis::ending_at(13.0, 4, Steps::Whole)), ["0", "5", "10", "13"]);
    }
}
