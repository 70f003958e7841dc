//! Reads samples from Parquet files, of this version and of earlier ones.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::super::checksum::{CheckedFile, damaged};
use super::{LONGEST, READ_ROWS, READ_TEXTS, text};
use crate::parquet::guard::{GuardedReader, check_footer, guarded, page_sizes};
use crate::parquet::schema::SAMPLES;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::texts::Texts;

/// The size in bytes of the texts of a row group beyond which few rows are read at a time.
const LARGE: u64 = 64 << 20;

/// The number of rows that are read at a time where texts are that large, and the maximum size of a page of texts then.
const FEW: (usize, usize) = (16, 16 << 20);

/// The samples of a file. Before rows of a row group are read, its pages are known to fit in memory.
pub(crate) struct SampleReader {
    rows: GuardedReader,
    file: CheckedFile,
    metadata: Arc<ParquetMetaData>,
    /// The action that an error message names.
    what: String,
    /// The number of rows that are read at a time.
    at_once: usize,
    /// The number of row groups that were looked at, and of rows in them that were not yet read.
    looked_at: usize,
    ahead: u64,
    failed: bool,
}

/// Opens a file of samples for reading.
pub(crate) fn open(file: CheckedFile) -> Result<SampleReader> {
    let (mut at_once, mut metadata) = (READ_ROWS, None);
    let what = format!("reading {}", file.path().display());
    let rows = GuardedReader::open(file.clone(), |file| {
        check_footer(&file)?;
        let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        let options = ArrowReaderOptions::new().with_schema(read_schema(found.schema())?);
        let found = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options)?;
        at_once = rows_at_once(found.metadata());
        metadata = Some(Arc::clone(found.metadata()));
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, found).with_batch_size(at_once).build()
    })?;
    let metadata = metadata.ok_or_else(|| Error::bug(&*what, "it has no footer"))?;
    Ok(SampleReader { rows, file, metadata, what, at_once, looked_at: 0, ahead: 0, failed: false })
}

/// Returns the schema by which a file is read: of the columns that it has, texts keep their dictionaries. Files of earlier
/// versions lack columns, and may have narrower times.
fn read_schema(found: &Schema) -> Result<SchemaRef, ParquetError> {
    let field = |field: &FieldRef| match field.data_type() {
        _ if SAMPLES.iter().all(|known| known.name != field.name()) => {
            Err(ParquetError::General(format!("perfpipe writes no column {}", field.name())))
        }
        DataType::Utf8 => Ok(Field::new(field.name(), text(), field.is_nullable())),
        _ => Ok(Field::clone(field)),
    };
    if found.fields().len() > SAMPLES.len() {
        return Err(ParquetError::General("it has more columns than perfpipe writes".to_owned()));
    }
    Ok(Arc::new(Schema::new(found.fields().iter().map(field).collect::<Result<Vec<_>, _>>()?)))
}

/// Returns the number of rows to read per batch.
fn rows_at_once(file: &ParquetMetaData) -> usize {
    let notes = file.file_metadata().key_value_metadata().into_iter().flatten();
    let note = notes.filter(|note| note.key == LONGEST).find_map(|note| note.value.as_ref()?.parse().ok());
    let few = FEW.0;
    match note {
        // Files of earlier versions have no note and may have texts of any length.
        _ if file.row_groups().iter().any(|group| texts_of(group) > LARGE) => few,
        Some(longest) => READ_TEXTS.checked_div(longest).unwrap_or(READ_ROWS).clamp(few, READ_ROWS),
        None => READ_ROWS,
    }
}

/// Returns the size in bytes that a row group says its texts have.
fn texts_of(group: &RowGroupMetaData) -> u64 {
    let texts = group.columns().iter().filter(|column| column.column_type() == Type::BYTE_ARRAY);
    texts.fold(0, |sum, column| {
        sum.saturating_add(u64::try_from(column.uncompressed_size()).unwrap_or(u64::MAX))
    })
}

impl SampleReader {
    /// Looks at the pages of the row groups that the next rows are in.
    fn look_ahead(&mut self) -> Result<()> {
        while self.ahead < self.at_once as u64
            && let Some(group) = self.metadata.row_groups().get(self.looked_at)
        {
            let look = || Ok(page_sizes(&self.file, group, |_| true)?);
            let sizes = guarded(&self.what, &self.file, look)?;
            let large = self.at_once > FEW.0 || sizes.largest_text() <= FEW.1;
            // Then no row of this group is in the pages of the next one, which were not looked at.
            if !sizes.are_flat || !large || sizes.texts() > texts_of(group) {
                let problem = damaged("its pages are not what its footer says, or too large");
                return Err(Error::store(&*self.what, problem));
            }
            self.looked_at += 1;
            self.ahead = self.ahead.saturating_add(u64::try_from(group.num_rows()).unwrap_or_default());
        }
        Ok(())
    }
}

impl Iterator for SampleReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        if let Err(error) = self.look_ahead() {
            self.failed = true;
            return Some(Err(error));
        }
        let rows = self.rows.next();
        if let Some(Ok(rows)) = &rows {
            self.ahead = self.ahead.saturating_sub(rows.num_rows() as u64);
        }
        rows
    }
}

/// Passes the samples of a file to `sink`, batch by batch.
pub(crate) fn stream(
    rows: SampleReader,
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
