//! The time of the last response.

use super::batch::{SampleBatch, any};
use crate::sample::resolution::Resolution;

/// The largest timeStamp + elapsed, in epoch ms, of requests and of transactions; `None` if there are no such records.
/// A negative elapsed counts as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ends {
    /// The latest end of a request.
    pub requests: Option<i64>,
    /// The latest end of a transaction controller's record.
    pub transactions: Option<i64>,
}

impl Ends {
    /// Adds records, given by their start times (ms), elapsed times in their unit, and transaction flags.
    #[inline]
    pub fn add(&mut self, starts: &[i64], elapsed: &[i32], unit: Resolution, transactions: &[bool]) {
        // The compiler divides by what it knows in a fraction of the time.
        match unit.per_ms() {
            1 => self.add_in::<1>(starts, elapsed, transactions),
            10 => self.add_in::<10>(starts, elapsed, transactions),
            100 => self.add_in::<100>(starts, elapsed, transactions),
            _ => self.add_in::<1000>(starts, elapsed, transactions),
        }
    }

    /// Adds records with elapsed times in a unit of which a ms has `PER_MS`.
    #[inline]
    fn add_in<const PER_MS: i32>(&mut self, starts: &[i64], elapsed: &[i32], transactions: &[bool]) {
        let end =
            |(start, elapsed): (&i64, &i32)| start.saturating_add(i64::from((*elapsed).max(0) / PER_MS));
        let ends = || starts.iter().zip(elapsed).map(end);
        if !any(transactions) {
            self.requests = self.requests.max(ends().max());
            return;
        }
        for (end, transaction) in ends().zip(transactions) {
            let last = if *transaction { &mut self.transactions } else { &mut self.requests };
            *last = (*last).max(Some(end));
        }
    }

    /// Adds the samples of a batch from a run that starts at `t0_ms` (epoch ms).
    pub fn add_batch(&mut self, batch: &SampleBatch, t0_ms: i64) {
        let mut own = Self::default();
        own.add(&batch.t_ms, &batch.elapsed, batch.resolution, &batch.transaction);
        let since = |end: Option<i64>| end.map(|end| end.saturating_add(t0_ms));
        self.merge(Self { requests: since(own.requests), transactions: since(own.transactions) });
    }

    /// Merges the ends of other records.
    pub fn merge(&mut self, other: Self) {
        self.requests = self.requests.max(other.requests);
        self.transactions = self.transactions.max(other.transactions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_end_need_not_be_that_of_the_last_start() {
        let mut ends = Ends::default();
        let (ms, fine) = (Resolution::MILLISECOND, Resolution::MICROSECOND);
        ends.add(&[1_000, 2_000, 3_000], &[9_000, 10, -5], ms, &[false; 3]);
        ends.add(&[5_000, 9_000], &[4_999_999, 999], fine, &[false; 2]);
        assert_eq!(ends, Ends { requests: Some(10_000), transactions: None });
        ends.add(&[4_000, i64::MAX], &[7_000, 1], ms, &[false, true]);
        assert_eq!(ends, Ends { requests: Some(11_000), transactions: Some(i64::MAX) });
    }
}
