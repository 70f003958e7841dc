//! Row groups: columns of pages with their dictionaries, and the files that row groups are written to, encoded before or
//! gathered from batches.

use std::io::Write;
use std::sync::Arc;

use arrow_schema::Schema;
use bytes::Bytes;
use hashbrown::HashMap;
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::encoding;
use super::page::{
    CodedRows, ColumnPart, DistinctValues, EncodedPage, PageCompression, PageLevels, ValueCodes,
};
use crate::parquet::checksum::FileNotes;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::intern::Interner;
use perfpipe_model::sample::text_list::TextList;

/// A column of the row group that is being gathered.
pub(crate) struct ColumnChunk {
    column: ColumnDescPtr,
    /// True if it is compressed by Zstandard, false if by LZ4.
    is_zstd: bool,
    dictionary: Option<ColumnDictionary>,
    pages: Vec<CompressedPage>,
    rows: u64,
}

/// The size in bytes up to which a text is in the statistics as the first or the last one of a row group.
const STATISTICS_BYTES: usize = 64;

/// The distinct values of a row group.
enum ColumnDictionary {
    Texts(Interner),
    Numbers(NumberDictionary),
}

impl ColumnChunk {
    /// A column without rows.
    pub(crate) fn new(column: ColumnDescPtr) -> Self {
        Self { column, is_zstd: false, dictionary: None, pages: Vec::new(), rows: 0 }
    }

    /// Appends the rows of a batch.
    pub(crate) fn add(&mut self, part: ColumnPart) -> Result<(), ParquetError> {
        let EncodedPage { page, rows, is_zstd } = match part {
            ColumnPart::Page(page) => page,
            ColumnPart::Coded(coded) => {
                let dictionary = self.dictionary.get_or_insert_with(|| ColumnDictionary::of(&coded.values));
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

    /// The statistics of a column of texts: the first and the last one in order, if they are short enough.
    pub(crate) fn text_statistics(&self) -> Option<Statistics> {
        let Some(ColumnDictionary::Texts(texts)) = &self.dictionary else { return None };
        let (first, last) = (texts.texts().iter().min()?, texts.texts().iter().max()?);
        let short = [first, last].map(|text| (text.len() <= STATISTICS_BYTES).then(|| ByteArray::from(text)));
        let [Some(first), Some(last)] = short else { return None };
        Some(Statistics::byte_array(Some(first), Some(last), None, None, false))
    }

    /// Returns the column as it is in the file, and empties it.
    pub(crate) fn end(
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

impl ColumnDictionary {
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
                encoding::repeat_hybrid(number(&code).ok_or_else(unknown)?, count, width, &mut bytes);
            }
            ValueCodes::Each(codes) => {
                let codes: Option<Vec<u32>> = codes.iter().map(number).collect();
                encoding::encode_hybrid(&codes.ok_or_else(unknown)?, width, &mut bytes);
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
        encoding::compress_lz4(&plain, &mut packed)?;
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
struct NumberDictionary {
    by_bits: HashMap<u64, u32>,
    pub(super) all: Vec<u64>,
}

impl NumberDictionary {
    fn number(&mut self, bits: u64) -> u32 {
        *self.by_bits.entry(bits).or_insert_with(|| {
            self.all.push(bits);
            (self.all.len() as u32).wrapping_sub(1)
        })
    }
}

fn unexpected(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

/// The number of different values up to which a dictionary does no harm.
const FEW: usize = 1024;

/// Returns what rows add to a column of names, given by their indexes among `names`. Of the names, only those that occur
/// are written.
pub(crate) fn coded(indexes: &[u32], names: &[impl AsRef<str>], levels: PageLevels) -> Result<ColumnPart> {
    let (mut numbers, mut texts) = (vec![None; names.len()], TextList::default());
    let mut codes = Vec::with_capacity(indexes.len());
    for index in indexes {
        let known = numbers.get_mut(*index as usize).zip(names.get(*index as usize));
        let (number, name) =
            known.ok_or_else(|| Error::bug("writing names", format!("name {index} is not in its list")))?;
        codes.push(*number.get_or_insert_with(|| {
            texts.push(name.as_ref());
            (texts.len() as u32).wrapping_sub(1)
        }));
    }
    Ok(ColumnPart::Coded(CodedRows {
        levels,
        codes: ValueCodes::new(&codes),
        values: DistinctValues::Texts(texts),
    }))
}

/// Returns what rows add to a column of doubles. Neighbours are often equal, as are the CPU readings of a second.
pub(crate) fn doubles(
    values: impl Iterator<Item = f64> + Clone,
    levels: PageLevels,
) -> Result<ColumnPart, ParquetError> {
    let (mut known, mut last) = (NumberDictionary::default(), None);
    let mut number = |value: f64| match last {
        Some((bits, number)) if bits == value.to_bits() => number,
        _ => {
            let number = known.number(value.to_bits());
            last = Some((value.to_bits(), number));
            number
        }
    };
    let codes: Vec<u32> = values.clone().map(&mut number).collect();
    if known.all.len() > codes.len() / 2 && known.all.len() > FEW {
        // A dictionary would have most values once, and be no help.
        let plain: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        return levels.page(&plain, Encoding::PLAIN, PageCompression::Lz4);
    }
    Ok(ColumnPart::Coded(CodedRows {
        levels,
        codes: ValueCodes::new(&codes),
        values: DistinctValues::Numbers(known.all),
    }))
}

/// A column of a row group as it is in the file, and what the metadata says of it.
pub(crate) type EncodedColumn = (Bytes, ColumnCloseResult);

/// A file that is being written.
pub(crate) struct PagedFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

impl<W: Write + Send> PagedFile<W> {
    /// Begins a file. Returns its columns too.
    pub(crate) fn new(out: W, schema: &Schema) -> Result<(Self, SchemaDescriptor), ParquetError> {
        let schema = ArrowSchemaConverter::new().convert(schema)?;
        let file = SerializedFileWriter::new(out, schema.root_schema_ptr(), Arc::new(properties()))?;
        Ok((Self { file }, schema))
    }

    /// Appends a row group, whose columns come in the order of the schema.
    pub(crate) fn append(
        &mut self,
        columns: impl Iterator<Item = Result<EncodedColumn, ParquetError>>,
    ) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in columns {
            let (bytes, close) = column?;
            group.append_column(&bytes, close)?;
        }
        group.close().map(drop)
    }

    /// Adds entries to the file's metadata.
    pub(crate) fn note(&mut self, notes: FileNotes) {
        for (key, value) in notes {
            self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
    }

    /// Writes the metadata, with which the file ends.
    pub(crate) fn finish(&mut self) -> Result<(), ParquetError> {
        self.file.finish().map(drop)
    }

    /// What is written to.
    pub(crate) fn inner_mut(&mut self) -> &mut W {
        self.file.inner_mut()
    }
}

/// A file with the columns of its current row group.
pub(crate) struct GatheredFile<W: Write + Send> {
    file: PagedFile<W>,
    chunks: Vec<ColumnChunk>,
}

impl<W: Write + Send> GatheredFile<W> {
    /// Begins a file.
    pub(crate) fn new(out: W, schema: &Schema) -> Result<Self, ParquetError> {
        let (file, schema) = PagedFile::new(out, schema)?;
        let chunks = schema.columns().iter().cloned().map(ColumnChunk::new).collect();
        Ok(Self { file, chunks })
    }

    /// Appends the rows of a batch: what it adds to each column, in the order of the schema.
    pub(crate) fn add(&mut self, parts: Vec<ColumnPart>) -> Result<(), ParquetError> {
        if parts.len() != self.chunks.len() {
            return Err(ParquetError::General("a batch has other columns than its table".to_owned()));
        }
        self.chunks.iter_mut().zip(parts).try_for_each(|(chunk, part)| chunk.add(part))
    }

    /// Writes the columns as a row group and empties them. `first` are the statistics of the first column; the others have
    /// none.
    pub(crate) fn end_group(&mut self, mut first: Option<Statistics>) -> Result<(), ParquetError> {
        self.file.append(self.chunks.iter_mut().map(|chunk| chunk.end(first.take())))
    }

    /// The file.
    pub(crate) fn file(&mut self) -> &mut PagedFile<W> {
        &mut self.file
    }

    /// The file, once its last row group has ended.
    pub(crate) fn into_file(self) -> PagedFile<W> {
        self.file
    }
}
