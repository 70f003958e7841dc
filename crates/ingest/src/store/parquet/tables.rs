//! The small tables of a run as Parquet: seconds, CPU readings, errors, labels.

use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::checksum::{CheckedFile, SummedFile, Sums};
use super::panics::plain;
use super::table_reader::{Piece, at, read, read_without};
use crate::counts::pack::{check_counts, pack_counts};
use crate::counts::packed::CellResult;
use crate::counts::table::{CellTable, CellTableBuilder, READ_ROOM};
use crate::counts::{Cell, CellKey, ErrorCount, InjectorLoad, LabelCount, Spread};
use crate::error::{Error, Result};
use crate::run::rejects::{Reject, RejectSpool, read_lines};
use crate::sample::intern::{Interner, Shared};
use crate::sample::resolution::Resolution;
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;
use crate::store::held::Counted;
use crate::store::series_rows::SeriesRows;

pub(super) const SAMPLES: &str = "samples.parquet";
pub(super) const SECONDS: &str = "seconds.parquet";
pub(super) const CPU: &str = "cpu.parquet";
pub(super) const SERIES: &str = "series.parquet";
pub(super) const ERRORS: &str = "errors.parquet";
pub(super) const LABELS: &str = "labels.parquet";
pub(super) const REJECTS: &str = "rejects.jsonl";

/// The files of all small tables and of the rejected records.
pub(super) const SMALL: [&str; 5] = [SECONDS, CPU, ERRORS, LABELS, REJECTS];

/// The files that runs have only where there is something in them.
pub(super) const OPTIONAL: [&str; 1] = [SERIES];

/// The column of the counts in packed form, which perfpipe reads: about ten times as fast as the lists, which are for
/// other programs.
const PACKED: &str = "packed";

/// The maximum number of cells per batch when writing.
const CELLS: usize = 1024;

/// The approximate maximum number of counts and injectors in a batch of cells.
const VALUES: usize = 64 << 10;

/// The number of rows in a batch of failures, which have up to three texts of some KiB each.
const FAILURES: usize = 2 << 10;

/// The number of rows in a batch of labels.
const LABEL_ROWS: usize = 2 << 10;

/// The size in bytes of encoded rows that ends a row group.
const HELD: usize = 8 << 20;

/// Writes a table of one or more batches and syncs it to disk.
fn write(
    path: &Path,
    properties: WriterProperties,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Sums> {
    let failed = |error| Error::store(format!("writing {}", path.display()), plain(error));
    let mut writer: Option<ArrowWriter<SummedFile>> = None;
    for batch in batches {
        let batch = batch?;
        if writer.is_none() {
            let file = SummedFile::create(path)?;
            writer =
                Some(ArrowWriter::try_new(file, batch.schema(), Some(properties.clone())).map_err(failed)?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch).map_err(failed)?;
            if writer.in_progress_size() > HELD {
                writer.flush().map_err(failed)?;
            }
        }
    }
    match &mut writer {
        Some(writer) => {
            writer.finish().map_err(failed)?;
            writer.inner_mut().finish()
        }
        None => SummedFile::create(path)?.finish(),
    }
}

fn properties() -> WriterProperties {
    builder().build()
}

fn builder() -> WriterPropertiesBuilder {
    // The lists of elapsed times ascend: their differences take half the space of dictionary indices.
    by_differences(
        WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("perfpipe ", env!("CARGO_PKG_VERSION")).to_owned()),
        items_of("elapsed"),
    )
}

/// The items of a column of lists.
fn items_of(lists: &str) -> ColumnPath {
    ColumnPath::from(vec![lists.into(), "list".into(), "item".into()])
}

/// Sets that a column is written as the differences between neighbours.
fn by_differences(builder: WriterPropertiesBuilder, column: ColumnPath) -> WriterPropertiesBuilder {
    builder
        .set_column_dictionary_enabled(column.clone(), false)
        .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
}

/// The properties for the exact counts of times in this unit.
fn properties_in(unit: Resolution) -> WriterProperties {
    if !unit.is_fine() {
        return properties();
    }
    // Nearly every request has a time of its own: there is nothing that a dictionary would hold once.
    by_differences(builder(), items_of("counts")).set_column_dictionary_enabled(PACKED.into(), false).build()
}

fn table(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    RecordBatch::try_from_iter(columns).map_err(|error| Error::store("making a table", error))
}

/// Writes the exact counts. The cells must ascend by key.
pub(super) fn write_seconds(
    path: &Path,
    unit: Resolution,
    (labels, injectors): (&[String], &[String]),
    cells: &mut (dyn Iterator<Item = CellResult> + Send),
) -> Result<Sums> {
    let mut batches = std::iter::from_fn(move || match next_piece(cells) {
        Ok(piece) if piece.is_empty() => None,
        piece => Some(piece.and_then(|piece| seconds(&piece, labels, injectors))),
    });
    let mut begun: Vec<_> = batches.by_ref().take(2).collect();
    if begun.is_empty() {
        // A run without cells still has a file.
        begun.push(seconds(&[], labels, injectors));
    }
    if begun.len() < 2 {
        return write(path, properties_in(unit), begun.into_iter());
    }
    // Where there are many counts, one thread unpacks them while another one encodes them.
    std::thread::scope(|scope| {
        let (sender, receiver) = crossbeam_channel::bounded(2);
        let send = move || batches.all(|batch| sender.send(batch).is_ok());
        std::thread::Builder::new().spawn_scoped(scope, send).map_err(Error::no_thread)?;
        write(path, properties_in(unit), begun.into_iter().chain(receiver))
    })
}

/// Takes the cells of the next batch.
fn next_piece(cells: &mut (dyn Iterator<Item = CellResult> + Send)) -> Result<Vec<(CellKey, Cell)>> {
    let (mut piece, mut values) = (Vec::new(), 0);
    while piece.len() < CELLS && values < VALUES {
        let Some(cell) = cells.next().transpose()? else { break };
        values += cell.1.elapsed.len() + cell.1.injectors.len();
        piece.push(cell);
    }
    Ok(piece)
}

fn seconds(cells: &[(CellKey, Cell)], labels: &[String], injectors: &[String]) -> Result<RecordBatch> {
    let flags = |flag: fn(&CellKey) -> bool| -> ArrayRef {
        Arc::new(cells.iter().map(|(key, _)| Some(flag(key))).collect::<BooleanArray>())
    };
    let large = |number: fn(&Cell) -> i64| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell)).collect::<Int64Array>())
    };
    let small = |number: fn(&Cell) -> i32| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell)).collect::<Int32Array>())
    };
    let times = cells.iter().map(|(_, cell)| cell.elapsed.len()).sum();
    let mut elapsed = ListBuilder::with_capacity(Int32Builder::with_capacity(times), cells.len());
    let mut counts = ListBuilder::with_capacity(Int64Builder::with_capacity(times), cells.len());
    let mut hosts = ListBuilder::new(StringBuilder::new());
    let mut samples = ListBuilder::new(Int64Builder::new());
    let mut threads = ListBuilder::new(Int64Builder::new());
    let (mut packed, mut bytes) = (BinaryBuilder::new(), Vec::new());
    for (_, cell) in cells {
        for (value, count) in &cell.elapsed {
            elapsed.values().append_value(*value);
            counts.values().append_value(*count as i64);
        }
        for load in &cell.injectors {
            hosts.values().append_value(name(injectors, load.injector)?);
            samples.values().append_value(load.samples as i64);
            threads.values().append_value(load.threads);
        }
        elapsed.append(true);
        counts.append(true);
        hosts.append(true);
        samples.append(true);
        threads.append(true);
        bytes.clear();
        pack_counts(&mut bytes, &cell.elapsed);
        packed.append_value(&bytes);
    }
    let second: Int32Array = cells.iter().map(|(key, _)| key.second as i32).collect();
    let label = cells.iter().map(|(key, _)| name(labels, key.label)).collect::<Result<Vec<&str>>>()?;
    table(vec![
        ("second", Arc::new(second)),
        ("label", Arc::new(StringArray::from(label))),
        ("success", flags(|key| key.success)),
        ("transaction", flags(|key| key.transaction)),
        ("samples", large(|cell| limited(cell.samples()))),
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
        (PACKED, Arc::new(packed.finish())),
    ])
}

/// Returns the name at an index of a key or a load.
fn name(names: &[String], index: u32) -> Result<&str> {
    let found = names.get(index as usize).map(String::as_str);
    found
        .ok_or_else(|| Error::bug("writing the counts by second", format!("name {index} is not in its list")))
}

/// Converts a number of samples into the type of its column.
fn limited(samples: u64) -> i64 {
    i64::try_from(samples).unwrap_or(i64::MAX)
}

/// Reads the exact counts, and the number of samples in them.
pub(super) fn read_seconds(file: CheckedFile) -> Result<(CellTable, Counted)> {
    let (mut labels, mut injectors) = (Interner::default(), Interner::default());
    let (mut cells, mut counted) = (CellTableBuilder::new(READ_ROOM), Counted::default());
    for piece in read_without(file, &["elapsed", "counts"])? {
        read_cells(&piece?, &mut labels, &mut injectors, &mut cells, &mut counted)?;
    }
    let names = |names: &Interner| names.texts().iter().map(str::to_owned).collect();
    Ok((cells.finish(names(&labels), names(&injectors))?, counted))
}

fn read_cells(
    piece: &Piece,
    labels: &mut Interner,
    injectors: &mut Interner,
    cells: &mut CellTableBuilder,
    counted: &mut Counted,
) -> Result<()> {
    let large = |name: &str| piece.numbers::<Int64Type>(name);
    let (second, label) = (piece.seconds("second")?, piece.texts("label")?);
    let (success, transaction) = (piece.flags("success")?, piece.flags("transaction")?);
    let (packed, sizes) = (piece.bytes(PACKED)?, large("samples")?);
    let latency = read_latency(piece)?;
    let (connect, bytes, sent) = (large("connect_sum")?, large("bytes_sum")?, large("sent_bytes_sum")?);
    let before = piece.counts("before_boundary")?;
    let hosts = piece.text_lists("injectors", |name| injectors.number(name))?;
    let samples = piece.count_lists("injector_samples")?;
    let threads = piece.number_lists::<Int64Type>("injector_threads")?;
    for row in 0..piece.len() {
        let key = CellKey {
            second: at(&second, row),
            label: labels.number(at(&label, row)),
            success: at(&success, row),
            transaction: at(&transaction, row),
        };
        let sums = Cell {
            elapsed: Vec::new(),
            latency: at(&latency, row),
            connect: at(connect, row),
            bytes: at(bytes, row),
            sent_bytes: at(sent, row),
            before_boundary: at(&before, row),
            injectors: loads(piece, hosts.get(row), samples.get(row), threads.get(row))?,
        };
        let (counts, samples) = counts(piece, at(&packed, row), at(sizes, row))?;
        counted.add(key.success, key.transaction, samples);
        cells.push(key, counts, &sums)?;
    }
    Ok(())
}

fn read_latency(piece: &Piece) -> Result<Vec<Spread>> {
    let (n, sum) = (piece.counts("latency_n")?, piece.numbers::<Int64Type>("latency_sum")?);
    let (min, max) = (piece.numbers::<Int32Type>("latency_min")?, piece.numbers::<Int32Type>("latency_max")?);
    let spread = |row| Spread { n: at(&n, row), sum: at(sum, row), min: at(min, row), max: at(max, row) };
    Ok((0..piece.len()).map(spread).collect())
}

/// Checks that a cell's packed counts are those of `samples` samples. Returns them and the number of samples.
fn counts<'a>(piece: &Piece, packed: &'a [u8], samples: i64) -> Result<(&'a [u8], u64)> {
    let mut rest = packed;
    match check_counts(&mut rest) {
        Some(counted) if limited(counted) == samples && rest.is_empty() => Ok((packed, counted)),
        _ => Err(piece.damaged(format!("column {PACKED} does not hold the counts of its samples"))),
    }
}

/// Returns the loads of a cell's injectors, ascending by injector index.
fn loads(piece: &Piece, hosts: &[u32], samples: &[u64], threads: &[i64]) -> Result<Vec<InjectorLoad>> {
    if hosts.len() != samples.len() || hosts.len() != threads.len() {
        return Err(piece.damaged("the columns of injectors differ in length"));
    }
    let columns = hosts.iter().zip(samples).zip(threads);
    let mut loads: Vec<InjectorLoad> = columns
        .map(|((injector, samples), threads)| InjectorLoad {
            injector: *injector,
            samples: *samples,
            threads: *threads,
        })
        .collect();
    loads.sort_by_key(|load| load.injector);
    Ok(loads)
}

/// Writes the CPU readings.
pub(super) fn write_cpu(path: &Path, cpu: &TimeSeries) -> Result<Sums> {
    let (clock, value): (Vec<i64>, Vec<f64>) = cpu.readings().iter().copied().unzip();
    let batch = table(vec![
        ("clock", Arc::new(Int64Array::from(clock))),
        ("value", Arc::new(Float64Array::from(value))),
    ]);
    write(path, properties(), std::iter::once(batch))
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
pub(super) fn write_series(path: &Path, series: &[ServerSeries]) -> Result<Sums> {
    write(path, properties(), series.iter().map(series_rows))
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
pub(super) fn write_errors(path: &Path, errors: &[ErrorCount]) -> Result<Sums> {
    let (first, rest) = errors.split_at(errors.len().min(FAILURES));
    // A run without failures still has a file.
    write(path, properties(), std::iter::once(first).chain(rest.chunks(FAILURES)).map(failures))
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
pub(super) fn write_labels(path: &Path, labels: &[LabelCount]) -> Result<Sums> {
    let (first, rest) = labels.split_at(labels.len().min(LABEL_ROWS));
    // A run without labels still has a file.
    write(path, properties(), std::iter::once(first).chain(rest.chunks(LABEL_ROWS)).map(label_rows))
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
pub(super) fn write_rejects(path: &Path, rejects: &mut RejectSpool) -> Result<Sums> {
    let mut writer = BufWriter::new(SummedFile::create(path)?);
    rejects.write_lines(&mut writer)?.map_err(|error| Error::io(path, error))?;
    writer.into_inner().map_err(|error| Error::io(path, error.into_error()))?.finish()
}

/// Reads the rejected records.
pub(super) fn read_rejects(file: &CheckedFile) -> impl Iterator<Item = Result<Reject>> + use<> {
    let what = format!("reading {}", file.path().display());
    read_lines(BufReader::new(file.reader(0)), what)
}
