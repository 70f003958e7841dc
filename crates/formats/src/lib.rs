//! Parsers of the logs and the summaries of load tools, one folder for each format, and what they share: bytes in, batches of
//! samples or points out.
//!
//! Programs use these types by their paths in `perfpipe-ingest`, which documents them; this crate is internal to perfpipe, and
//! its paths may change with any version.

// No input may cause a panic, so the lint forbids indexing that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

pub mod clock_steps;
pub mod date;
pub mod endpoint;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
pub mod histogram;
pub mod injector;
pub mod jtl;
pub mod number;
pub mod summaries;
pub mod time_format;
pub mod tools;
pub mod work_count;
#[cfg(any(test, all(feature = "fuzzing", debug_assertions)))]
#[doc(hidden)]
pub mod worst_shapes;
