//! Between the store and the parquet crate, which panics on some damaged files (as of 60.1: where a
//! dictionary page is missing, or a column's place is negative). They give an error like all others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use crate::error::{Error, Result};

/// The rows of a file, piece by piece. Nothing follows an error.
pub(super) struct Guarded {
    reader: Option<ParquetRecordBatchReader>,
    /// What is being done, for messages.
    what: String,
}

impl Guarded {
    /// The rows of the file that `open` opens.
    pub(super) fn open<E>(
        path: &Path,
        open: impl FnOnce() -> Result<ParquetRecordBatchReader, E>,
    ) -> Result<Self>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let what = format!("reading {}", path.display());
        let reader = guarded(&what, open)?;
        Ok(Self { reader: Some(reader), what })
    }
}

impl Iterator for Guarded {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // A reader that has failed is not asked again.
        let mut reader = self.reader.take()?;
        let rows = match guarded(&self.what, || reader.next().transpose()) {
            Ok(rows) => rows?,
            Err(error) => return Some(Err(error)),
        };
        self.reader = Some(reader);
        Some(Ok(rows))
    }
}

fn guarded<T, E>(what: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Whatever the panic left half done is dropped with the reader.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| Error::store(what, error)),
        Err(_) => Err(Error::store(what, "the file is damaged: ingest the run again")),
    }
}
