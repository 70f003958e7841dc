//! Tables as Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use perfpipe_model::run::Resolution;

use super::Table;
use super::value::{Nested, Values, lower};
use crate::error::{Error, Result};

/// The key of the unit of a file's times, in µs, in its metadata.
const RESOLUTION: &str = "perfpipe.resolution_us";

impl Table {
    /// Writes the whole table as a Parquet file with zstd compression. Columns are nullable, of the types `UINT64`,
    /// `INT64`, `DOUBLE`, `UTF8` and `BOOLEAN`. The file's metadata says that times are in ms, as the files of a store say
    /// theirs: `perfpipe.resolution_us` is 1000.
    ///
    /// # Errors
    /// If `out` can't be written.
    ///
    /// ```
    /// let table = perfpipe_analyze::table::Table::of(&[1.5, 2.5]).column("cpu", |cpu| Some(*cpu)).done();
    /// let mut file = Vec::new();
    /// table.write_parquet(&mut file)?;
    /// assert_eq!(&file[..4], b"PAR1");
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    pub fn write_parquet(&self, out: impl Write + Send) -> Result<()> {
        let mut writer = begin(self, out)?;
        let failed = |e| Error::convert("Parquet", e);
        writer.write(&record_batch(self)?).map_err(failed)?;
        writer.close().map_err(failed)?;
        Ok(())
    }
}

/// Starts a file with the columns of a table.
pub(super) fn begin<W: Write + Send>(like: &Table, out: W) -> Result<ArrowWriter<W>> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let unit = KeyValue::new(RESOLUTION.to_owned(), Resolution::MILLISECOND.microseconds().to_string());
    let properties = WriterProperties::builder().set_compression(zstd);
    let properties = properties.set_key_value_metadata(Some(vec![unit])).build();
    let schema = record_batch(like)?.schema();
    ArrowWriter::try_new(out, schema, Some(properties)).map_err(|e| Error::convert("Parquet", e))
}

/// Converts the table to one Arrow batch.
pub(super) fn record_batch(table: &Table) -> Result<RecordBatch> {
    let columns = table.columns.iter().zip(&table.values);
    RecordBatch::try_from_iter_with_nullable(columns.map(|(c, v)| (c.name(), array(v), true)))
        .map_err(|e| Error::convert("an Arrow batch", e))
}

fn array(values: &Values) -> ArrayRef {
    match values {
        Values::U64(values) => Arc::new(UInt64Array::from(values.clone())),
        Values::Interval(values) => Arc::new(UInt64Array::from(lower(values))),
        Values::I64(values) => Arc::new(Int64Array::from(values.clone())),
        Values::F64(values) => Arc::new(Float64Array::from(values.clone())),
        Values::Text(values) => Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>()),
        Values::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
        Values::Nested(values) => Arc::new(
            values.iter().map(|value| value.as_ref().and_then(Nested::text)).collect::<StringArray>(),
        ),
    }
}
