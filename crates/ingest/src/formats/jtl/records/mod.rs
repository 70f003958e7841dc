//! Finds the records of a block and their fields: one by one, or in batches.

pub(crate) mod fields;
pub(super) mod last;
pub(super) mod numbers;
pub(crate) mod plain;
pub(crate) mod quoted;
mod quotes;
pub(crate) mod record;
mod scan;
