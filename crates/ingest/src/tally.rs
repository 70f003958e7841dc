//! The exact counts of one block, gathered by a worker in the names of the block.

use hashbrown::HashMap;

use crate::batch::{SampleBatch, Texts};
use crate::counts::{Cell, InjectorLoad};
use crate::parse::{Clock, Parsed};

/// What tells one cell of a block from another; the label is a code of the block, [`Texts::NULL`] for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalKey {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) success: bool,
    pub(crate) transaction: bool,
}

/// One kind of failure in one second, in codes of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocalError {
    pub(crate) second: u32,
    pub(crate) label: u32,
    pub(crate) response_code: u32,
    pub(crate) message: u32,
    pub(crate) transaction: bool,
}

/// The counts of one block. Injectors are codes of the block, [`Texts::NULL`] where one can't be told.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cells: Vec<(LocalKey, Cell)>,
    /// Failures, ascending.
    pub(crate) errors: Vec<(LocalError, u64)>,
    /// Names that the codes stand for.
    pub(crate) labels: Vec<String>,
    pub(crate) injectors: Vec<String>,
    pub(crate) response_codes: Vec<String>,
    pub(crate) messages: Vec<String>,
}

/// One cell while its samples come in.
#[derive(Default)]
struct Open {
    elapsed: Vec<i32>,
    cell: Cell,
}

/// Counts blocks; each worker has one, for the memory it keeps.
#[derive(Default)]
pub(crate) struct Counter {
    open: Vec<(LocalKey, Open)>,
    by_key: HashMap<LocalKey, usize>,
    histogram: Vec<u32>,
}

/// Elapsed times below this are counted by index; it is one page of most caches.
const DENSE: i32 = 8192;

impl Counter {
    /// The counts of a parsed block.
    pub(crate) fn tally(&mut self, parsed: &Parsed, clock: &Clock) -> Tally {
        let batch = &parsed.batch;
        // Milliseconds of each second that lie in the epoch second in which it begins.
        let boundary = 1000 - clock.origin.rem_euclid(1000);
        let mut last = None;
        for row in 0..batch.len() {
            let Some(key) = key(batch, row) else { continue };
            let index = match last {
                Some((last, index)) if last == key => index,
                _ => self.index(key),
            };
            last = Some((key, index));
            if let Some((_, open)) = self.open.get_mut(index) {
                open.add(batch, row, boundary);
            }
        }
        Tally {
            cells: self.close(),
            errors: errors(parsed),
            labels: batch.label.values().to_vec(),
            injectors: batch.injector.values().to_vec(),
            response_codes: batch.response_code.values().to_vec(),
            messages: parsed.messages.values().to_vec(),
        }
    }

    fn index(&mut self, key: LocalKey) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            self.open.push((key, Open::default()));
            self.open.len() - 1
        })
    }

    fn close(&mut self) -> Vec<(LocalKey, Cell)> {
        self.by_key.clear();
        let mut cells = Vec::with_capacity(self.open.len());
        for (key, mut open) in self.open.drain(..) {
            open.cell.elapsed = runs(&mut open.elapsed, &mut self.histogram);
            open.cell.injectors.sort_by_key(|load| load.injector);
            cells.push((key, open.cell));
        }
        cells.sort_by_key(|(key, _)| *key);
        cells
    }
}

impl Open {
    #[inline]
    fn add(&mut self, batch: &SampleBatch, row: usize, boundary: i64) {
        let (Some(elapsed), Some(t_ms)) = (batch.elapsed.get(row), batch.t_ms.get(row)) else { return };
        self.elapsed.push(*elapsed);
        let cell = &mut self.cell;
        cell.before_boundary += u64::from(t_ms.rem_euclid(1000) < boundary);
        if let Some(latency) = batch.latency.get(row) {
            cell.latency.add(latency);
        }
        cell.connect += i64::from(batch.connect.get(row).unwrap_or_default());
        cell.bytes = cell.bytes.saturating_add(batch.bytes.get(row).unwrap_or_default());
        cell.sent_bytes = cell.sent_bytes.saturating_add(batch.sent_bytes.get(row).unwrap_or_default());
        if let Some(threads) = batch.all_threads.get(row) {
            let injector = batch.injector.codes().get(row).copied().unwrap_or(Texts::NULL);
            add_load(&mut cell.injectors, injector, i64::from(threads));
        }
    }
}

#[inline]
fn add_load(loads: &mut Vec<InjectorLoad>, injector: u32, threads: i64) {
    match loads.iter_mut().find(|load| load.injector == injector) {
        Some(load) => {
            load.samples += 1;
            load.threads += threads;
        }
        None => loads.push(InjectorLoad { injector, samples: 1, threads }),
    }
}

#[inline]
fn key(batch: &SampleBatch, row: usize) -> Option<LocalKey> {
    Some(LocalKey {
        second: u32::try_from(batch.t_ms.get(row)?.div_euclid(1000)).ok()?,
        label: *batch.label.codes().get(row)?,
        success: *batch.success.get(row)?,
        transaction: *batch.transaction.get(row)?,
    })
}

/// How often each value stands in a list, ascending. `histogram` is scratch, all zero before and after.
fn runs(values: &mut [i32], histogram: &mut Vec<u32>) -> Vec<(i32, u64)> {
    let dense = values.iter().all(|value| (0..DENSE).contains(value));
    let largest = values.iter().copied().max().unwrap_or_default();
    if !dense || values.len() < largest as usize / 8 {
        values.sort_unstable();
        return values
            .chunk_by(|a, b| a == b)
            .filter_map(|run| Some((*run.first()?, run.len() as u64)))
            .collect();
    }
    histogram.resize(DENSE as usize, 0);
    for value in values.iter() {
        if let Some(count) = histogram.get_mut(*value as usize) {
            *count += 1;
        }
    }
    let mut counted = Vec::new();
    for (value, count) in histogram.iter_mut().enumerate().take(largest as usize + 1) {
        if *count > 0 {
            counted.push((value as i32, u64::from(std::mem::take(count))));
        }
    }
    counted
}

fn errors(parsed: &Parsed) -> Vec<(LocalError, u64)> {
    let batch = &parsed.batch;
    let mut counts: HashMap<LocalError, u64> = HashMap::new();
    for (row, message) in &parsed.failures {
        let row = *row as usize;
        let Some(LocalKey { second, label, transaction, .. }) = key(batch, row) else { continue };
        let response_code = batch.response_code.codes().get(row).copied().unwrap_or(Texts::NULL);
        let error = LocalError { second, label, response_code, message: *message, transaction };
        *counts.entry(error).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Spread;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn runs_count_like_a_map(
            mut values in proptest::collection::vec(prop_oneof![0..50i32, 0..9000i32, any::<i32>()], 0..200),
        ) {
            let mut expected = BTreeMap::new();
            values.iter().for_each(|value| *expected.entry(*value).or_insert(0u64) += 1);
            let mut histogram = Vec::new();
            let counted = runs(&mut values, &mut histogram);
            prop_assert_eq!(counted, expected.into_iter().collect::<Vec<_>>());
            prop_assert!(histogram.iter().all(|count| *count == 0));
        }
    }

    #[test]
    fn samples_are_counted_by_second_label_and_verdict() {
        let mut parsed = Parsed::default();
        let batch = &mut parsed.batch;
        for (row, (t_ms, elapsed, success)) in
            [(0, 5, true), (700, 5, true), (999, 7, true), (1000, 9, false)].into_iter().enumerate()
        {
            batch.t_ms.push(t_ms);
            batch.label.push(b"a");
            batch.elapsed.push(elapsed);
            batch.response_code.push(b"200");
            batch.success.push(success);
            batch.all_threads.push(Some(row as i32 + 1));
            batch.latency.push((row != 1).then_some(3));
            batch.injector.push_null();
            batch.transaction.push(false);
        }
        let code = parsed.messages.code(b"boom");
        parsed.failures.push((3, code));
        let clock = Clock { origin: 400, head: None, max_span_ms: 0 };
        let tally = Counter::default().tally(&parsed, &clock);
        let key = |second, success| LocalKey { second, label: 0, success, transaction: false };
        assert_eq!(tally.cells.len(), 2);
        let (first, cell) = &tally.cells[0];
        assert_eq!((*first, cell.elapsed.as_slice()), (key(0, true), &[(5, 2), (7, 1)][..]));
        assert_eq!(cell.before_boundary, 1);
        assert_eq!(cell.latency, Spread { n: 2, sum: 6, min: 3, max: 3 });
        assert_eq!(cell.injectors, [InjectorLoad { injector: Texts::NULL, samples: 3, threads: 6 }]);
        assert_eq!(tally.errors.len(), 1);
        assert_eq!(tally.errors[0].0.second, 1);
    }
}
