//! The operations of the library: runs are ingested, streamed, copied, recounted, verified and repaired.

#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod attach;
mod commit;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod copy;
#[cfg(feature = "fetch")]
pub(crate) mod fetched;
mod first_records;
pub(crate) mod ingest;
#[cfg(feature = "parquet")]
pub(crate) mod merge;
pub(crate) mod options;
#[cfg(feature = "parts")]
#[doc(hidden)]
pub mod parts;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod points;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod recount;
mod remote_engines;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod repair;
mod same_samples;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod store;
pub(crate) mod stream;
pub(crate) mod sub_samples;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub(crate) mod verify;
pub(crate) mod watch;
