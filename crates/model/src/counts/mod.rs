//! Exact counts by second, label, success and transaction, which are merged by addition.

pub mod coverage;
pub mod pack;
pub mod packed_cell;
pub mod part;
pub mod spill;
pub mod stored_run;
pub mod success_times;
pub mod table;

use std::sync::Arc;

use serde::Serialize;

#[cfg(doc)]
use crate::sample::resolution::Resolution;

pub use self::pack::TakeCounts;
pub use self::packed_cell::PackedCell;
pub use self::table::CellTable;
pub use crate::sample::reserved::{OTHER, set_apart};

/// The number of labels that have cells of their own.
pub const LABEL_LIMIT: usize = 200;

/// The key of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// `floor((timeStamp - t0) / 1000)`.
    pub second: u32,
    /// Index into [`crate::counts::CellTable::labels`].
    pub label: u32,
    /// JMeter's verdict.
    pub success: bool,
    /// True for transaction controllers' own records, which are not requests.
    pub transaction: bool,
}

impl CellKey {
    /// The range of all keys of the seconds from `first` to `last`, both inclusive.
    pub fn of_seconds(first: u32, last: u32) -> std::ops::RangeInclusive<Self> {
        let least = Self { second: first, label: 0, success: false, transaction: false };
        let greatest = Self { second: last, label: u32::MAX, success: true, transaction: true };
        // A range of a map must not begin after its end.
        least.min(greatest)..=greatest
    }
}

/// The number, sum and extremes of a measure, in the run's unit: [`Resolution::ms`] converts them. If `n` is 0, the other
/// fields have no meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// The number of samples that had the measure.
    pub n: u64,
    /// The sum of the values.
    pub sum: i64,
    /// The smallest value.
    pub min: i32,
    /// The largest value.
    pub max: i32,
}

impl Spread {
    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: i32) {
        self.merge(&Self { n: 1, sum: i64::from(value), min: value, max: value });
    }

    /// Adds the values of another.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        self.n = self.n.saturating_add(other.n);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// The load that one injector reported in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectorLoad {
    /// Index into [`crate::counts::CellTable::injectors`].
    pub injector: u32,
    /// The number of samples that had `allThreads`.
    pub samples: u64,
    /// The sum of their `allThreads`.
    pub threads: i64,
}

impl InjectorLoad {
    /// Returns the same load, reported by another injector.
    pub fn of(&self, injector: u32) -> Self {
        Self { injector, ..*self }
    }
}

/// The exact counts of one second, label, success and transaction. Times are whole numbers of the run's unit,
/// [`RunInfo::resolution`](crate::RunInfo::resolution), which is 1 ms for JMeter; [`Resolution::ms`] converts them.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::counts::Cell;
/// use perfpipe_ingest::run::Resolution;
///
/// // Two requests of a run that was measured in µs: of 4.72 ms and 4.931 ms.
/// let cell = Cell { elapsed: vec![(4720, 1), (4931, 1)], ..Cell::default() };
/// let ms: Vec<f64> = cell.elapsed.iter().map(|(time, _)| Resolution::MICROSECOND.ms((*time).into())).collect();
/// assert_eq!(ms, [4.72, 4.931]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The number of samples of each elapsed time: (time, samples), ascending by time, never with 0 samples. A table and
    /// a packed cell put them in this order where they are in another.
    pub elapsed: Vec<(i32, u64)>,
    /// The time to the first byte.
    pub latency: Spread,
    /// The sum of the times to connect.
    pub connect: i64,
    /// The sum of the bytes received.
    pub bytes: i64,
    /// The sum of the bytes sent.
    pub sent_bytes: i64,
    /// The number of samples in the epoch second in which this second begins. The others are in the next epoch second.
    pub before_boundary: u64,
    /// The load by injector, ascending by injector.
    pub injectors: Vec<InjectorLoad>,
}

/// The sums of a cell, without its lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct CellSums {
    /// As [`Cell::latency`].
    pub latency: Spread,
    /// As [`Cell::connect`].
    pub connect: i64,
    /// As [`Cell::bytes`].
    pub bytes: i64,
    /// As [`Cell::sent_bytes`].
    pub sent_bytes: i64,
    /// As [`Cell::before_boundary`].
    pub before_boundary: u64,
}

/// A cell that borrows its lists.
#[derive(Debug, Clone, Copy)]
pub struct CellRef<'a> {
    /// All but its lists.
    pub sums: CellSums,
    /// As [`Cell::elapsed`].
    pub elapsed: &'a [(i32, u64)],
    /// As [`Cell::injectors`].
    pub injectors: &'a [InjectorLoad],
}

impl CellRef<'_> {
    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.elapsed.iter().fold(0, |sum, (_, samples)| sum.saturating_add(*samples))
    }
}

impl Cell {
    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.as_ref().samples()
    }

    /// Returns a view of the cell that borrows its lists.
    pub fn as_ref(&self) -> CellRef<'_> {
        let Self { elapsed, latency, connect, bytes, sent_bytes, before_boundary, injectors } = self;
        let sums = CellSums {
            latency: *latency,
            connect: *connect,
            bytes: *bytes,
            sent_bytes: *sent_bytes,
            before_boundary: *before_boundary,
        };
        CellRef { sums, elapsed, injectors }
    }

    /// Puts the lists in their order, and adds up what is in them twice, so that the maker of a cell need not.
    fn ordered(mut self) -> Self {
        if !self.elapsed.is_sorted_by(|one, next| one.0 < next.0) {
            self.elapsed.sort_unstable_by_key(|(elapsed, _)| *elapsed);
            self.elapsed.dedup_by(|next, one| {
                let is_same = next.0 == one.0;
                one.1 = if is_same { one.1.saturating_add(next.1) } else { one.1 };
                is_same
            });
        }
        if !self.injectors.is_sorted_by(|one, next| one.injector < next.injector) {
            self.injectors.sort_unstable_by_key(|load| load.injector);
            self.injectors.dedup_by(|next, one| {
                let is_same = next.injector == one.injector;
                if is_same {
                    one.samples = one.samples.saturating_add(next.samples);
                    one.threads = one.threads.saturating_add(next.threads);
                }
                is_same
            });
        }
        self
    }

    /// Adds the samples of another cell. Sums saturate at the limits of their types, which no real log reaches.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.as_ref());
    }

    /// Adds the samples of another cell, see [`Cell::merge`].
    pub fn add(&mut self, other: CellRef<'_>) {
        merge_sorted(
            &mut self.elapsed,
            other.elapsed,
            |entry| entry.0,
            |into, from| into.1 = into.1.saturating_add(from.1),
        );
        let CellSums { latency, connect, bytes, sent_bytes, before_boundary } = other.sums;
        self.latency.merge(&latency);
        self.connect = self.connect.saturating_add(connect);
        self.bytes = self.bytes.saturating_add(bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sent_bytes);
        self.before_boundary = self.before_boundary.saturating_add(before_boundary);
        merge_sorted(
            &mut self.injectors,
            other.injectors,
            |load| load.injector,
            |into, from| {
                into.samples = into.samples.saturating_add(from.samples);
                into.threads = into.threads.saturating_add(from.threads);
            },
        );
    }
}

/// Merges an ascending list into another. `add` adds up items of equal keys.
fn merge_sorted<T: Copy, K: Ord>(
    into: &mut Vec<T>,
    from: &[T],
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) {
    if into.is_empty() {
        into.extend_from_slice(from);
        return;
    }
    if into.iter().map(&key).eq(from.iter().map(&key)) {
        return into.iter_mut().zip(from).for_each(|(into, from)| add(into, from));
    }
    let mut merged = Vec::with_capacity(into.len() + from.len());
    // No branch but that on equal keys depends on which one is smaller: in which order they come, nobody can predict.
    let (mut known, mut new) = (0, 0);
    while let (Some(left), Some(right)) = (into.get(known), from.get(new)) {
        let order = key(left).cmp(&key(right));
        let mut item = if order.is_le() { *left } else { *right };
        if order.is_eq() {
            add(&mut item, right);
        }
        merged.push(item);
        known += usize::from(order.is_le());
        new += usize::from(order.is_ge());
    }
    merged.extend_from_slice(into.get(known..).unwrap_or_default());
    merged.extend_from_slice(from.get(new..).unwrap_or_default());
    *into = merged;
}

/// Whole-run counts of one label. Labels whose seconds share the `(other)` cell have their own counts here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// The number of successful requests.
    pub successes: u64,
    /// The number of failed requests.
    pub failures: u64,
    /// The number of transaction records.
    pub transactions: u64,
}

impl LabelCount {
    /// The number of all of them.
    pub fn samples(&self) -> u64 {
        self.successes.saturating_add(self.failures).saturating_add(self.transactions)
    }

    /// The number of those of an outcome.
    pub fn of(&mut self, success: bool, transaction: bool) -> &mut u64 {
        match (transaction, success) {
            (true, _) => &mut self.transactions,
            (false, true) => &mut self.successes,
            (false, false) => &mut self.failures,
        }
    }

    /// Adds the counts of the same label elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.successes = self.successes.saturating_add(other.successes);
        self.failures = self.failures.saturating_add(other.failures);
        self.transactions = self.transactions.saturating_add(other.transactions);
    }
}

/// The number of times that one failure occurred in one second. The texts are shared between failures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorCount {
    /// The second, counted from t0.
    pub second: u32,
    /// The label, or `(other)`.
    pub label: Arc<str>,
    /// The response code; empty if the log has none.
    pub response_code: Arc<str>,
    /// The failureMessage, otherwise the responseMessage, cut to 500 characters; `(other)` beyond 1,000 distinct ones.
    pub message: Arc<str>,
    /// True for transaction records.
    pub transaction: bool,
    /// The number of occurrences.
    pub count: u64,
}
