//! Protects the parquet crate from files that others may have written, and perfpipe from the crate's panics.
//!
//! It panics on some damaged files (as of 60.1: if a dictionary page is missing, or the offset of a column is negative):
//! [`guarded`] turns that into errors. [`page_sizes`] looks at the headers of the pages of a row group before anything is
//! unpacked: a few bytes may claim to be, or unpack to, gigabytes. A header is a struct in Thrift's compact protocol, of
//! whose fields only the sizes are looked at.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::Length;

use super::checksum::{CheckedFile, damaged};
use perfpipe_model::error::{Error, Result};

/// The rows of a file in batches. Nothing follows an error.
pub(super) struct GuardedReader {
    reader: Option<ParquetRecordBatchReader>,
    file: CheckedFile,
    /// The action that an error message names.
    what: String,
}

impl GuardedReader {
    /// Reads the rows of a file by the reader that `open` creates.
    pub(super) fn open(
        file: CheckedFile,
        open: impl FnOnce(CheckedFile) -> Result<ParquetRecordBatchReader, ParquetError>,
    ) -> Result<Self> {
        let what = format!("reading {}", file.path().display());
        let reader = guarded(&what, &file, || open(file.clone()).map_err(plain_error))?;
        Ok(Self { reader: Some(reader), file, what })
    }
}

impl Iterator for GuardedReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // A reader that has failed is not used again.
        let mut reader = self.reader.take()?;
        let rows = match guarded(&self.what, &self.file, || Ok(reader.next().transpose()?)) {
            Ok(rows) => rows?,
            Err(error) => return Some(Err(error)),
        };
        self.reader = Some(reader);
        Some(Ok(rows))
    }
}

/// Returns an error of the parquet crate, or the one of the underlying file.
pub(super) fn plain_error(error: ParquetError) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        ParquetError::External(below) => below,
        error => error.into(),
    }
}

/// Reads from a file, and turns a panic into an error.
pub(super) fn guarded<T>(
    what: &str,
    file: &CheckedFile,
    read: impl FnOnce() -> Result<T, Box<dyn std::error::Error + Send + Sync>>,
) -> Result<T> {
    // The reader is dropped after a panic, so nobody sees its inconsistent state.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| match file.damage() {
            Some(damage) => Error::store(what, damage),
            None => Error::store(what, error),
        }),
        Err(_) => Err(Error::store(what, damaged("it makes no sense"))),
    }
}

/// The maximum size in bytes of the pages and dictionaries that a reader has unpacked at a time: one of each column. What
/// perfpipe writes has 8 MiB of texts, or a record of 16 MiB.
const AT_ONCE: usize = 64 << 20;

/// The maximum size in bytes of the texts in the rows that are read at a time.
const TEXTS: usize = 32 << 20;

/// The maximum number of values of a column in a row group, those of lists too.
const VALUES: u64 = 4 << 20;

/// The maximum size of a footer in bytes, which describes each column of each row group.
const FOOTER: u32 = 64 << 20;

/// The maximum length of a header in bytes. Statistics are the only part that is not tiny.
const HEADER: u64 = 1 << 20;

/// The maximum depth of structs and lists in a header.
const DEPTH: usize = 16;

/// What the pages of some columns of a row group take once they are unpacked.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageSizes {
    /// The size in bytes of what is unpacked at a time: of each column its dictionary, and its largest page.
    at_once: usize,
    /// The size in bytes of the dictionaries of texts, each of which may be used in every row.
    dictionaries: usize,
    /// The sizes in bytes of all texts that are not in a dictionary, and of their largest page.
    texts: (usize, usize),
    /// True if each column has as many values as the group has rows, so that reading one group can't touch another.
    pub(super) are_flat: bool,
}

/// Fails if a footer is too large to be read, or if there is none.
pub(super) fn check_footer(file: &CheckedFile) -> io::Result<()> {
    let Some(at) = file.len().checked_sub(8) else { return Err(invalid("it has no footer")) };
    let mut tail = [0; 4];
    file.reader(at).read_exact(&mut tail)?;
    match u32::from_le_bytes(tail) {
        ..=FOOTER => Ok(()),
        bytes => Err(invalid(format!("its footer has {bytes} bytes, and may have {FOOTER}"))),
    }
}

/// Looks at the headers of the pages of the columns that are wanted.
///
/// # Errors
/// If a header can't be read or is none, or the pages are larger than those that perfpipe writes.
pub(super) fn page_sizes(
    file: &CheckedFile,
    group: &RowGroupMetaData,
    wanted: impl Fn(&str) -> bool,
) -> io::Result<PageSizes> {
    let mut all = PageSizes { at_once: 0, dictionaries: 0, texts: (0, 0), are_flat: true };
    let is_wanted =
        |column: &&ColumnChunkMetaData| column.column_path().parts().first().is_some_and(|root| wanted(root));
    for column in group.columns().iter().filter(is_wanted) {
        let values = all.add(file, column)?;
        if values > VALUES {
            return Err(invalid(format!(
                "a row group has {values} values in a column, and may have {VALUES}"
            )));
        }
        all.are_flat &= i64::try_from(values).is_ok_and(|values| values == group.num_rows());
    }
    if all.at_once > AT_ONCE {
        let bytes = all.at_once;
        return Err(invalid(format!("its pages have {bytes} bytes at a time, and may have {AT_ONCE}")));
    }
    Ok(all)
}

impl PageSizes {
    /// The size in bytes of all texts: of those in no dictionary, and of the dictionaries.
    pub(super) fn texts(&self) -> u64 {
        self.texts.0.saturating_add(self.dictionaries) as u64
    }

    /// The size in bytes of the largest page of texts that are in no dictionary.
    pub(super) fn largest_text(&self) -> usize {
        self.texts.1
    }

    /// Returns the number of rows that may be read at a time, up to `most`, so that their texts fit in memory once they
    /// are taken out of their dictionaries.
    pub(super) fn rows_at_once(&self, most: usize) -> usize {
        let (all, largest) = self.texts;
        let each = self.dictionaries.saturating_add(if all > TEXTS { largest } else { 0 });
        TEXTS.checked_div(each).unwrap_or(most).clamp(1, most)
    }

    /// Adds the pages of a column. Returns the number of its values.
    fn add(&mut self, file: &CheckedFile, column: &ColumnChunkMetaData) -> io::Result<u64> {
        let offset = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let mut at = u64::try_from(offset).map_err(|_| nonsense())?;
        let length = u64::try_from(column.compressed_size()).map_err(|_| nonsense())?;
        let end = at.checked_add(length).filter(|end| *end <= file.len()).ok_or_else(nonsense)?;
        let is_text = column.column_type() == Type::BYTE_ARRAY;
        let (mut values, mut dictionary, mut largest, mut largest_text) = (0_u64, 0, 0, 0);
        while at < end {
            let mut bytes = HeaderBytes { file: file.reader(at).take(HEADER), read: 0 };
            let header = PageHeader::read(&mut bytes)?;
            let (unpacked, packed) = (size(header.unpacked)?, size(header.packed)?);
            if header.is_dictionary() {
                dictionary = unpacked.max(dictionary);
            } else {
                values = values.saturating_add(size(header.values)? as u64);
                largest = unpacked.max(largest);
            }
            if is_text && !header.is_dictionary() && !header.is_coded() {
                self.texts.0 = self.texts.0.saturating_add(unpacked);
                largest_text = unpacked.max(largest_text);
            }
            at = at.saturating_add(bytes.read).saturating_add(packed as u64);
        }
        self.at_once = self.at_once.saturating_add(dictionary).saturating_add(largest);
        self.dictionaries = self.dictionaries.saturating_add(if is_text { dictionary } else { 0 });
        self.texts.1 = self.texts.1.saturating_add(largest_text);
        Ok(values)
    }
}

/// Converts a size, which must not be below zero.
fn size(number: i64) -> io::Result<usize> {
    usize::try_from(number).map_err(|_| nonsense())
}

fn nonsense() -> io::Error {
    invalid("the header of a page makes no sense")
}

fn invalid(problem: impl AsRef<str>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, damaged(problem.as_ref()))
}

/// The header of a page. What it lacks is 0.
#[derive(Debug, Default)]
struct PageHeader {
    kind: i64,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
}

impl PageHeader {
    fn is_dictionary(&self) -> bool {
        self.kind == 2
    }

    /// Returns true if the values of the page are numbers of values in a dictionary.
    fn is_coded(&self) -> bool {
        [2, 8].contains(&self.encoding)
    }

    fn read(bytes: &mut HeaderBytes<impl Read>) -> io::Result<Self> {
        let mut header = Self::default();
        bytes.each_field(&mut |bytes, field, kind| {
            match (field, kind) {
                (1, INT) => header.kind = bytes.number()?,
                (2, INT) => header.unpacked = bytes.number()?,
                (3, INT) => header.packed = bytes.number()?,
                // The headers of a page of data of either version, and of a dictionary.
                (5 | 7 | 8, STRUCT) => bytes.each_field(&mut |bytes, inner, kind| {
                    match (field, inner, kind) {
                        (_, 1, INT) => header.values = bytes.number()?,
                        (5 | 7, 2, INT) | (8, 4, INT) => header.encoding = bytes.number()?,
                        _ => bytes.skip(kind, 0)?,
                    }
                    Ok(())
                })?,
                _ => bytes.skip(kind, 0)?,
            }
            Ok(())
        })?;
        Ok(header)
    }
}

/// The types of Thrift's compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const SHORT: u8 = 4;
const INT: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Reads values in the compact protocol, and counts their bytes.
struct HeaderBytes<R> {
    file: R,
    read: u64,
}

impl<R: Read> HeaderBytes<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.file.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    /// Reads a number of up to ten bytes, of which each has seven bits.
    fn varint(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(nonsense())
    }

    /// Reads a number with a sign, which is its last bit.
    fn number(&mut self) -> io::Result<i64> {
        let bits = self.varint()?;
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    /// Passes the number and the type of each field of a struct, whose value `take` reads.
    fn each_field(&mut self, take: &mut dyn FnMut(&mut Self, i64, u8) -> io::Result<()>) -> io::Result<()> {
        let mut field = 0_i64;
        loop {
            let byte = self.byte()?;
            match (byte >> 4, byte & 0xf) {
                (_, 0) => return Ok(()),
                (0, kind) => {
                    field = self.number()?;
                    take(self, field, kind)?;
                }
                (more, kind) => {
                    field = field.saturating_add(more.into());
                    take(self, field, kind)?;
                }
            }
        }
    }

    /// Skips a value.
    fn skip(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        if depth > DEPTH {
            return Err(nonsense());
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            SHORT | INT | LONG => self.varint().map(drop),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            LIST | SET => {
                let byte = self.byte()?;
                let length = match byte >> 4 {
                    15 => self.varint()?,
                    few => few.into(),
                };
                (0..length).try_for_each(|_| self.skip_item(byte & 0xf, depth))
            }
            MAP => {
                let length = self.varint()?;
                let kinds = if length > 0 { self.byte()? } else { 0 };
                (0..length).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth)?;
                    self.skip_item(kinds & 0xf, depth)
                })
            }
            STRUCT => self.each_field(&mut |bytes, _, kind| bytes.skip(kind, depth + 1)),
            _ => Err(nonsense()),
        }
    }

    /// Skips an item of a list, where a flag takes a byte.
    fn skip_item(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            kind => self.skip(kind, depth + 1),
        }
    }

    fn skip_bytes(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.file.by_ref().take(length), &mut io::sink())?;
        self.read += skipped;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
