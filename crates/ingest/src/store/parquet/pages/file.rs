//! A file whose row groups were encoded before.

use std::io::Write;
use std::sync::Arc;

use arrow_schema::Schema;
use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use crate::store::parquet::notes::FileNotes;

/// A column of a row group as it stands in the file, and what the metadata says of it.
pub(in crate::store::parquet) type EncodedColumn = (Bytes, ColumnCloseResult);

/// A file that is being written.
pub(in crate::store::parquet) struct PagedFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

impl<W: Write + Send> PagedFile<W> {
    /// Begins a file. Returns its columns too.
    pub(in crate::store::parquet) fn new(
        out: W,
        schema: &Schema,
    ) -> Result<(Self, SchemaDescriptor), ParquetError> {
        let schema = ArrowSchemaConverter::new().convert(schema)?;
        let file = SerializedFileWriter::new(out, schema.root_schema_ptr(), Arc::new(properties()))?;
        Ok((Self { file }, schema))
    }

    /// Appends a row group, whose columns come in the order of the schema.
    pub(in crate::store::parquet) fn append(
        &mut self,
        columns: impl Iterator<Item = Result<EncodedColumn, ParquetError>>,
    ) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in columns {
            let (bytes, close) = column?;
            group.append_column(&bytes, close)?;
        }
        group.close().map(drop)
    }

    /// Adds entries to the file's metadata.
    pub(in crate::store::parquet) fn note(&mut self, notes: FileNotes) {
        for (key, value) in notes {
            self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
    }

    /// Writes the metadata, with which the file ends.
    pub(in crate::store::parquet) fn finish(&mut self) -> Result<(), ParquetError> {
        self.file.finish().map(drop)
    }

    /// What is written to.
    pub(in crate::store::parquet) fn inner_mut(&mut self) -> &mut W {
        self.file.inner_mut()
    }
}
