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

pub(in crate::store::parquet) use self::chunk::ColumnChunk;
pub(in crate::store::parquet) use self::coder::{coded, doubles};
pub(in crate::store::parquet) use self::delta::WholeNumber;
pub(in crate::store::parquet) use self::file::{EncodedColumn, PagedFile};
pub(in crate::store::parquet) use self::gathered::GatheredFile;
pub(in crate::store::parquet) use self::levels::Levels;
pub(in crate::store::parquet) use self::page::{
    CodedRows, ColumnPart, DistinctValues, PageCompression, ValueCodes, byte_strings, flags, numbers, whole,
    zstd,
};
