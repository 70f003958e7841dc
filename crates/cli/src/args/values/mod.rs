//! Values of flags, as people write them.

pub(crate) mod choice;
pub(super) mod duration;
pub(super) mod size;
