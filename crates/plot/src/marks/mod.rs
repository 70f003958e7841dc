//! What data are drawn with: lines, steps and marks.

pub(crate) mod line;
pub(crate) mod marker;
pub(crate) mod stairs;
