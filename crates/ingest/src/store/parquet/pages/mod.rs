//! Parquet columns, encoded from values that lie side by side: pages, the chunks and row groups that they make, files.
//!
//! The parquet crate writes headers and metadata, and reads what is written here. It would look up each value of a
//! column with a dictionary, although the texts are numbered already, and take numbers one by one.

mod chunk;
mod coder;
mod delta;
mod file;
mod gathered;
mod hybrid;
mod levels;
mod lz4;
mod pack;
mod page;
#[cfg(test)]
mod tests;

pub(in crate::store::parquet) use self::chunk::Chunk;
pub(in crate::store::parquet) use self::coder::{coded, doubles};
pub(in crate::store::parquet) use self::delta::Whole;
pub(in crate::store::parquet) use self::file::{Column, PagedFile};
pub(in crate::store::parquet) use self::gathered::Gathered;
pub(in crate::store::parquet) use self::levels::Levels;
pub(in crate::store::parquet) use self::page::{
    Coded, Codes, Packing, Part, Values, byte_strings, flags, numbers, whole, zstd,
};
