//! Where things stand: frames, axes, legends, and the room of each.

pub(crate) mod axis;
pub(crate) mod frame;
pub(crate) mod legend;
pub(crate) mod phase_band;
pub(crate) mod ticks;
