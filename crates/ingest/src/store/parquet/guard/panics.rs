//! Turns panics of the parquet crate into errors. It panics on some damaged files (as of 60.1: if a dictionary page is
//! missing, or the offset of a column is negative).

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{CheckedFile, damaged};

/// The rows of a file in batches. Nothing follows an error.
pub(in crate::store::parquet) struct GuardedReader {
    reader: Option<ParquetRecordBatchReader>,
    file: CheckedFile,
    /// The action that an error message names.
    what: String,
}

impl GuardedReader {
    /// Reads the rows of a file by the reader that `open` creates.
    pub(in crate::store::parquet) fn open(
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
pub(in crate::store::parquet) fn plain_error(
    error: ParquetError,
) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        ParquetError::External(below) => below,
        error => error.into(),
    }
}

/// Reads from a file, and turns a panic into an error.
pub(in crate::store::parquet) fn guarded<T>(
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
