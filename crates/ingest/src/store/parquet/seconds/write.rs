//! Writes the counts.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::groups::write_groups;
use super::{INJECTORS, LABEL, PACKED, limited};
use crate::counts::packed::CellResult;
use crate::counts::{Cell, CellKey, PackedCell, TakeCounts};
use crate::error::{Error, Result};
use crate::sample::resolution::Resolution;
use crate::store::parquet::checksum::{SummedFile, Sums};
use crate::store::parquet::tables::{by_differences, compression, items_of, properties, table, write};

/// The maximum number of cells per batch when writing.
const CELLS: usize = 1024;

/// The approximate maximum number of counts and injectors in a batch of cells.
const VALUES: usize = 32 << 10;

/// The columns of whole numbers of which most cells have others than their neighbours.
const NUMBERS: [&str; 9] = [
    "samples",
    "latency_n",
    "latency_sum",
    "latency_min",
    "latency_max",
    "connect_sum",
    "bytes_sum",
    "sent_bytes_sum",
    "before_boundary",
];

/// The properties for many exact counts. The lists are for other programs, to which statistics of them are of no use.
fn properties_of_many() -> WriterPropertiesBuilder {
    let lists = ["elapsed", "counts"].map(items_of).into_iter();
    let without = |builder: WriterPropertiesBuilder, list| {
        builder.set_column_statistics_enabled(list, EnabledStatistics::None)
    };
    lists
        .fold(by_differences(properties(), items_of("counts")), without)
        .set_column_dictionary_enabled(PACKED.into(), false)
        .set_compression(compression(true))
}

/// The properties for many exact counts of fine times.
fn fine_properties() -> WriterProperties {
    // Nearly every request has a time of its own, which a dictionary would hold once and be no help. What remains of
    // the columns but the packed counts is no smaller for Zstandard, which takes some 200 KiB for each.
    properties_of_many().set_column_compression(PACKED.into(), compression(false)).build()
}

/// The properties for many exact counts of whole milliseconds.
fn whole_properties() -> WriterProperties {
    // A dictionary would look up each number, and hold indices of about as many bits as differences have. Of what hardly
    // repeats, Zstandard would save a fifth and take a fifth of the time of a report, so it packs only the lists.
    let numbers = NUMBERS.map(ColumnPath::from);
    let loads = ["injector_samples", "injector_threads"].map(items_of);
    let builder = numbers.into_iter().chain(loads).fold(properties_of_many(), by_differences);
    let lists = ["elapsed", "counts"].map(items_of).into_iter();
    lists
        .fold(builder, |builder, list| builder.set_column_compression(list, compression(false)))
        .set_column_statistics_enabled(PACKED.into(), EnabledStatistics::None)
        .build()
}

/// Writes the exact counts. The cells must ascend by key.
pub(in crate::store::parquet) fn write_seconds(
    out: SummedFile,
    unit: Resolution,
    (labels, injectors): (&[String], &[String]),
    cells: &mut (dyn Iterator<Item = CellResult> + Send),
) -> Result<Sums> {
    let batch = |piece: Vec<(CellKey, PackedCell)>| seconds(&piece, labels, injectors);
    let mut pieces = std::iter::from_fn(move || match next_piece(cells) {
        Ok(piece) if piece.is_empty() => None,
        piece => Some(piece),
    });
    let mut begun: Vec<_> = pieces.by_ref().take(2).collect();
    if begun.is_empty() {
        // A run without cells still has a file.
        begun.push(Ok(Vec::new()));
    }
    if begun.len() < 2 {
        return write(out, properties(), begun.into_iter().map(|piece| piece.and_then(batch)));
    }
    let pieces = begun.into_iter().chain(pieces);
    let properties = if unit.is_fine() { fine_properties() } else { whole_properties() };
    write_groups(out, batch(Vec::new())?.schema_ref(), properties, pieces, &batch)
}

/// Takes the cells of the next batch.
fn next_piece(cells: &mut (dyn Iterator<Item = CellResult> + Send)) -> Result<Vec<(CellKey, PackedCell)>> {
    let (mut piece, mut values) = (Vec::with_capacity(CELLS), 0);
    while piece.len() < CELLS && values < VALUES {
        let Some(cell) = cells.next().transpose()? else { break };
        // Most values take a byte.
        values += cell.1.counts().len() + cell.1.sums().injectors.len();
        piece.push(cell);
    }
    Ok(piece)
}

fn seconds(cells: &[(CellKey, PackedCell)], labels: &[String], injectors: &[String]) -> Result<RecordBatch> {
    let flags = |flag: fn(&CellKey) -> bool| -> ArrayRef {
        Arc::new(cells.iter().map(|(key, _)| Some(flag(key))).collect::<BooleanArray>())
    };
    let large = |number: fn(&Cell) -> i64| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell.sums())).collect::<Int64Array>())
    };
    let small = |number: fn(&Cell) -> i32| -> ArrayRef {
        Arc::new(cells.iter().map(|(_, cell)| number(cell.sums())).collect::<Int32Array>())
    };
    let times = Times::of(cells)?;
    let mut hosts = ListBuilder::new(StringBuilder::new());
    let [mut samples, mut threads] = [(); 2].map(|()| ListBuilder::new(Int64Builder::new()));
    let mut packed = BinaryBuilder::new();
    for (_, cell) in cells {
        for load in &cell.sums().injectors {
            hosts.values().append_value(name(injectors, load.injector)?);
            samples.values().append_value(load.samples as i64);
            threads.values().append_value(load.threads);
        }
        hosts.append(true);
        samples.append(true);
        threads.append(true);
        packed.append_value(cell.counts());
    }
    let second: Int32Array = cells.iter().map(|(key, _)| key.second as i32).collect();
    let samples_of: Int64Array = cells.iter().map(|(_, cell)| limited(cell.samples())).collect();
    let label = cells.iter().map(|(key, _)| name(labels, key.label)).collect::<Result<Vec<&str>>>()?;
    table(vec![
        ("second", Arc::new(second)),
        (LABEL, Arc::new(StringArray::from(label))),
        ("success", flags(|key| key.success)),
        ("transaction", flags(|key| key.transaction)),
        ("samples", Arc::new(samples_of)),
        ("elapsed", lists(&times.lengths, Int32Array::from(times.elapsed))),
        ("counts", lists(&times.lengths, Int64Array::from(times.counts))),
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

/// The counts of cells, opened: of each, some neighbours in both columns.
#[derive(Default)]
struct Times {
    elapsed: Vec<i32>,
    counts: Vec<i64>,
    /// The number of times of each cell.
    lengths: Vec<usize>,
}

impl Times {
    fn of(cells: &[(CellKey, PackedCell)]) -> Result<Self> {
        // Most counts take a byte.
        let about = cells.iter().map(|(_, cell)| cell.counts().len()).sum();
        let (elapsed, counts) = (Vec::with_capacity(about), Vec::with_capacity(about));
        let mut times = Self { elapsed, counts, lengths: Vec::with_capacity(cells.len()) };
        for (_, cell) in cells {
            let before = times.elapsed.len();
            cell.each_count(&mut times)?;
            times.lengths.push(times.elapsed.len() - before);
        }
        Ok(times)
    }
}

impl TakeCounts for Times {
    #[inline]
    fn eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]) {
        self.elapsed.extend(differences.map(|difference| base.wrapping_add(difference.into())));
        self.counts.extend(samples.map(i64::from));
    }

    #[inline]
    fn one(&mut self, value: i32, samples: u64) {
        self.elapsed.push(value);
        self.counts.push(samples as i64);
    }
}

/// Returns a column of lists, which have these lengths.
fn lists(lengths: &[usize], items: impl Array + 'static) -> ArrayRef {
    let item = Field::new_list_field(items.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    Arc::new(ListArray::new(Arc::new(item), offsets, Arc::new(items), None))
}

/// Returns the name at an index of a key or a load.
fn name(names: &[String], index: u32) -> Result<&str> {
    let found = names.get(index as usize).map(String::as_str);
    found
        .ok_or_else(|| Error::bug("writing the counts by second", format!("name {index} is not in its list")))
}
