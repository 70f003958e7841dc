//! Writes a checkpoint.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
    new_null_array,
};
use arrow_schema::{DataType, Field, Fields};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;

use super::super::action::{AddFile, KEPT, MetaData, PartitionValues, Protocol, RemoveFile, now_ms};
use super::super::snapshot::TableSnapshot;
use crate::error::{Error, Result};
use crate::store::parquet::tables::arrow::{compression, properties};

/// The number of rows in a batch.
const GROUP_ROWS: usize = 8192;

/// Returns the file of a checkpoint, and the number of its rows.
pub(in super::super) fn write(snapshot: &TableSnapshot) -> Result<(Bytes, usize)> {
    let failed = |error| Error::store("writing a checkpoint", error);
    let lines = snapshot_rows(snapshot);
    let properties = properties().set_compression(compression(false)).build();
    let schema = record_batch(&[])?.schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).map_err(failed)?;
    for some in lines.chunks(GROUP_ROWS) {
        writer.write(&record_batch(some)?).map_err(failed)?;
    }
    Ok((writer.into_inner().map_err(failed)?.into(), lines.len()))
}

/// A row: one of these.
#[derive(Clone, Copy)]
enum CheckpointRow<'a> {
    Protocol(&'a Protocol),
    MetaData(&'a MetaData),
    Add(&'a AddFile),
    Remove(&'a RemoveFile),
}

fn snapshot_rows(snapshot: &TableSnapshot) -> Vec<CheckpointRow<'_>> {
    let before = now_ms() - KEPT;
    let is_new = |removed: &&RemoveFile| removed.deletion_timestamp.is_some_and(|since| since >= before);
    let table = snapshot
        .protocol
        .iter()
        .map(CheckpointRow::Protocol)
        .chain(snapshot.meta_data.iter().map(CheckpointRow::MetaData));
    let files = snapshot.files.values().map(CheckpointRow::Add);
    table.chain(files).chain(snapshot.removed.values().filter(is_new).map(CheckpointRow::Remove)).collect()
}

fn record_batch(rows: &[CheckpointRow<'_>]) -> Result<RecordBatch> {
    let add = ActionColumn::of(rows, |row| if let CheckpointRow::Add(add) = row { Some(add) } else { None });
    let remove =
        ActionColumn::of(
            rows,
            |row| if let CheckpointRow::Remove(remove) = row { Some(remove) } else { None },
        );
    let meta_data =
        ActionColumn::of(rows, |row| if let CheckpointRow::MetaData(data) = row { Some(data) } else { None });
    let protocol =
        ActionColumn::of(rows, |row| if let CheckpointRow::Protocol(of) = row { Some(of) } else { None });
    let columns = [
        ("txn", new_null_array(&transaction(), rows.len())),
        ("add", adds(&add)),
        ("remove", removes(&remove)),
        ("metaData", tables(&meta_data)),
        ("protocol", protocols(&protocol)),
    ];
    // Each row lacks all columns but one.
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns)
        .map_err(|error| Error::store("making a checkpoint", error))
}

/// The column that only other programs have a use for, so that they find it.
fn transaction() -> DataType {
    let long = |name| Field::new(name, DataType::Int64, true);
    DataType::Struct(
        vec![Field::new("appId", DataType::Utf8, true), long("version"), long("lastUpdated")].into(),
    )
}

fn adds(of: &ActionColumn<'_, AddFile>) -> ArrayRef {
    let absent = of.maps(|_| None);
    of.structs(vec![
        ("path", of.texts(|add| Some(&add.path))),
        ("partitionValues", of.maps(|add| Some(&add.partition_values))),
        ("size", of.longs(|add| Some(add.size as i64))),
        ("modificationTime", of.longs(|add| Some(add.modification_time))),
        // No file is a change: all are what the table holds.
        ("dataChange", of.flags(|_| false)),
        ("tags", absent),
        ("stats", of.texts(|_| None)),
    ])
}

fn removes(of: &ActionColumn<'_, RemoveFile>) -> ArrayRef {
    of.structs(vec![
        ("path", of.texts(|removed| Some(&removed.path))),
        ("deletionTimestamp", of.longs(|removed| removed.deletion_timestamp)),
        ("dataChange", of.flags(|removed| removed.data_change)),
        ("extendedFileMetadata", of.flags(|removed| removed.extended_file_metadata)),
        ("partitionValues", of.maps(|removed| Some(&removed.partition_values))),
        ("size", of.longs(|removed| Some(removed.size as i64))),
    ])
}

fn tables(of: &ActionColumn<'_, MetaData>) -> ArrayRef {
    let format = of.structs(vec![
        ("provider", of.texts(|table| Some(&table.format.provider))),
        ("options", of.maps(|table| Some(&table.format.options))),
    ]);
    of.structs(vec![
        ("id", of.texts(|table| Some(&table.id))),
        ("name", of.texts(|table| table.name.as_deref())),
        ("description", of.texts(|_| None)),
        ("format", format),
        ("schemaString", of.texts(|table| Some(&table.schema_string))),
        ("partitionColumns", of.lists(|table| &table.partition_columns)),
        ("configuration", of.maps(|table| Some(&table.configuration))),
        ("createdTime", of.longs(|table| table.created_time)),
    ])
}

fn protocols(of: &ActionColumn<'_, Protocol>) -> ArrayRef {
    of.structs(vec![
        ("minReaderVersion", of.versions(|protocol| protocol.min_reader_version)),
        ("minWriterVersion", of.versions(|protocol| protocol.min_writer_version)),
    ])
}

/// A column of one kind of rows, which all others lack.
struct ActionColumn<'a, T>(Vec<Option<&'a T>>);

impl<'a, T> ActionColumn<'a, T> {
    fn of(rows: &[CheckpointRow<'a>], of: impl Fn(CheckpointRow<'a>) -> Option<&'a T>) -> Self {
        Self(rows.iter().map(|row| of(*row)).collect())
    }

    fn texts(&self, of: impl Fn(&'a T) -> Option<&'a str>) -> ArrayRef {
        Arc::new(self.0.iter().map(|row| row.and_then(&of)).collect::<StringArray>())
    }

    fn longs(&self, of: impl Fn(&'a T) -> Option<i64>) -> ArrayRef {
        Arc::new(self.0.iter().map(|row| row.and_then(&of)).collect::<Int64Array>())
    }

    fn versions(&self, of: impl Fn(&'a T) -> u32) -> ArrayRef {
        Arc::new(self.0.iter().map(|row| row.map(|row| of(row) as i32)).collect::<Int32Array>())
    }

    fn flags(&self, of: impl Fn(&'a T) -> bool) -> ArrayRef {
        Arc::new(self.0.iter().map(|row| row.map(&of)).collect::<BooleanArray>())
    }

    fn lists(&self, of: impl Fn(&'a T) -> &'a [String]) -> ArrayRef {
        let element = Field::new("element", DataType::Utf8, true);
        let mut lists = ListBuilder::new(StringBuilder::new()).with_field(element);
        self.0.iter().for_each(|row| lists.append_option(row.map(|row| of(row).iter().map(Some))));
        Arc::new(lists.finish())
    }

    /// Maps have the names that Parquet gives them.
    fn maps(&self, of: impl Fn(&'a T) -> Option<&'a PartitionValues>) -> ArrayRef {
        let names = MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() };
        let mut maps = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
        for row in &self.0 {
            let values = row.and_then(&of);
            for (name, value) in values.into_iter().flatten() {
                maps.keys().append_value(name);
                maps.values().append_option(value.as_deref());
            }
            // As many names as values were appended, which is all that it checks.
            let _ = maps.append(values.is_some());
        }
        Arc::new(maps.finish())
    }

    fn structs(&self, columns: Vec<(&str, ArrayRef)>) -> ArrayRef {
        let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let fields: Fields = columns.iter().map(field).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let is_there = self.0.iter().map(Option::is_some).collect::<Vec<_>>().into();
        Arc::new(StructArray::new(fields, arrays, Some(is_there)))
    }
}
