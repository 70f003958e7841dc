//! Writes the counts: cells as the columns of row groups, which are encoded side by side.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use arrow_schema::Schema;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;

use super::limited;
use crate::parquet::checksum::{FileSums, SummedFile};
use crate::parquet::guard::plain_error;
use crate::parquet::pages::{
    ColumnChunk, ColumnPart, EncodedColumn, PageCompression, PageLevels, PagedFile, WholeNumber,
    byte_strings, coded, flags, numbers, whole, zstd,
};
use crate::parquet::schema::{SECONDS, file_schema};
use perfpipe_model::counts::spill::CellResult;
use perfpipe_model::counts::{Cell, CellKey, PackedCell, TakeCounts};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::resolution::Resolution;

/// The maximum number of cells in a row group.
const CELLS: usize = 6 << 10;

/// The approximate maximum number of counts and injectors in a row group.
const VALUES: usize = 192 << 10;

/// Writes the exact counts. The cells must ascend by key.
pub(crate) fn write_seconds(
    out: SummedFile,
    run: CellContext<'_>,
    cells: &mut (dyn Iterator<Item = CellResult> + Send),
) -> Result<FileSums> {
    let groups = std::iter::from_fn(move || match next_group(cells) {
        Ok(group) if group.is_empty() => None,
        group => Some(group),
    });
    write_groups(out, &file_schema(SECONDS), groups, &|group: Vec<_>, schema| columns(&group, run, schema))
}

/// Reads the cells of the next row group.
fn next_group(cells: &mut (dyn Iterator<Item = CellResult> + Send)) -> Result<Vec<(CellKey, PackedCell)>> {
    let (mut group, mut values) = (Vec::new(), 0);
    while group.len() < CELLS && values < VALUES {
        let Some(cell) = cells.next().transpose()? else { break };
        // Most values take a byte.
        values += cell.1.counts().len() + cell.1.sums().injectors.len();
        group.push(cell);
    }
    Ok(group)
}

/// The maximum number of threads that encode.
const THREADS: usize = 4;

/// The columns of a row group, encoded.
type EncodedGroup = Result<Vec<EncodedColumn>>;

/// A thread that encodes a row group.
type GroupEncoding<'scope> = ScopedJoinHandle<'scope, EncodedGroup>;

/// Writes groups of rows, of each of which `encode` makes the columns, and makes the file durable.
fn write_groups<G: Send>(
    mut out: SummedFile,
    schema: &Schema,
    mut groups: impl Iterator<Item = Result<G>>,
    encode: &(impl Fn(G, &SchemaDescriptor) -> EncodedGroup + Sync),
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error: ParquetError| Error::store(&*what, plain_error(error));
    let notes = out.take_notes();
    let (mut file, schema) = PagedFile::new(out, schema).map_err(failed)?;
    let mut append = |columns: EncodedGroup| file.append(columns?.into_iter().map(Ok)).map_err(failed);
    let begun: Vec<Result<G>> = groups.by_ref().take(2).collect();
    if begun.len() < 2 {
        // A thread would only be waited for.
        begun.into_iter().try_for_each(|group| append(encode(group?, &schema)))?;
    } else {
        encode_group(begun.into_iter().chain(groups), &|group| encode(group, &schema), &mut append)?;
    }
    file.note(notes);
    file.finish().map_err(failed)?;
    file.inner_mut().finish()
}

/// Encodes groups on threads of their own and appends them in order.
fn encode_group<G: Send>(
    mut groups: impl Iterator<Item = Result<G>>,
    encode: &(impl Fn(G) -> EncodedGroup + Sync),
    append: &mut impl FnMut(EncodedGroup) -> Result<()>,
) -> Result<()> {
    // One more than there are cores, on which the others encode while the next group is read.
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() + 1).min(THREADS);
    let mut write = |encoding: GroupEncoding<'_>| {
        append(encoding.join().map_err(|_| Error::stopped("the work on the columns"))?)
    };
    std::thread::scope(|scope| {
        let mut encodings: VecDeque<GroupEncoding<'_>> = VecDeque::new();
        loop {
            // Before the next group is read, which has to be kept as well.
            if encodings.len() >= threads {
                encodings.pop_front().map_or(Ok(()), &mut write)?;
            }
            let Some(group) = groups.next().transpose()? else { break };
            // Linux lets a thread that begins with work run on an idle core, but one that is woken often wait.
            let encoding = std::thread::Builder::new().spawn_scoped(scope, || encode(group));
            encodings.push_back(encoding.map_err(Error::no_thread)?);
        }
        encodings.into_iter().try_for_each(&mut write)
    })
}

/// The number of cells up to which a row group is little: Zstandard takes some 200 KiB, which costs more time than all else.
const LITTLE: usize = 1024;

/// What all cells of a run share.
#[derive(Clone, Copy)]
pub(crate) struct CellContext<'a> {
    pub(crate) unit: Resolution,
    pub(crate) labels: &'a [String],
    pub(crate) injectors: &'a [String],
}

/// Encodes the cells of a row group.
fn columns(
    cells: &[(CellKey, PackedCell)],
    run: CellContext<'_>,
    schema: &SchemaDescriptor,
) -> Result<Vec<EncodedColumn>> {
    let parts = parts(cells, run)?;
    let span = cells.first().zip(cells.last());
    let mut span = span.map(|((first, _), (last, _))| [first, last].map(|key| Some(key.second as i32)));
    let column = |(column, part): (_, ColumnPart)| {
        let mut chunk = ColumnChunk::new(Arc::clone(column));
        chunk.add(part)?;
        // The first column, and those of texts: the others are in no order by which a reader could leave any out.
        let seconds = span.take().map(|[first, last]| Statistics::int32(first, last, None, Some(0), false));
        let statistics = seconds.or_else(|| chunk.text_statistics());
        chunk.end(statistics)
    };
    schema.columns().iter().zip(parts).map(column).collect::<Result<_, _>>().map_err(failed)
}

/// Returns what cells add to each column, in the order of the schema.
fn parts(cells: &[(CellKey, PackedCell)], run: CellContext<'_>) -> Result<Vec<ColumnPart>> {
    let rows = cells.len();
    let flags = |of: fn(&CellKey) -> bool| {
        flags(&cells.iter().map(|(key, _)| of(key)).collect::<Vec<_>>()).map_err(failed)
    };
    let second: Vec<i32> = cells.iter().map(|(key, _)| key.second as i32).collect();
    let label: Vec<u32> = cells.iter().map(|(key, _)| key.label).collect();
    let [elapsed, counts, packed] = counts(cells, run.unit)?;
    let [samples, latency_n, latency_sum, connect, bytes, sent_bytes, before_boundary] =
        sums(cells, |cell| {
            let Cell { latency, connect, bytes, sent_bytes, before_boundary, .. } = cell.sums();
            let samples = limited(cell.samples());
            [samples, latency.n as i64, latency.sum, *connect, *bytes, *sent_bytes, *before_boundary as i64]
        })?;
    let [latency_min, latency_max] = sums(cells, |cell| [cell.sums().latency.min, cell.sums().latency.max])?;
    let [injectors, injector_samples, injector_threads] = loads(cells, run.injectors)?;
    Ok(vec![
        whole(&second).map_err(failed)?,
        coded(&label, run.labels, PageLevels::required(rows))?,
        flags(|key| key.success)?,
        flags(|key| key.transaction)?,
        samples,
        elapsed,
        counts,
        latency_n,
        latency_sum,
        latency_min,
        latency_max,
        connect,
        bytes,
        sent_bytes,
        before_boundary,
        injectors,
        injector_samples,
        injector_threads,
        packed,
        whole(&vec![run.unit.microseconds() as i32; rows]).map_err(failed)?,
    ])
}

/// Returns columns of whole numbers, of which each cell has one in each. A cell takes several cache lines, so each is
/// looked at once.
fn sums<T: WholeNumber, const N: usize>(
    cells: &[(CellKey, PackedCell)],
    of: impl Fn(&PackedCell) -> [T; N],
) -> Result<[ColumnPart; N]> {
    let mut columns = [(); N].map(|()| Vec::with_capacity(cells.len()));
    for (_, cell) in cells {
        columns.iter_mut().zip(of(cell)).for_each(|(column, value)| column.push(value));
    }
    each(columns.map(|column| whole(&column).map_err(failed)))
}

/// Returns the columns of the loads: injectors, samples and threads.
fn loads(cells: &[(CellKey, PackedCell)], injectors: &[String]) -> Result<[ColumnPart; 3]> {
    let [mut samples, mut threads] = [(); 2].map(|()| Vec::with_capacity(cells.len()));
    let (mut lengths, mut indexes) = (Vec::with_capacity(cells.len()), Vec::with_capacity(cells.len()));
    for (_, cell) in cells {
        let loads = &cell.sums().injectors;
        lengths.push(loads.len());
        for load in loads {
            indexes.push(load.injector);
            samples.push(load.samples as i64);
            threads.push(load.threads);
        }
    }
    let lists = PageLevels::lists(&lengths);
    let number = |values: &[i64]| numbers(values, lists.clone(), PageCompression::Lz4).map_err(failed);
    each([coded(&indexes, injectors, lists.clone()), number(&samples), number(&threads)])
}

/// Returns the columns, or the first error among them.
fn each<const N: usize>(columns: [Result<ColumnPart>; N]) -> Result<[ColumnPart; N]> {
    let columns: Vec<ColumnPart> = columns.into_iter().collect::<Result<_>>()?;
    columns.try_into().map_err(|_| Error::bug("encoding the counts by second", "a column is missing"))
}

/// Returns the columns of the counts: times, samples of each time, and both in packed form.
fn counts(cells: &[(CellKey, PackedCell)], unit: Resolution) -> Result<[ColumnPart; 3]> {
    let ElapsedTimes { elapsed, counts, lengths } = ElapsedTimes::of(cells)?;
    let levels = PageLevels::lists(&lengths);
    let packed = cells.iter().map(|(_, cell)| cell.counts());
    let zstd = || zstd().map_err(failed);
    let columns = if cells.len() <= LITTLE {
        let elapsed = numbers(&elapsed, levels.clone(), PageCompression::Lz4);
        [elapsed, numbers(&counts, levels, PageCompression::Lz4), byte_strings(packed, PageCompression::Lz4)]
    } else if unit.is_fine() {
        // Nearly every request has a time of its own, of which Zstandard makes no less.
        let elapsed = numbers(&elapsed, levels.clone(), PageCompression::Lz4);
        let counts = numbers(&counts, levels, PageCompression::Lz4);
        [elapsed, counts, byte_strings(packed, PageCompression::Zstd(&mut zstd()?))]
    } else {
        // The packed counts are what a report reads: Zstandard would take a fifth of its time, and save a fifth.
        let mut zstd = zstd()?;
        let elapsed = numbers(&elapsed, levels.clone(), PageCompression::Zstd(&mut zstd));
        let counts = numbers(&counts, levels, PageCompression::Zstd(&mut zstd));
        [elapsed, counts, byte_strings(packed, PageCompression::Lz4)]
    };
    each(columns.map(|column| column.map_err(failed)))
}

/// The counts of cells, opened: of each, some neighbours in both columns.
#[derive(Default)]
struct ElapsedTimes {
    elapsed: Vec<i32>,
    counts: Vec<i64>,
    /// The number of times of each cell.
    lengths: Vec<usize>,
}

impl ElapsedTimes {
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

impl TakeCounts for ElapsedTimes {
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

fn failed(error: ParquetError) -> Error {
    Error::store("encoding the counts by second", error)
}
