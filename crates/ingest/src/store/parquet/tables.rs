//! The small tables of a run as Parquet, readable by any tool: seconds, CPU readings, errors, labels.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::counts::{Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LabelCount, Spread};
use crate::cpu::CpuSeries;
use crate::error::{Error, Result};
use crate::rejects::{Reject, RejectSpool};

pub(super) const SAMPLES: &str = "samples.parquet";
pub(super) const SECONDS: &str = "seconds.parquet";
pub(super) const CPU: &str = "cpu.parquet";
pub(super) const ERRORS: &str = "errors.parquet";
pub(super) const LABELS: &str = "labels.parquet";
pub(super) const REJECTS: &str = "rejects.jsonl";

/// Cells a batch; a run of any length is written and read in pieces.
const CELLS: usize = 4096;

/// Writes a table of one or more batches, durably.
fn write(path: &Path, batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<()> {
    let failed = |error| Error::store(format!("writing {}", path.display()), error);
    let mut writer: Option<ArrowWriter<File>> = None;
    for batch in batches {
        let batch = batch?;
        if writer.is_none() {
            let file = File::create_new(path).map_err(|error| Error::io(path, error))?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned())
                .build();
            writer = Some(ArrowWriter::try_new(file, batch.schema(), Some(properties)).map_err(failed)?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch).map_err(failed)?;
        }
    }
    let Some(mut writer) = writer else { return Ok(()) };
    writer.finish().map_err(failed)?;
    writer.inner().sync_all().map_err(|error| Error::io(path, error))
}

/// The batches of a table.
fn read(path: &Path) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let what = format!("reading {}", path.display());
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| builder.with_batch_size(CELLS).build())
        .map_err(|error| Error::store(what.clone(), error))?;
    Ok(reader.map(move |batch| batch.map_err(|error| Error::store(what.clone(), error))))
}

fn table(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|error| Error::store("making a table", error))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| Error::store("reading the store", format!("no column {name}")))
}

fn numbers<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> Result<&'a [T::Native]> {
    let array = column(batch, name)?.as_primitive_opt::<T>();
    array.map(|array| &**array.values()).ok_or_else(|| unexpected(name))
}

fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray> {
    column(batch, name)?.as_string_opt::<i32>().ok_or_else(|| unexpected(name))
}

fn flags<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a BooleanArray> {
    column(batch, name)?.as_boolean_opt().ok_or_else(|| unexpected(name))
}

fn unexpected(name: &str) -> Error {
    Error::store("reading the store", format!("column {name} has another type than perfpipe writes"))
}

/// Writes the exact counts, the cells ascending by key.
pub(super) fn write_seconds(
    path: &Path,
    labels: &[String],
    injectors: &[String],
    cells: &mut dyn Iterator<Item = (CellKey, Cell)>,
) -> Result<()> {
    let mut first = true;
    write(
        path,
        std::iter::from_fn(|| {
            let piece: Vec<(CellKey, Cell)> = cells.take(CELLS).collect();
            // A run without a cell still has a file.
            let wanted = first || !piece.is_empty();
            first = false;
            wanted.then(|| seconds(&piece, labels, injectors))
        }),
    )
}

fn seconds(cells: &[(CellKey, Cell)], labels: &[String], injectors: &[String]) -> Result<RecordBatch> {
    let name = |names: &[String], index: u32| names.get(index as usize).cloned().unwrap_or_default();
    let flags = |flag: fn(&CellKey) -> bool| -> ArrayRef {
        Arc::new(cells.iter().map(|(key, _)| Some(flag(key))).collect::<BooleanArray>())
    };
    let large = |number: fn(&Cell) -> i64| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell)).collect::<Int64Array>())
    };
    let small = |number: fn(&Cell) -> i32| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell)).collect::<Int32Array>())
    };
    let mut elapsed = ListBuilder::new(Int32Builder::new());
    let mut counts = ListBuilder::new(Int64Builder::new());
    let mut hosts = ListBuilder::new(StringBuilder::new());
    let mut samples = ListBuilder::new(Int64Builder::new());
    let mut threads = ListBuilder::new(Int64Builder::new());
    for (_, cell) in cells {
        for (value, count) in &cell.elapsed {
            elapsed.values().append_value(*value);
            counts.values().append_value(*count as i64);
        }
        for load in &cell.injectors {
            hosts.values().append_value(name(injectors, load.injector));
            samples.values().append_value(load.samples as i64);
            threads.values().append_value(load.threads);
        }
        elapsed.append(true);
        counts.append(true);
        hosts.append(true);
        samples.append(true);
        threads.append(true);
    }
    let second: Int32Array = cells.iter().map(|(key, _)| key.second as i32).collect();
    let label = StringArray::from_iter_values(cells.iter().map(|(key, _)| name(labels, key.label)));
    table(vec![
        ("second", Arc::new(second)),
        ("label", Arc::new(label)),
        ("success", flags(|key| key.success)),
        ("transaction", flags(|key| key.transaction)),
        ("samples", large(|cell| cell.samples() as i64)),
        ("elapsed", Arc::new(elapsed.finish())),
        ("counts", Arc::new(counts.finish())),
        ("latency_n", large(|cell| cell.latency.n as i64)),
        ("latency_sum", large(|cell| cell.latency.sum)),
        ("latency_min", small(|cell| cell.latency.min)),
        ("latency_max", small(|cell| cell.latency.max)),
        ("connect_sum", large(|cell| cell.connect)),
        ("bytes_sum", large(|cell| cell.bytes)),
        ("sent_bytes_sum", large(|cell| cell.sent_bytes)),
        ("before_boundary", large(|cell| cell.before_boundary as i64)),
        ("injectors", Arc::new(hosts.finish())),
        ("injector_samples", Arc::new(samples.finish())),
        ("injector_threads", Arc::new(threads.finish())),
    ])
}

/// Names on their way back to indexes.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    by_name: hashbrown::HashMap<String, u32>,
}

impl Names {
    fn index(&mut self, name: &str) -> u32 {
        *self.by_name.entry_ref(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() as u32 - 1
        })
    }
}

/// Reads the exact counts back.
pub(super) fn read_seconds(path: &Path) -> Result<CellTable> {
    let (mut labels, mut injectors) = (Names::default(), Names::default());
    let mut cells = Vec::new();
    for batch in read(path)? {
        read_cells(&batch?, &mut labels, &mut injectors, &mut cells)?;
    }
    Ok(CellTable::new(labels.names, injectors.names, cells))
}

/// The values of a list column, and where each row's begin and end.
fn list<'a, T: ArrowPrimitiveType>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<(&'a [i32], &'a [T::Native])> {
    let lists = column(batch, name)?.as_list_opt::<i32>().ok_or_else(|| unexpected(name))?;
    let values = lists.values().as_primitive_opt::<T>().ok_or_else(|| unexpected(name))?;
    Ok((lists.value_offsets(), values.values()))
}

/// The part of a list column that belongs to a row.
fn part<'a, T>((offsets, values): (&[i32], &'a [T]), row: usize) -> &'a [T] {
    match offsets.get(row..row + 2) {
        Some([from, to]) => values.get(*from as usize..*to as usize).unwrap_or_default(),
        _ => &[],
    }
}

fn read_cells(
    batch: &RecordBatch,
    labels: &mut Names,
    injectors: &mut Names,
    cells: &mut Vec<(CellKey, Cell)>,
) -> Result<()> {
    let large = |name: &str| numbers::<Int64Type>(batch, name);
    let small = |name: &str| numbers::<Int32Type>(batch, name);
    let (second, label) = (small("second")?, texts(batch, "label")?);
    let (success, transaction) = (flags(batch, "success")?, flags(batch, "transaction")?);
    let (elapsed, counts) = (list::<Int32Type>(batch, "elapsed")?, list::<Int64Type>(batch, "counts")?);
    let (latency_n, latency_sum) = (large("latency_n")?, large("latency_sum")?);
    let (latency_min, latency_max) = (small("latency_min")?, small("latency_max")?);
    let (connect, bytes, sent) = (large("connect_sum")?, large("bytes_sum")?, large("sent_bytes_sum")?);
    let before = large("before_boundary")?;
    let hosts = column(batch, "injectors")?.as_list_opt::<i32>().ok_or_else(|| unexpected("injectors"))?;
    let host_names = hosts.values().as_string_opt::<i32>().ok_or_else(|| unexpected("injectors"))?;
    let host_indexes: Vec<u32> =
        host_names.iter().map(|name| injectors.index(name.unwrap_or_default())).collect();
    let hosts = (hosts.value_offsets(), host_indexes.as_slice());
    let samples = list::<Int64Type>(batch, "injector_samples")?;
    let threads = list::<Int64Type>(batch, "injector_threads")?;
    for row in 0..batch.num_rows() {
        let key = CellKey {
            second: second[row] as u32,
            label: labels.index(label.value(row)),
            success: success.value(row),
            transaction: transaction.value(row),
        };
        let pairs = part(elapsed, row).iter().zip(part(counts, row));
        let loads = part(hosts, row).iter().zip(part(samples, row)).zip(part(threads, row));
        let cell = Cell {
            elapsed: pairs.map(|(value, count)| (*value, *count as u64)).collect(),
            latency: Spread {
                n: latency_n[row] as u64,
                sum: latency_sum[row],
                min: latency_min[row],
                max: latency_max[row],
            },
            connect: connect[row],
            bytes: bytes[row],
            sent_bytes: sent[row],
            before_boundary: before[row] as u64,
            injectors: loads
                .map(|((injector, samples), threads)| InjectorLoad {
                    injector: *injector,
                    samples: *samples as u64,
                    threads: *threads,
                })
                .collect(),
        };
        cells.push((key, cell));
    }
    Ok(())
}

/// Writes the CPU readings.
pub(super) fn write_cpu(path: &Path, cpu: &CpuSeries) -> Result<()> {
    let (clock, value): (Vec<i64>, Vec<f64>) = cpu.readings().iter().copied().unzip();
    let batch = table(vec![
        ("clock", Arc::new(Int64Array::from(clock))),
        ("value", Arc::new(Float64Array::from(value))),
    ]);
    write(path, std::iter::once(batch))
}

/// Reads the CPU readings back.
pub(super) fn read_cpu(path: &Path) -> Result<CpuSeries> {
    let mut readings = Vec::new();
    for batch in read(path)? {
        let batch = batch?;
        let clocks = numbers::<Int64Type>(&batch, "clock")?;
        let values = numbers::<Float64Type>(&batch, "value")?;
        readings.extend(clocks.iter().copied().zip(values.iter().copied()));
    }
    Ok(CpuSeries::new(readings))
}

/// Writes the failures.
pub(super) fn write_errors(path: &Path, errors: &[ErrorCount]) -> Result<()> {
    let text = |of: fn(&ErrorCount) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(errors.iter().map(of)))
    };
    let second: Int32Array = errors.iter().map(|error| error.second as i32).collect();
    let transaction: BooleanArray = errors.iter().map(|error| Some(error.transaction)).collect();
    let count: Int64Array = errors.iter().map(|error| error.count as i64).collect();
    let batch = table(vec![
        ("second", Arc::new(second)),
        ("label", text(|error| &error.label)),
        ("response_code", text(|error| &error.response_code)),
        ("message", text(|error| &error.message)),
        ("transaction", Arc::new(transaction)),
        ("count", Arc::new(count)),
    ]);
    write(path, std::iter::once(batch))
}

/// Reads the failures back.
pub(super) fn read_errors(path: &Path) -> Result<Vec<ErrorCount>> {
    let mut errors = Vec::new();
    for batch in read(path)? {
        let batch = batch?;
        let (seconds, counts) =
            (numbers::<Int32Type>(&batch, "second")?, numbers::<Int64Type>(&batch, "count")?);
        let (labels, codes) = (texts(&batch, "label")?, texts(&batch, "response_code")?);
        let (messages, transactions) = (texts(&batch, "message")?, flags(&batch, "transaction")?);
        for row in 0..batch.num_rows() {
            errors.push(ErrorCount {
                second: seconds[row] as u32,
                label: labels.value(row).to_owned(),
                response_code: codes.value(row).to_owned(),
                message: messages.value(row).to_owned(),
                transaction: transactions.value(row),
                count: counts[row] as u64,
            });
        }
    }
    Ok(errors)
}

/// Writes the whole-run counts by label.
pub(super) fn write_labels(path: &Path, labels: &[LabelCount]) -> Result<()> {
    let number = |of: fn(&LabelCount) -> u64| -> ArrayRef {
        Arc::new(labels.iter().map(|label| of(label) as i64).collect::<Int64Array>())
    };
    let batch = table(vec![
        ("label", Arc::new(StringArray::from_iter_values(labels.iter().map(|label| &label.label)))),
        ("successes", number(|label| label.successes)),
        ("failures", number(|label| label.failures)),
        ("transactions", number(|label| label.transactions)),
    ]);
    write(path, std::iter::once(batch))
}

/// Reads the whole-run counts by label back.
pub(super) fn read_labels(path: &Path) -> Result<Vec<LabelCount>> {
    let mut counts = Vec::new();
    for batch in read(path)? {
        let batch = batch?;
        let number = |name: &str| numbers::<Int64Type>(&batch, name);
        let (successes, failures) = (number("successes")?, number("failures")?);
        let (labels, transactions) = (texts(&batch, "label")?, number("transactions")?);
        for row in 0..batch.num_rows() {
            counts.push(LabelCount {
                label: labels.value(row).to_owned(),
                successes: successes[row] as u64,
                failures: failures[row] as u64,
                transactions: transactions[row] as u64,
            });
        }
    }
    Ok(counts)
}

/// Writes the rejected records, one JSON object a line.
pub(super) fn write_rejects(path: &Path, rejects: &mut RejectSpool) -> Result<()> {
    let file = File::create_new(path).map_err(|error| Error::io(path, error))?;
    let mut writer = BufWriter::new(file);
    for reject in rejects.iter()? {
        let line = serde_json::to_string(&reject?).map_err(|error| Error::store("writing rejects", error))?;
        writeln!(writer, "{line}").map_err(|error| Error::io(path, error))?;
    }
    let file = writer.into_inner().map_err(|error| Error::io(path, error.into_error()))?;
    file.sync_all().map_err(|error| Error::io(path, error))
}

/// The rejected records, one after another.
pub(super) fn read_rejects(path: &Path) -> Result<impl Iterator<Item = Result<Reject>> + use<>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let what = format!("reading {}", path.display());
    Ok(serde_json::Deserializer::from_reader(BufReader::new(file))
        .into_iter()
        .map(move |reject| reject.map_err(|error| Error::store(what.clone(), error))))
}
