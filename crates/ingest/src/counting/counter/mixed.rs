//! Groups the rows of a block in which labels or verdicts take turns by the cells that they belong to.

use super::super::block::LocalKey;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::texts::Texts;

/// The number of neighbours that are compared to find out if labels take turns.
const COMPARED: usize = 256;

/// The number of places for each row above which most of them would be empty.
const SPARSE: usize = 2;

/// Rows that are grouped by cell. Every cell that the block could have is found by its place, so that no row needs a search.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    /// The number of rows at each place, then the index after the last of them.
    places: Vec<u32>,
    /// The place of each row.
    of_rows: Vec<u32>,
    /// The rows, place by place.
    rows: Vec<u32>,
    /// Their elapsed times.
    elapsed: Vec<i32>,
}

/// The keys of a block: each second from the first to the last, with each label, and none, and each outcome.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    first_second: u32,
    /// The number of labels, and one for none.
    labels: usize,
    places: usize,
}

impl Keys {
    /// The keys of a block whose labels take turns; `None` if there are no such, or too many.
    fn of(batch: &SampleBatch) -> Option<Self> {
        let codes = batch.label.codes();
        let compared = codes.iter().zip(codes.iter().skip(1)).take(COMPARED);
        let turns = compared.filter(|(label, next)| label != next).count();
        if turns < COMPARED / 8 {
            return None;
        }
        let (first, last) =
            batch.t_ms.iter().fold((i64::MAX, i64::MIN), |(a, b), ms| (a.min(*ms), b.max(*ms)));
        let first_second = u32::try_from(first.div_euclid(1000)).ok()?;
        let seconds = u32::try_from(last.div_euclid(1000)).ok()? - first_second;
        let labels = batch.label.values().len() + 1;
        let places = (seconds as usize + 1).checked_mul(labels)?.checked_mul(4)?;
        (places <= SPARSE * batch.len()).then_some(Self { first_second, labels, places })
    }

    /// The key at a place.
    fn key(self, place: usize) -> LocalKey {
        let (second, label) = (place / 4 / self.labels, place / 4 % self.labels);
        LocalKey {
            second: self.first_second + second as u32,
            label: if label + 1 == self.labels { Texts::NULL } else { label as u32 },
            success: place & 2 != 0,
            transaction: place & 1 != 0,
        }
    }
}

impl Mixed {
    /// Groups the rows of a block. Returns its keys; `None` if its labels do not take turns, or it has too few rows for the
    /// cells that it could have.
    pub(super) fn group(&mut self, batch: &SampleBatch) -> Option<Keys> {
        let keys = Keys::of(batch)?;
        self.find_places(batch, keys);
        let mut end = 0;
        for place in &mut self.places {
            end += std::mem::replace(place, end);
        }
        self.rows.resize(end as usize, 0);
        self.elapsed.resize(end as usize, 0);
        for ((row, place), elapsed) in (0..).zip(&self.of_rows).zip(&batch.elapsed) {
            let Some(next) = self.places.get_mut(*place as usize) else { continue };
            let at = *next as usize;
            if let (Some(into), Some(time)) = (self.rows.get_mut(at), self.elapsed.get_mut(at)) {
                (*into, *time) = (row, *elapsed);
            }
            *next += 1;
        }
        Some(keys)
    }

    /// Finds the place of each row, and counts the rows of each.
    fn find_places(&mut self, batch: &SampleBatch, keys: Keys) {
        self.places.clear();
        self.places.resize(keys.places, 0);
        self.of_rows.clear();
        let (mut start_ms, mut start) = (i64::MIN, 0);
        let rows = batch.t_ms.iter().zip(batch.label.codes()).zip(&batch.success).zip(&batch.transaction);
        self.of_rows.extend(rows.map(|(((ms, label), success), transaction)| {
            if ms.wrapping_sub(start_ms) as u64 > 999 {
                let second = ms.div_euclid(1000);
                start_ms = second * 1000;
                start = (second - i64::from(keys.first_second)) as usize * keys.labels;
            }
            let label = (*label as usize).min(keys.labels - 1);
            let place = (start + label) * 4 + usize::from(*success) * 2 + usize::from(*transaction);
            self.places.get_mut(place).into_iter().for_each(|count| *count += 1);
            place as u32
        }));
    }

    /// Calls `take` for each cell, ascending by key, with its rows and their elapsed times.
    pub(super) fn for_each(&mut self, keys: Keys, mut take: impl FnMut(LocalKey, &[u32], &mut [i32])) {
        let (mut start, mut rest) = (0, self.elapsed.as_mut_slice());
        for (place, end) in self.places.iter().map(|end| *end as usize).enumerate() {
            if end == start {
                continue;
            }
            let Some((elapsed, others)) = std::mem::take(&mut rest).split_at_mut_checked(end - start) else {
                return;
            };
            take(keys.key(place), self.rows.get(start..end).unwrap_or_default(), elapsed);
            (start, rest) = (end, others);
        }
    }
}
