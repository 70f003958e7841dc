//! What a caller asks for: runs ingested, copied, recounted, verified and repaired.

pub(crate) mod copy;
pub(crate) mod ingest;
pub(crate) mod recount;
pub(crate) mod repair;
pub(crate) mod same_counts;
pub(crate) mod stream;
pub(crate) mod verify;
