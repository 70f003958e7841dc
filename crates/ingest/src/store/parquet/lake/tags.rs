//! The tags of a run as a table, for other programs: perfpipe itself has them in the run's row.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::StringArray;

use super::super::checksum::{SummedFile, Sums};
use super::super::tables::arrow::{properties, table, write};
use crate::error::Result;

/// Writes the tags of a run, each by its key.
pub(in crate::store::parquet) fn write_tags(
    out: SummedFile,
    tags: &BTreeMap<String, String>,
) -> Result<Sums> {
    let rows = table(vec![
        ("key", Arc::new(StringArray::from_iter_values(tags.keys()))),
        ("value", Arc::new(StringArray::from_iter_values(tags.values()))),
    ]);
    write(out, properties(), std::iter::once(rows))
}
