//! Values of flags, as people write them.

pub(crate) mod duration;
pub(crate) mod size;
