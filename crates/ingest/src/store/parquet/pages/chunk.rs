//! A column of a row group: its pages, and its dictionary if it has one.

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::page::{CodedRows, ColumnPart, DistinctValues, EncodedPage, ValueCodes};
use super::{hybrid, lz4};
use crate::sample::intern::Interner;

/// A column of the row group that is being gathered.
pub(in crate::store::parquet) struct ColumnChunk {
    column: ColumnDescPtr,
    /// True if it is compressed by Zstandard, false if by LZ4.
    is_zstd: bool,
    dictionary: Option<Dictionary>,
    pages: Vec<CompressedPage>,
    rows: u64,
}

/// The size in bytes up to which a text is told as the first or the last one of a row group.
const STATISTICS_BYTES: usize = 64;

/// The distinct values of a row group.
enum Dictionary {
    Texts(Interner),
    Numbers(NumberDictionary),
}

impl ColumnChunk {
    /// A column without rows.
    pub(in crate::store::parquet) fn new(column: ColumnDescPtr) -> Self {
        Self { column, is_zstd: false, dictionary: None, pages: Vec::new(), rows: 0 }
    }

    /// Appends the rows of a batch.
    pub(in crate::store::parquet) fn add(&mut self, part: ColumnPart) -> Result<(), ParquetError> {
        let EncodedPage { page, rows, is_zstd } = match part {
            ColumnPart::Page(page) => page,
            ColumnPart::Coded(coded) => {
                let dictionary = self.dictionary.get_or_insert_with(|| Dictionary::of(&coded.values));
                dictionary.page(coded)?
            }
        };
        if is_zstd != self.is_zstd && !(self.pages.is_empty() && self.dictionary.is_none()) {
            return Err(unexpected("a column is compressed in two ways"));
        }
        self.is_zstd = is_zstd;
        self.pages.push(page);
        self.rows += rows as u64;
        Ok(())
    }

    /// The statistics of a column of texts: the first and the last one in order, if they are short enough to be told.
    pub(in crate::store::parquet) fn texts_told(&self) -> Option<Statistics> {
        let Some(Dictionary::Texts(texts)) = &self.dictionary else { return None };
        let (first, last) = (texts.texts().iter().min()?, texts.texts().iter().max()?);
        let told = [first, last].map(|text| (text.len() <= STATISTICS_BYTES).then(|| ByteArray::from(text)));
        let [Some(first), Some(last)] = told else { return None };
        Some(Statistics::byte_array(Some(first), Some(last), None, None, false))
    }

    /// Returns the column as it stands in the file, and empties it.
    pub(in crate::store::parquet) fn end(
        &mut self,
        statistics: Option<Statistics>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let size = self.pages.iter().map(|page| page.data().len() + 64).sum();
        let mut out = TrackedWrite::new(Vec::with_capacity(size));
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut dictionary_size, mut plain_size, mut values) = (None, 0, 0_u64);
        let mut encodings = vec![Encoding::RLE];
        if let Some(dictionary) = &mut self.dictionary {
            let written = writer.write_page(dictionary.end()?)?;
            dictionary_size = Some(written.compressed_size as i64);
            plain_size += written.uncompressed_size;
            encodings.push(Encoding::PLAIN);
        }
        for page in self.pages.drain(..) {
            if !encodings.contains(&page.encoding()) {
                encodings.push(page.encoding());
            }
            let written = writer.write_page(page)?;
            plain_size += written.uncompressed_size;
            values += u64::from(written.num_values);
        }
        let bytes = out.into_inner()?;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let metadata = ColumnChunkMetaData::builder(self.column.clone())
            .set_compression(if self.is_zstd { zstd } else { Compression::LZ4_RAW })
            .set_encodings(encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(plain_size as i64)
            .set_num_values(values as i64)
            .set_data_page_offset(dictionary_size.unwrap_or_default())
            .set_dictionary_page_offset(dictionary_size.map(|_| 0));
        let metadata = match statistics {
            Some(statistics) => metadata.set_statistics(statistics),
            None => metadata,
        };
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: std::mem::take(&mut self.rows),
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((Bytes::from(bytes), close))
    }
}

impl Dictionary {
    /// An empty dictionary for values of this type.
    fn of(values: &DistinctValues) -> Self {
        match values {
            DistinctValues::Texts(_) => Self::Texts(Interner::default()),
            DistinctValues::Numbers(_) => Self::Numbers(NumberDictionary::default()),
        }
    }

    /// Returns a page of rows, whose values are added if they are new.
    fn page(&mut self, coded: CodedRows) -> Result<EncodedPage, ParquetError> {
        let numbers: Vec<u32> = match (self, coded.values) {
            (Self::Texts(known), DistinctValues::Texts(texts)) => {
                texts.iter().map(|text| known.number(text)).collect()
            }
            (Self::Numbers(known), DistinctValues::Numbers(all)) => {
                all.into_iter().map(|bits| known.number(bits)).collect()
            }
            _ => return Err(unexpected("a dictionary has values of another type")),
        };
        let number = |code: &u32| numbers.get(*code as usize).copied();
        let unknown = || unexpected("a code has no value");
        let most = numbers.iter().copied().max().unwrap_or_default();
        let width = (u32::BITS - most.leading_zeros()).max(1);
        let mut bytes = vec![width as u8];
        match coded.codes {
            ValueCodes::Same(code, count) => {
                hybrid::repeat_hybrid(number(&code).ok_or_else(unknown)?, count, width, &mut bytes);
            }
            ValueCodes::Each(codes) => {
                let codes: Option<Vec<u32>> = codes.iter().map(number).collect();
                hybrid::encode_hybrid(&codes.ok_or_else(unknown)?, width, &mut bytes);
            }
        }
        coded.levels.lz4_page(&bytes, Encoding::RLE_DICTIONARY, true)
    }

    /// Returns the page of the values, and forgets them.
    fn end(&mut self) -> Result<CompressedPage, ParquetError> {
        let mut plain = Vec::new();
        let values = match self {
            Self::Texts(known) => {
                for text in known.texts().iter() {
                    plain.extend((text.len() as u32).to_le_bytes());
                    plain.extend(text.as_bytes());
                }
                let values = known.texts().len();
                known.clear();
                values
            }
            Self::Numbers(known) => {
                let all = std::mem::take(known).all;
                plain.extend(all.iter().flat_map(|bits| bits.to_le_bytes()));
                all.len()
            }
        };
        let mut packed = Vec::new();
        lz4::compress_lz4(&plain, &mut packed)?;
        let page = Page::DictionaryPage {
            buf: Bytes::from(packed),
            num_values: values as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        Ok(CompressedPage::new(page, plain.len()))
    }
}

/// Distinct doubles by their bits, numbered in order of first appearance.
#[derive(Default)]
pub(super) struct NumberDictionary {
    by_bits: HashMap<u64, u32>,
    pub(super) all: Vec<u64>,
}

impl NumberDictionary {
    pub(super) fn number(&mut self, bits: u64) -> u32 {
        *self.by_bits.entry(bits).or_insert_with(|| {
            self.all.push(bits);
            (self.all.len() as u32).wrapping_sub(1)
        })
    }
}

fn unexpected(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}
