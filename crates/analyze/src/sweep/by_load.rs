//! A run by load: throughput, response times and CPU at each load step, and the knee.

use std::collections::BTreeMap;

use perfpipe_ingest::run::{Measures, Resolution};
use perfpipe_ingest::{RunInfo, StoredRun};

use super::knee::{self, Growth, Knee, Point};
use super::steps::{at, keys, loads};
use crate::error::{Error, Result};
use crate::stats::median::{median, upper_median};
use crate::stats::percentile::{self, column_name};
use crate::table::Table;
use crate::timeline::load::LoadCurve;
use crate::timeline::second::SecondReader;
use crate::timeline::selection::Selection;
use crate::timeline::summary::summary_percentiles;
use crate::timeline::summary::{Summary, Tally};
use crate::view::View;

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
    /// The summary of the seconds together; its throughput is their mean.
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
        let loads = loads(&curve, &selection);
        if loads.is_empty() {
            return Err(Error::NoLoad { run: run.info.key.to_string() });
        }
        let (bin, keys) = keys(&loads);
        let mut reader = SecondReader::new(&selection, &curve, &percentiles);
        let (unit, measures) = (run.info.resolution, run.measures()?);
        let mut gathered: BTreeMap<i64, GatheredStep> = BTreeMap::new();
        for second in selection.packed_seconds_of(selection.whole()) {
            let (second, cells) = second?;
            let Some((key, load)) = at(&keys, second).zip(at(&loads, second)) else { continue };
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
