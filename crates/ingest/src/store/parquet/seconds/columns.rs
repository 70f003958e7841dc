//! Writes a table with its columns encoded side by side.

use std::num::NonZero;
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::error::{Error, Result};
use crate::pipeline::{Job, side_by_side};
use crate::store::parquet::checksum::{SummedFile, Sums};
use crate::store::parquet::panics::plain;
use crate::store::parquet::tables::HELD;

/// The maximum number of threads that encode columns. Three columns take nearly all the time.
const THREADS: usize = 3;

/// A table that is written in large batches, each of whose columns is one of the file.
pub(super) struct Columns {
    writer: SerializedFileWriter<SummedFile>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The encoders of the columns of the row group that is begun; none if none is.
    encoders: Vec<ArrowColumnWriter>,
    row_groups: usize,
    /// What an error names.
    what: String,
}

impl Columns {
    /// Creates the file.
    pub(super) fn create(path: &Path, schema: SchemaRef, properties: WriterProperties) -> Result<Self> {
        let what = format!("writing {}", path.display());
        let file = SummedFile::create(path)?;
        let begun = ArrowWriter::try_new(file, schema.clone(), Some(properties))
            .and_then(ArrowWriter::into_serialized_writer);
        let (writer, factory) = begun.map_err(|error| Error::store(&*what, plain(error)))?;
        Ok(Self { writer, factory, schema, encoders: Vec::new(), row_groups: 0, what })
    }

    /// Writes a batch.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.encoders.is_empty() {
            let encoders = self.factory.create_column_writers(self.row_groups);
            self.encoders = encoders.map_err(|error| self.failed(error))?;
        }
        let columns = self.schema.fields().iter().zip(batch.columns());
        let work = std::mem::take(&mut self.encoders).into_iter().zip(columns);
        let work = work.map(|(encoder, column)| (column.1.get_buffer_memory_size(), (encoder, column)));
        let encode = |(mut encoder, (field, array)): (ArrowColumnWriter, (&FieldRef, &ArrayRef))| {
            for leaf in compute_leaves(field, array)? {
                encoder.write(&leaf)?;
            }
            Ok(encoder)
        };
        self.encoders = each(&self.what, work.collect(), &encode)?;
        let held: usize = self.encoders.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum();
        if held > HELD { self.end_row_group() } else { Ok(()) }
    }

    fn end_row_group(&mut self) -> Result<()> {
        if self.encoders.is_empty() {
            return Ok(());
        }
        let work = std::mem::take(&mut self.encoders).into_iter();
        let work = work.map(|encoder| (encoder.get_estimated_total_bytes(), encoder));
        let chunks = each(&self.what, work.collect(), &ArrowColumnWriter::close)?;
        let write = || {
            let mut row_group = self.writer.next_row_group()?;
            for chunk in chunks {
                chunk.append_to_row_group(&mut row_group)?;
            }
            row_group.close().map(drop)
        };
        self.row_groups += 1;
        write().map_err(|error| self.failed(error))
    }

    /// Ends the table and syncs the file to disk.
    pub(super) fn finish(mut self) -> Result<Sums> {
        self.end_row_group()?;
        self.writer.finish().map_err(|error| self.failed(error))?;
        self.writer.inner_mut().finish()
    }

    fn failed(&self, error: ParquetError) -> Error {
        Error::store(&*self.what, plain(error))
    }
}

/// Does some work with each column, given its size, side by side. Returns the results in order.
fn each<T: Send, R: Send>(
    what: &str,
    columns: Vec<(usize, T)>,
    work: &(impl Fn(T) -> Result<R, ParquetError> + Sync),
) -> Result<Vec<R>> {
    let job = |columns: Vec<(usize, T)>| -> Job<'_, Vec<(usize, R)>> {
        let each = |(number, column)| match work(column) {
            Ok(done) => Ok((number, done)),
            Err(error) => Err(Error::store(what, plain(error))),
        };
        ("the columns", Box::new(move || columns.into_iter().map(each).collect()))
    };
    let done = side_by_side(divided(columns).into_iter().map(job).collect())?;
    let mut done: Vec<_> = done.into_iter().flat_map(|(_, done)| done).collect();
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

/// Divides columns, given their sizes, among threads. Each column is numbered.
fn divided<T>(columns: Vec<(usize, T)>) -> Vec<Vec<(usize, T)>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
    let mut shares: Vec<(usize, Vec<(usize, T)>)> = (0..threads).map(|_| (0, Vec::new())).collect();
    let mut columns: Vec<_> = columns.into_iter().enumerate().collect();
    columns.sort_by_key(|(_, (size, _))| std::cmp::Reverse(*size));
    for (number, (size, column)) in columns {
        if let Some(least) = shares.iter_mut().min_by_key(|(size, _)| *size) {
            least.0 += size;
            least.1.push((number, column));
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}
