//! The load of seconds: how many client threads were active.

use perfpipe_ingest::{Cell, CellKey, InjectorLoad, StoredRun};

use crate::error::Result;
use crate::histogram::mean;
use crate::phases::Span;
use crate::selection::{CellsOfSecond, by_second};
use crate::view::View;

/// The load that the log reports for a second's cells: the sum over injectors of the mean of the threads they reported.
pub(crate) fn reported(cells: &[(CellKey, Cell)], transactions: bool) -> Option<f64> {
    let mut loads: Vec<InjectorLoad> = Vec::new();
    let requests = cells.iter().filter(|(key, _)| transactions || !key.transaction);
    for load in requests.flat_map(|(_, cell)| &cell.injectors) {
        match loads.iter_mut().find(|sum| sum.injector == load.injector) {
            Some(sum) => {
                sum.samples += load.samples;
                sum.threads += load.threads;
            }
            None => loads.push(*load),
        }
    }
    // In one order, so that a sum of fractions does not hang on which cell came first.
    loads.sort_by_key(|load| load.injector);
    let means: Vec<f64> = loads.iter().filter_map(|load| mean(load.threads, load.samples)).collect();
    (!means.is_empty()).then(|| means.iter().sum())
}

/// What a reported load is multiplied by: 1 where the log tells injectors apart.
pub(crate) fn factor(run: &StoredRun, view: &View) -> u32 {
    let told_apart = run.cells.injectors.iter().any(|name| !name.is_empty());
    if told_apart { 1 } else { view.injectors }
}

/// The load of every second of a run, from second 0 to its last; absent where nobody reported.
///
/// # Errors
/// When the counts can't be read.
pub(crate) fn curve(run: &StoredRun, view: &View) -> Result<Vec<Option<f64>>> {
    let factor = f64::from(factor(run, view));
    let Some(last) = run.info.seconds.checked_sub(1) else { return Ok(Vec::new()) };
    let load = |(_, cells): CellsOfSecond| Some(reported(&cells, view.transactions)? * factor);
    by_second(run.cells.sums(), Span { first: 0, last }).map(|second| Ok(load(second?))).collect()
}
