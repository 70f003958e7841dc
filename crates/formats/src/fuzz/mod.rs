//! Properties of the parsers that must hold for any bytes. Each panics if it does not hold.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a property that does not hold is reported by panicking"
)]

pub mod dates;
mod records;
mod tools;

pub use self::records::{FoundRecord, ReadSizes, Trickle, records, slow};
pub use self::tools::{summaries, tools};
