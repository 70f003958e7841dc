//! Reads a checkpoint, also one of another program: columns are found by name, and may be missing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::super::action::{AddFile, FileFormat, LogLine, MetaData, PartitionValues, Protocol, RemoveFile};

/// The number of rows that are read at a time: of what is packed well, few may be large.
const READ_ROWS: usize = 128;

/// A row of a file of a run takes at least so many bytes of a checkpoint, since the name of its generation is random.
const LEAST: usize = 2;

/// The texts of a checkpoint have at most so many times the bytes of its file, and its columns before they were packed.
const PACKED: usize = 16;

/// The size in bytes up to which texts are read however well they are packed.
const ANYHOW: usize = 64 << 20;

/// Returns what a checkpoint says; `None` if it can't be read, in part or as a whole.
pub(in super::super) fn read(content: Bytes) -> Option<Vec<LogLine>> {
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
