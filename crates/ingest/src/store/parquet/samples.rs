//! The samples of a run as Parquet: each worker fills row groups of its own, one task appends them to the file.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Int32Array, PrimitiveArray,
    RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::batch::{Nullable, SampleBatch, Texts};
use crate::error::{Error, Result};
use crate::store::BatchEncoder;
use crate::store::parquet::guard::{Guarded, plain};
use crate::store::parquet::sums::{CheckedFile, SummedFile, Sums};

/// Rows a row group, about: enough that its metadata does not count, few enough that memory stays flat.
const ROW_GROUP: usize = 256 << 10;

/// Rows a batch when reading.
const READ_ROWS: usize = 16 << 10;

fn text() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The columns of a sample, as DESIGN names them.
fn schema() -> SchemaRef {
    let field = |name: &str, data_type: DataType, nullable: bool| Field::new(name, data_type, nullable);
    Arc::new(Schema::new(vec![
        field("t_ms", DataType::Int32, false),
        field("label", text(), true),
        field("elapsed", DataType::Int32, false),
        field("response_code", text(), true),
        field("success", DataType::Boolean, false),
        field("bytes", DataType::Int64, true),
        field("sent_bytes", DataType::Int64, true),
        field("all_threads", DataType::Int32, true),
        field("latency", DataType::Int32, true),
        field("idle_time", DataType::Int32, true),
        field("connect", DataType::Int32, true),
        field("cpu", DataType::Float64, true),
        field("injector", text(), true),
        field("transaction", DataType::Boolean, false),
    ]))
}

fn properties() -> WriterProperties {
    let column = |name: &str| ColumnPath::from(name);
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::LZ4_RAW)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_statistics_enabled(column("t_ms"), EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(column("t_ms"), false)
        .set_column_encoding(column("t_ms"), Encoding::DELTA_BINARY_PACKED)
        .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

/// A file of samples while it is being written.
pub(super) struct SampleFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: u64,
    /// What is being done, for messages.
    what: String,
}

impl SampleFile<SummedFile> {
    pub(super) fn create(path: &Path) -> Result<Self> {
        Self::new(SummedFile::create(path)?, format!("writing {}", path.display()))
    }

    /// Ends the file and makes it durable; returns its rows.
    pub(super) fn close(mut self) -> Result<(u64, Sums)> {
        self.end()?;
        Ok((self.rows, self.writer.inner_mut().finish()?))
    }
}

impl<W: Write + Send> SampleFile<W> {
    fn new(out: W, what: String) -> Result<Self> {
        let options = ArrowWriterOptions::new().with_properties(properties()).with_skip_arrow_metadata(true);
        let made = ArrowWriter::try_new_with_options(out, schema(), options)
            .and_then(ArrowWriter::into_serialized_writer);
        let (writer, _) = made.map_err(|error| Error::store(&*what, plain(error)))?;
        Ok(Self { writer, rows: 0, what })
    }

    /// An encoder for one worker.
    pub(super) fn encoder(&self) -> SampleEncoder {
        let factory = ArrowRowGroupWriterFactory::new(&self.writer, schema());
        SampleEncoder { factory: Some(factory), schema: schema(), columns: Vec::new(), rows: 0 }
    }

    /// Appends a row group.
    pub(super) fn append(&mut self, group: RowGroup) -> Result<()> {
        let failed = |error| Error::store(&*self.what, plain(error));
        let mut writer = self.writer.next_row_group().map_err(failed)?;
        for column in group.columns {
            column.append_to_row_group(&mut writer).map_err(failed)?;
        }
        writer.close().map_err(failed)?;
        self.rows += group.rows as u64;
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let ended = self.writer.finish();
        ended.map(|_| ()).map_err(|error| Error::store(&*self.what, plain(error)))
    }
}

/// Writes samples as one Parquet file of the store's own columns, for other programs.
pub struct SampleExport<W: Write + Send> {
    file: SampleFile<W>,
    encoder: SampleEncoder,
}

impl<W: Write + Send> SampleExport<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn new(out: W) -> Result<Self> {
        let file = SampleFile::new(out, "writing samples".to_owned())?;
        Ok(Self { encoder: file.encoder(), file })
    }

    /// Appends a batch. Memory: one row group of 262,144 rows.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&mut self, batch: &SampleBatch) -> Result<()> {
        match self.encoder.encode(batch)? {
            Some(group) => self.file.append(group),
            None => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(mut self) -> Result<()> {
        if let Some(group) = self.encoder.finish()? {
            self.file.append(group)?;
        }
        self.file.end()
    }
}

fn failed(error: parquet::errors::ParquetError) -> Error {
    Error::store("encoding samples", error)
}

/// An encoded row group.
pub struct RowGroup {
    columns: Vec<ArrowColumnChunk>,
    rows: usize,
}

/// Encodes batches into row groups; without a factory it keeps nothing.
pub struct SampleEncoder {
    factory: Option<ArrowRowGroupWriterFactory>,
    schema: SchemaRef,
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
}

impl SampleEncoder {
    /// An encoder for a run whose samples are not kept.
    pub(super) fn nothing() -> Self {
        Self { factory: None, schema: schema(), columns: Vec::new(), rows: 0 }
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = RowGroup;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<RowGroup>> {
        let Some(factory) = &self.factory else { return Ok(None) };
        if batch.is_empty() {
            return Ok(None);
        }
        if self.columns.is_empty() {
            self.columns = factory.create_column_writers(0).map_err(failed)?;
        }
        let fields = self.schema.fields().iter();
        for ((field, array), column) in fields.zip(arrays(batch)?).zip(&mut self.columns) {
            for leaf in compute_leaves(field, &array).map_err(failed)? {
                column.write(&leaf).map_err(failed)?;
            }
        }
        self.rows += batch.len();
        if self.rows >= ROW_GROUP { self.finish() } else { Ok(None) }
    }

    fn finish(&mut self) -> Result<Option<RowGroup>> {
        let rows = std::mem::take(&mut self.rows);
        let columns = std::mem::take(&mut self.columns);
        if rows == 0 {
            return Ok(None);
        }
        let columns = columns.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>();
        Ok(Some(RowGroup { columns: columns.map_err(failed)?, rows }))
    }
}

/// A batch's columns as Arrow arrays, in the order of the schema.
fn arrays(batch: &SampleBatch) -> Result<Vec<ArrayRef>> {
    let t_ms = batch
        .t_ms
        .iter()
        .map(|ms| i32::try_from(*ms))
        .collect::<Result<Vec<i32>, _>>()
        .map_err(|error| Error::store("writing samples", error))?;
    Ok(vec![
        Arc::new(Int32Array::from(t_ms)),
        texts(&batch.label)?,
        Arc::new(Int32Array::from(batch.elapsed.clone())),
        texts(&batch.response_code)?,
        Arc::new(BooleanArray::from(batch.success.clone())),
        numbers::<Int64Type>(&batch.bytes),
        numbers::<Int64Type>(&batch.sent_bytes),
        numbers::<Int32Type>(&batch.all_threads),
        numbers::<Int32Type>(&batch.latency),
        numbers::<Int32Type>(&batch.idle_time),
        numbers::<Int32Type>(&batch.connect),
        numbers::<Float64Type>(&batch.cpu),
        texts(&batch.injector)?,
        Arc::new(BooleanArray::from(batch.transaction.clone())),
    ])
}

fn numbers<T: ArrowPrimitiveType>(column: &Nullable<T::Native>) -> ArrayRef {
    let nulls = column.valid().map(|valid| valid.to_vec().into());
    Arc::new(PrimitiveArray::<T>::new(column.values().to_vec().into(), nulls))
}

fn texts(column: &Texts) -> Result<ArrayRef> {
    let valid: Vec<bool> = column.codes().iter().map(|code| *code != Texts::NULL).collect();
    let codes: Vec<i32> =
        column.codes().iter().map(|code| if *code == Texts::NULL { 0 } else { *code as i32 }).collect();
    // A dictionary can't be empty where a null's key points to it.
    let values = match column.values() {
        [] => StringArray::from(vec![""]),
        values => StringArray::from_iter_values(values),
    };
    let nulls = valid.contains(&false).then(|| valid.into());
    let keys = Int32Array::new(codes.into(), nulls);
    let array = DictionaryArray::try_new(keys, Arc::new(values))
        .map_err(|error| Error::store("writing samples", error))?;
    Ok(Arc::new(array))
}

/// Opens a file of samples.
pub(super) fn open(file: CheckedFile) -> Result<Guarded> {
    let options = ArrowReaderOptions::new().with_schema(schema());
    Guarded::open(file, |file| {
        ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
            .and_then(|builder| builder.with_batch_size(READ_ROWS).build())
    })
}

/// Hands the samples of a file to a sink, batch by batch.
pub(super) fn stream(rows: Guarded, sink: &mut dyn FnMut(SampleBatch) -> Result<()>) -> Result<()> {
    for rows in rows {
        sink(batch(&rows?)?)?;
    }
    Ok(())
}

fn batch(from: &RecordBatch) -> Result<SampleBatch> {
    let flags = |name: &str| -> Result<Vec<bool>> {
        let column = from.column_by_name(name).and_then(|column| column.as_boolean_opt());
        let flags = column.ok_or_else(|| unexpected(name))?;
        Ok(flags.iter().map(Option::unwrap_or_default).collect())
    };
    Ok(SampleBatch {
        t_ms: primitive::<Int32Type>(from, "t_ms")?.values().iter().copied().map(i64::from).collect(),
        label: read_texts(from, "label")?,
        elapsed: primitive::<Int32Type>(from, "elapsed")?.values().to_vec(),
        response_code: read_texts(from, "response_code")?,
        success: flags("success")?,
        bytes: primitive::<Int64Type>(from, "bytes")?.iter().collect(),
        sent_bytes: primitive::<Int64Type>(from, "sent_bytes")?.iter().collect(),
        all_threads: primitive::<Int32Type>(from, "all_threads")?.iter().collect(),
        latency: primitive::<Int32Type>(from, "latency")?.iter().collect(),
        idle_time: primitive::<Int32Type>(from, "idle_time")?.iter().collect(),
        connect: primitive::<Int32Type>(from, "connect")?.iter().collect(),
        cpu: primitive::<Float64Type>(from, "cpu")?.iter().collect(),
        injector: read_texts(from, "injector")?,
        transaction: flags("transaction")?,
    })
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
