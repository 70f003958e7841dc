//! Tables of a few rows that only a store in a bucket has: the row of a run in the table of runs, its tags, and its rejected
//! records. The first two are for other programs: perfpipe itself has both in the manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

use crate::parquet::checksum::{CheckedFile, FileSums, SummedFile};
use crate::parquet::guard::plain_error;
use crate::parquet::schema::{REJECTS, RUNS, TAGS, batch_of};
use crate::parquet::table_reader::{TableRows, at, read};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::rejects::{Reject, RejectSpool};

/// Writes the row of a run.
pub(super) fn write_row(out: SummedFile, info: &RunInfo) -> Result<FileSums> {
    let json = serde_json::to_string(info).map_err(|error| Error::store("writing a run's row", error))?;
    let long = |value: Option<i64>| -> ArrayRef { Arc::new(Int64Array::from(vec![value])) };
    let count = |value: u64| long(Some(i64::try_from(value).unwrap_or(i64::MAX)));
    let whole = |value: u32| -> ArrayRef {
        Arc::new(Int32Array::from(vec![i32::try_from(value).unwrap_or(i32::MAX)]))
    };
    let text = |value: &str| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let row = batch_of(
        RUNS,
        vec![
            long(Some(info.t0_ms)),
            long(Some(info.last_ms)),
            long(info.last_end_ms),
            whole(info.seconds),
            count(info.successes),
            count(info.failures),
            count(info.transactions),
            count(info.rejects),
            whole(info.resolution.microseconds()),
            Arc::new(BooleanArray::from(vec![info.samples_stored])),
            long(Some(info.cpu_offset)),
            whole(info.cpu_lookback),
            text(&info.ingested_at),
            text(&json),
        ],
    );
    write_batches(out, properties(), std::iter::once(row))
}

/// Writes the tags of a run, each by its key.
pub(crate) fn write_tags(out: SummedFile, tags: &BTreeMap<String, String>) -> Result<FileSums> {
    let rows = batch_of(
        TAGS,
        vec![
            Arc::new(StringArray::from_iter_values(tags.keys())),
            Arc::new(StringArray::from_iter_values(tags.values())),
        ],
    );
    write_batches(out, properties(), std::iter::once(rows))
}

/// The number of records in a batch at most, and the size in bytes of their texts.
const BATCH_ROWS: usize = 1024;
const BATCH_TEXTS: usize = 4 << 20;

/// Writes the rejected records.
pub(crate) fn write_rejects(out: SummedFile, rejects: &mut RejectSpool) -> Result<FileSums> {
    let mut all = rejects.iter()?;
    let mut is_first = true;
    let batches = std::iter::from_fn(|| match next_batch(&mut all) {
        // A run without rejects still has a file.
        Ok(batch) if batch.is_empty() && !std::mem::take(&mut is_first) => None,
        batch => {
            is_first = false;
            Some(batch.and_then(|batch| reject_batch(&batch)))
        }
    });
    write_batches(out, properties(), batches)
}

fn next_batch(all: &mut impl Iterator<Item = Result<Reject>>) -> Result<Vec<Reject>> {
    let (mut batch, mut texts) = (Vec::new(), 0);
    while batch.len() < BATCH_ROWS && texts < BATCH_TEXTS {
        let Some(reject) = all.next().transpose()? else { break };
        texts += reject.record.len();
        batch.push(reject);
    }
    Ok(batch)
}

fn reject_batch(rejects: &[Reject]) -> Result<RecordBatch> {
    let text = |of: fn(&Reject) -> Option<&str>| -> ArrayRef {
        Arc::new(rejects.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&Reject) -> u64| -> ArrayRef {
        Arc::new(rejects.iter().map(|reject| of(reject) as i64).collect::<Int64Array>())
    };
    batch_of(
        REJECTS,
        vec![
            text(|reject| Some(&reject.file)),
            text(|reject| reject.member.as_deref()),
            number(|reject| reject.line),
            number(|reject| reject.byte),
            text(|reject| reject.code.as_deref()),
            text(|reject| Some(&reject.reason)),
            text(|reject| Some(&reject.record)),
        ],
    )
}

/// Reads the rejected records, of which there are at most so many. Nothing follows an error.
pub(crate) fn read_rejects(file: CheckedFile, most: u64) -> Result<impl Iterator<Item = Result<Reject>>> {
    Ok(read(file, most)?.flat_map(|piece| match piece.and_then(|piece| rejects_of(&piece)) {
        Ok(rejects) => rejects.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    }))
}

fn rejects_of(piece: &TableRows) -> Result<Vec<Reject>> {
    let (files, members) = (piece.texts("file")?, piece.optional_texts("member")?);
    let (lines, bytes) = (piece.counts("line")?, piece.counts("byte")?);
    let (codes, reasons) = (piece.optional_texts("code")?, piece.texts("reason")?);
    let records = piece.texts("record")?;
    let reject = |row| Reject {
        member: at(&members, row).map(str::to_owned),
        code: at(&codes, row).map(str::to_owned),
        ..Reject::new(at(&files, row), at(&lines, row), at(&bytes, row), at(&reasons, row), at(&records, row))
    };
    Ok((0..piece.len()).map(reject).collect())
}

/// The size in memory, in bytes, below which a table of one batch is little.
const LITTLE: usize = 1 << 20;

/// The size in bytes of encoded rows that ends a row group.
const BUFFERED: usize = 8 << 20;

/// Writes a table of one or more batches and makes it durable.
pub(crate) fn write_batches(
    mut out: SummedFile,
    properties: WriterPropertiesBuilder,
    mut batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain_error(error));
    let Some(first) = batches.next().transpose()? else { return out.finish() };
    let second = batches.next();
    let is_little = second.is_none() && first.get_array_memory_size() < LITTLE;
    let notes = out.take_notes().into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value));
    let properties = properties.set_compression(compression(is_little));
    let properties = properties.set_key_value_metadata(Some(notes.collect())).build();
    let schema = first.schema();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(failed)?;
    for batch in std::iter::once(Ok(first)).chain(second).chain(batches) {
        writer.write(&batch?).map_err(failed)?;
        if writer.in_progress_size() > BUFFERED {
            writer.flush().map_err(failed)?;
        }
    }
    writer.finish().map_err(failed)?;
    writer.inner_mut().finish()
}

/// Zstandard takes some 200 KiB for each column, which costs a little table more time than all else.
pub(crate) fn compression(is_little: bool) -> Compression {
    if is_little { Compression::LZ4_RAW } else { Compression::ZSTD(ZstdLevel::default()) }
}

/// How a table is written, but for its compression.
pub(crate) fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::place::{create, open};

    #[test]
    fn rejects_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (name, count) in [("none", 0), ("one", 1), ("many", 3 * BATCH_ROWS as u64 + 1)] {
            let reject = |line: u64| Reject {
                member: line.is_multiple_of(3).then(|| "a.csv".to_owned()),
                code: line.is_multiple_of(2).then(|| "field-count".to_owned()),
                ..Reject::new("a.zip", line, line * 7, "5 fields", "x,\n\"y")
            };
            let mut spool = RejectSpool::default();
            (1..=count).for_each(|line| spool.push(&reject(line)).unwrap());
            let path = folder.path().join(name);
            let sums = write_rejects(create(&path).unwrap(), &mut spool).unwrap();
            let back: Vec<Reject> =
                read_rejects(open(path, sums).unwrap(), count).unwrap().collect::<Result<_>>().unwrap();
            assert_eq!(back, (1..=count).map(reject).collect::<Vec<_>>());
        }
    }
}
