//! The figures of one second of a run, computed from its cells.

pub(crate) mod server;

use perfpipe_ingest::counts::{Cell, CellKey, Spread};
use perfpipe_ingest::run::Resolution;
use smallvec::SmallVec;

use crate::stats::histogram::{self, mean};
use crate::stats::merge::Merger;
use crate::stats::percentile::{Percentiles, column_name};
use crate::table::{Table, TableBuilder};
use crate::timeline::load::LoadCurve;
use crate::timeline::selection::Selection;
use crate::timeline::totals::Totals;
use crate::view::goal::{Goal, Kept};

/// One second of a run. Times are in ms; an absent value is `None`, never zero.
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
    pub load: Option<f64>,
    /// The mean elapsed time.
    pub elapsed_mean: Option<f64>,
    /// The smallest elapsed time.
    pub elapsed_min: Option<f64>,
    /// The largest elapsed time.
    pub elapsed_max: Option<f64>,
    /// The mean latency.
    pub latency_mean: Option<f64>,
    /// The smallest latency.
    pub latency_min: Option<f64>,
    /// The largest latency.
    pub latency_max: Option<f64>,
    /// Percentiles of elapsed, in the order of [`crate::Timeline::percentiles`]; empty if there is no sample. Up to
    /// four are stored inline, since a run may have a million seconds.
    pub percentiles: SmallVec<[f64; 4]>,
    /// The figure of each of [`crate::View::goals`], in their order; empty if there is no request.
    pub goals: Box<[f64]>,
    /// The CPU in percent of one core: the mean, over the same samples, of the reading joined to each; samples without
    /// a reading are left out. Without any sample, it is the reading of the epoch second in which this second begins.
    pub cpu: Option<f64>,
}

impl Second {
    /// Returns a percentile of elapsed in ms, by its index in [`crate::Timeline::percentiles`].
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
}

/// The samples of a second that averages are taken over.
#[derive(Default)]
struct Averaged<'a> {
    elapsed: Vec<&'a [(i32, u64)]>,
    latency: Spread,
    samples: u64,
    /// The sum of the elapsed times.
    sum: i128,
    before_boundary: u64,
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
        }
    }

    /// Computes one second from its cells, and adds to `totals` what it averages and which goals it kept.
    pub(crate) fn read(&mut self, second: u32, cells: &[(CellKey, Cell)], totals: &mut Totals) -> Second {
        let mut row = Second { second, load: self.load.at(second), ..Second::default() };
        let (mut averaged, mut kept) = (Averaged::default(), Kept::default());
        let goals = self.selection.view.goals.as_slice();
        for (key, cell) in cells.iter().filter(|(key, _)| self.selection.is_counted(key)) {
            let (samples, sum) = histogram::totals(&cell.elapsed);
            *(if key.success { &mut row.successes } else { &mut row.failures }) += samples;
            kept.add(goals, self.unit(), samples, key.success.then_some(&cell.elapsed));
            if self.selection.is_averaged(key) {
                averaged.add(cell, samples, sum);
                totals.add_sums(cell);
            }
        }
        row.goals = kept.values(goals).into_iter().flatten().collect();
        totals.kept.merge(&kept);
        row.cpu = self.cpu(second, &averaged);
        self.fill(&mut row, &averaged, totals);
        row
    }

    /// The unit of the run's times.
    fn unit(&self) -> Resolution {
        self.selection.run.info.resolution
    }

    /// Computes means, extremes and percentiles.
    fn fill(&mut self, row: &mut Second, averaged: &Averaged<'_>, totals: &mut Totals) {
        let unit = self.unit();
        let ms = |value: i32| unit.ms(value.into());
        let counts = self.merger.merge(&averaged.elapsed);
        totals.add_elapsed(counts, (averaged.samples, averaged.sum));
        row.elapsed_mean = mean(averaged.sum, averaged.samples).map(|mean| unit.ms(mean));
        row.elapsed_min = counts.first().map(|(value, _)| ms(*value));
        row.elapsed_max = counts.last().map(|(value, _)| ms(*value));
        // Either all percentiles exist, or there is no sample.
        let percentiles = self.percentiles.of(averaged.samples, counts.iter().copied(), unit);
        row.percentiles = percentiles.into_iter().flatten().collect();
        let latency = &averaged.latency;
        row.latency_mean = mean(latency.sum, latency.n).map(|mean| unit.ms(mean));
        row.latency_min = (latency.n > 0).then_some(ms(latency.min));
        row.latency_max = (latency.n > 0).then_some(ms(latency.max));
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
    fn add(&mut self, cell: &'a Cell, samples: u64, sum: i128) {
        self.elapsed.push(&cell.elapsed);
        self.latency.merge(&cell.latency);
        self.samples += samples;
        self.sum += sum;
        self.before_boundary += cell.before_boundary;
    }
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
        .column("load", |row| row.load)
        .unit("", 1);
    let table = spread(table, "elapsed", |row| (row.elapsed_mean, row.elapsed_min, row.elapsed_max));
    let table = spread(table, "latency", |row| (row.latency_mean, row.latency_min, row.latency_max));
    let table = percentiles.iter().enumerate().fold(table, |table, (at, percent)| {
        let value = move |row: &Second| row.percentile(at);
        table.column(column_name(*percent), value).unit("ms", 1)
    });
    let table = goals
        .iter()
        .enumerate()
        .fold(table, |table, (at, goal)| goal.add_to(table, move |row: &Second| row.goals.get(at).copied()));
    table.column("cpu", |row| row.cpu).unit("%", 1).done()
}

/// Adds three columns for a measure in ms: mean, smallest and largest value.
fn spread<'a>(
    table: TableBuilder<'a, Second>,
    measure: &str,
    of: impl Fn(&Second) -> (Option<f64>, Option<f64>, Option<f64>),
) -> TableBuilder<'a, Second> {
    table
        .column(format!("{measure}_mean"), |row| of(row).0)
        .unit("ms", 1)
        .time(&format!("{measure}_min"), |row| of(row).1)
        .time(&format!("{measure}_max"), |row| of(row).2)
}
