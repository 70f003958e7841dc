//! Checkpoints: the files of a table as a file of Parquet, so that nobody has to read its log from the beginning. Those of
//! other programs are read too: columns are found by name, and may be missing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
    new_null_array,
};
use arrow_schema::{DataType, Field, Fields};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::action::{
    AddFile, FileFormat, KEPT, LogLine, MetaData, PartitionValues, Protocol, RemoveFile, TableSnapshot,
    now_ms,
};
use crate::parquet::lake::tables::{compression, properties};
use perfpipe_model::error::{Error, Result};

/// The number of rows that are read at a time: of what is packed well, few may be large.
const READ_ROWS: usize = 128;

/// A row of a file of a run needs at least so many bytes of a checkpoint, since the name of its generation is random.
const LEAST: usize = 2;

/// The texts of a checkpoint have at most so many times the bytes of its file, and its columns before they were packed.
const PACKED: usize = 16;

/// The size in bytes up to which texts are read however well they are packed.
const ANYHOW: usize = 64 << 20;

/// Returns what a checkpoint says; `None` if it can't be read, in part or as a whole.
pub(super) fn read(content: Bytes) -> Option<Vec<LogLine>> {
    // The reader may panic on a damaged file. It is dropped then.
    catch_unwind(AssertUnwindSafe(|| parse_lines(content))).ok()?
}

fn parse_lines(content: Bytes) -> Option<Vec<LogLine>> {
    // The types are those of Parquet, whatever the writer had.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let most = content.len().saturating_mul(PACKED).max(ANYHOW);
    let most_rows = content.len() / LEAST;
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(content, options).ok()?;
    let columns = builder.metadata().row_groups().iter().flat_map(|group| group.columns());
    let unpacked = columns.fold(0_i64, |sum, column| sum.saturating_add(column.uncompressed_size().max(0)));
    if usize::try_from(unpacked).ok()? > most {
        return None;
    }
    let mut lines = Vec::new();
    let mut texts = 0_usize;
    for rows in builder.with_batch_size(READ_ROWS).build().ok()? {
        let rows = rows.ok()?;
        texts = texts.saturating_add(rows.get_array_memory_size());
        if texts > most || lines.len().saturating_add(rows.num_rows()) > most_rows.max(READ_ROWS) {
            return None;
        }
        lines.extend(lines_of(&rows)?);
    }
    Some(lines)
}

fn lines_of(rows: &RecordBatch) -> Option<Vec<LogLine>> {
    let column = |name| ActionFields::of(rows.column_by_name(name));
    let (add, remove, meta_data, protocol) =
        (column("add"), column("remove"), column("metaData"), column("protocol"));
    let line = |row| {
        Some(LogLine {
            add: add.at(row, |fields| fields.add(row))?,
            remove: remove.at(row, |fields| fields.remove(row))?,
            meta_data: meta_data.at(row, |fields| fields.meta_data(row))?,
            protocol: protocol.at(row, |fields| fields.protocol(row))?,
            commit_info: None,
            txn: None,
        })
    };
    (0..rows.num_rows()).map(line).collect()
}

/// The fields of a column of structs; `None` if there is no such column.
#[derive(Clone, Copy)]
struct ActionFields<'a>(Option<&'a StructArray>);

impl<'a> ActionFields<'a> {
    fn of(column: Option<&'a ArrayRef>) -> Self {
        Self(column.and_then(|column| column.as_struct_opt()))
    }

    /// Returns what `read` makes of a row: `Some(None)` if the row has nothing in this column, `None` if it can't be read.
    fn at<T>(self, row: usize, read: impl Fn(Self) -> Option<T>) -> Option<Option<T>> {
        match self.0 {
            Some(structs) if structs.is_valid(row) => read(self).map(Some),
            _ => Some(None),
        }
    }

    fn field(self, name: &str, row: usize) -> Option<&'a ArrayRef> {
        self.0?.column_by_name(name).filter(|field| field.is_valid(row))
    }

    fn text(self, name: &str, row: usize) -> Option<String> {
        Some(self.field(name, row)?.as_string_opt::<i32>()?.value(row).to_owned())
    }

    fn long(self, name: &str, row: usize) -> Option<i64> {
        Some(self.field(name, row)?.as_primitive_opt::<Int64Type>()?.value(row))
    }

    fn version(self, name: &str, row: usize) -> Option<u32> {
        u32::try_from(self.field(name, row)?.as_primitive_opt::<Int32Type>()?.value(row)).ok()
    }

    fn flag(self, name: &str, row: usize) -> bool {
        self.field(name, row).and_then(|field| field.as_boolean_opt()).is_some_and(|flags| flags.value(row))
    }

    fn texts(self, name: &str, row: usize) -> Option<Vec<String>> {
        let list = self.field(name, row)?.as_list_opt::<i32>()?.value(row);
        Some(list.as_string_opt::<i32>()?.iter().flatten().map(str::to_owned).collect())
    }

    /// Returns a map, which is empty if it is absent.
    fn map(self, name: &str, row: usize) -> Option<PartitionValues> {
        let Some(field) = self.field(name, row) else { return Some(PartitionValues::new()) };
        let map = field.as_map_opt()?.value(row);
        let texts = |array: &'_ ArrayRef| array.as_string_opt::<i32>().cloned();
        let (names, values): (StringArray, StringArray) = (texts(map.column(0))?, texts(map.column(1))?);
        let values = values.iter().map(|value| value.map(str::to_owned));
        Some(names.iter().flatten().map(str::to_owned).zip(values).collect())
    }

    fn add(self, row: usize) -> Option<AddFile> {
        Some(AddFile {
            path: self.text("path", row)?,
            partition_values: self.map("partitionValues", row)?,
            size: self.long("size", row)?.try_into().ok()?,
            modification_time: self.long("modificationTime", row)?,
            data_change: self.flag("dataChange", row),
        })
    }

    fn remove(self, row: usize) -> Option<RemoveFile> {
        Some(RemoveFile {
            path: self.text("path", row)?,
            deletion_timestamp: self.long("deletionTimestamp", row),
            data_change: self.flag("dataChange", row),
            extended_file_metadata: self.flag("extendedFileMetadata", row),
            partition_values: self.map("partitionValues", row)?,
            size: self.long("size", row).unwrap_or_default().try_into().ok()?,
        })
    }

    fn meta_data(self, row: usize) -> Option<MetaData> {
        let format = Self::of(self.field("format", row));
        Some(MetaData {
            id: self.text("id", row)?,
            name: self.text("name", row),
            format: FileFormat {
                provider: format.text("provider", row)?,
                options: format.map("options", row)?,
            },
            schema_string: self.text("schemaString", row)?,
            partition_columns: self.texts("partitionColumns", row)?,
            configuration: self.map("configuration", row)?,
            created_time: self.long("createdTime", row),
        })
    }

    fn protocol(self, row: usize) -> Option<Protocol> {
        Some(Protocol {
            min_reader_version: self.version("minReaderVersion", row)?,
            min_writer_version: self.version("minWriterVersion", row)?,
        })
    }
}

/// The number of rows in a batch.
const GROUP_ROWS: usize = 8192;

/// Returns the file of a checkpoint, and the number of its rows.
pub(super) fn write(snapshot: &TableSnapshot) -> Result<(Bytes, usize)> {
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
        // No file is a change: all are what the table has.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::lake::delta::action::{change, creation};
    use crate::parquet::lake::delta::columns::LakeTable;
    use perfpipe_model::run::key::RunKey;

    fn add(run: u32) -> AddFile {
        let key = RunKey::new("o'dd +%20é", "a/b=c").with_repeat(run);
        AddFile::new(&key, &format!("run-{run}"), &format!("generation=run-{run}/x.parquet"), u64::from(run))
    }

    fn lines_back(snapshot: &TableSnapshot) -> Vec<LogLine> {
        let (content, rows) = write(snapshot).unwrap();
        let lines = read(content).unwrap();
        assert_eq!(lines.len(), rows);
        lines
    }

    #[test]
    fn what_a_table_holds_comes_back() {
        for runs in [0, 1, 20_000] {
            let mut snapshot = TableSnapshot::default();
            snapshot.apply(creation(LakeTable::Runs));
            let (old, new): (Vec<AddFile>, Vec<AddFile>) =
                (1..=runs).map(add).partition(|add| add.size % 3 == 0);
            snapshot.apply(change(Vec::new(), [old.clone(), new].concat()));
            snapshot.apply(change(old, Vec::new()));
            let mut back = TableSnapshot::default();
            back.apply(lines_back(&snapshot));
            assert_eq!((&back.protocol, &back.meta_data), (&snapshot.protocol, &snapshot.meta_data));
            assert_eq!(back.removed, snapshot.removed);
            let unchanged = |add: &AddFile| AddFile { data_change: false, ..add.clone() };
            assert!(back.files().eq(snapshot.files().map(unchanged).collect::<Vec<_>>().iter()));
        }
    }

    #[test]
    fn files_that_left_a_table_long_ago_are_left_out() {
        let mut snapshot = TableSnapshot::default();
        snapshot.apply(creation(LakeTable::Runs));
        snapshot.apply(change(Vec::new(), vec![add(1), add(2)]));
        snapshot.apply(change(vec![add(1), add(2)], Vec::new()));
        snapshot.removed.values_mut().next().unwrap().deletion_timestamp = Some(1);
        let removed = lines_back(&snapshot).iter().filter(|line| line.remove.is_some()).count();
        assert_eq!(removed, 1);
    }

    #[test]
    fn damaged_checkpoints_are_not_read() {
        let mut snapshot = TableSnapshot::default();
        snapshot.apply(creation(LakeTable::Runs));
        let (content, _) = write(&snapshot).unwrap();
        assert!(read(content.slice(..content.len() - 9)).is_none());
        assert!(read(content.slice(9..)).is_none());
        // Of another program's checkpoint, a line may be of a kind that perfpipe does not know.
        snapshot.meta_data = Some(MetaData::default());
        assert_eq!(lines_back(&snapshot).len(), 2);
    }
}
