//! The rows of a batch as a page of one column.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page};
use parquet::errors::ParquetError;

use super::delta::{self, Whole};
use super::{hybrid, lz4};
use crate::sample::text_list::TextList;

/// What a batch adds to a column.
pub(super) enum Part {
    /// A page that is ready.
    Page(CompressedPage),
    /// Rows whose distinct values are to be numbered anew within the row group.
    Coded(Coded),
}

/// Rows of a column with a dictionary.
pub(super) struct Coded {
    pub(super) levels: Levels,
    pub(super) codes: Codes,
    pub(super) values: Values,
}

/// The index in the dictionary of each value that is present.
pub(super) enum Codes {
    /// The same one, so many times.
    Same(u32, usize),
    Each(Vec<u32>),
}

impl Codes {
    pub(super) fn new(codes: &[u32]) -> Self {
        match codes.first() {
            Some(code) if hybrid::run_length(codes) == codes.len() => Self::Same(*code, codes.len()),
            _ => Self::Each(codes.to_vec()),
        }
    }
}

/// The distinct values of a batch.
pub(super) enum Values {
    Texts(TextList),
    /// Doubles, as their bits.
    Numbers(Vec<u64>),
}

/// Which rows of a page are present.
pub(super) struct Levels {
    bytes: Vec<u8>,
    rows: usize,
    nulls: usize,
}

impl Levels {
    /// The rows of a column that has no nulls.
    pub(super) fn required(rows: usize) -> Self {
        Self { bytes: Vec::new(), rows, nulls: 0 }
    }

    /// Rows that are all present, or all absent.
    pub(super) fn same(present: bool, rows: usize) -> Self {
        let mut bytes = Vec::new();
        hybrid::repeat(present.into(), rows, 1, &mut bytes);
        Self { bytes, rows, nulls: if present { 0 } else { rows } }
    }

    /// Rows of which some may be absent.
    pub(super) fn some(valid: &[bool]) -> Self {
        let mut bytes = Vec::new();
        hybrid::encode(valid, 1, &mut bytes);
        let nulls = valid.iter().filter(|valid| !**valid).count();
        Self { bytes, rows: valid.len(), nulls }
    }

    /// Returns a page of these rows.
    pub(super) fn page(self, values: &[u8], encoding: Encoding) -> Result<CompressedPage, ParquetError> {
        let Self { bytes: mut buffer, rows, nulls } = self;
        let levels = buffer.len();
        let is_compressed = lz4::append(values, &mut buffer)?;
        // Pages wait for the end of their row group.
        buffer.shrink_to_fit();
        let page = Page::DataPageV2 {
            buf: Bytes::from(buffer),
            num_values: rows as u32,
            encoding,
            num_nulls: nulls as u32,
            num_rows: rows as u32,
            def_levels_byte_len: levels as u32,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        };
        Ok(CompressedPage::new(page, levels + values.len()))
    }
}

/// Returns a page of whole numbers that are all present.
pub(super) fn numbers<T: Whole>(values: &[T], levels: Levels) -> Result<Part, ParquetError> {
    levels.page(&delta::encoded(values), Encoding::DELTA_BINARY_PACKED).map(Part::Page)
}

/// Returns a page of truth values.
pub(super) fn flags(values: &[bool]) -> Result<Part, ParquetError> {
    // Values in this encoding, other than levels, tell their length first.
    let mut bytes = vec![0; 4];
    hybrid::encode(values, 1, &mut bytes);
    let length = (bytes.len() as u32).wrapping_sub(4).to_le_bytes();
    bytes.iter_mut().zip(length).for_each(|(place, byte)| *place = byte);
    Levels::required(values.len()).page(&bytes, Encoding::RLE).map(Part::Page)
}
