//! A column of a row group: its pages, and its dictionary if it has one.

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::page::{Coded, Codes, Part, Values};
use super::{hybrid, lz4};
use crate::sample::intern::Interner;

/// A column of the row group that is being gathered.
pub(super) struct Chunk {
    column: ColumnDescPtr,
    dictionary: Option<Dictionary>,
    pages: Vec<CompressedPage>,
}

/// The distinct values of a row group.
enum Dictionary {
    Texts(Interner),
    Numbers(Numbers),
}

impl Chunk {
    pub(super) fn new(column: ColumnDescPtr) -> Self {
        let dictionary = match column.physical_type() {
            Type::BYTE_ARRAY => Some(Dictionary::Texts(Interner::default())),
            Type::DOUBLE => Some(Dictionary::Numbers(Numbers::default())),
            _ => None,
        };
        Self { column, dictionary, pages: Vec::new() }
    }

    /// Appends the rows of a batch.
    pub(super) fn add(&mut self, part: Part) -> Result<(), ParquetError> {
        let page = match (part, &mut self.dictionary) {
            (Part::Page(page), _) => page,
            (Part::Coded(coded), Some(dictionary)) => dictionary.page(coded)?,
            (Part::Coded(_), None) => return Err(unexpected("a column without a dictionary has codes")),
        };
        self.pages.push(page);
        Ok(())
    }

    /// Returns the column as it stands in the file, and empties it.
    pub(super) fn end(
        &mut self,
        statistics: Option<Statistics>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let size = self.pages.iter().map(|page| page.data().len() + 64).sum();
        let mut out = TrackedWrite::new(Vec::with_capacity(size));
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut dictionary_size, mut plain_size, mut values) = (None, 0, 0);
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
        let metadata = ColumnChunkMetaData::builder(self.column.clone())
            .set_compression(Compression::LZ4_RAW)
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
            rows_written: values,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((Bytes::from(bytes), close))
    }
}

impl Dictionary {
    /// Returns a page of rows, whose values are added if they are new.
    fn page(&mut self, coded: Coded) -> Result<CompressedPage, ParquetError> {
        let numbers: Vec<u32> = match (self, coded.values) {
            (Self::Texts(known), Values::Texts(texts)) => {
                texts.iter().map(|text| known.number(text)).collect()
            }
            (Self::Numbers(known), Values::Numbers(all)) => {
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
            Codes::Same(code, count) => {
                hybrid::repeat(number(&code).ok_or_else(unknown)?, count, width, &mut bytes);
            }
            Codes::Each(codes) => {
                let codes: Option<Vec<u32>> = codes.iter().map(number).collect();
                hybrid::encode(&codes.ok_or_else(unknown)?, width, &mut bytes);
            }
        }
        coded.levels.page(&bytes, Encoding::RLE_DICTIONARY)
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
        lz4::compress(&plain, &mut packed)?;
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
pub(super) struct Numbers {
    by_bits: HashMap<u64, u32>,
    pub(super) all: Vec<u64>,
}

impl Numbers {
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
