//! Writes the counts.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::file::properties::WriterPropertiesBuilder;

use super::columns::Columns;
use super::{INJECTORS, LABEL, PACKED, limited};
use crate::counts::pack::pack_counts;
use crate::counts::packed::CellResult;
use crate::counts::{Cell, CellKey};
use crate::error::{Error, Result};
use crate::sample::resolution::Resolution;
use crate::store::parquet::checksum::{SummedFile, Sums};
use crate::store::parquet::tables::{by_differences, compression, items_of, properties, table, write};

/// The maximum number of cells per batch when writing.
const CELLS: usize = 1024;

/// The approximate maximum number of counts and injectors in a batch of cells.
const VALUES: usize = 64 << 10;

/// The properties for the exact counts of times in this unit.
fn properties_in(unit: Resolution) -> WriterPropertiesBuilder {
    if !unit.is_fine() {
        return properties();
    }
    // Nearly every request has a time of its own, which a dictionary would hold once and be no help.
    by_differences(properties(), items_of("counts")).set_column_dictionary_enabled(PACKED.into(), false)
}

/// Writes the exact counts. The cells must ascend by key.
pub(in crate::store::parquet) fn write_seconds(
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
        let batches = begun.into_iter().chain(receiver);
        if unit.is_fine() { write_columns(path, unit, batches) } else { write(path, properties(), batches) }
    })
}

/// Writes batches of many counts, with the columns encoded side by side.
fn write_columns(
    path: &Path,
    unit: Resolution,
    mut batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Sums> {
    let Some(first) = batches.next().transpose()? else { return SummedFile::create(path)?.finish() };
    let properties = properties_in(unit).set_compression(compression(false)).build();
    let mut columns = Columns::create(path, first.schema(), properties)?;
    for batch in std::iter::once(Ok(first)).chain(batches) {
        columns.write(&batch?)?;
    }
    columns.finish()
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
        (LABEL, Arc::new(StringArray::from(label))),
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
        (INJECTORS, Arc::new(hosts.finish())),
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
