//! Reads samples from Parquet files, of this version and of earlier ones.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;

use super::super::checksum::CheckedFile;
use super::super::panics::Guarded;
use super::{LONGEST, READ_ROWS, READ_TEXTS, Times, schema};
use crate::error::{Error, Result};
use crate::sample::batch::SampleBatch;
use crate::sample::resolution::Resolution;
use crate::sample::texts::Texts;

/// Opens a file of samples for reading.
pub(in super::super) fn open(file: CheckedFile, resolution: Resolution) -> Result<Guarded> {
    Guarded::open(file, |file| {
        let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        // Where runs of several units share a table, all times are wide.
        let is_wide =
            found.schema().field_with_name("elapsed").is_ok_and(|time| *time.data_type() == DataType::Int64);
        let times = if is_wide { Times::Fine } else { Times::stored(resolution) };
        let options = ArrowReaderOptions::new().with_schema(schema(times));
        let found = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, found);
        let rows = rows_at_once(builder.metadata());
        builder.with_batch_size(rows).build()
    })
}

/// Returns the number of rows to read per batch.
fn rows_at_once(file: &ParquetMetaData) -> usize {
    let notes = file.file_metadata().key_value_metadata().into_iter().flatten();
    let note = notes.filter(|note| note.key == LONGEST).find_map(|note| note.value.as_ref()?.parse().ok());
    // Files of earlier versions have no note and may hold texts of any length.
    let is_large = file.row_groups().iter().any(|group| group.total_byte_size() > 256 << 20);
    match note {
        Some(longest) => READ_TEXTS.checked_div(longest).unwrap_or(READ_ROWS).clamp(16, READ_ROWS),
        None if is_large => 16,
        None => READ_ROWS,
    }
}

/// Passes the samples of a file to `sink`, batch by batch.
pub(in super::super) fn stream(
    rows: Guarded,
    resolution: Resolution,
    sink: &mut dyn FnMut(SampleBatch) -> Result<()>,
) -> Result<()> {
    for rows in rows {
        sink(batch(&rows?, resolution)?)?;
    }
    Ok(())
}

pub(super) fn batch(from: &RecordBatch, resolution: Resolution) -> Result<SampleBatch> {
    let flags = |name: &str| -> Result<Vec<bool>> {
        let column = from.column_by_name(name).and_then(|column| column.as_boolean_opt());
        let flags = column.ok_or_else(|| unexpected(name))?;
        Ok(flags.iter().map(Option::unwrap_or_default).collect())
    };
    Ok(SampleBatch {
        resolution,
        t_ms: primitive::<Int32Type>(from, "t_ms")?.values().iter().copied().map(i64::from).collect(),
        label: read_texts(from, "label")?,
        elapsed: read_times(from, "elapsed")?.map(Option::unwrap_or_default).collect(),
        response_code: read_texts(from, "response_code")?,
        success: flags("success")?,
        bytes: primitive::<Int64Type>(from, "bytes")?.iter().collect(),
        sent_bytes: primitive::<Int64Type>(from, "sent_bytes")?.iter().collect(),
        all_threads: primitive::<Int32Type>(from, "all_threads")?.iter().collect(),
        latency: read_times(from, "latency")?.collect(),
        idle_time: primitive::<Int32Type>(from, "idle_time")?.iter().collect(),
        connect: read_times(from, "connect")?.collect(),
        cpu: primitive::<Float64Type>(from, "cpu")?.iter().collect(),
        injector: read_texts(from, "injector")?,
        transaction: flags("transaction")?,
    })
}

/// Returns times of requests, of either width.
fn read_times(from: &RecordBatch, name: &str) -> Result<std::vec::IntoIter<Option<i32>>> {
    let column = from.column_by_name(name).ok_or_else(|| unexpected(name))?;
    let times: Vec<Option<i32>> = match column.as_primitive_opt::<Int64Type>() {
        None => primitive::<Int32Type>(from, name)?.iter().collect(),
        Some(wide) => {
            let narrow = |time: Option<i64>| time.map(i32::try_from).transpose();
            wide.iter().map(narrow).collect::<Result<_, _>>().map_err(|_| unexpected(name))?
        }
    };
    Ok(times.into_iter())
}

fn unexpected(name: &str) -> Error {
    Error::store("reading samples", format!("column {name} is not what perfpipe writes"))
}

fn primitive<'a, T: ArrowPrimitiveType>(from: &'a RecordBatch, name: &str) -> Result<&'a PrimitiveArray<T>> {
    from.column_by_name(name).and_then(|column| column.as_primitive_opt()).ok_or_else(|| unexpected(name))
}

fn read_texts(from: &RecordBatch, name: &str) -> Result<Texts> {
    let dictionary = from
        .column_by_name(name)
        .and_then(|column| column.as_dictionary_opt::<Int32Type>())
        .ok_or_else(|| unexpected(name))?;
    let values = dictionary.values().as_string_opt::<i32>().ok_or_else(|| unexpected(name))?;
    let mut texts = Texts::default();
    for key in dictionary.keys() {
        match key.and_then(|key| usize::try_from(key).ok()) {
            Some(key) if key < values.len() => texts.push(values.value(key).as_bytes()),
            _ => texts.push_null(),
        }
    }
    Ok(texts)
}
