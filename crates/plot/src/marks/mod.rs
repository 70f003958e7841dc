//! The marks that data are drawn with: lines, steps and markers.

pub(crate) mod line;
pub(crate) mod marker;
pub(crate) mod stairs;
