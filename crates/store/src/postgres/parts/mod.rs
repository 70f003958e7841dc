//! Parts of runs in Postgres.
//!
//! A part is a row of `perfpipe.parts` and a table of its samples. Its counts are a packed run in pieces, in
//! `perfpipe.partfiles`: nobody asks for them but a merge. A merge removes the parts in the transaction that stores the
//! run, whose samples are then in the tables that the parts had.

#[cfg(feature = "parquet")]
mod claim;
mod rows;
#[cfg(feature = "parquet")]
mod store;

pub(super) use self::rows::{MergedParts, generation};
#[cfg(feature = "parquet")]
pub(super) use self::store::store;
