//! Finds the records of a block and their fields: one by one, or in batches.

pub mod fields;
pub(super) mod last;
pub(super) mod numbers;
pub mod plain;
pub mod quoted;
mod quotes;
pub mod record;
mod scan;
