//! The failures of a run, by second and kind.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;

/// The number of distinct kinds of failure that are kept, summed over all seconds.
pub(super) const LIMIT: usize = 500_000;

/// The number of failures in a list.
const LIST: usize = 1024;

/// One kind of failure in one second, told by indexes of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FailureKey {
    pub(super) second: u32,
    pub(super) label: u32,
    pub(super) response_code: u32,
    pub(super) message: u32,
    pub(super) transaction: bool,
}

impl FailureKey {
    /// The smallest key of a second.
    fn first_of(second: u32) -> Self {
        Self { second, label: 0, response_code: 0, message: 0, transaction: false }
    }
}

/// The number of times that each kind of failure occurred in each second.
///
/// Past seconds are kept in lists, which take less than half of the memory of a map.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// Those of past seconds, ascending.
    past: Vec<Vec<(FailureKey, u64)>>,
    /// The number of them.
    past_kinds: usize,
    /// The others with the smallest keys, up to [`LIMIT`] of all.
    recent: BTreeMap<FailureKey, u64>,
    /// All others, by second and whether they are transactions.
    other: BTreeMap<(u32, bool), u64>,
}

impl Failures {
    /// The number of kinds by second, without those beyond the limit.
    pub(super) fn len(&self) -> usize {
        self.past_kinds + self.recent.len()
    }

    /// Returns true if there were more than [`LIMIT`].
    pub(super) fn has_others(&self) -> bool {
        !self.other.is_empty()
    }

    /// Adds occurrences of a failure.
    pub(super) fn add(&mut self, key: FailureKey, count: u64) {
        if let Some(past) = self.past_count(key) {
            *past += count;
            return;
        }
        *self.recent.entry(key).or_default() += count;
        // A dropped key is larger than all kept ones and can't return. So the result does not depend on the order in
        // which the failures came.
        if self.len() > LIMIT
            && let Some((key, count)) = self.pop_last()
        {
            self.add_other((key.second, key.transaction), count);
        }
    }

    /// Adds those of other samples, ascending by key.
    pub(super) fn absorb(&mut self, others: impl Iterator<Item = (FailureKey, u64)>) {
        let own = std::mem::take(self);
        let (mut own_kinds, mut others) = (own.between(0, u32::MAX).peekable(), others.peekable());
        self.other = own.other.clone();
        while let Some((key, mut count)) = next_of(&mut own_kinds, &mut others) {
            while let Some((_, more)) = others.next_if(|(other, _)| *other == key) {
                count += more;
            }
            self.push(key, count);
        }
        while self.len() > LIMIT
            && let Some((key, count)) = self.pop_last()
        {
            self.add_other((key.second, key.transaction), count);
        }
    }

    /// Appends a failure to the lists, whose keys are all smaller.
    fn push(&mut self, key: FailureKey, count: u64) {
        if self.past.last().is_none_or(|list| list.len() >= LIST) {
            self.past.push(Vec::with_capacity(LIST));
        }
        self.past.last_mut().into_iter().for_each(|list| list.push((key, count)));
        self.past_kinds += 1;
    }

    /// Adds occurrences of failures beyond the limit.
    pub(super) fn add_other(&mut self, kind: (u32, bool), count: u64) {
        *self.other.entry(kind).or_default() += count;
    }

    /// The count of a failure that is in a list.
    fn past_count(&mut self, key: FailureKey) -> Option<&mut u64> {
        if self.last_past().is_none_or(|last| last < key) {
            return None;
        }
        let first_of = |list: &[(FailureKey, u64)]| list.first().map(|(key, _)| *key);
        let behind = self.past.partition_point(|list| first_of(list).is_some_and(|first| first <= key));
        let list = self.past.get_mut(behind.checked_sub(1)?)?;
        let at = list.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        list.get_mut(at).map(|(_, count)| count)
    }

    fn last_past(&self) -> Option<FailureKey> {
        self.past.last()?.last().map(|(key, _)| *key)
    }

    /// Removes the failure with the largest key.
    fn pop_last(&mut self) -> Option<(FailureKey, u64)> {
        if self.last_past() < self.recent.last_key_value().map(|(key, _)| *key) {
            return self.recent.pop_last();
        }
        let list = self.past.last_mut()?;
        let last = list.pop();
        if list.is_empty() {
            self.past.pop();
        }
        self.past_kinds -= 1;
        last
    }

    /// Moves those of the seconds before this one to lists. What comes later is added all the same.
    pub(super) fn end_before(&mut self, second: u32) {
        let behind = |last: Option<FailureKey>| last.map_or(Bound::Unbounded, Bound::Excluded);
        while let Some((key, _)) = self.recent.range((behind(self.last_past()), Bound::Unbounded)).next()
            && key.second < second
        {
            let key = *key;
            let Some(count) = self.recent.remove(&key) else { return };
            self.push(key, count);
        }
    }

    /// Those of the seconds from `first` to `last`, both inclusive, ascending by key, without those beyond the limit.
    pub(super) fn between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = (FailureKey, u64)> + Send + '_ {
        let (first, last) = (first.min(last), last);
        let is_before =
            move |list: &Vec<(FailureKey, u64)>| list.last().is_none_or(|(key, _)| key.second < first);
        let lists = self.past.get(self.past.partition_point(is_before)..).unwrap_or_default();
        let past = lists.iter().flatten().copied();
        let past = past
            .skip_while(move |(key, _)| key.second < first)
            .take_while(move |(key, _)| key.second <= last);
        let recent = self.recent.range(FailureKey::first_of(first)..);
        let recent = recent.map(|(key, count)| (*key, *count)).take_while(move |(key, _)| key.second <= last);
        let (mut past, mut recent) = (past.peekable(), recent.peekable());
        std::iter::from_fn(move || next_of(&mut past, &mut recent))
    }

    /// Those beyond the limit of the seconds from `first` to `last`, both inclusive: second, whether they are transactions,
    /// and their number.
    pub(super) fn others_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = (u32, bool, u64)> + Send + '_ {
        let others = self.other.range((first.min(last), false)..=(last, true));
        others.map(|((second, transaction), count)| (*second, *transaction, *count))
    }
}

/// The smaller one of the next items of two lists that ascend.
fn next_of<T: Copy + Ord>(
    a: &mut Peekable<impl Iterator<Item = T>>,
    b: &mut Peekable<impl Iterator<Item = T>>,
) -> Option<T> {
    match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if second < first => b.next(),
        (None, _) => b.next(),
        _ => a.next(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn failures_are_those_of_a_map(
            added in prop::collection::vec((0..40u32, 0..9u32, 0..60u32), 0..200), lists in 1..4usize, window in (0..50u32, 0..50u32),
        ) {
            let (mut failures, mut expected) = (Failures::default(), BTreeMap::new());
            // Enough of them that there are several lists.
            for copy in 0..lists as u32 {
                for (second, message, before) in &added {
                    let second = second + 40 * copy;
                    for label in 0..10 {
                        let key = FailureKey { label, message: *message, ..FailureKey::first_of(second) };
                        failures.add(key, 2);
                        *expected.entry(key).or_insert(0) += 2;
                    }
                    failures.end_before(before + 40 * copy);
                }
            }
            prop_assert_eq!(failures.len(), expected.len());
            let (first, last) = (window.0.min(window.1), window.1);
            let inside: Vec<_> = failures.between(first, last).collect();
            let is_inside = |(key, _): &(FailureKey, u64)| (first..=last).contains(&key.second);
            prop_assert_eq!(inside, expected.clone().into_iter().filter(is_inside).collect::<Vec<_>>());
            let mut twice = Failures::default();
            failures.between(0, window.0).for_each(|(key, count)| twice.add(key, count));
            twice.absorb(failures.between(0, u32::MAX));
            let mut told: BTreeMap<_, _> = failures.between(0, u32::MAX).collect();
            told.iter_mut().filter(|(key, _)| key.second <= window.0).for_each(|(_, count)| *count *= 2);
            prop_assert_eq!(twice.between(0, u32::MAX).collect::<BTreeMap<_, _>>(), told);
            // The largest are removed first, wherever they are.
            while let Some(last) = failures.pop_last() {
                prop_assert_eq!(Some(last), expected.pop_last());
            }
            prop_assert_eq!((failures.len(), expected.len()), (0, 0));
        }
    }
}
