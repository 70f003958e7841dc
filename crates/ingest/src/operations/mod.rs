//! The operations of the library: runs are ingested, streamed, copied, recounted, verified and repaired.

pub(crate) mod copy;
pub(crate) mod ingest;
#[cfg(feature = "parts")]
#[doc(hidden)]
pub mod parts;
pub(crate) mod recount;
pub(crate) mod repair;
pub(crate) mod same_counts;
pub(crate) mod store;
pub(crate) mod stream;
pub(crate) mod sub_samples;
pub(crate) mod verify;
