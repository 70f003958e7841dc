//! Writes a table whose row groups are encoded side by side.

use std::collections::VecDeque;
use std::thread::ScopedJoinHandle;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{SummedFile, Sums};
use crate::store::parquet::panics::plain;

/// The maximum number of threads that encode.
const THREADS: usize = 4;

/// The number of pieces in a row group.
const PIECES: usize = 6;

/// The columns of a row group, encoded.
type Encoded = Result<Vec<ArrowColumnChunk>>;

/// Writes pieces of rows, of each of which `batch` makes the columns, and makes the file durable. `schema` is that of all
/// batches.
pub(super) fn write_groups<P: Send>(
    out: SummedFile,
    schema: &SchemaRef,
    properties: WriterProperties,
    mut pieces: impl Iterator<Item = Result<P>>,
    batch: &(impl Fn(P) -> Result<RecordBatch> + Sync),
) -> Result<Sums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| failed(&what, error);
    let begun = ArrowWriter::try_new(out, schema.clone(), Some(properties));
    let (mut file, factory) = begun.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
    // One more than there are cores, on which the others encode while the next pieces are taken.
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() + 1).min(THREADS);
    let mut write = |encoding: Encoding<'_>| {
        let chunks = encoding.join().map_err(|_| Error::stopped("the work on the columns"))??;
        append(chunks, &mut file).map_err(failed)
    };
    std::thread::scope(|scope| {
        let mut encodings: VecDeque<Encoding<'_>> = VecDeque::new();
        loop {
            // Before the pieces of the next row group are taken, which have to be held as well.
            if encodings.len() >= threads {
                encodings.pop_front().map_or(Ok(()), &mut write)?;
            }
            let group = pieces.by_ref().take(PIECES).collect::<Result<Vec<P>>>()?;
            if group.is_empty() {
                break;
            }
            // Linux lets a thread that begins with work run on an idle core, but one that is woken often wait.
            let encode = || encode(&what, &factory, &mut group.into_iter().map(batch));
            let encoding = std::thread::Builder::new().spawn_scoped(scope, encode);
            encodings.push_back(encoding.map_err(Error::no_thread)?);
        }
        encodings.into_iter().try_for_each(&mut write)
    })?;
    file.finish().map_err(failed)?;
    file.inner_mut().finish()
}

/// A thread that encodes a row group.
type Encoding<'scope> = ScopedJoinHandle<'scope, Encoded>;

/// Encodes the columns of a row group.
fn encode(
    what: &str,
    factory: &ArrowRowGroupWriterFactory,
    batches: &mut dyn Iterator<Item = Result<RecordBatch>>,
) -> Encoded {
    let failed = |error| failed(what, error);
    // The number of the row group matters only where it is encrypted.
    let mut columns = factory.create_column_writers(0).map_err(failed)?;
    for batch in batches {
        write_batch(&batch?, &mut columns).map_err(failed)?;
    }
    columns.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>().map_err(failed)
}

fn write_batch(batch: &RecordBatch, columns: &mut [ArrowColumnWriter]) -> Result<(), ParquetError> {
    let mut columns = columns.iter_mut();
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        for leaf in compute_leaves(field, array)? {
            columns.next().map_or(Ok(()), |column| column.write(&leaf))?;
        }
    }
    Ok(())
}

/// Appends a row group.
fn append(
    chunks: Vec<ArrowColumnChunk>,
    file: &mut SerializedFileWriter<SummedFile>,
) -> Result<(), ParquetError> {
    let mut row_group = file.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut row_group)?;
    }
    row_group.close().map(drop)
}

fn failed(what: &str, error: ParquetError) -> Error {
    Error::store(what, plain(error))
}
