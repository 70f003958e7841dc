//! Reads the counts, several row groups side by side.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::types::{Int32Type, Int64Type};

use super::{INJECTORS, LABEL, PACKED, limited};
use crate::consistency::{self, SampleTotals};
use crate::parallel::{Job, side_by_side};
use crate::parquet::checksum::CheckedFile;
use crate::parquet::table_reader::{TableReader, TableRows, at};
use crate::parquet::tables::SECONDS;
use perfpipe_model::counts::pack::keep;
use perfpipe_model::counts::table::{CellTable, CellTableBuilder, READ_ROOM};
use perfpipe_model::counts::{Cell, CellKey, InjectorLoad, Spread};
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::sample::intern::Interner;

/// The maximum number of row groups that are read at a time. Each takes some MiB.
const READERS: usize = 8;

/// The number of ranges of row groups for each reader.
const TURNS: usize = 6;

/// The names that cells refer to by index.
#[derive(Clone, Default)]
struct InternedNames {
    labels: Interner,
    injectors: Interner,
}

/// A cell of a part's first second.
struct HeadCell {
    key: CellKey,
    /// The packed counts, which were checked.
    counts: Box<[u8]>,
    sums: Cell,
}

/// The cells of some row groups.
struct CellRange {
    /// The cells of the first second, of which the part before may have others.
    head: Vec<HeadCell>,
    /// The cells of all later seconds.
    cells: CellTableBuilder,
    counted: SampleTotals,
    names: InternedNames,
}

/// The maximum number of labels with which row groups are read side by side: of each part, the cells of its first second
/// are held in memory.
const LABELS: usize = 1000;

/// Reads the exact counts of a run, and the number of samples in them.
pub(crate) fn read_seconds(file: CheckedFile, info: &RunInfo) -> Result<(CellTable, SampleTotals)> {
    let table = CountsTable { table: TableReader::open(file)?, info };
    let ranges = ranges(table.table.groups());
    let room = READ_ROOM / ranges.len().max(1);
    let parts = match ranges.as_slice() {
        [] => Vec::new(),
        [all] => vec![CellRange::read(&table, all.clone(), InternedNames::default(), room)?],
        ranges => each_part(&table, ranges, room)?,
    };
    let (mut cells, mut counted, mut names) =
        (CellTableBuilder::new(room), SampleTotals::default(), InternedNames::default());
    for part in parts {
        for HeadCell { key, counts, sums } in part.head {
            cells.push(key, &counts, |_| Some(sums))?;
        }
        cells.append(part.cells)?;
        counted.merge(part.counted);
        names = part.names;
    }
    let list = |names: &Interner| names.texts().iter().map(str::to_owned).collect();
    Ok((cells.finish(list(&names.labels), list(&names.injectors))?, counted))
}

/// The table of the counts of a run.
struct CountsTable<'a> {
    table: TableReader,
    info: &'a RunInfo,
}

/// Reads several ranges of row groups.
fn each_part(table: &CountsTable<'_>, ranges: &[Range<usize>], room: usize) -> Result<Vec<CellRange>> {
    let read = |names: &InternedNames| {
        each_range(ranges, &|range: &Range<usize>| CellRange::read(table, range.clone(), names.clone(), room))
    };
    // The names must be known before, so that every reader numbers them in the order of the rows.
    if let Some(names) = InternedNames::only(&table.table) {
        let parts = read(&names)?;
        if parts.iter().all(|part| part.names.count() == names.count()) {
            return Ok(parts);
        }
    }
    let names = InternedNames::read(&table.table, ranges)?;
    if names.labels.texts().len() > LABELS {
        return Ok(vec![CellRange::read(table, 0..table.table.groups(), names, room)?]);
    }
    read(&names)
}

/// The number of ranges of row groups that are read at a time.
fn readers() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(READERS)
}

/// Divides row groups into ranges: several for each reader, since the last ones to be read keep some readers waiting.
fn ranges(groups: usize) -> Vec<Range<usize>> {
    let ranges = match readers() {
        1 => 1,
        readers => groups.min(readers * TURNS),
    };
    let begin = |range: usize| groups * range / ranges;
    (0..ranges).map(|range| begin(range)..begin(range + 1)).collect()
}

/// Does something with each range, some side by side, and returns the results in order.
fn each_range<T: Send>(
    ranges: &[Range<usize>],
    work: &(impl Fn(&Range<usize>) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let read = || {
        let mut done = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(range) = ranges.get(at)
        {
            done.push((at, work(range)?));
        }
        Ok(done)
    };
    let readers = (0..readers().min(ranges.len())).map(|_| -> Job<'_, _> { (SECONDS, Box::new(read)) });
    let mut done: Vec<(usize, T)> =
        side_by_side(readers.collect())?.into_iter().flat_map(|(_, done)| done).collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

impl InternedNames {
    /// Returns the names if the statistics of the file show that there is one label and one injector.
    fn only(table: &TableReader) -> Option<Self> {
        let mut names = Self::default();
        names.labels.number(&table.only_text(LABEL)?);
        names.injectors.number(&table.only_text(INJECTORS)?);
        Some(names)
    }

    /// The numbers of labels and injectors.
    fn count(&self) -> (usize, usize) {
        (self.labels.texts().len(), self.injectors.texts().len())
    }

    /// Reads the names, in the order in which they first occur.
    fn read(table: &TableReader, ranges: &[Range<usize>]) -> Result<Self> {
        let of_range = |range: &Range<usize>| {
            let mut names = Self::default();
            for piece in table.rows(range.clone(), |column| [LABEL, INJECTORS].contains(&column)) {
                names.add(&piece?)?;
            }
            Ok(names)
        };
        let mut all = Self::default();
        for names in each_range(ranges, &of_range)? {
            names.labels.texts().iter().for_each(|label| _ = all.labels.number(label));
            names.injectors.texts().iter().for_each(|injector| _ = all.injectors.number(injector));
        }
        Ok(all)
    }

    fn add(&mut self, piece: &TableRows) -> Result<()> {
        piece.texts(LABEL)?.into_iter().for_each(|label| _ = self.labels.number(label));
        piece.text_lists(INJECTORS, |injector| self.injectors.number(injector))?;
        self.check(piece)
    }

    /// Fails if there are more names than a run has.
    fn check(&self, piece: &TableRows) -> Result<()> {
        let injectors = || consistency::list_fault("injectors", self.injectors.texts());
        piece.refuse(consistency::list_fault("labels", self.labels.texts()).or_else(injectors))
    }
}

/// The columns that are for other programs: the packed counts and the run's own row say the same.
const FOR_OTHERS: [&str; 3] = ["elapsed", "counts", "resolution_us"];

impl CellRange {
    /// Reads row groups; up to `room` bytes of the cells are kept in memory.
    fn read(
        CountsTable { table, info }: &CountsTable<'_>,
        groups: Range<usize>,
        names: InternedNames,
        room: usize,
    ) -> Result<Self> {
        let (cells, counted) = (CellTableBuilder::new(room), SampleTotals::default());
        let mut part = Self { head: Vec::new(), cells, counted, names };
        for piece in table.rows(groups, |column| !FOR_OTHERS.contains(&column)) {
            let piece = piece?;
            part.add(&piece, info)?;
            part.names.check(&piece)?;
        }
        Ok(part)
    }

    fn add(&mut self, piece: &TableRows, info: &RunInfo) -> Result<()> {
        let InternedNames { labels, injectors } = &mut self.names;
        let large = |name: &str| piece.numbers::<Int64Type>(name);
        let (second, label) = (piece.seconds("second")?, piece.texts(LABEL)?);
        let (success, transaction) = (piece.flags("success")?, piece.flags("transaction")?);
        let (packed, sizes) = (piece.bytes(PACKED)?, large("samples")?);
        let latency = read_latency(piece)?;
        let (connect, bytes, sent) = (large("connect_sum")?, large("bytes_sum")?, large("sent_bytes_sum")?);
        let before = piece.counts("before_boundary")?;
        let hosts = piece.text_lists(INJECTORS, |name| injectors.number(name))?;
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
            let packed = at(&packed, row);
            let samples = match self.head.first() {
                Some(first) if first.key.second != key.second => {
                    self.cells.push(key, packed, |rest| rest.is_empty().then_some(sums))?
                }
                _ => {
                    let mut rest = packed;
                    let samples = keep(&mut Vec::new(), &mut rest).filter(|_| rest.is_empty());
                    self.head.push(HeadCell { key, counts: packed.into(), sums });
                    samples
                }
            };
            let samples = samples.filter(|samples| limited(*samples) == at(sizes, row)).ok_or_else(|| {
                piece.damaged(format!("column {PACKED} does not have the counts of its samples"))
            })?;
            self.counted.add(key.success, key.transaction, samples);
            piece.refuse(consistency::second_fault("counts", key.second, info))?;
            let cells = self.head.len().max(self.cells.of_second());
            piece.refuse(consistency::rows_fault(
                "cells in a second",
                cells as u64,
                consistency::MAX_CELLS as u64,
            ))?;
        }
        Ok(())
    }
}

fn read_latency(piece: &TableRows) -> Result<Vec<Spread>> {
    let (n, sum) = (piece.counts("latency_n")?, piece.numbers::<Int64Type>("latency_sum")?);
    let (min, max) = (piece.numbers::<Int32Type>("latency_min")?, piece.numbers::<Int32Type>("latency_max")?);
    let spread = |row| Spread { n: at(&n, row), sum: at(sum, row), min: at(min, row), max: at(max, row) };
    Ok((0..piece.len()).map(spread).collect())
}

/// Returns the loads of a cell's injectors, ascending by injector index.
fn loads(piece: &TableRows, hosts: &[u32], samples: &[u64], threads: &[i64]) -> Result<Vec<InjectorLoad>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::place::{create, open};
    use crate::parquet::seconds::{CellContext, write_seconds};
    use perfpipe_model::counts::PackedCell;
    use perfpipe_model::sample::resolution::Resolution;

    /// A table whose seconds have these labels in turn.
    fn table(labels: &[&str]) -> TableReader {
        let cell = |second: u32| {
            let key =
                CellKey { second, label: second % labels.len() as u32, success: true, transaction: false };
            let load = InjectorLoad { injector: 0, samples: 1, threads: 5 };
            Ok((
                key,
                PackedCell::of(Cell { elapsed: vec![(12, 1)], injectors: vec![load], ..Cell::default() }),
            ))
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SECONDS);
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let injectors = &[String::new()];
        let run = CellContext { unit: Resolution::default(), labels: &labels, injectors };
        let sums = write_seconds(create(&path).unwrap(), run, &mut (0..5000).map(cell)).unwrap();
        TableReader::open(open(path, sums).unwrap()).unwrap()
    }

    #[test]
    fn only_names_are_told_by_the_file_and_no_others() {
        let names = InternedNames::only(&table(&["Get"])).unwrap();
        assert_eq!(names.labels.texts().iter().collect::<Vec<_>>(), ["Get"]);
        assert_eq!(names.injectors.texts().iter().collect::<Vec<_>>(), [""]);
        assert!(InternedNames::only(&table(&["Get", "Post"])).is_none());
        // A long text is in no statistics.
        assert!(InternedNames::only(&table(&[&"x".repeat(10_000)])).is_none());
    }

    #[test]
    fn beginning_of_a_long_text_is_not_taken_for_it() {
        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        use std::sync::Arc;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SECONDS);
        let names: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(10_000)]));
        let batch = RecordBatch::try_from_iter([(LABEL, Arc::clone(&names)), (INJECTORS, names)]).unwrap();
        // As earlier versions wrote it.
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let sums = writer.inner_mut().finish().unwrap();
        let table = TableReader::open(open(path, sums).unwrap()).unwrap();
        assert!(InternedNames::only(&table).is_none());
    }
}
