//! A file whose rows come in batches, which are gathered to row groups.

use std::io::Write;

use arrow_schema::Schema;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use super::chunk::ColumnChunk;
use super::file::PagedFile;
use super::page::ColumnPart;

/// A file with the columns of its current row group.
pub(in crate::store::parquet) struct GatheredFile<W: Write + Send> {
    file: PagedFile<W>,
    chunks: Vec<ColumnChunk>,
}

impl<W: Write + Send> GatheredFile<W> {
    /// Begins a file.
    pub(in crate::store::parquet) fn new(out: W, schema: &Schema) -> Result<Self, ParquetError> {
        let (file, schema) = PagedFile::new(out, schema)?;
        let chunks = schema.columns().iter().cloned().map(ColumnChunk::new).collect();
        Ok(Self { file, chunks })
    }

    /// Appends the rows of a batch: what it adds to each column, in the order of the schema.
    pub(in crate::store::parquet) fn add(&mut self, parts: Vec<ColumnPart>) -> Result<(), ParquetError> {
        if parts.len() != self.chunks.len() {
            return Err(ParquetError::General("a batch has other columns than its table".to_owned()));
        }
        self.chunks.iter_mut().zip(parts).try_for_each(|(chunk, part)| chunk.add(part))
    }

    /// Writes the columns as a row group and empties them. `first` are the statistics of the first column; the others have
    /// none.
    pub(in crate::store::parquet) fn end_group(
        &mut self,
        mut first: Option<Statistics>,
    ) -> Result<(), ParquetError> {
        self.file.append(self.chunks.iter_mut().map(|chunk| chunk.end(first.take())))
    }

    /// The file.
    pub(in crate::store::parquet) fn file(&mut self) -> &mut PagedFile<W> {
        &mut self.file
    }

    /// The file, once its last row group has ended.
    pub(in crate::store::parquet) fn into_file(self) -> PagedFile<W> {
        self.file
    }
}
