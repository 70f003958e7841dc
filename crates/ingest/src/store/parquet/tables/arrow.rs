//! Writes tables of a few rows from batches of the arrow crate: those that only a store in a bucket has.

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{FileSums, SummedFile};
use crate::store::parquet::guard::panics::plain_error;

/// The size in memory, in bytes, below which a table of one batch is little.
const LITTLE: usize = 1 << 20;

/// The size in bytes of encoded rows that ends a row group.
const BUFFERED: usize = 8 << 20;

/// Writes a table of one or more batches and makes it durable.
pub(in crate::store::parquet) fn write_batches(
    mut out: SummedFile,
    properties: WriterPropertiesBuilder,
    mut batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain_error(error));
    let Some(first) = batches.next().transpose()? else { return out.finish() };
    let second = batches.next();
    let is_little = second.is_none() && first.get_array_memory_size() < LITTLE;
    let notes = out.take_notes().into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let properties = properties.set_compression(compression(is_little));
    let properties = properties.set_key_value_metadata(Some(notes.collect())).build();
    let schema = first.schema();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(failed)?;
    for batch in std::iter::once(Ok(first)).chain(second).chain(batches) {
        writer.write(&batch?).map_err(failed)?;
        if writer.in_progress_size() > BUFFERED {
            writer.flush().map_err(failed)?;
        }
    }
    writer.finish().map_err(failed)?;
    writer.inner_mut().finish()
}

/// Zstandard takes some 200 KiB for each column, which costs a little table more time than all else.
pub(in crate::store::parquet) fn compression(is_little: bool) -> Compression {
    if is_little { Compression::LZ4_RAW } else { Compression::ZSTD(ZstdLevel::default()) }
}

/// How a table is written, but for its compression.
pub(in crate::store::parquet) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
}

/// A batch of these columns.
pub(in crate::store::parquet) fn record_batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|error| Error::store("making a table", error))
}
