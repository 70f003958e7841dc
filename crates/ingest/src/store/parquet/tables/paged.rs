//! How a small table is written: columns that are encoded by themselves.

use arrow_schema::{DataType, Field, Schema};
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{SummedFile, Sums};
use crate::store::parquet::guard::panics::plain;
use crate::store::parquet::pages::{Gathered, Part};

/// The maximum number of rows in a row group.
pub(super) const ROWS: usize = 64 << 10;

/// A row group: the statistics of its first column, and what it adds to each, in the order of the schema.
pub(super) type Group = (Option<Statistics>, Vec<Result<Part, ParquetError>>);

/// Writes a table of row groups and makes it durable. Without any, there still is a file.
pub(super) fn write(
    mut out: SummedFile,
    schema: &Schema,
    groups: impl Iterator<Item = Result<Group>>,
) -> Result<Sums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain(error));
    let notes = out.take_notes();
    let mut table = Gathered::new(out, schema).map_err(failed)?;
    for group in groups {
        let (first, parts) = group?;
        let parts = parts.into_iter().collect::<Result<Vec<Part>, _>>().map_err(failed)?;
        table.add(parts).and_then(|()| table.end_group(first)).map_err(failed)?;
    }
    table.file().note(notes);
    table.file().finish().map_err(failed)?;
    table.file().inner_mut().finish()
}

/// The schema of these columns, which have no nulls.
pub(super) fn schema<const N: usize>(columns: [(&str, DataType); N]) -> Schema {
    Schema::new(columns.map(|(name, data_type)| Field::new(name, data_type, false)).to_vec())
}
