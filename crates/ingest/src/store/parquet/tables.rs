//! The small tables of a run as Parquet: CPU readings, errors, labels, and how every table is written.

use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checksum::{CheckedFile, SummedFile, Sums};
use super::panics::plain;
use super::table_reader::{at, read};
use crate::counts::{ErrorCount, LabelCount};
use crate::error::{Error, Result};
use crate::run::rejects::{Reject, RejectSpool, read_lines};
use crate::sample::intern::Shared;
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;
use crate::store::series_rows::SeriesRows;

pub(super) const SAMPLES: &str = "samples.parquet";
pub(super) const SECONDS: &str = "seconds.parquet";
pub(super) const CPU: &str = "cpu.parquet";
pub(super) const SERIES: &str = "series.parquet";
pub(super) const ERRORS: &str = "errors.parquet";
pub(super) const LABELS: &str = "labels.parquet";
pub(super) const REJECTS: &str = "rejects.jsonl";
/// The file of rejected records where it is part of a table of all runs.
pub(super) const REJECT_TABLE: &str = "rejects.parquet";
/// The file of a run's row where it is part of a table of all runs.
#[cfg(feature = "lake")]
pub(super) const RUN: &str = "run.parquet";
/// The file of a run's tags where they are a table of all runs.
pub(super) const TAGS: &str = "tags.parquet";
pub(super) const PART: &str = "part.json";
pub(super) const NAMES: &str = "names.json";

/// The files of all small tables and of the rejected records.
pub(super) const SMALL: [&str; 5] = [SECONDS, CPU, ERRORS, LABELS, REJECTS];

/// The files that runs have only where there is something in them.
pub(super) const OPTIONAL: [&str; 4] = [SERIES, TAGS, PART, NAMES];

/// The number of rows in a batch of failures, which have up to three texts of some KiB each.
const FAILURES: usize = 2 << 10;

/// The number of rows in a batch of labels.
const LABEL_ROWS: usize = 2 << 10;

/// The size in memory, in bytes, below which a table of one batch is little.
const LITTLE: usize = 1 << 20;

/// The size in bytes of encoded rows that ends a row group.
const HELD: usize = 8 << 20;

/// Writes a table of one or more batches and makes it durable.
pub(super) fn write(
    out: SummedFile,
    properties: WriterPropertiesBuilder,
    mut batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Sums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain(error));
    let Some(first) = batches.next().transpose()? else { return finished(out) };
    let second = batches.next();
    let is_little = second.is_none() && first.get_array_memory_size() < LITTLE;
    let properties = properties.set_compression(compression(is_little)).build();
    let schema = first.schema();
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(failed)?;
    for batch in std::iter::once(Ok(first)).chain(second).chain(batches) {
        writer.write(&batch?).map_err(failed)?;
        if writer.in_progress_size() > HELD {
            writer.flush().map_err(failed)?;
        }
    }
    writer.finish().map_err(failed)?;
    writer.inner_mut().finish()
}

fn finished(mut out: SummedFile) -> Result<Sums> {
    out.finish()
}

/// Zstandard takes some 200 KiB for each column, which costs a little table more time than all else.
pub(super) fn compression(is_little: bool) -> Compression {
    if is_little { Compression::LZ4_RAW } else { Compression::ZSTD(ZstdLevel::default()) }
}

/// How a table is written, but for its compression.
pub(super) fn properties() -> WriterPropertiesBuilder {
    let builder = WriterProperties::builder()
        .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned());
    // Seconds and the lists of elapsed times ascend: their differences take half the space of dictionary indices, and no
    // memory for a dictionary.
    by_differences(by_differences(builder, "second".into()), items_of("elapsed"))
}

/// The items of a column of lists.
pub(super) fn items_of(lists: &str) -> ColumnPath {
    ColumnPath::from(vec![lists.into(), "list".into(), "item".into()])
}

/// Sets that a column is written as the differences between neighbours.
pub(super) fn by_differences(
    builder: WriterPropertiesBuilder,
    column: ColumnPath,
) -> WriterPropertiesBuilder {
    builder
        .set_column_dictionary_enabled(column.clone(), false)
        .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
}

pub(super) fn table(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|error| Error::store("making a table", error))
}

/// Writes the CPU readings.
pub(super) fn write_cpu(out: SummedFile, cpu: &TimeSeries) -> Result<Sums> {
    let (clock, value): (Vec<i64>, Vec<f64>) = cpu.readings().iter().copied().unzip();
    let batch = table(vec![
        ("clock", Arc::new(Int64Array::from(clock))),
        ("value", Arc::new(Float64Array::from(value))),
    ]);
    write(out, properties(), std::iter::once(batch))
}

/// Reads the CPU readings.
pub(super) fn read_cpu(file: CheckedFile) -> Result<TimeSeries> {
    let mut readings = Vec::new();
    for piece in read(file)? {
        let piece = piece?;
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        readings.extend(clocks.iter().copied().zip(values.iter().copied()));
    }
    Ok(TimeSeries::new(readings))
}

/// Writes the readings of other series.
pub(super) fn write_series(out: SummedFile, series: &[ServerSeries]) -> Result<Sums> {
    write(out, properties(), series.iter().map(series_rows))
}

fn series_rows(series: &ServerSeries) -> Result<RecordBatch> {
    let (clock, value): (Vec<i64>, Vec<f64>) = series.readings.readings().iter().copied().unzip();
    let text = |text: &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, clock.len())))
    };
    table(vec![
        ("name", text(&series.name)),
        ("unit", text(&series.unit)),
        ("clock", Arc::new(Int64Array::from(clock.clone()))),
        ("value", Arc::new(Float64Array::from(value))),
    ])
}

/// Reads the readings of other series.
pub(super) fn read_series(file: CheckedFile) -> Result<Vec<ServerSeries>> {
    let mut rows = SeriesRows::default();
    for piece in read(file)? {
        let piece = piece?;
        let (names, units) = (piece.texts("name")?, piece.texts("unit")?);
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        for row in 0..piece.len() {
            rows.add(at(&names, row), at(&units, row), (at(clocks, row), at(values, row)));
        }
    }
    Ok(rows.finish())
}

/// Writes the failures.
pub(super) fn write_errors(
    out: SummedFile,
    mut errors: impl Iterator<Item = Result<ErrorCount>>,
) -> Result<Sums> {
    let mut next = move || errors.by_ref().take(FAILURES).collect::<Result<Vec<_>>>();
    // A run without failures still has a file.
    let first = next();
    let others =
        std::iter::from_fn(|| Some(next()).filter(|piece| !matches!(piece, Ok(piece) if piece.is_empty())));
    write(out, properties(), std::iter::once(first).chain(others).map(|piece| failures(&piece?)))
}

fn failures(errors: &[ErrorCount]) -> Result<RecordBatch> {
    let text = |of: fn(&ErrorCount) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(errors.iter().map(of)))
    };
    let second: Int32Array = errors.iter().map(|error| error.second as i32).collect();
    let transaction: BooleanArray = errors.iter().map(|error| Some(error.transaction)).collect();
    let count: Int64Array = errors.iter().map(|error| error.count as i64).collect();
    table(vec![
        ("second", Arc::new(second)),
        ("label", text(|error| &error.label)),
        ("response_code", text(|error| &error.response_code)),
        ("message", text(|error| &error.message)),
        ("transaction", Arc::new(transaction)),
        ("count", Arc::new(count)),
    ])
}

/// Reads the failures.
pub(super) fn read_errors(file: CheckedFile) -> Result<Vec<ErrorCount>> {
    let (mut errors, mut shared) = (Vec::new(), Shared::default());
    for piece in read(file)? {
        let piece = piece?;
        let (seconds, counts) = (piece.seconds("second")?, piece.counts("count")?);
        let (labels, codes) = (piece.texts("label")?, piece.texts("response_code")?);
        let (messages, transactions) = (piece.texts("message")?, piece.flags("transaction")?);
        errors.extend((0..piece.len()).map(|row| ErrorCount {
            second: at(&seconds, row),
            label: shared.text(at(&labels, row)),
            response_code: shared.text(at(&codes, row)),
            message: shared.text(at(&messages, row)),
            transaction: at(&transactions, row),
            count: at(&counts, row),
        }));
    }
    Ok(errors)
}

/// Writes the whole-run counts by label.
pub(super) fn write_labels(out: SummedFile, labels: &[LabelCount]) -> Result<Sums> {
    let (first, rest) = labels.split_at(labels.len().min(LABEL_ROWS));
    // A run without labels still has a file.
    write(out, properties(), std::iter::once(first).chain(rest.chunks(LABEL_ROWS)).map(label_rows))
}

fn label_rows(labels: &[LabelCount]) -> Result<RecordBatch> {
    let number = |of: fn(&LabelCount) -> u64| -> ArrayRef {
        Arc::new(labels.iter().map(|label| of(label) as i64).collect::<Int64Array>())
    };
    table(vec![
        ("label", Arc::new(StringArray::from_iter_values(labels.iter().map(|label| &label.label)))),
        ("successes", number(|label| label.successes)),
        ("failures", number(|label| label.failures)),
        ("transactions", number(|label| label.transactions)),
    ])
}

/// Reads the whole-run counts by label.
pub(super) fn read_labels(file: CheckedFile) -> Result<Vec<LabelCount>> {
    let mut counts = Vec::new();
    for piece in read(file)? {
        let piece = piece?;
        let (successes, failures) = (piece.counts("successes")?, piece.counts("failures")?);
        let (labels, transactions) = (piece.texts("label")?, piece.counts("transactions")?);
        counts.extend((0..piece.len()).map(|row| LabelCount {
            label: at(&labels, row).to_owned(),
            successes: at(&successes, row),
            failures: at(&failures, row),
            transactions: at(&transactions, row),
        }));
    }
    Ok(counts)
}

/// Writes the rejected records, one JSON object per line.
pub(super) fn write_rejects(out: SummedFile, rejects: &mut RejectSpool) -> Result<Sums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    rejects.write_lines(&mut writer)?.map_err(|error| Error::io(&path, error))?;
    finish_buffered(writer, &path)
}

/// Reads the rejected records.
pub(super) fn read_rejects(file: &CheckedFile) -> impl Iterator<Item = Result<Reject>> + use<> {
    let what = format!("reading {}", file.path().display());
    read_lines(BufReader::new(file.reader(0)), what)
}

/// Writes a JSON document.
pub(super) fn write_document(out: SummedFile, document: &impl Serialize) -> Result<Sums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    serde_json::to_writer(&mut writer, document).map_err(|error| Error::io(&path, error.into()))?;
    finish_buffered(writer, &path)
}

fn finish_buffered(writer: BufWriter<SummedFile>, path: &Path) -> Result<Sums> {
    finished(writer.into_inner().map_err(|error| Error::io(path, error.into_error()))?)
}

/// Reads a JSON document.
pub(super) fn read_document<T: DeserializeOwned>(file: &CheckedFile) -> Result<T> {
    let read = serde_json::from_reader(BufReader::new(file.reader(0)));
    read.map_err(|error| Error::store(format!("reading {}", file.path().display()), error))
}
