//! Counts samples: those of a block, and those of a run, which are merged block by block.

pub(crate) mod block;
pub(crate) mod counter;
pub(crate) mod totals;
