//! The load of each second: the number of active client threads.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, InjectorLoad};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::cells::{AT_A_TIME, STRETCH};
use crate::error::Result;
use crate::stats::histogram::mean;
use crate::view::View;
use crate::view::phases::Span;

/// The load of every second of a run: the sum over injectors of the mean `allThreads` of the second's requests,
/// failures included.
///
/// An injector that is silent in a second keeps the mean of its latest second with a record, from its first such second
/// to its last: clients that wait for an answer, or think, are there all the same. If the log does not distinguish
/// injectors, the sum is multiplied by [`View::injectors`].
pub(crate) struct LoadCurve {
    /// Loads by second; NaN before the first and after the last report of any injector.
    loads: Vec<f64>,
    /// For each second, true if any injector reported in it.
    heard: Vec<bool>,
}

/// An injector's latest second with a record, and the mean of the threads reported in it.
type Latest = (usize, f64);

impl LoadCurve {
    /// Computes the curve from second 0 to the run's last.
    ///
    /// # Errors
    /// If the counts can't be read.
    pub(crate) fn of_run(run: &StoredRun, view: &View) -> Result<Self> {
        let seconds = run.info.seconds as usize;
        let mut curve = Self { loads: vec![f64::NAN; seconds], heard: vec![false; seconds] };
        let Some(last) = run.info.seconds.checked_sub(1) else { return Ok(curve) };
        let mut latest: BTreeMap<u32, Latest> = BTreeMap::new();
        let stretches: Vec<Span> = Span { first: 0, last }.stretches(STRETCH).collect();
        let ranks = ranks(&run.cells.injectors);
        // In groups, so that the reports of a million seconds are not in memory at once.
        for stretches in stretches.chunks(AT_A_TIME) {
            let reports = stretches.par_iter().map(|span| reports(run, *span, &ranks, view.transactions));
            for (second, loads) in reports.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                for load in loads {
                    let Some(threads) = mean(load.threads, load.samples) else { continue };
                    let second = second as usize;
                    curve.hold(latest.insert(load.injector, (second, threads)), second);
                    curve.add(second, threads);
                    if let Some(heard) = curve.heard.get_mut(second) {
                        *heard = true;
                    }
                }
            }
        }
        let factor = f64::from(factor(run, view));
        curve.loads.iter_mut().for_each(|load| *load *= factor);
        Ok(curve)
    }

    /// Adds an injector's latest load to the silent seconds since then, up to `until` (exclusive).
    fn hold(&mut self, latest: Option<Latest>, until: usize) {
        if let Some((second, threads)) = latest {
            (second + 1..until).for_each(|silent| self.add(silent, threads));
        }
    }

    fn add(&mut self, second: usize, threads: f64) {
        if let Some(load) = self.loads.get_mut(second) {
            *load = if load.is_nan() { threads } else { *load + threads };
        }
    }

    /// Returns the load of a second; `None` before the first and after the last report, or if the log does not have the
    /// load.
    pub(crate) fn at(&self, second: u32) -> Option<f64> {
        self.loads.get(second as usize).copied().filter(|load| !load.is_nan())
    }

    /// Returns the load of each second; `None` where no injector reported.
    pub(crate) fn heard(&self) -> Vec<Option<f64>> {
        self.loads.iter().zip(&self.heard).map(|(load, heard)| heard.then_some(*load)).collect()
    }
}

/// A load follows the requests if it turns from up to down or back in more than this share of the seconds. By chance
/// alone it would turn in two thirds of them.
const TURNS: f64 = 0.15;

/// Returns true if a load goes up and down from second to second, as where each request has a thread of its own while it
/// is served; a plan of threads is level or climbs.
pub(crate) fn turns(loads: &[f64]) -> bool {
    let steps: Vec<f64> = loads.iter().zip(loads.iter().skip(1)).map(|(one, next)| next - one).collect();
    let turns = steps.iter().zip(steps.iter().skip(1)).filter(|(one, next)| *one * *next < 0.0).count();
    turns as f64 > TURNS * steps.len() as f64
}

/// Returns the place of each injector in the order of names, by its number. Each store numbers injectors in an order of its
/// own.
fn ranks(names: &[String]) -> Vec<u32> {
    let mut numbers: Vec<usize> = (0..names.len()).collect();
    numbers.sort_by_key(|number| names.get(*number));
    let mut ranks = vec![0; names.len()];
    for (rank, number) in (0..).zip(numbers) {
        if let Some(of) = ranks.get_mut(number) {
            *of = rank;
        }
    }
    ranks
}

/// Returns the loads that injectors reported in the seconds of a span, each numbered and in ascending order of ranks, so that
/// a sum of fractions depends neither on the order of the cells nor on the numbers of the injectors.
fn reports(
    run: &StoredRun,
    span: Span,
    ranks: &[u32],
    transactions: bool,
) -> Result<Vec<(u32, Vec<InjectorLoad>)>> {
    let mut reports: Vec<(u32, Vec<InjectorLoad>)> = Vec::with_capacity(span.seconds() as usize);
    for cell in run.cells.sums_between(span.first, span.last) {
        let (key, mut cell) = cell?;
        for load in &mut cell.injectors {
            load.injector = ranks.get(load.injector as usize).copied().unwrap_or(load.injector);
        }
        match reports.last_mut() {
            _ if key.transaction && !transactions => {}
            Some((second, loads)) if *second == key.second => add(loads, &cell.injectors),
            // The usual second has one cell.
            _ if ascend(&cell.injectors) => reports.push((key.second, cell.injectors)),
            _ => reports.push((key.second, added(&[&cell.injectors]))),
        }
    }
    Ok(reports)
}

/// Returns the load that each injector reported in a second's cells, in ascending order of injectors.
pub(crate) fn reported(cells: &[(CellKey, Cell)]) -> Vec<InjectorLoad> {
    let requests = cells.iter().filter(|(key, _)| !key.transaction);
    added(&requests.map(|(_, cell)| cell.injectors.as_slice()).collect::<Vec<_>>())
}

fn added(lists: &[&[InjectorLoad]]) -> Vec<InjectorLoad> {
    let mut sums = Vec::new();
    lists.iter().for_each(|loads| add(&mut sums, loads));
    sums
}

fn ascend(loads: &[InjectorLoad]) -> bool {
    loads.is_sorted_by(|one, next| one.injector < next.injector)
}

/// Adds loads to those of the same injectors.
fn add(sums: &mut Vec<InjectorLoad>, loads: &[InjectorLoad]) {
    for load in loads {
        match sums.iter_mut().find(|sum| sum.injector == load.injector) {
            Some(sum) => {
                sum.samples += load.samples;
                sum.threads += load.threads;
            }
            None => sums.push(*load),
        }
    }
    sums.sort_by_key(|load| load.injector);
}

/// Returns true if the log distinguishes injectors.
pub(crate) fn names_injectors(run: &StoredRun) -> bool {
    run.cells.injectors.iter().any(|name| !name.is_empty())
}

/// Returns the factor of a reported load: 1 if the log distinguishes injectors, otherwise [`View::injectors`].
pub(crate) fn factor(run: &StoredRun, view: &View) -> u32 {
    if names_injectors(run) { 1 } else { view.injectors }
}
