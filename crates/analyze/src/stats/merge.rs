//! Merging of the sorted counts of several cells of one second.

use std::ops::RangeInclusive;

/// Counters are used if the range of the values is at most this many times their number.
const SPARSE: usize = 16;

/// Buffers for merging, reused from one second to the next.
#[derive(Default)]
pub(crate) struct Merger {
    counters: Vec<u64>,
    merged: Vec<(i32, u64)>,
}

impl Merger {
    /// Merges lists of (value, count), each in ascending order. The result is in ascending order too, but may contain a
    /// value several times. A single list is not copied.
    pub(crate) fn merge<'s>(&'s mut self, lists: &[&'s [(i32, u64)]]) -> &'s [(i32, u64)] {
        if let [only] = lists {
            return only;
        }
        self.merged.clear();
        let least = lists.iter().filter_map(|list| list.first()).map(|(value, _)| *value).min();
        let largest = lists.iter().filter_map(|list| list.last()).map(|(value, _)| *value).max();
        let (Some(least), Some(largest)) = (least, largest) else { return &[] };
        let width = usize::try_from(i64::from(largest) - i64::from(least)).unwrap_or(usize::MAX);
        let values: usize = lists.iter().map(|list| list.len()).sum();
        if width <= values.saturating_mul(SPARSE) {
            self.count(lists, least..=largest, width + 1);
        } else {
            self.sort(lists);
        }
        &self.merged
    }

    /// Merges with a counter for each possible value: the fast way if the values are close to each other.
    fn count(&mut self, lists: &[&[(i32, u64)]], range: RangeInclusive<i32>, width: usize) {
        self.counters.clear();
        self.counters.resize(width, 0);
        for (value, samples) in lists.iter().copied().flatten() {
            let at = usize::try_from(i64::from(*value) - i64::from(*range.start())).ok();
            if let Some(counter) = at.and_then(|at| self.counters.get_mut(at)) {
                *counter = counter.saturating_add(*samples);
            }
        }
        let counted = range.zip(&self.counters).filter(|(_, samples)| **samples > 0);
        self.merged.extend(counted.map(|(value, samples)| (value, *samples)));
    }

    /// Merges by sorting: the stable sort finds the ascending stretches and merges them.
    fn sort(&mut self, lists: &[&[(i32, u64)]]) {
        self.merged.extend(lists.iter().copied().flatten());
        self.merged.sort_by_key(|(value, _)| *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn totals<'a>(counts: impl IntoIterator<Item = &'a (i32, u64)>) -> BTreeMap<i32, u64> {
        let mut totals = BTreeMap::new();
        for (value, samples) in counts {
            *totals.entry(*value).or_default() += samples;
        }
        totals
    }

    fn lists() -> impl Strategy<Value = Vec<BTreeMap<i32, u64>>> {
        let value = prop_oneof![-20..200i32, 0..9000i32, any::<i32>(), Just(i32::MIN), Just(i32::MAX)];
        prop::collection::vec(prop::collection::btree_map(value, 1..9u64, 0..20), 0..5)
    }

    proptest! {
        #[test]
        fn merged_values_are_complete_and_in_order(rounds in prop::collection::vec(lists(), 1..4)) {
            let mut merger = Merger::default();
            for lists in rounds {
                let lists: Vec<Vec<(i32, u64)>> = lists.into_iter().map(|list| list.into_iter().collect()).collect();
                let parts: Vec<&[(i32, u64)]> = lists.iter().map(Vec::as_slice).collect();
                let merged = merger.merge(&parts);
                prop_assert!(merged.is_sorted_by_key(|(value, _)| *value));
                prop_assert_eq!(totals(merged), totals(lists.iter().flatten()));
            }
        }
    }

    #[test]
    fn values_close_together_come_once_each() {
        let mut merger = Merger::default();
        let close = merger.merge(&[&[(5, 1), (7, 2)], &[(7, 3), (9, 1)]]);
        assert_eq!(close, [(5, 1), (7, 5), (9, 1)]);
        assert_eq!(merger.merge(&[&[(0, 1)], &[(0, 1), (1000, 1)]]), [(0, 1), (0, 1), (1000, 1)]);
    }
}
