//! How a small table is written: columns that are encoded by themselves.

use arrow_schema::{DataType, Field, Schema};
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{FileSums, SummedFile};
use crate::store::parquet::guard::panics::plain_error;
use crate::store::parquet::pages::{ColumnPart, GatheredFile};

/// The maximum number of rows in a row group.
pub(super) const ROWS: usize = 64 << 10;

/// A row group: the statistics of its first column, and what it adds to each, in the order of the schema.
pub(super) type ColumnGroup = (Option<Statistics>, Vec<Result<ColumnPart, ParquetError>>);

/// Writes a table of row groups and makes it durable. Without any, there still is a file.
pub(super) fn write_table(
    mut out: SummedFile,
    schema: &Schema,
    groups: impl Iterator<Item = Result<ColumnGroup>>,
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain_error(error));
    let notes = out.take_notes();
    let mut table = GatheredFile::new(out, schema).map_err(failed)?;
    for group in groups {
        let (first, parts) = group?;
        let parts = parts.into_iter().collect::<Result<Vec<ColumnPart>, _>>().map_err(failed)?;
        table.add(parts).and_then(|()| table.end_group(first)).map_err(failed)?;
    }
    table.file().note(notes);
    table.file().finish().map_err(failed)?;
    table.file().inner_mut().finish()
}

/// The schema of these columns, which have no nulls.
pub(super) fn table_schema<const N: usize>(columns: [(&str, DataType); N]) -> Schema {
    Schema::new(columns.map(|(name, data_type)| Field::new(name, data_type, false)).to_vec())
}
