//! The figures of one second of a run, computed from its cells, the totals of many, and the server's series by second.

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, PackedCell, Spread, TakeCounts};
use perfpipe_model::run::Resolution;
use smallvec::SmallVec;

use super::load::LoadCurve;
use super::selection::Selection;
use crate::error::Result;
use crate::stats::histogram::{Histogram, mean};
use crate::stats::maybe::MaybeF64;
use crate::stats::percentile::{Merger, Percentiles, Sweep, column_name};
use crate::table::{Table, TableBuilder};
use crate::view::phases::Span;
use crate::view::{Goal, Kept, View};

/// One second of a run. Times are in ms; an absent value is absent, never zero.
///
/// Means, extremes and percentiles are over the second's successes, or over all its requests with
/// [`crate::View::include_failures`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Second {
    /// The number of the second, `floor((timeStamp - t0) / 1000)`.
    pub second: u32,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The load: the sum over injectors of the mean `allThreads` of the second's requests, failures included. An
    /// injector that is silent in a second keeps the mean of its latest second with a record, from its first such
    /// second to its last. It is the load of all labels, also if [`crate::View::label`] selects one.
    pub load: MaybeF64,
    /// The mean elapsed time.
    pub elapsed_mean: MaybeF64,
    /// The smallest elapsed time.
    pub elapsed_min: MaybeF64,
    /// The largest elapsed time.
    pub elapsed_max: MaybeF64,
    /// The mean latency.
    pub latency_mean: MaybeF64,
    /// The smallest latency.
    pub latency_min: MaybeF64,
    /// The largest latency.
    pub latency_max: MaybeF64,
    /// Percentiles of elapsed, in the order of [`crate::Timeline::percentiles`]; empty if there is no sample. Up to
    /// four are stored inline, since a run may have a million seconds.
    pub percentiles: SmallVec<[f64; 4]>,
    /// The figure of each of [`crate::View::goals`], in their order; empty if there is no request.
    pub goals: Box<[f64]>,
    /// The CPU in percent of one core: the mean, over the same samples, of the reading joined to each; samples without
    /// a reading are left out. Without any sample, it is the reading of the epoch second in which this second begins.
    pub cpu: MaybeF64,
}

impl Second {
    /// Returns a percentile of elapsed in ms, by its index in [`crate::Timeline::percentiles`], which has none twice.
    /// [`crate::Timeline::percentile_of`] expects the percentile itself.
    pub fn percentile(&self, at: usize) -> Option<f64> {
        self.percentiles.get(at).copied()
    }
}

/// Computes seconds one by one, with buffers that are reused.
pub(crate) struct SecondReader<'a> {
    selection: &'a Selection<'a>,
    load: &'a LoadCurve,
    percentiles: Percentiles,
    /// The epoch second in which second 0 begins.
    epoch_second: i64,
    merger: Merger,
    /// The counts of cells that are merged.
    lists: Vec<Vec<(i32, u64)>>,
    /// The counts of a cell that is looked at by itself.
    times: Vec<(i32, u64)>,
}

/// The samples of a second that averages are taken over.
#[derive(Default)]
struct Averaged<'a> {
    cells: SmallVec<[&'a PackedCell; 4]>,
    latency: Spread,
    samples: u64,
    before_boundary: u64,
}

/// One pass over the elapsed times of a second.
struct Pass<'a> {
    histogram: &'a mut Histogram,
    sweep: Sweep<'a>,
    /// The sum of the times.
    sum: i128,
    /// The smallest time, which is the first one.
    least: Option<i32>,
    /// The largest time so far.
    largest: i32,
}

impl<'a> SecondReader<'a> {
    /// Creates a reader for what a view selects; percentiles are in percent.
    pub(crate) fn new(selection: &'a Selection<'a>, load: &'a LoadCurve, percentiles: &[f64]) -> Self {
        Self {
            selection,
            load,
            percentiles: Percentiles::new(percentiles),
            epoch_second: selection.run.info.t0_ms.div_euclid(1000),
            merger: Merger::default(),
            lists: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Computes one second from its cells, and adds to `totals` what it averages and which goals it kept.
    ///
    /// # Errors
    /// If the counts of a cell can't be opened.
    pub(crate) fn read(
        &mut self,
        second: u32,
        cells: &[(CellKey, PackedCell)],
        totals: &mut Totals,
    ) -> Result<Second> {
        let mut row = Second { second, load: self.load.at(second).into(), ..Second::default() };
        let (mut averaged, mut kept) = (Averaged::default(), Kept::default());
        let goals = self.selection.view.goals.as_slice();
        for (key, cell) in cells.iter().filter(|(key, _)| self.selection.is_counted(key)) {
            let sum = if key.success { &mut row.successes } else { &mut row.failures };
            *sum = sum.saturating_add(cell.samples());
            self.times.clear();
            if key.success && !goals.is_empty() {
                cell.each_count(&mut self.times)?;
            }
            kept.add(goals, self.unit(), cell.samples(), key.success.then_some(&self.times));
            if self.selection.is_averaged(key) {
                averaged.add(cell);
                totals.add_sums(cell.sums());
            } else {
                self.times.clear();
                cell.each_count(&mut self.times)?;
                totals.failed.add_counts(&self.times);
            }
        }
        row.goals = kept.values(goals).into_iter().flatten().collect();
        totals.kept.merge(&kept);
        row.cpu = self.cpu(second, &averaged).into();
        self.fill(&mut row, &averaged, totals)?;
        Ok(row)
    }

    /// The unit of the run's times.
    fn unit(&self) -> Resolution {
        self.selection.run.info.resolution
    }

    /// Computes means, extremes and percentiles.
    fn fill(&mut self, row: &mut Second, averaged: &Averaged<'_>, totals: &mut Totals) -> Result<()> {
        let unit = self.unit();
        let ms = |value: i32| unit.ms(value.into());
        let sweep = self.percentiles.sweep(averaged.samples);
        let mut pass = Pass { histogram: &mut totals.elapsed, sweep, sum: 0, least: None, largest: 0 };
        match averaged.cells.as_slice() {
            [only] => only.each_count(&mut pass)?,
            cells => merged(cells, &mut self.lists, &mut self.merger)?
                .iter()
                .for_each(|(value, samples)| pass.one(*value, *samples)),
        }
        pass.histogram.add_totals(averaged.samples, pass.sum);
        row.elapsed_mean = mean(pass.sum, averaged.samples).map(|mean| unit.ms(mean)).into();
        row.elapsed_min = pass.least.map(ms).into();
        row.elapsed_max = pass.least.map(|_| ms(pass.largest)).into();
        // Either all percentiles exist, or there is no sample.
        row.percentiles = pass.sweep.finish(unit).into_iter().flatten().collect();
        let latency = &averaged.latency;
        row.latency_mean = mean(latency.sum, latency.n).map(|mean| unit.ms(mean)).into();
        row.latency_min = (latency.n > 0).then_some(ms(latency.min)).into();
        row.latency_max = (latency.n > 0).then_some(ms(latency.max)).into();
        Ok(())
    }

    /// Returns the CPU of a second. It overlaps two epoch seconds, so its samples are joined to two readings.
    fn cpu(&self, second: u32, averaged: &Averaged<'_>) -> Option<f64> {
        let epoch_second = self.epoch_second.saturating_add(i64::from(second));
        let reading = |at| self.selection.run.cpu.at(at, self.selection.view.cpu);
        if averaged.samples == 0 {
            return reading(epoch_second);
        }
        let before = averaged.before_boundary.min(averaged.samples);
        let after = averaged.samples - before;
        let first = if before > 0 { reading(epoch_second) } else { None };
        let second = if after > 0 { reading(epoch_second.saturating_add(1)) } else { None };
        match (first, second) {
            // Written as a step between the readings, so that two equal readings give exactly that value.
            (Some(first), Some(second)) => {
                Some(first + (second - first) * (after as f64 / averaged.samples as f64))
            }
            (first, second) => first.or(second),
        }
    }
}

impl<'a> Averaged<'a> {
    fn add(&mut self, cell: &'a PackedCell) {
        self.cells.push(cell);
        self.latency.merge(&cell.sums().latency);
        self.samples = self.samples.saturating_add(cell.samples());
        self.before_boundary = self.before_boundary.saturating_add(cell.sums().before_boundary);
    }
}

// All of it is one loop over packed bytes, which takes half the time of a loop for each.
impl TakeCounts for Pass<'_> {
    #[inline(always)]
    fn eight(&mut self, base: i32, differences: [u8; 8], samples: [u8; 8]) {
        let counted = sum(samples);
        self.sum += i128::from(i64::from(base) * counted as i64 + products(differences, samples) as i64);
        let [.., last] = differences;
        self.largest = base.wrapping_add(last.into());
        let is_counted = self.histogram.count_eight(base, differences, samples);
        if is_counted && self.sweep.pass_over(counted) {
            return;
        }
        for (difference, samples) in differences.into_iter().zip(samples) {
            let value = base.wrapping_add(difference.into());
            if !is_counted {
                self.histogram.count(value, samples.into());
            }
            self.sweep.add(value, samples.into());
        }
    }

    #[inline]
    fn one(&mut self, value: i32, samples: u64) {
        self.sum += i128::from(value) * i128::from(samples);
        self.histogram.count(value, samples);
        self.sweep.add(value, samples);
        self.least.get_or_insert(value);
        self.largest = value;
    }
}

/// One in each of eight lanes of 8 bits.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Returns the sum of eight numbers that are less than 32.
#[inline(always)]
fn sum(numbers: [u8; 8]) -> u64 {
    u64::from_le_bytes(numbers).wrapping_mul(ONES) >> 56
}

/// Returns the sum of the products of eight numbers and eight counts, which are less than 8: that of the numbers whose
/// count has its lowest bit, and twice and four times those of the other two bits.
#[inline(always)]
fn products(numbers: [u8; 8], counts: [u8; 8]) -> u64 {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    let (numbers, counts) = (u64::from_le_bytes(numbers), u64::from_le_bytes(counts));
    let sum_of = |bit: u32| {
        let lanes = numbers & (counts >> bit & ONES).wrapping_mul(0xff);
        let pairs = (lanes & LOW).wrapping_add(lanes >> 8 & LOW);
        pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48 << bit
    };
    sum_of(0).wrapping_add(sum_of(1)).wrapping_add(sum_of(2))
}

/// Returns the counts of several cells in ascending order.
fn merged<'m>(
    cells: &[&PackedCell],
    lists: &'m mut Vec<Vec<(i32, u64)>>,
    merger: &'m mut Merger,
) -> Result<&'m [(i32, u64)]> {
    lists.resize_with(lists.len().max(cells.len()), Vec::new);
    for (list, cell) in lists.iter_mut().zip(cells) {
        list.clear();
        cell.each_count(list)?;
    }
    let lists: Vec<&[(i32, u64)]> = lists.iter().take(cells.len()).map(Vec::as_slice).collect();
    Ok(merger.merge(&lists))
}

/// Builds the table of some seconds.
pub(crate) fn second_table(
    seconds: &[Second],
    percentiles: &[f64],
    goals: &[Goal],
    unit: Resolution,
) -> Table {
    let table = Table::of(seconds)
        .counted_in(unit)
        .column("second", |row| Some(u64::from(row.second)))
        .column("successes", |row| Some(row.successes))
        .column("failures", |row| Some(row.failures))
        .column("load", |row| row.load.get())
        .unit("", 1);
    let table = spread(table, "elapsed", |row| [row.elapsed_mean, row.elapsed_min, row.elapsed_max]);
    let table = spread(table, "latency", |row| [row.latency_mean, row.latency_min, row.latency_max]);
    let table = percentiles.iter().enumerate().fold(table, |table, (at, percent)| {
        let value = move |row: &Second| row.percentile(at);
        table.column(column_name(*percent), value).unit("ms", 1)
    });
    let table = goals
        .iter()
        .enumerate()
        .fold(table, |table, (at, goal)| goal.add_to(table, move |row: &Second| row.goals.get(at).copied()));
    table.column("cpu", |row| row.cpu.get()).unit("%", 1).done()
}

/// Adds three columns for a measure in ms: mean, smallest and largest value.
fn spread<'a>(
    table: TableBuilder<'a, Second>,
    measure: &str,
    of: impl Fn(&Second) -> [MaybeF64; 3],
) -> TableBuilder<'a, Second> {
    table
        .column(format!("{measure}_mean"), |row| of(row)[0].get())
        .unit("ms", 1)
        .time(&format!("{measure}_min"), |row| of(row)[1].get())
        .time(&format!("{measure}_max"), |row| of(row)[2].get())
}

/// A series of the server other than its CPU, with a value for every second of a timeline.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeriesBySecond {
    /// Its name.
    pub name: String,
    /// The unit of its values, as given at the ingest.
    pub unit: String,
    /// The second of the first value.
    pub first: u32,
    /// The values: the reading of the epoch second in which a second begins, or the latest one that is still valid.
    pub values: Vec<Option<f64>>,
}

impl SeriesBySecond {
    /// Describes a series whose first value is of the second `first`.
    pub fn new(
        name: impl Into<String>,
        unit: impl Into<String>,
        first: u32,
        values: Vec<Option<f64>>,
    ) -> Self {
        Self { name: name.into(), unit: unit.into(), first, values }
    }

    /// Returns the series of a run for the seconds of a span, with the view's shift of the clock.
    pub(crate) fn of_run(run: &StoredRun, view: &View, span: Span) -> Vec<Self> {
        let begin = run.info.t0_ms.div_euclid(1000);
        let series = run.series.iter().map(|series| {
            let join = series.join(view.cpu.offset);
            let value = |second: u32| series.readings.at(begin.saturating_add(second.into()), join);
            Self {
                name: series.name.clone(),
                unit: series.unit.clone(),
                first: span.first,
                values: (span.first..=span.last).map(value).collect(),
            }
        });
        series.collect()
    }

    /// The value of a second; `None` if it has none.
    pub fn at(&self, second: u32) -> Option<f64> {
        let place = second.checked_sub(self.first)?;
        self.values.get(place as usize).copied().flatten()
    }

    /// The mean of the seconds that have a value.
    pub fn mean(&self) -> Option<f64> {
        let (count, sum) = self.known().fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The least value.
    pub fn min(&self) -> Option<f64> {
        self.known().reduce(f64::min)
    }

    /// The greatest value.
    pub fn max(&self) -> Option<f64> {
        self.known().reduce(f64::max)
    }

    fn known(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flatten().copied()
    }
}

/// The totals of cells from which averages and percentiles are computed, independent of the order of addition.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) elapsed: Histogram,
    /// The elapsed times of failures, unless they are in `elapsed`.
    pub(crate) failed: Histogram,
    pub(super) latency: Spread,
    pub(super) bytes: i64,
    pub(super) sent_bytes: i64,
    pub(crate) kept: Kept,
}

impl Totals {
    /// Creates empty totals of a run whose times are in this unit.
    pub(crate) fn in_unit(unit: Resolution) -> Self {
        Self { elapsed: Histogram::in_unit(unit), failed: Histogram::in_unit(unit), ..Self::default() }
    }

    /// Adds all of a cell except its elapsed times.
    fn add_sums(&mut self, cell: &Cell) {
        self.latency.merge(&cell.latency);
        self.bytes = self.bytes.saturating_add(cell.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(cell.sent_bytes);
    }

    /// Adds other totals.
    pub(super) fn merge(&mut self, other: &Self) {
        self.elapsed.merge(&other.elapsed);
        self.failed.merge(&other.failed);
        self.latency.merge(&other.latency);
        self.kept.merge(&other.kept);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::CellTable;
    use perfpipe_model::series::{CpuJoin, ServerSeries, TimeSeries};
    use perfpipe_model::{RunInfo, RunKey};
    use proptest::prelude::*;

    use super::*;
    use crate::Timeline;

    proptest! {
        #[test]
        fn eight_values_are_what_each_of_them_is(
            base in prop_oneof![-300..300i32, 60_000..70_000i32],
            steps in any::<[u8; 8]>(),
            samples in proptest::array::uniform8(1..8u8),
            percents in proptest::collection::vec(0.0..=100.0f64, 0..4),
        ) {
            let mut difference = 0;
            let differences = steps.map(|step| {
                difference += 1 + step % 31;
                difference
            });
            let percentiles = Percentiles::new(&percents);
            let n = sum(samples) + 1;
            let pass = |together: bool| {
                let mut histogram = Histogram::new();
                // Most values have a counter by now.
                histogram.count(900, 1);
                let sweep = percentiles.sweep(n);
                let mut pass = Pass { histogram: &mut histogram, sweep, sum: 0, least: None, largest: 0 };
                pass.one(base, 1);
                match together {
                    true => pass.eight(base, differences, samples),
                    false => differences
                        .iter()
                        .zip(samples)
                        .for_each(|(difference, samples)| pass.one(base + i32::from(*difference), samples.into())),
                }
                let Pass { sweep, sum, least, largest, .. } = pass;
                (sweep.finish(Resolution::MILLISECOND), sum, least, largest, histogram.counts().collect::<Vec<_>>())
            };
            prop_assert_eq!(pass(true), pass(false));
        }
    }

    #[test]
    fn values_are_those_of_the_seconds_of_the_view() {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells = (0..10).map(|second| (key(second), Cell { elapsed: vec![(10, 1)], ..Cell::default() }));
        let info = RunInfo::new(RunKey::new("go", "t"), 1_700_000_000_500, 1_700_000_009_500);
        let mut run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
        let readings = TimeSeries::new(vec![(1_700_000_001, 5.0), (1_700_000_007, -2.0)]);
        run.series.push(ServerSeries::new("heat", "°C", readings));
        let series = |view: View| Timeline::new(&run, &view).unwrap().series.remove(0);
        // Two readings at an interval of six seconds: each is valid for six seconds.
        let whole = series(View::default());
        let value = |second| if second < 7 { 5.0 } else { -2.0 };
        assert_eq!(whole.values[0], None);
        assert!((1..10).all(|second| whole.at(second) == Some(value(second))), "{whole:?}");
        assert_eq!((whole.at(10), whole.min(), whole.max()), (None, Some(-2.0), Some(5.0)));
        assert_eq!(whole.mean(), Some((6.0 * 5.0 - 3.0 * 2.0) / 9.0));
        let part = series(View { from: Some(7), ..View::default() });
        assert_eq!((part.first, part.values.len(), part.at(6), part.at(7)), (7, 3, None, Some(-2.0)));
        let shifted = series(View { cpu: CpuJoin::default().with_offset(1), ..View::default() });
        assert_eq!((shifted.at(1), shifted.at(2)), (None, Some(5.0)));
    }
}
