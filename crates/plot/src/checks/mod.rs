//! Tests of whole pages: that nothing overlaps or vanishes, and that colours can be told apart by all.

pub(crate) mod looks;
pub(crate) mod vision;
