//! The layout of charts: frames, axes and legends.

pub(crate) mod axis;
pub(crate) mod dashes;
pub(crate) mod frame;
pub(crate) mod legend;
pub(crate) mod phase_band;
