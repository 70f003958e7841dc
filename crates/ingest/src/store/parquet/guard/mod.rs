//! What stands between a file that others may have written and the parquet crate.

pub(super) mod panics;
pub(super) mod sizes;
