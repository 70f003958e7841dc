//! The samples of a run as Parquet. Workers convert batches into columns, which are encoded in the order of the log.
//!
//! The end of a row group depends only on its rows, so the same log gives the same bytes with any number of workers.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array,
    PrimitiveArray, RecordBatch,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{
    ArrowLeafColumn, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::checksum::{CheckedFile, SummedFile, Sums};
use super::columns::ColumnThreads;
use super::panics::{Guarded, plain};
use crate::error::{Error, Result};
use crate::pipeline::sink::BatchEncoder;
use crate::sample::batch::{Nullable, SampleBatch};
use crate::sample::resolution::Resolution;
use crate::sample::texts::Texts;

/// The approximate number of rows in a row group: large enough to make its metadata negligible, small enough to keep
/// memory flat.
const ROW_GROUP: usize = 256 << 10;

/// The maximum number of rows per batch when reading.
const READ_ROWS: usize = 16 << 10;

/// The approximate maximum size in bytes of the texts in a batch when reading. Long texts mean fewer rows per batch.
const READ_TEXTS: usize = 8 << 20;

/// Key of the file's metadata for the maximum size in bytes of the texts of one row. It is written only if batches of
/// the usual number of rows would be too large.
const LONGEST: &str = "perfpipe.longest_texts";

/// The approximate maximum size in bytes of the texts in a row group, which is held in memory until it ends.
const GROUP_TEXTS: usize = 8 << 20;

fn text() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// How times of requests are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    /// In whole ms.
    Ms,
    /// In whole numbers of a finer unit.
    Fine,
    /// In ms with decimals, for other programs.
    Decimal,
}

impl Times {
    /// Returns how a store has times in this unit.
    fn stored(resolution: Resolution) -> Self {
        if resolution.is_fine() { Self::Fine } else { Self::Ms }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Ms => DataType::Int32,
            Self::Fine => DataType::Int64,
            Self::Decimal => DataType::Float64,
        }
    }
}

/// The schema of the samples.
fn schema(times: Times) -> SchemaRef {
    let time = times.data_type();
    let field = |name: &str, data_type: DataType, nullable: bool| Field::new(name, data_type, nullable);
    Arc::new(Schema::new(vec![
        field("t_ms", DataType::Int32, false),
        field("label", text(), true),
        field("elapsed", time.clone(), false),
        field("response_code", text(), true),
        field("success", DataType::Boolean, false),
        field("bytes", DataType::Int64, true),
        field("sent_bytes", DataType::Int64, true),
        field("all_threads", DataType::Int32, true),
        field("latency", time.clone(), true),
        field("idle_time", DataType::Int32, true),
        field("connect", time, true),
        field("cpu", DataType::Float64, true),
        field("injector", text(), true),
        field("transaction", DataType::Boolean, false),
    ]))
}

/// The integer columns. Their values differ little between rows, so delta encoding takes a fraction of the time of
/// looking each up in a dictionary.
const NUMBERS: [&str; 8] =
    ["t_ms", "elapsed", "bytes", "sent_bytes", "all_threads", "latency", "idle_time", "connect"];

fn properties() -> WriterProperties {
    let builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::LZ4_RAW)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_statistics_enabled(ColumnPath::from("t_ms"), EnabledStatistics::Chunk)
        .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned());
    let packed = |builder: WriterPropertiesBuilder, name: &&str| {
        let column = ColumnPath::from(*name);
        builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
    };
    NUMBERS.iter().fold(builder, packed).build()
}

/// A file of samples that is being written.
pub(super) struct SampleFile<W: Write + Send> {
    begun: Begun<W>,
    threads: ColumnThreads,
    /// The number of rows in the current row group.
    open: usize,
    /// True if a row group has ended but is not written yet. Its last pages are made while the next one begins.
    ended: bool,
    /// The size in bytes of the texts of the current row group's batches; each text counts once per batch.
    texts: usize,
    rows: u64,
    /// The maximum size in bytes of the texts of one row.
    longest: usize,
    /// The action that an error message names.
    what: String,
}

/// A file, which is begun by its first rows: they tell the unit of their times.
enum Begun<W: Write + Send> {
    No(Option<W>),
    Yes(Box<(SerializedFileWriter<W>, ArrowRowGroupWriterFactory)>),
}

impl<W: Write + Send> Begun<W> {
    fn new(out: W, times: Times) -> Result<Self, ParquetError> {
        let schema = schema(times);
        let options = ArrowWriterOptions::new().with_properties(properties()).with_skip_arrow_metadata(true);
        let made = ArrowWriter::try_new_with_options(out, SchemaRef::clone(&schema), options)?;
        let (writer, _) = made.into_serialized_writer()?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, schema);
        Ok(Self::Yes(Box::new((writer, factory))))
    }

    /// Returns the file, begun if it was not.
    fn get(
        &mut self,
        times: Times,
    ) -> Result<&mut (SerializedFileWriter<W>, ArrowRowGroupWriterFactory), ParquetError> {
        if let Self::No(out) = self {
            let out =
                out.take().ok_or_else(|| ParquetError::General("the file could not be begun".into()))?;
            *self = Self::new(out, times)?;
        }
        match self {
            Self::Yes(begun) => Ok(begun),
            Self::No(_) => Err(ParquetError::General("the file is not begun".into())),
        }
    }
}

impl SampleFile<SummedFile> {
    pub(super) fn create(path: &Path) -> Result<Self> {
        Self::new(SummedFile::create(path)?, format!("writing {}", path.display()))
    }

    /// Ends the file and syncs it to disk. Returns the number of rows and the checksums.
    pub(super) fn close(mut self) -> Result<(u64, Sums)> {
        self.end()?;
        let (writer, _) = self.begun.get(Times::Ms).map_err(failed)?;
        Ok((self.rows, writer.inner_mut().finish()?))
    }
}

impl<W: Write + Send> SampleFile<W> {
    fn new(out: W, what: String) -> Result<Self> {
        Ok(Self {
            begun: Begun::No(Some(out)),
            threads: ColumnThreads::start()?,
            open: 0,
            ended: false,
            texts: 0,
            rows: 0,
            longest: 0,
            what,
        })
    }

    /// Appends rows.
    pub(super) fn append(&mut self, rows: SampleColumns) -> Result<()> {
        if self.open == 0 {
            let begun = self.begun.get(rows.times);
            let (_, factory) = begun.map_err(|error| Error::store(&*self.what, plain(error)))?;
            self.threads.begin(factory.create_column_writers(0).map_err(failed)?)?;
        }
        self.threads.write(rows.columns)?;
        self.open += rows.rows;
        self.texts += rows.texts;
        self.longest = self.longest.max(rows.longest);
        if self.open >= ROW_GROUP || self.texts >= GROUP_TEXTS { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<()> {
        self.write_ended()?;
        self.threads.end()?;
        self.ended = true;
        self.rows += std::mem::take(&mut self.open) as u64;
        self.texts = 0;
        Ok(())
    }

    /// Writes the row group that has ended, if there is one.
    fn write_ended(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.ended) {
            return Ok(());
        }
        let failed = |error| Error::store(&*self.what, plain(error));
        let columns = self.threads.ended()?;
        let (file, _) = self.begun.get(Times::Ms).map_err(failed)?;
        let mut writer = file.next_row_group().map_err(failed)?;
        for column in columns {
            column.append_to_row_group(&mut writer).map_err(failed)?;
        }
        writer.close().map_err(failed)?;
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.open > 0 {
            self.end_group()?;
        }
        self.write_ended()?;
        let failed = |error| Error::store(&*self.what, plain(error));
        let (file, _) = self.begun.get(Times::Ms).map_err(failed)?;
        if self.longest * READ_ROWS > READ_TEXTS {
            file.append_key_value_metadata(KeyValue::new(LONGEST.to_owned(), self.longest.to_string()));
        }
        file.finish().map(|_| ()).map_err(failed)
    }
}

/// Writes samples to one Parquet file for other programs, with the columns of the store. Times finer than a ms are in ms,
/// with decimals.
pub struct SampleExport<W: Write + Send> {
    file: SampleFile<W>,
    encoder: SampleEncoder,
}

impl<W: Write + Send> SampleExport<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn new(out: W) -> Result<Self> {
        let file = SampleFile::new(out, "writing samples".to_owned())?;
        Ok(Self { encoder: SampleEncoder { in_ms: true, ..SampleEncoder::new(true) }, file })
    }

    /// Appends a batch. Memory is bounded by one row group of 262,144 rows and about 8 MiB of texts.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&mut self, batch: &SampleBatch) -> Result<()> {
        match self.encoder.encode(batch)? {
            Some(rows) => self.file.append(rows),
            None => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn finish(mut self) -> Result<()> {
        self.file.end()
    }
}

fn failed(error: ParquetError) -> Error {
    Error::store("encoding samples", error)
}

/// Rows as columns of the file, ready for encoding.
pub struct SampleColumns {
    columns: Vec<ArrowLeafColumn>,
    times: Times,
    rows: usize,
    /// The size in bytes of their distinct texts.
    texts: usize,
    /// The maximum size in bytes of the texts of one row.
    longest: usize,
}

/// Converts batches into the columns of the file.
pub struct SampleEncoder {
    /// The schema of the batches so far, all of which have one unit.
    schema: Option<SchemaRef>,
    kept: bool,
    /// True if times finer than a ms are written in ms with decimals.
    in_ms: bool,
}

impl SampleEncoder {
    /// Creates an encoder. If samples are not kept, it returns no columns.
    pub(super) fn new(kept: bool) -> Self {
        Self { schema: None, kept, in_ms: false }
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = SampleColumns;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<SampleColumns>> {
        if !self.kept || batch.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::new();
        let times = match Times::stored(batch.resolution) {
            Times::Fine if self.in_ms => Times::Decimal,
            times => times,
        };
        let schema = self.schema.get_or_insert_with(|| schema(times));
        for (field, array) in schema.fields().iter().zip(arrays(batch, times)?) {
            columns.extend(compute_leaves(field, &array).map_err(failed)?);
        }
        let (texts, longest) = (batch.text_bytes(), longest(batch));
        Ok(Some(SampleColumns { columns, times, rows: batch.len(), texts, longest }))
    }
}

/// Returns an upper bound of the size in bytes of the texts of one row.
fn longest(batch: &SampleBatch) -> usize {
    let longest = |texts: &Texts| texts.values().iter().map(str::len).max().unwrap_or_default();
    longest(&batch.label) + longest(&batch.response_code) + longest(&batch.injector)
}

/// Returns a batch's columns as Arrow arrays, in the order of the schema.
fn arrays(batch: &SampleBatch, times: Times) -> Result<Vec<ArrayRef>> {
    let time = |values: &[i32], valid| time_array(values, valid, batch.resolution, times);
    let t_ms = batch
        .t_ms
        .iter()
        .map(|ms| i32::try_from(*ms))
        .collect::<Result<Vec<i32>, _>>()
        .map_err(|error| Error::store("writing samples", error))?;
    Ok(vec![
        Arc::new(Int32Array::from(t_ms)),
        texts(&batch.label)?,
        time(&batch.elapsed, None),
        texts(&batch.response_code)?,
        Arc::new(BooleanArray::from(batch.success.clone())),
        numbers::<Int64Type>(&batch.bytes),
        numbers::<Int64Type>(&batch.sent_bytes),
        numbers::<Int32Type>(&batch.all_threads),
        time(batch.latency.values(), batch.latency.valid()),
        numbers::<Int32Type>(&batch.idle_time),
        time(batch.connect.values(), batch.connect.valid()),
        numbers::<Float64Type>(&batch.cpu),
        texts(&batch.injector)?,
        Arc::new(BooleanArray::from(batch.transaction.clone())),
    ])
}

/// Returns times of requests in a unit as they are written.
fn time_array(values: &[i32], valid: Option<&[bool]>, unit: Resolution, times: Times) -> ArrayRef {
    let nulls = valid.map(|valid| valid.to_vec().into());
    let values = values.iter().copied();
    match times {
        Times::Ms => Arc::new(Int32Array::new(values.collect(), nulls)),
        Times::Fine => Arc::new(Int64Array::new(values.map(i64::from).collect(), nulls)),
        Times::Decimal => {
            Arc::new(Float64Array::new(values.map(|time| unit.ms(time.into())).collect(), nulls))
        }
    }
}

fn numbers<T: ArrowPrimitiveType>(column: &Nullable<T::Native>) -> ArrayRef {
    let nulls = column.valid().map(|valid| valid.to_vec().into());
    Arc::new(PrimitiveArray::<T>::new(column.values().to_vec().into(), nulls))
}

fn texts(column: &Texts) -> Result<ArrayRef> {
    let valid: Vec<bool> = column.codes().iter().map(|code| *code != Texts::NULL).collect();
    let codes: Vec<i32> =
        column.codes().iter().map(|code| if *code == Texts::NULL { 0 } else { *code as i32 }).collect();
    // Arrow needs a value in the dictionary even if all keys are null.
    let values = column.values();
    let mut list = StringBuilder::with_capacity(values.len().max(1), values.bytes());
    values.iter().for_each(|value| list.append_value(value));
    if values.is_empty() {
        list.append_value("");
    }
    let nulls = valid.contains(&false).then(|| valid.into());
    let keys = Int32Array::new(codes.into(), nulls);
    let array = DictionaryArray::try_new(keys, Arc::new(list.finish()))
        .map_err(|error| Error::store("writing samples", error))?;
    Ok(Arc::new(array))
}

/// Opens a file of samples for reading.
pub(super) fn open(file: CheckedFile, resolution: Resolution) -> Result<Guarded> {
    let options = ArrowReaderOptions::new().with_schema(schema(Times::stored(resolution)));
    Guarded::open(file, |file| {
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
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
pub(super) fn stream(
    rows: Guarded,
    resolution: Resolution,
    sink: &mut dyn FnMut(SampleBatch) -> Result<()>,
) -> Result<()> {
    for rows in rows {
        sink(batch(&rows?, resolution)?)?;
    }
    Ok(())
}

fn batch(from: &RecordBatch, resolution: Resolution) -> Result<SampleBatch> {
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
