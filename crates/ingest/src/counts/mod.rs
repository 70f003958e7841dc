//! What a second keeps: exact counts by second, label, success and transaction, merged by addition.

pub(crate) mod block;
pub(crate) mod counter;
pub(crate) mod coverage;
pub(crate) mod pack;
pub(crate) mod packed;
pub(crate) mod stored_run;
pub(crate) mod table;
pub(crate) mod totals;

use std::sync::Arc;

use serde::Serialize;

/// How many labels have cells of their own.
pub const LABEL_LIMIT: usize = 200;

/// What tells one cell from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// `floor((timeStamp - t0) / 1000)`.
    pub second: u32,
    /// Index into [`crate::CellTable::labels`].
    pub label: u32,
    /// JMeter's verdict.
    pub success: bool,
    /// Whether these are transaction controllers' own records, and so not requests.
    pub transaction: bool,
}

/// The number, sum and extremes of one measure, in ms. With `n` 0 the rest has no meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many samples had the measure.
    pub n: u64,
    /// Their sum.
    pub sum: i64,
    /// The smallest.
    pub min: i32,
    /// The largest.
    pub max: i32,
}

impl Spread {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: i32) {
        self.merge(&Self { n: 1, sum: i64::from(value), min: value, max: value });
    }

    /// Adds another's samples to these.
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
    /// Index into [`crate::CellTable::injectors`].
    pub injector: u32,
    /// Samples that had `allThreads`.
    pub samples: u64,
    /// The sum of their `allThreads`.
    pub threads: i64,
}

impl InjectorLoad {
    /// The same, reported by another injector.
    pub(crate) fn of(&self, injector: u32) -> Self {
        Self { injector, ..*self }
    }
}

/// The exact counts of one second, label, success and transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// How many samples had each elapsed time: (ms, samples), ascending, none with 0 samples.
    pub elapsed: Vec<(i32, u64)>,
    /// Time to first byte.
    pub latency: Spread,
    /// Sum of the times to connect, in ms.
    pub connect: i64,
    /// Sum of the bytes received.
    pub bytes: i64,
    /// Sum of the bytes sent.
    pub sent_bytes: i64,
    /// Samples in the epoch second in which this second begins; the others are in the next one.
    pub before_boundary: u64,
    /// Threads by injector, ascending by injector.
    pub injectors: Vec<InjectorLoad>,
}

/// The sums of a cell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) latency: Spread,
    pub(crate) connect: i64,
    pub(crate) bytes: i64,
    pub(crate) sent_bytes: i64,
    pub(crate) before_boundary: u64,
}

/// A cell whose lists are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellRef<'a> {
    pub(crate) sums: Sums,
    pub(crate) elapsed: &'a [(i32, u64)],
    pub(crate) injectors: &'a [InjectorLoad],
}

impl CellRef<'_> {
    /// The number of samples.
    pub(crate) fn samples(&self) -> u64 {
        self.elapsed.iter().fold(0, |sum, (_, samples)| sum.saturating_add(*samples))
    }
}

impl Cell {
    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.as_ref().samples()
    }

    /// The cell, its lists left where they are.
    pub(crate) fn as_ref(&self) -> CellRef<'_> {
        let Self { elapsed, latency, connect, bytes, sent_bytes, before_boundary, injectors } = self;
        let sums = Sums {
            latency: *latency,
            connect: *connect,
            bytes: *bytes,
            sent_bytes: *sent_bytes,
            before_boundary: *before_boundary,
        };
        CellRef { sums, elapsed, injectors }
    }

    /// Adds another cell's samples to these. Sums that no log reaches stop at their type's limit.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.as_ref());
    }

    /// As [`Cell::merge`].
    pub(crate) fn add(&mut self, other: CellRef<'_>) {
        merge_sorted(
            &mut self.elapsed,
            other.elapsed,
            |entry| entry.0,
            |into, from| into.1 = into.1.saturating_add(from.1),
        );
        let Sums { latency, connect, bytes, sent_bytes, before_boundary } = other.sums;
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

/// Merges one ascending list into another, adding up what has the same key.
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
    let mut fresh = Vec::new();
    let mut at = 0;
    for item in from {
        while into.get(at).is_some_and(|found| key(found) < key(item)) {
            at += 1;
        }
        match into.get_mut(at) {
            Some(found) if key(found) == key(item) => add(found, item),
            _ => fresh.push(*item),
        }
    }
    if !fresh.is_empty() {
        into.extend(fresh);
        into.sort_by_key(key);
    }
}

/// Whole-run counts of one label, kept one by one even where its seconds share the `(other)` cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// Successful requests.
    pub successes: u64,
    /// Failed requests.
    pub failures: u64,
    /// Transaction records.
    pub transactions: u64,
}

/// How often one failure was seen in one second. Its texts are few, and shared by many of its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorCount {
    /// The second.
    pub second: u32,
    /// The label, or `(other)`.
    pub label: Arc<str>,
    /// The response code; empty where the log has none.
    pub response_code: Arc<str>,
    /// failureMessage, else responseMessage, at most 500 characters; `(other)` beyond 1,000 distinct ones.
    pub message: Arc<str>,
    /// Whether these are transaction records.
    pub transaction: bool,
    /// How many.
    pub count: u64,
}
