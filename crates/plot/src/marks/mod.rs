//! The marks that data are drawn with: lines, steps, markers and arrows.

pub(crate) mod beyond;
pub(crate) mod line;
pub(crate) mod marker;
pub(crate) mod stairs;
