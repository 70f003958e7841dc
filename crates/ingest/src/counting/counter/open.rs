//! Adds the rows of a block to the cells that they belong to, a column at a time.

use std::ops::Range;

use super::super::block::LocalKey;
use perfpipe_model::counts::{CellSums, InjectorLoad, Spread};
use perfpipe_model::sample::batch::{Nullable, SampleBatch};
use perfpipe_model::sample::texts::Texts;

/// The index of no cell or no load.
pub(super) const NONE: u32 = u32::MAX;

/// The number of injectors of a block whose load in a run is summed by itself.
const FIRST: usize = 16;

/// A cell while its samples are counted.
pub(super) struct OpenCell {
    pub(super) key: LocalKey,
    pub(super) sums: CellSums,
    pub(super) samples: u32,
    /// The index of the cell's first injector in the list of loads, or [`NONE`].
    load: u32,
}

/// The load that an injector reported in a cell, and the index of the cell's next one, or [`NONE`].
pub(super) struct LoadEntry {
    load: InjectorLoad,
    next: u32,
}

impl OpenCell {
    pub(super) fn new(key: LocalKey) -> Self {
        Self { key, sums: CellSums::default(), samples: 0, load: NONE }
    }

    /// Adds rows, all of this cell.
    pub(super) fn add(
        &mut self,
        batch: &SampleBatch,
        rows: Range<usize>,
        boundary: i64,
        loads: &mut Vec<LoadEntry>,
    ) {
        let sums = &mut self.sums;
        self.samples += rows.len() as u32;
        let boundary = i64::from(self.key.second) * 1000 + boundary;
        sums.before_boundary +=
            of(&batch.t_ms, &rows).iter().map(|ms| u64::from(*ms < boundary)).sum::<u64>();
        match (batch.latency.present(&rows), batch.latency.valid()) {
            ([], _) => {}
            (present, None) => sums.latency.merge(&spread(present)),
            (_, Some(_)) => {
                let present = rows.clone().filter_map(|row| batch.latency.get(row));
                present.for_each(|latency| sums.latency.add(latency));
            }
        }
        // What is absent is 0 among the values.
        sums.connect += batch.connect.present(&rows).iter().copied().map(i64::from).sum::<i64>();
        let sum = |sum: i64, column: &Nullable<i64>| {
            column.present(&rows).iter().copied().fold(sum, i64::saturating_add)
        };
        sums.bytes = sum(sums.bytes, &batch.bytes);
        sums.sent_bytes = sum(sums.sent_bytes, &batch.sent_bytes);
        let (threads, injectors) = (batch.all_threads.present(&rows), of(batch.injector.codes(), &rows));
        match injectors.first() {
            _ if threads.is_empty() => {}
            Some(first)
                if batch.all_threads.valid().is_none()
                    && injectors.iter().all(|injector| injector == first) =>
            {
                let sum = threads.iter().copied().map(i64::from).sum();
                self.add_load(*first, threads.len() as u64, sum, loads);
            }
            _ if batch.all_threads.valid().is_none() => self.add_loads(injectors, threads, loads),
            _ => rows.for_each(|row| self.add_threads(batch, row, loads)),
        }
    }

    /// Adds the rows with these indexes, all of this cell, of which few are neighbours.
    pub(super) fn add_scattered(
        &mut self,
        batch: &SampleBatch,
        rows: &[u32],
        boundary: i64,
        loads: &mut Vec<LoadEntry>,
    ) {
        let mut sums = self.sums;
        self.samples += rows.len() as u32;
        let boundary = i64::from(self.key.second) * 1000 + boundary;
        // They are few, so that one pass for each column would take longer.
        for row in rows.iter().map(|row| *row as usize) {
            let of = |column: &[i64]| column.get(row).copied().unwrap_or_default();
            sums.before_boundary += u64::from(of(&batch.t_ms) < boundary);
            // What is absent is 0 among the values.
            sums.connect += i64::from(batch.connect.values().get(row).copied().unwrap_or_default());
            sums.bytes = sums.bytes.saturating_add(of(batch.bytes.values()));
            sums.sent_bytes = sums.sent_bytes.saturating_add(of(batch.sent_bytes.values()));
        }
        match batch.latency.valid() {
            None => at(batch.latency.values(), rows).for_each(|latency| sums.latency.add(latency)),
            Some(_) => {
                let present = rows.iter().filter_map(|row| batch.latency.get(*row as usize));
                present.for_each(|latency| sums.latency.add(latency));
            }
        }
        self.sums = sums;
        self.add_scattered_threads(batch, rows, loads);
    }

    /// Adds the threads of rows, of which most have the injector of the one before.
    fn add_scattered_threads(&mut self, batch: &SampleBatch, rows: &[u32], loads: &mut Vec<LoadEntry>) {
        let mut last = InjectorLoad { injector: Texts::NULL, samples: 0, threads: 0 };
        for row in rows.iter().map(|row| *row as usize) {
            let Some(threads) = batch.all_threads.get(row) else { continue };
            let injector = batch.injector.codes().get(row).copied().unwrap_or(Texts::NULL);
            if injector != last.injector {
                self.add_load(last.injector, last.samples, last.threads, loads);
                last = InjectorLoad { injector, samples: 0, threads: 0 };
            }
            last.samples += 1;
            last.threads += i64::from(threads);
        }
        self.add_load(last.injector, last.samples, last.threads, loads);
    }

    /// Adds the threads of rows whose injectors take turns.
    fn add_loads(&mut self, injectors: &[u32], threads: &[i32], loads: &mut Vec<LoadEntry>) {
        // Those with the first codes are added without a search for each row.
        let mut sums = [(0_u64, 0_i64); FIRST];
        for (injector, threads) in injectors.iter().zip(threads) {
            match sums.get_mut(*injector as usize) {
                Some(sums) => *sums = (sums.0 + 1, sums.1 + i64::from(*threads)),
                None => self.add_load(*injector, 1, i64::from(*threads), loads),
            }
        }
        for (injector, (samples, threads)) in (0..).zip(sums) {
            self.add_load(injector, samples, threads, loads);
        }
    }

    /// Adds the number of threads in a row, if it has one.
    #[inline]
    pub(super) fn add_threads(&mut self, batch: &SampleBatch, row: usize, loads: &mut Vec<LoadEntry>) {
        if let Some(threads) = batch.all_threads.get(row) {
            let injector = batch.injector.codes().get(row).copied().unwrap_or(Texts::NULL);
            self.add_load(injector, 1, i64::from(threads), loads);
        }
    }

    #[inline]
    fn add_load(&mut self, injector: u32, samples: u64, threads: i64, loads: &mut Vec<LoadEntry>) {
        if samples == 0 {
            return;
        }
        let mut at = self.load;
        while let Some(LoadEntry { load, next }) = loads.get_mut(at as usize) {
            if load.injector == injector {
                load.samples += samples;
                load.threads += threads;
                return;
            }
            at = *next;
        }
        let next = std::mem::replace(&mut self.load, loads.len() as u32);
        loads.push(LoadEntry { load: InjectorLoad { injector, samples, threads }, next });
    }

    /// The loads of the cell's injectors, in no particular order.
    pub(super) fn loads<'a>(&self, loads: &'a [LoadEntry]) -> impl Iterator<Item = InjectorLoad> + 'a {
        let first = loads.get(self.load as usize);
        std::iter::successors(first, |load| loads.get(load.next as usize)).map(|load| load.load)
    }
}

/// The values of the rows with these indexes.
#[inline(always)]
fn at<T: Copy>(values: &[T], rows: &[u32]) -> impl Iterator<Item = T> {
    rows.iter().filter_map(|row| values.get(*row as usize).copied())
}

/// The values of some rows; none if the column is shorter.
#[inline]
pub(super) fn of<'a, T>(values: &'a [T], rows: &Range<usize>) -> &'a [T] {
    values.get(rows.clone()).unwrap_or_default()
}

fn spread(values: &[i32]) -> Spread {
    let (min, max) = values.iter().fold((i32::MAX, i32::MIN), |(min, max), v| (min.min(*v), max.max(*v)));
    Spread { n: values.len() as u64, sum: values.iter().copied().map(i64::from).sum(), min, max }
}
