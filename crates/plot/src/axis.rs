//! A value axis: its top and its labelled ticks.

use crate::font;
use crate::frame::LABEL;
use crate::number::grouped;
use crate::ticks::Values;

/// A value axis from 0 up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// Its top, more than 0.
    pub(crate) top: f64,
    /// Values with their labels, ascending from 0.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis with a label at every tick of `values`.
    pub(crate) fn new(values: Values) -> Self {
        let label = |tick| (tick, grouped(tick, values.decimals()));
        Self { top: values.top, ticks: values.ticks().map(label).collect() }
    }

    /// An axis with labels at its ends only.
    pub(crate) fn ends(top: f64, decimals: usize) -> Self {
        Self { top, ticks: vec![(0.0, "0".to_owned()), (top, grouped(top, decimals))] }
    }

    /// The widest label, in points.
    pub(crate) fn label_width(&self) -> f64 {
        self.ticks.iter().map(|(_, label)| font::width(label, LABEL)).fold(0.0, f64::max)
    }
}
