//! Counts the samples of a block by second, label and outcome.

mod failures;
mod mixed;
mod open;

use std::ops::Range;

use hashbrown::HashMap;
use mixed::{Keys, Mixed};
use open::{LoadEntry, NONE, OpenCell, of};

use super::block;
use super::block::{BlockTally, LocalKey};
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_model::counts::InjectorLoad;
use perfpipe_model::sample::batch::SampleBatch;

/// Counts blocks. Each worker has one and reuses its memory. It is empty between blocks.
#[derive(Default)]
pub(crate) struct Counter {
    open: Vec<OpenCell>,
    by_key: HashMap<LocalKey, u32>,
    /// The keys that were looked up last, with their cells, each at a place of its own.
    recent: Vec<Option<(LocalKey, u32)>>,
    loads: Vec<LoadEntry>,
    /// The cell of each row, or [`NONE`].
    of_rows: Vec<u32>,
    /// The rows of runs that are too short to be added by themselves.
    mixed: Vec<u32>,
    /// The same rows, grouped by cell.
    grouped: Vec<u32>,
    /// The elapsed times of the rows, grouped by cell.
    elapsed: Vec<i32>,
    sorter: Sorter,
    histogram: Vec<u32>,
    by_place: Mixed,
}

/// The number of keys that are found again without their hash: those of 64 labels of a second, with all outcomes.
const RECENT: usize = 256;

/// The number of rows from which on a run of one cell is added by itself.
const RUN: usize = 4;

/// The number of rows of a run that are compared at once.
const TOGETHER: usize = 64;

/// Elapsed times below this are counted in an array. Its counters fill 32 KiB, a common size of the L1 cache.
const DENSE: i32 = 8192;

impl Counter {
    /// Counts a parsed block. The distinct texts move from the block to the tally, so that the rows keep only codes.
    pub(crate) fn tally(&mut self, parsed: &mut Parsed, clock: &Clock) -> BlockTally {
        let tally = match parsed.histograms.is_empty() {
            true => self.cells(&parsed.batch, clock),
            false => block::tally_intervals(&parsed.batch, &parsed.histograms, clock),
        };
        named(tally, parsed)
    }

    /// Counts samples by second, label and outcome.
    fn cells(&mut self, batch: &SampleBatch, clock: &Clock) -> BlockTally {
        match self.by_place.group(batch) {
            Some(keys) => self.count_by_place(keys, batch, clock),
            None => {
                self.count(batch, clock);
                self.close(&batch.elapsed)
            }
        }
    }

    /// Counts rows that are grouped by cell.
    fn count_by_place(&mut self, keys: Keys, batch: &SampleBatch, clock: &Clock) -> BlockTally {
        let (mut tally, mut closing) = (BlockTally::default(), Closing::default());
        let boundary = boundary(clock);
        self.by_place.for_each(keys, |key, rows, elapsed| {
            let mut open = OpenCell::new(key);
            self.loads.clear();
            open.add_scattered(batch, rows, boundary, &mut self.loads);
            closing.counted.clear();
            runs(elapsed, &mut self.histogram, &mut self.sorter, &mut closing.counted);
            closing.push(&open, &self.loads, &mut tally);
        });
        self.loads.clear();
        tally
    }

    /// Finds the cell of each row, and counts everything except the elapsed times.
    fn count(&mut self, batch: &SampleBatch, clock: &Clock) {
        let boundary = boundary(clock);
        let mut row = 0;
        while row < batch.len() {
            let Some(key) = LocalKey::of(batch, row) else {
                self.of_rows.push(NONE);
                row += 1;
                continue;
            };
            let end = end_of_run(batch, key, row);
            let cell = self.cell(key);
            self.of_rows.resize(end, cell);
            match self.open.get_mut(cell as usize) {
                Some(open) if end - row >= RUN => open.add(batch, row..end, boundary, &mut self.loads),
                _ => self.mixed.extend(row as u32..end as u32),
            }
            row = end;
        }
        self.add_mixed(batch, boundary);
    }

    /// Adds the rows of short runs, grouped by cell.
    fn add_mixed(&mut self, batch: &SampleBatch, boundary: i64) {
        if self.mixed.is_empty() {
            return;
        }
        let cell_of = |row: u32| self.of_rows.get(row as usize).map_or(usize::MAX, |cell| *cell as usize);
        // The number of rows of each cell, then the index at which its next one is stored, and at last their end.
        let mut next = vec![0_u32; self.open.len()];
        for row in &self.mixed {
            next.get_mut(cell_of(*row)).into_iter().for_each(|rows| *rows += 1);
        }
        let mut end = 0;
        for next in &mut next {
            end += std::mem::replace(next, end);
        }
        self.grouped.clear();
        self.grouped.resize(end as usize, 0);
        for row in self.mixed.drain(..) {
            let Some(next) = next.get_mut(cell_of(row)) else { continue };
            self.grouped.get_mut(*next as usize).into_iter().for_each(|place| *place = row);
            *next += 1;
        }
        let mut start = 0;
        for (open, end) in self.open.iter_mut().zip(next) {
            let rows = self.grouped.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            open.add_scattered(batch, rows, boundary, &mut self.loads);
        }
    }

    #[inline]
    fn cell(&mut self, key: LocalKey) -> u32 {
        let outcome = usize::from(key.success) * 2 + usize::from(key.transaction);
        let place = (key.label as usize).wrapping_mul(4).wrapping_add(outcome) % RECENT;
        match self.recent.get(place) {
            Some(Some((known, cell))) if *known == key => *cell,
            _ => {
                let cell = self.look_up(key);
                self.recent.resize(RECENT, None);
                if let Some(recent) = self.recent.get_mut(place) {
                    *recent = Some((key, cell));
                }
                cell
            }
        }
    }

    fn look_up(&mut self, key: LocalKey) -> u32 {
        *self.by_key.entry(key).or_insert_with(|| {
            self.open.push(OpenCell::new(key));
            (self.open.len() - 1) as u32
        })
    }

    /// Completes the counts with the elapsed times of the rows, and empties the counter.
    fn close(&mut self, elapsed: &[i32]) -> BlockTally {
        let mut order: Vec<u32> = (0..self.open.len() as u32).collect();
        order.sort_unstable_by_key(|cell| self.open.get(*cell as usize).map(|open| open.key));
        self.sort_elapsed(&order, elapsed);
        let mut tally = BlockTally::with_capacity(order.len());
        let mut closing = Closing::default();
        let mut rest = self.elapsed.as_mut_slice();
        for open in order.iter().filter_map(|cell| self.open.get(*cell as usize)) {
            let Some((own, others)) = std::mem::take(&mut rest).split_at_mut_checked(open.samples as usize)
            else {
                break;
            };
            rest = others;
            closing.counted.clear();
            runs(own, &mut self.histogram, &mut self.sorter, &mut closing.counted);
            closing.push(open, &self.loads, &mut tally);
        }
        self.open.clear();
        self.by_key.clear();
        self.recent.clear();
        self.loads.clear();
        self.of_rows.clear();
        tally
    }

    /// Groups the elapsed times of the rows by cell, with the cells in the given order.
    fn sort_elapsed(&mut self, order: &[u32], elapsed: &[i32]) {
        // The index at which the next time of each cell is stored.
        let mut next = vec![0_u32; self.open.len()];
        let mut end = 0;
        for cell in order {
            let cell = *cell as usize;
            if let (Some(next), Some(open)) = (next.get_mut(cell), self.open.get(cell)) {
                *next = end;
                end += open.samples;
            }
        }
        self.elapsed.clear();
        self.elapsed.resize(end as usize, 0);
        for (cell, elapsed) in self.of_rows.iter().zip(elapsed) {
            let Some(next) = next.get_mut(*cell as usize) else { continue };
            if let Some(place) = self.elapsed.get_mut(*next as usize) {
                *place = *elapsed;
            }
            *next += 1;
        }
    }
}

/// Room for the lists of a cell that is complete.
#[derive(Default)]
struct Closing {
    /// Its elapsed times, ascending, with their numbers.
    counted: Vec<(i32, u64)>,
    loads: Vec<InjectorLoad>,
}

impl Closing {
    /// Appends the cell, whose times were counted.
    fn push(&mut self, open: &OpenCell, loads: &[LoadEntry], tally: &mut BlockTally) {
        self.loads.clear();
        self.loads.extend(open.loads(loads));
        self.loads.sort_unstable_by_key(|load| load.injector);
        tally.push(open.key, open.sums, &self.counted, &self.loads);
    }
}

/// The number of milliseconds of each second that lie in the epoch second in which it begins.
fn boundary(clock: &Clock) -> i64 {
    1000 - clock.origin.rem_euclid(1000)
}

/// Returns the end of the rows from `row` on that have the same key as this one.
#[inline]
fn end_of_run(batch: &SampleBatch, key: LocalKey, row: usize) -> usize {
    // Where labels take turns, nothing else needs a look.
    if batch.label.codes().get(row + 1) != Some(&key.label) {
        return row + 1;
    }
    let first_ms = i64::from(key.second) * 1000;
    // Without branches, so that many rows can be compared at once.
    let is_alike = |(((ms, label), success), transaction): (((&i64, &u32), &bool), &bool)| {
        (ms.wrapping_sub(first_ms) as u64 <= 999)
            & (*label == key.label)
            & (*success == key.success)
            & (*transaction == key.transaction)
    };
    let columns = |rows: Range<usize>| {
        let labels = of(batch.label.codes(), &rows);
        of(&batch.t_ms, &rows)
            .iter()
            .zip(labels)
            .zip(of(&batch.success, &rows))
            .zip(of(&batch.transaction, &rows))
    };
    let mut end = row;
    if columns(row..batch.len().min(row + RUN)).all(is_alike) {
        end = batch.len().min(row + RUN);
        while end + TOGETHER <= batch.len()
            && columns(end..end + TOGETHER).fold(true, |all, row| all & is_alike(row))
        {
            end += TOGETHER;
        }
    }
    end + columns(end..batch.len()).take_while(|row| is_alike(*row)).count()
}

/// Appends each value of a list with its number of occurrences, ascending. `histogram` is scratch space, all zero
/// before and after the call.
fn runs(values: &mut [i32], histogram: &mut Vec<u32>, sorter: &mut Sorter, into: &mut Vec<(i32, u64)>) {
    if let [value] = values {
        return into.push((*value, 1));
    }
    let dense = values.iter().all(|value| (0..DENSE).contains(value));
    let largest = values.iter().copied().max().unwrap_or_default();
    if !dense || values.len() < largest as usize / 8 {
        sorter.sort(values);
        let runs = values.chunk_by(|a, b| a == b);
        return into.extend(runs.filter_map(|run| Some((*run.first()?, run.len() as u64))));
    }
    histogram.resize(DENSE as usize, 0);
    for value in values.iter() {
        if let Some(count) = histogram.get_mut(*value as usize) {
            *count += 1;
        }
    }
    for (value, count) in histogram.iter_mut().enumerate().take(largest as usize + 1) {
        if *count > 0 {
            into.push((value as i32, u64::from(std::mem::take(count))));
        }
    }
}

/// Moves the distinct texts of a block to its tally, and counts its failures.
fn named(mut tally: BlockTally, parsed: &mut Parsed) -> BlockTally {
    tally.errors = failures::of_block(parsed);
    tally.labels = parsed.batch.label.take_values();
    tally.injectors = parsed.batch.injector.take_values();
    tally.response_codes = parsed.batch.response_code.take_values();
    tally.messages = parsed.messages.take_values();
    tally
}

/// The bits of a digit. Its counters fill 8 KiB.
const BITS: u32 = 11;
const DIGITS: usize = 1 << BITS;

/// The number of times from which on it is faster to go through them three times than to compare them.
const MANY: usize = 700;

/// Sorts lists of times, and keeps its memory.
#[derive(Debug, Default)]
struct Sorter {
    /// The times by their low digits.
    by_low: Vec<i32>,
}

impl Sorter {
    /// Sorts times. Many that are below 2^22, such as 4 s in µs, are sorted by one digit after the other.
    fn sort(&mut self, times: &mut [i32]) {
        let all = times.iter().fold(0, |all, time| all | *time);
        if times.len() < MANY || u32::try_from(all).is_ok_and(|all| all >> (2 * BITS) > 0) || all < 0 {
            return times.sort_unstable();
        }
        self.by_low.clear();
        self.by_low.resize(times.len(), 0);
        by_digit(times, &mut self.by_low, 0);
        by_digit(&self.by_low, times, BITS);
    }
}

/// Copies times in the order of the digit that begins at this bit; those of the same digit stay as they are.
fn by_digit(from: &[i32], into: &mut [i32], bit: u32) {
    let digit = |time: i32| (time >> bit) as usize % DIGITS;
    // The place of the next time of each digit.
    let mut places = [0_u32; DIGITS];
    for time in from {
        if let Some(count) = places.get_mut(digit(*time)) {
            *count += 1;
        }
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for time in from {
        let Some(place) = places.get_mut(digit(*time)) else { continue };
        if let Some(into) = into.get_mut(*place as usize) {
            *into = *time;
        }
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use perfpipe_formats::jtl::column_parser::MOST_BYTES;
    use perfpipe_model::counts::Spread;
    use perfpipe_model::sample::texts::Texts;

    proptest! {
        #[test]
        fn runs_count_like_a_map(
            mut values in proptest::collection::vec(prop_oneof![0..50i32, 0..9000i32, any::<i32>()], 0..200),
        ) {
            let mut expected = BTreeMap::new();
            values.iter().for_each(|value| *expected.entry(*value).or_insert(0u64) += 1);
            let (mut histogram, mut counted) = (Vec::new(), Vec::new());
            runs(&mut values, &mut histogram, &mut Sorter::default(), &mut counted);
            prop_assert_eq!(counted, expected.into_iter().collect::<Vec<_>>());
            prop_assert!(histogram.iter().all(|count| *count == 0));
        }
    }

    type Row = (i64, u8, [Option<i32>; 3], [Option<i64>; 2], [bool; 2], u8);

    /// Rows that are mostly like their neighbours.
    fn rows() -> impl Strategy<Value = Vec<Row>> {
        // No parser lets larger sizes through, so that their sums in a block can't overflow.
        let size = || proptest::option::of(-(MOST_BYTES as i64)..MOST_BYTES as i64);
        let row =
            (0..3000i64, 0..2u8, any::<[Option<i32>; 3]>(), [size(), size()], any::<[bool; 2]>(), 0..3u8);
        let runs = proptest::collection::vec((row, 1..12usize, any::<bool>()), 0..20);
        runs.prop_map(|runs| {
            let each = |(row, count, differ): (Row, usize, bool)| {
                (0..count).map(
                    move |at| if differ { (row.0, row.1, row.2, row.3, row.4, at as u8 % 3) } else { row },
                )
            };
            runs.into_iter().flat_map(each).collect()
        })
    }

    fn batch(rows: &[Row], all_present: bool) -> SampleBatch {
        let mut batch = SampleBatch::default();
        for (t_ms, label, narrow, wide, [success, transaction], injector) in rows {
            let present = |number: Option<i32>| if all_present { Some(number.unwrap_or(3)) } else { number };
            batch.t_ms.push(*t_ms);
            match label {
                4 => batch.label.push_null(),
                label => batch.label.push(&[b'a' + label]),
            }
            batch.elapsed.push(5);
            batch.success.push(*success);
            batch.latency.push(present(narrow[0]));
            batch.connect.push(present(narrow[1]));
            batch.all_threads.push(present(narrow[2]));
            batch.bytes.push(wide[0]);
            batch.sent_bytes.push(wide[1]);
            batch.injector.push(&[b'i' + injector]);
            batch.transaction.push(*transaction);
        }
        batch
    }

    fn add_row(
        open: &mut OpenCell,
        batch: &SampleBatch,
        row: usize,
        boundary: i64,
        loads: &mut Vec<LoadEntry>,
    ) {
        let sums = &mut open.sums;
        open.samples += 1;
        sums.before_boundary += u64::from(batch.t_ms[row].rem_euclid(1000) < boundary);
        if let Some(latency) = batch.latency.get(row) {
            sums.latency.add(latency);
        }
        sums.connect += i64::from(batch.connect.get(row).unwrap_or_default());
        sums.bytes = sums.bytes.saturating_add(batch.bytes.get(row).unwrap_or_default());
        sums.sent_bytes = sums.sent_bytes.saturating_add(batch.sent_bytes.get(row).unwrap_or_default());
        open.add_threads(batch, row, loads);
    }

    proptest! {
        #[test]
        fn runs_are_added_like_their_rows(rows in rows(), all_present: bool, origin in 0..2000i64) {
            let batch = batch(&rows, all_present);
            let boundary = 1000 - origin.rem_euclid(1000);
            let mut plain = Counter::default();
            for row in 0..batch.len() {
                let cell = plain.cell(LocalKey::of(&batch, row).unwrap());
                plain.of_rows.push(cell);
                add_row(&mut plain.open[cell as usize], &batch, row, boundary, &mut plain.loads);
            }
            let mut counter = Counter::default();
            counter.count(&batch, &Clock { origin, head: None, max_span_ms: 0 });
            prop_assert_eq!(&counter.of_rows, &plain.of_rows);
            let cells = |counter: &mut Counter| {
                let tally = counter.close(&batch.elapsed);
                let cell = |(key, cell): (LocalKey, perfpipe_model::counts::CellRef<'_>)| {
                    (key, cell.sums, cell.elapsed.to_vec(), cell.injectors.to_vec())
                };
                tally.cells().map(cell).collect::<Vec<_>>()
            };
            prop_assert_eq!(format!("{:?}", cells(&mut counter)), format!("{:?}", cells(&mut plain)));
        }

        #[test]
        fn rows_whose_labels_take_turns_are_added_like_others(rows in rows(), all_present: bool, origin in 0..2000i64) {
            let others = |(row, at): (Row, u8)| [(row.0, 2 + at % 3, row.2, row.3, row.4, row.5), row];
            let rows: Vec<Row> = rows.into_iter().zip(0..).flat_map(others).collect();
            // Often enough that they are known as such.
            let rows: Vec<Row> = rows.iter().cycle().take(if rows.is_empty() { 0 } else { 600 }).copied().collect();
            let batch = batch(&rows, all_present);
            let clock = Clock { origin, head: None, max_span_ms: 0 };
            let contents = |tally: BlockTally| {
                let cell = |(key, cell): (LocalKey, perfpipe_model::counts::CellRef<'_>)| {
                    format!("{:?}", (key, cell.sums, cell.elapsed, cell.injectors))
                };
                tally.cells().map(cell).collect::<Vec<_>>()
            };
            let mut counter = Counter::default();
            let keys = counter.by_place.group(&batch);
            prop_assert_eq!(keys.is_some(), !rows.is_empty());
            if let Some(keys) = keys {
                let by_place = contents(counter.count_by_place(keys, &batch, &clock));
                counter.count(&batch, &clock);
                prop_assert_eq!(by_place, contents(counter.close(&batch.elapsed)));
            }
        }
    }

    proptest! {
        #[test]
        fn each_key_has_one_cell(keys in proptest::collection::vec((0..2u32, 0..300u32, any::<[bool; 2]>()), 0..400)) {
            let mut counter = Counter::default();
            let mut cells = BTreeMap::new();
            for (second, label, [success, transaction]) in keys {
                let label = if label == 299 { Texts::NULL } else { label };
                let key = LocalKey { second, label, success, transaction };
                let number = cells.len() as u32;
                let expected = *cells.entry(key).or_insert(number);
                prop_assert_eq!(counter.cell(key), expected);
            }
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
        let tally = Counter::default().tally(&mut parsed, &clock);
        let key = |second, success| LocalKey { second, label: 0, success, transaction: false };
        let cells: Vec<_> = tally.cells().collect();
        assert_eq!(cells.len(), 2);
        let (first, cell) = cells[0];
        assert_eq!((first, cell.elapsed), (key(0, true), &[(5, 2), (7, 1)][..]));
        assert_eq!(cell.sums.before_boundary, 1);
        assert_eq!(cell.sums.latency, Spread { n: 2, sum: 6, min: 3, max: 3 });
        assert_eq!(cell.injectors, [InjectorLoad { injector: Texts::NULL, samples: 3, threads: 6 }]);
        assert_eq!(tally.errors.len(), 1);
        assert_eq!(tally.errors[0].0.second, 1);
    }

    proptest! {
        #[test]
        fn times_are_sorted_as_the_standard_library_does(
            seeds in prop::collection::vec(any::<i32>(), 0..50),
            repeated in 0..40usize,
            bits in 1..33u32,
        ) {
            let scattered = |at: usize, seed: &i32| seed.wrapping_mul(2 * at as i32 + 1);
            let all = (0..repeated).flat_map(|at| seeds.iter().map(move |seed| scattered(at, seed)));
            let mut times: Vec<i32> = all.map(|time| (time as u32 >> (32 - bits)) as i32).collect();
            let mut expected = times.clone();
            expected.sort_unstable();
            Sorter::default().sort(&mut times);
            prop_assert_eq!(times, expected);
        }
    }
}
