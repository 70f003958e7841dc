//! The data of perfpipe: what a run is, its samples, exact counts, series and points, and the one error type.
//!
//! Programs use these types by their paths in `perfpipe-ingest`, which documents them; this crate is internal to perfpipe, and
//! its paths may change with any version. It reads and writes no files but the temporary ones of counts and rejects that are
//! too many for memory.
//!
//! | module | has |
//! |---|---|
//! | [`error`] | the error type, and how secrets are kept out of messages |
//! | [`run`] | key, metadata and options of a run, its rejects and damage |
//! | [`sample`] | samples in columns, their texts, and the buffers that they are read into |
//! | [`counts`] | exact counts by second, label and outcome, packed |
//! | [`series`] | series of the server |
//! | [`points`] | summaries of other load tools |

// No input may cause a panic, so the lint forbids indexing that could be out of bounds.
#![cfg_attr(not(any(test, feature = "fuzzing")), warn(clippy::indexing_slicing))]

pub mod counts;
pub mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
pub mod points;
pub mod run;
pub mod sample;
pub mod series;

pub use counts::stored_run::StoredRun;
pub use error::{Error, ErrorClass, ErrorKind, Result};
pub use run::info::RunInfo;
pub use run::key::RunKey;
pub use sample::batch::SampleBatch;
