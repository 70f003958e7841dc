//! The rows of a batch as a page of one column: its values, and the levels that say which values are present and to which
//! rows they belong.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page};
use parquet::errors::ParquetError;
use zstd::bulk::Compressor;

use super::encoding::{self, WholeNumber};
use perfpipe_model::sample::text_list::TextList;

/// What a batch adds to a column.
pub(crate) enum ColumnPart {
    /// A page that is ready.
    Page(EncodedPage),
    /// Rows whose distinct values are to be numbered again within the row group.
    Coded(CodedRows),
}

/// A page, compressed.
pub(crate) struct EncodedPage {
    pub(super) page: CompressedPage,
    pub(super) rows: usize,
    /// True if by Zstandard, false if by LZ4, or not at all.
    pub(super) is_zstd: bool,
}

/// Rows of a column with a dictionary.
pub(crate) struct CodedRows {
    pub(crate) levels: PageLevels,
    pub(crate) codes: ValueCodes,
    pub(crate) values: DistinctValues,
}

/// The index in the dictionary of each value that is present.
pub(crate) enum ValueCodes {
    /// The same one, so many times.
    Same(u32, usize),
    Each(Vec<u32>),
}

impl ValueCodes {
    pub(crate) fn new(codes: &[u32]) -> Self {
        match codes.first() {
            Some(code) if encoding::run_length(codes) == codes.len() => Self::Same(*code, codes.len()),
            _ => Self::Each(codes.to_vec()),
        }
    }
}

/// The distinct values of a batch.
pub(crate) enum DistinctValues {
    Texts(TextList),
    /// Doubles, as their bits.
    Numbers(Vec<u64>),
}

/// How a page is compressed. The pages of a column in a row group are either all compressed by Zstandard, or none is.
pub(crate) enum PageCompression<'a> {
    /// By LZ4, if it takes an eighth off the beginning and off the whole: packed numbers are mostly noise.
    Tried,
    /// By LZ4, if it takes an eighth off the whole: what repeats itself may do so at a distance.
    Lz4,
    /// By Zstandard, the levels as well.
    Zstd(&'a mut Compressor<'static>),
}

/// Returns a compressor of the fastest level.
pub(crate) fn zstd() -> Result<Compressor<'static>, ParquetError> {
    Compressor::new(1).map_err(|error| ParquetError::External(error.into()))
}

impl PageLevels {
    /// Returns a page of these rows.
    pub(crate) fn page(
        self,
        values: &[u8],
        encoding: Encoding,
        packing: PageCompression<'_>,
    ) -> Result<ColumnPart, ParquetError> {
        let page = match packing {
            PageCompression::Tried => self.lz4_page(values, encoding, true),
            PageCompression::Lz4 => self.lz4_page(values, encoding, false),
            PageCompression::Zstd(zstd) => self.zstd_page(values, encoding, zstd),
        };
        page.map(ColumnPart::Page)
    }

    /// Returns a page of Parquet's second version: the levels come before the values, which need not be compressed.
    pub(super) fn lz4_page(
        self,
        values: &[u8],
        encoding: Encoding,
        is_tried: bool,
    ) -> Result<EncodedPage, ParquetError> {
        let Self { repetition, definition, rows, values: all, nulls } = self;
        let mut buffer = repetition;
        let repetition = buffer.len();
        buffer.extend(&definition);
        let levels = buffer.len();
        let is_compressed = encoding::append_lz4(values, is_tried, &mut buffer)?;
        // Pages wait for the end of their row group.
        buffer.shrink_to_fit();
        let page = Page::DataPageV2 {
            buf: Bytes::from(buffer),
            num_values: all as u32,
            encoding,
            num_nulls: nulls as u32,
            num_rows: rows as u32,
            def_levels_byte_len: definition.len() as u32,
            rep_levels_byte_len: repetition as u32,
            is_compressed,
            statistics: None,
        };
        Ok(EncodedPage { page: CompressedPage::new(page, levels + values.len()), rows, is_zstd: false })
    }

    /// Returns a page of Parquet's first version, whose levels are compressed with the values.
    fn zstd_page(
        &self,
        values: &[u8],
        encoding: Encoding,
        zstd: &mut Compressor<'static>,
    ) -> Result<EncodedPage, ParquetError> {
        let mut plain = self.with_lengths();
        plain.extend(values);
        let packed = zstd.compress(&plain).map_err(|error| ParquetError::External(error.into()))?;
        let page = Page::DataPage {
            buf: Bytes::from(packed),
            num_values: self.values as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        Ok(EncodedPage { page: CompressedPage::new(page, plain.len()), rows: self.rows, is_zstd: true })
    }
}

/// Returns a page of whole numbers that are all present.
pub(crate) fn numbers<T: WholeNumber>(
    values: &[T],
    levels: PageLevels,
    packing: PageCompression<'_>,
) -> Result<ColumnPart, ParquetError> {
    levels.page(&encoding::encode_delta(values), Encoding::DELTA_BINARY_PACKED, packing)
}

/// Returns a page of whole numbers, one for each row.
pub(crate) fn whole<T: WholeNumber>(values: &[T]) -> Result<ColumnPart, ParquetError> {
    numbers(values, PageLevels::required(values.len()), PageCompression::Lz4)
}

/// Returns a page of truth values.
pub(crate) fn flags(values: &[bool]) -> Result<ColumnPart, ParquetError> {
    // Values in this encoding, other than levels, begin with their length.
    let mut bytes = vec![0; 4];
    encoding::encode_hybrid(values, 1, &mut bytes);
    let length = (bytes.len() as u32).wrapping_sub(4).to_le_bytes();
    bytes.iter_mut().zip(length).for_each(|(place, byte)| *place = byte);
    PageLevels::required(values.len()).page(&bytes, Encoding::RLE, PageCompression::Tried)
}

/// Returns a page of byte strings, which are not expected to be equal.
pub(crate) fn byte_strings<'a>(
    values: impl Iterator<Item = &'a [u8]> + Clone,
    packing: PageCompression<'_>,
) -> Result<ColumnPart, ParquetError> {
    let mut plain = Vec::with_capacity(values.clone().map(|value| value.len() + 4).sum());
    let mut rows = 0_usize;
    for value in values {
        plain.extend((value.len() as u32).to_le_bytes());
        plain.extend(value);
        rows += 1;
    }
    PageLevels::required(rows).page(&plain, Encoding::PLAIN, packing)
}

/// The levels of a page, encoded.
#[derive(Clone)]
pub(crate) struct PageLevels {
    /// Which values begin a list; empty if the column has no lists.
    repetition: Vec<u8>,
    /// Which values are present; empty if the column has no nulls.
    definition: Vec<u8>,
    pub(super) rows: usize,
    /// The number of values, absent ones included. An empty list has one, which is absent.
    pub(super) values: usize,
    nulls: usize,
}

impl PageLevels {
    /// The rows of a column that has no nulls.
    pub(crate) fn required(rows: usize) -> Self {
        Self { repetition: Vec::new(), definition: Vec::new(), rows, values: rows, nulls: 0 }
    }

    /// Rows that are all present, or all absent.
    pub(crate) fn same(present: bool, rows: usize) -> Self {
        let mut definition = Vec::new();
        encoding::repeat_hybrid(present.into(), rows, 1, &mut definition);
        Self { definition, nulls: if present { 0 } else { rows }, ..Self::required(rows) }
    }

    /// Rows of which some may be absent.
    pub(crate) fn some(valid: &[bool]) -> Self {
        let mut definition = Vec::new();
        encoding::encode_hybrid(valid, 1, &mut definition);
        let nulls = valid.iter().filter(|valid| !**valid).count();
        Self { definition, nulls, ..Self::required(valid.len()) }
    }

    /// Rows that are lists of these lengths. No row is absent; an item might be by the schema, but none is.
    pub(crate) fn lists(lengths: &[usize]) -> Self {
        let empty = lengths.iter().filter(|length| **length == 0).count();
        let values = lengths.iter().sum::<usize>() + empty;
        let mut continues = vec![true; values];
        let mut begin = 0;
        for length in lengths {
            continues.get_mut(begin).into_iter().for_each(|place| *place = false);
            begin += length.max(&1);
        }
        let (mut repetition, mut definition) = (Vec::new(), Vec::new());
        encoding::encode_hybrid(&continues, 1, &mut repetition);
        if empty == 0 {
            encoding::repeat_hybrid(ITEM, values, ITEM, &mut definition);
        } else {
            let each = lengths.iter().flat_map(|length| match length {
                0 => std::iter::repeat_n(0, 1),
                length => std::iter::repeat_n(ITEM as u8, *length),
            });
            encoding::encode_hybrid(&each.collect::<Vec<u8>>(), ITEM, &mut definition);
        }
        Self { repetition, definition, rows: lengths.len(), values, nulls: empty }
    }

    /// The levels as they come before the values where they are compressed with them: each sort that the column has, after
    /// its length.
    fn with_lengths(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.repetition.len() + self.definition.len() + 8);
        for levels in [&self.repetition, &self.definition].into_iter().filter(|levels| !levels.is_empty()) {
            bytes.extend((levels.len() as u32).to_le_bytes());
            bytes.extend(levels);
        }
        bytes
    }
}

/// The level of an item of a list that is present, which is also the number of bits of such a level.
const ITEM: u32 = 2;
