//! The row of a run in the table of runs, and its tags as a table, for other programs: perfpipe itself has both in the
//! manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray};

use super::super::checksum::{FileSums, SummedFile};
use super::super::tables::arrow::{properties, record_batch, write_batches};
use crate::error::{Error, Result};
use crate::run::info::RunInfo;

/// Writes the row of a run.
pub(super) fn write_row(out: SummedFile, info: &RunInfo) -> Result<FileSums> {
    let json = serde_json::to_string(info).map_err(|error| Error::store("writing a run's row", error))?;
    let long = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let count = |value: u64| long(Some(i64::try_from(value).unwrap_or(i64::MAX)));
    let whole = |value: u32| -> ArrayRef {
        Arc::new(Int32Array::from(vec![i32::try_from(value).unwrap_or(i32::MAX)]))
    };
    let text = |value: &str| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let row = record_batch(vec![
        ("t0_ms", long(Some(info.t0_ms))),
        ("last_ms", long(Some(info.last_ms))),
        ("last_end_ms", long(info.last_end_ms)),
        ("seconds", whole(info.seconds)),
        ("successes", count(info.successes)),
        ("failures", count(info.failures)),
        ("transactions", count(info.transactions)),
        ("rejects", count(info.rejects)),
        ("resolution_us", whole(info.resolution.microseconds())),
        ("samples_stored", Arc::new(BooleanArray::from(vec![info.samples_stored]))),
        ("cpu_offset", long(Some(info.cpu_offset))),
        ("cpu_lookback", whole(info.cpu_lookback)),
        ("ingested_at", text(&info.ingested_at)),
        ("info", text(&json)),
    ]);
    write_batches(out, properties(), std::iter::once(row))
}

/// Writes the tags of a run, each by its key.
pub(in crate::store::parquet) fn write_tags(
    out: SummedFile,
    tags: &BTreeMap<String, String>,
) -> Result<FileSums> {
    let rows = record_batch(vec![
        ("key", Arc::new(StringArray::from_iter_values(tags.keys()))),
        ("value", Arc::new(StringArray::from_iter_values(tags.values()))),
    ]);
    write_batches(out, properties(), std::iter::once(rows))
}
