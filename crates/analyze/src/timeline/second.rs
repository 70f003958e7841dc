//! One second's figures from the cells that were counted in it.

use perfpipe_ingest::{Cell, CellKey, Spread};

use super::Second;
use super::load::LoadCurve;
use super::selection::Selection;
use crate::stats::histogram::{mean, totals};
use crate::stats::merge::Merger;
use crate::stats::percentile::Percentiles;
use crate::view::goal::Kept;

/// Reads seconds one by one, keeping its memory from one to the next.
pub(crate) struct SecondReader<'a> {
    selection: &'a Selection<'a>,
    load: &'a LoadCurve,
    percentiles: Percentiles,
    /// The epoch second in which second 0 begins.
    epoch_second: i64,
    merger: Merger,
    /// How well the requests of the second that was read last keep the view's goals.
    kept: Kept,
}

/// The samples that a second's averages are taken over.
#[derive(Default)]
struct Averaged<'a> {
    elapsed: Vec<&'a [(i32, u64)]>,
    latency: Spread,
    samples: u64,
    before_boundary: u64,
}

impl<'a> SecondReader<'a> {
    /// A reader of what a view picks out, with percentiles in percent.
    pub(crate) fn new(selection: &'a Selection<'a>, load: &'a LoadCurve, percentiles: &[f64]) -> Self {
        Self {
            selection,
            load,
            percentiles: Percentiles::new(percentiles),
            epoch_second: selection.run.info.t0_ms.div_euclid(1000),
            merger: Merger::default(),
            kept: Kept::default(),
        }
    }

    /// One second from its cells.
    pub(crate) fn read(&mut self, second: u32, cells: &[(CellKey, Cell)]) -> Second {
        let mut row = Second { second, load: self.load.at(second), ..Second::default() };
        let mut averaged = Averaged::default();
        self.kept = Kept::default();
        let goals = self.selection.view.goals.as_slice();
        for (key, cell) in cells.iter().filter(|(key, _)| self.selection.is_counted(key)) {
            let samples = cell.samples();
            *(if key.success { &mut row.successes } else { &mut row.failures }) += samples;
            self.kept.add(goals, samples, key.success.then_some(&cell.elapsed));
            if self.selection.is_averaged(key) {
                averaged.add(cell, samples);
            }
        }
        row.goals = self.kept.values(goals).into_iter().flatten().collect();
        row.cpu = self.cpu(second, &averaged);
        self.fill(&mut row, &averaged);
        row
    }

    /// How well the requests of the second that was read last keep the view's goals.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Fills in means, extremes and percentiles.
    fn fill(&mut self, row: &mut Second, averaged: &Averaged<'_>) {
        let counts = self.merger.merge(&averaged.elapsed);
        row.elapsed_mean = mean(totals(counts).1, averaged.samples);
        row.elapsed_min = counts.first().map(|(value, _)| *value);
        row.elapsed_max = counts.last().map(|(value, _)| *value);
        // There is one for each, or no sample.
        let percentiles = self.percentiles.of(averaged.samples, counts.iter().copied());
        row.percentiles = percentiles.into_iter().flatten().collect();
        let latency = &averaged.latency;
        row.latency_mean = mean(latency.sum, latency.n);
        row.latency_min = (latency.n > 0).then_some(latency.min);
        row.latency_max = (latency.n > 0).then_some(latency.max);
    }

    /// The CPU of a second. It spans two epoch seconds, so that its samples share two readings.
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
            // As a step from one to the other: two equal readings give just that, without rounding.
            (Some(first), Some(second)) => {
                Some(first + (second - first) * (after as f64 / averaged.samples as f64))
            }
            (first, second) => first.or(second),
        }
    }
}

impl<'a> Averaged<'a> {
    fn add(&mut self, cell: &'a Cell, samples: u64) {
        self.elapsed.push(&cell.elapsed);
        self.latency.merge(&cell.latency);
        self.samples += samples;
        self.before_boundary += cell.before_boundary;
    }
}
