//! Counts the intervals of logs that have no requests.

use std::collections::BTreeMap;

use super::Cell;
use super::block::{LocalKey, Tally};
use crate::formats::histogram::Histogram;
use crate::formats::jtl::parsed::Clock;
use crate::sample::batch::SampleBatch;

/// Counts the requests of each row, which is an interval, in the second in which it begins.
pub(super) fn tally(batch: &SampleBatch, histograms: &[Histogram], clock: &Clock) -> Tally {
    let boundary = 1000 - clock.origin.rem_euclid(1000);
    let mut cells: BTreeMap<LocalKey, Cell> = BTreeMap::new();
    for ((row, histogram), t_ms) in histograms.iter().enumerate().zip(&batch.t_ms) {
        let Some(key) = LocalKey::of(batch, row) else { continue };
        let is_before = t_ms.rem_euclid(1000) < boundary;
        cells.entry(key).or_default().merge(&Cell {
            elapsed: histogram.counts.clone(),
            before_boundary: if is_before { histogram.requests() } else { 0 },
            ..Cell::default()
        });
    }
    let mut tally = Tally::with_capacity(cells.len());
    for (key, cell) in &cells {
        tally.push(*key, cell.as_ref().sums, &cell.elapsed, &cell.injectors);
    }
    tally
}
