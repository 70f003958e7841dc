//! A run by load: the steps of its load, throughput, response times and CPU at each, and the knee.

use std::collections::BTreeMap;

use perfpipe_model::run::{Measures, Resolution};
use perfpipe_model::{RunInfo, StoredRun};

use super::knee::{Growth, Knee, Point};
use crate::error::{Error, Result};
use crate::stats::percentile;
use crate::stats::percentile::{column_name, median, upper_median};
use crate::sweep::knee;
use crate::table::Table;
use crate::timeline::load::LoadCurve;
use crate::timeline::second::SecondReader;
use crate::timeline::selection::Selection;
use crate::timeline::summary::{Summary, Tally, summary_percentiles};
use crate::view::View;
use crate::view::phases::{Phase, Phases};

/// The least number of seconds for a step to count for the knee.
const SURE: usize = 3;

/// A run by load: a ramp as a concurrency sweep.
///
/// A stepped load has a step for each load that is kept for at least three seconds; the seconds between two steps are
/// left out. Any other load is gathered into about twenty bins around the multiples of 1, 2 or 5 times a power of ten.
///
/// The seconds of the tail, in which threads end, are left out unless the view selects the tail. So is the last second
/// of the run, which ends with its last request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sweep {
    /// The run's metadata.
    pub info: RunInfo,
    /// The view, with the choices that took effect.
    pub view: View,
    /// The percentiles computed, in percent, without duplicates.
    pub percentiles: Vec<f64>,
    /// The width of the bins in threads; `None` if the load is stepped.
    pub bin: Option<f64>,
    /// One row for each load, in ascending order.
    pub steps: Vec<LoadStep>,
    /// The load at which throughput stops growing; `None` if it grows to the end, or if nothing can be concluded.
    pub knee: Option<Knee>,
    /// The number of seconds in no step: between two steps, in the tail, or the last one.
    pub left_out: u32,
}

/// The seconds at one load. Times are in ms.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LoadStep {
    /// The mean load.
    pub load: f64,
    /// The least load in a second.
    pub load_min: f64,
    /// The greatest load in a second.
    pub load_max: f64,
    /// The summary of all its seconds; its throughput is their mean.
    pub summary: Summary,
    /// The standard deviation of the seconds' throughput (over n − 1); `None` for a single second.
    pub throughput_sd: Option<f64>,
}

/// The data of a step, while seconds are read.
struct GatheredStep {
    loads: Vec<f64>,
    successes: Vec<f64>,
    tally: Tally,
}

impl Sweep {
    /// Computes the sweep of a stored run for a view.
    ///
    /// Memory: up to 512 KiB per step during the computation.
    ///
    /// # Errors
    /// The same errors as [`crate::Timeline::new`], and [`Error::NoLoad`] if the log does not have the load.
    pub fn new(run: &StoredRun, view: &View) -> Result<Self> {
        let percentiles = percentile::checked(&view.percentiles)?;
        let selection = Selection::new(run, view)?;
        let curve = LoadCurve::of_run(run, view)?;
        let loads = selected_loads(&curve, &selection);
        if loads.is_empty() {
            return Err(Error::NoLoad { run: run.info.key.to_string() });
        }
        let (bin, keys) = step_keys(&loads);
        let mut reader = SecondReader::new(&selection, &curve, &percentiles);
        let (unit, measures) = (run.info.resolution, run.measures()?);
        let mut gathered: BTreeMap<i64, GatheredStep> = BTreeMap::new();
        for second in selection.packed_seconds_of(selection.whole()) {
            let (second, cells) = second?;
            let Some((key, load)) = value_at(&keys, second).zip(value_at(&loads, second)) else { continue };
            let step = gathered.entry(key).or_insert_with(|| GatheredStep::new(unit, measures));
            let row = reader.read(second, &cells, step.tally.totals_mut())?;
            step.tally.add_second(&row);
            step.loads.push(load);
            step.successes.push(row.successes as f64);
        }
        let points: Vec<Point> =
            gathered.values().enumerate().filter_map(|(at, step)| step.point(at)).collect();
        let steps: Vec<LoadStep> = gathered.values().map(|step| step.row(&percentiles)).collect();
        let counted: u32 = steps.iter().map(|step| step.summary.seconds).sum();
        Ok(Self {
            info: run.info.clone(),
            view: View { injectors: selection.injectors(), ..view.clone() },
            left_out: (selection.window.1 - selection.window.0 + 1).saturating_sub(counted),
            knee: knee::find(&points),
            percentiles,
            bin,
            steps,
        })
    }

    /// Returns the course of throughput over load, as a description if there is no knee.
    pub fn growth(&self) -> Growth {
        let sure = self.steps.iter().enumerate().filter(|(_, step)| step.summary.seconds as usize >= SURE);
        Growth::of(&sure.map(|(at, step)| (at, step.summary.throughput)).collect::<Vec<_>>())
    }

    /// Returns the sweep as a table with a row for each load: `load` (mean), `load_min`, `load_max`, `seconds`,
    /// `throughput` (mean), `throughput_sd`, `successes`, `failures`, `failure_share`, `elapsed_mean`, the requested
    /// percentiles, `p50`, `p95`, `p99`, `cpu_mean`, and `knee`: true at the first load at or beyond the knee.
    pub fn table(&self) -> Table {
        let rows: Vec<(usize, &LoadStep)> = self.steps.iter().enumerate().collect();
        let table = Table::of(&rows)
            .counted_in(self.info.resolution)
            .column("load", |row| Some(row.1.load))
            .unit("", 1)
            .column("load_min", |row| Some(row.1.load_min))
            .unit("", 1)
            .column("load_max", |row| Some(row.1.load_max))
            .unit("", 1)
            .column("seconds", |row| Some(u64::from(row.1.summary.seconds)))
            .column("throughput", |row| Some(row.1.summary.throughput))
            .unit("1/s", 1)
            .column("throughput_sd", |row| row.1.throughput_sd)
            .title("sd")
            .unit("1/s", 1)
            .column("successes", |row| Some(row.1.summary.successes))
            .column("failures", |row| Some(row.1.summary.failures))
            .column("failure_share", |row| row.1.summary.failure_share())
            .unit("", 4)
            .column("elapsed_mean", |row| row.1.summary.elapsed_mean)
            .title("mean")
            .unit("ms", 1);
        let percents = summary_percentiles(&self.percentiles, &Summary::default());
        let table = percents.iter().enumerate().fold(table, |table, (at, (percent, _))| {
            let value =
                |row: &(usize, &LoadStep)| summary_percentiles(&self.percentiles, &row.1.summary).get(at)?.1;
            table.column(column_name(*percent), value).unit("ms", 1)
        });
        table
            .column("cpu_mean", |row| row.1.summary.cpu_mean)
            .title("mean CPU")
            .unit("%", 1)
            .column("knee", |row| Some(self.knee.is_some_and(|knee| knee.step == row.0)))
            .done()
    }
}

impl GatheredStep {
    /// Creates empty data of a run whose times are in this unit, and whose log has these measures.
    fn new(unit: Resolution, measures: Measures) -> Self {
        Self { loads: Vec::new(), successes: Vec::new(), tally: Tally::new(unit, measures) }
    }

    fn row(&self, percentiles: &[f64]) -> LoadStep {
        let count = self.loads.len() as f64;
        let mean = self.successes.iter().sum::<f64>() / count;
        let squares: f64 = self.successes.iter().map(|value| (value - mean).powi(2)).sum();
        LoadStep {
            load: self.loads.iter().sum::<f64>() / count,
            load_min: self.loads.iter().copied().fold(f64::INFINITY, f64::min),
            load_max: self.loads.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            summary: self.tally.summary(percentiles, count),
            throughput_sd: (self.loads.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        }
    }

    /// Returns the point for the knee. It uses medians, so that a stall does not look like a limit of capacity.
    fn point(&self, step: usize) -> Option<Point> {
        let (load, throughput) =
            (median(self.loads.iter().copied())?, median(self.successes.iter().copied())?);
        if self.loads.len() < SURE || load <= 0.0 || throughput <= 0.0 {
            return None;
        }
        let distances: Vec<f64> = self.successes.iter().map(|value| (value - throughput).abs()).collect();
        // Independent requests vary by the root of their number.
        let deviation = (1.4826 * upper_median(&distances)?).max(throughput.sqrt());
        // The standard error of a median under normal noise.
        let error = (std::f64::consts::FRAC_PI_2 / self.loads.len() as f64).sqrt() * deviation;
        Some(Point { load, throughput, error, step })
    }
}

/// The least number of consecutive seconds at exactly the same load that make a step.
const STEP: usize = 3;
/// The least share of seconds at steps for a stepped load. Seconds at the commonest load do not count.
const AT_STEPS: f64 = 2.0 / 3.0;
/// The largest number of steps; a load with more is gathered into bins.
const MOST_STEPS: usize = 50;
/// The approximate number of bins.
const BINS: f64 = 20.0;

/// Returns the seconds that count, each with its load.
fn selected_loads(curve: &LoadCurve, selection: &Selection<'_>) -> Vec<(u32, f64)> {
    let last = selection.run.info.seconds.saturating_sub(1);
    let tail = Phases::of_loads(&curve.heard()).tail.filter(|_| selection.view.phase != Some(Phase::Tail));
    let counts = |second: &u32| *second != last && tail.is_none_or(|tail| !tail.holds(*second));
    let window = || selection.window.0..=selection.window.1;
    let of = |second| Some((second, curve.at(second)?));
    let counted: Vec<(u32, f64)> = window().filter(counts).filter_map(of).collect();
    if counted.is_empty() { window().filter_map(of).collect() } else { counted }
}

/// Looks up a second in a sorted list.
pub(super) fn value_at<T: Copy>(seconds: &[(u32, T)], second: u32) -> Option<T> {
    let at = seconds.binary_search_by_key(&second, |(second, _)| *second).ok()?;
    seconds.get(at).map(|(_, value)| *value)
}

/// Returns the width of the bins (`None` for steps), and the step or bin of each second that has one.
fn step_keys(loads: &[(u32, f64)]) -> (Option<f64>, Vec<(u32, i64)>) {
    if let Some(steps) = steps(loads) {
        return (None, steps);
    }
    let width = bin_width(loads.iter().map(|(_, load)| *load).fold(0.0, f64::max));
    let bins = loads.iter().map(|(second, load)| (*second, (load / width).round() as i64));
    (Some(width), bins.collect())
}

/// Returns the seconds that are at a step, if the load is stepped.
fn steps(loads: &[(u32, f64)]) -> Option<Vec<(u32, i64)>> {
    let exact: Vec<(u32, i64)> =
        loads.iter().map(|(second, load)| (*second, (load * 1000.0).round() as i64)).collect();
    let kept = exact.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 == b.1).filter(|stretch| stretch.len() >= STEP);
    let mut levels: BTreeMap<i64, usize> = BTreeMap::new();
    for stretch in kept {
        *levels.entry(stretch.first()?.1).or_default() += stretch.len();
    }
    let at_steps: Vec<(u32, i64)> =
        exact.iter().filter(|(_, load)| levels.contains_key(load)).copied().collect();
    let commonest = levels.values().copied().max()?;
    let (others, others_at_steps) =
        (exact.len().saturating_sub(commonest), at_steps.len().saturating_sub(commonest));
    let stepped = others_at_steps as f64 >= AT_STEPS * others as f64;
    (stepped && levels.len() <= MOST_STEPS).then_some(at_steps)
}

/// Returns the width of bins: 1, 2 or 5 times a power of ten, at least 1, for about twenty bins up to `max`.
fn bin_width(max: f64) -> f64 {
    let least = (max / BINS).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|lead| lead * power)
        .find(|width| *width >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round() {
        let widths: Vec<f64> = [6.0, 20.0, 21.0, 60.0, 100.0, 101.0, 9000.0].map(bin_width).into();
        assert_eq!(widths, [1.0, 1.0, 2.0, 5.0, 5.0, 10.0, 500.0]);
    }
}
