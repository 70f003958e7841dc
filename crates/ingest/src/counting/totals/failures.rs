//! The failures of a run, by second and kind, and with their names.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Bound;
use std::sync::Arc;

use super::names::NameIndex;
use perfpipe_model::counts::ErrorCount;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::reserved::OTHER;
use perfpipe_model::sample::varint::{read_unsigned, unsigned};

/// The number of distinct kinds of failure that are kept, summed over all seconds.
pub(super) const LIMIT: usize = 500_000;

/// The number of them that are kept for logs that are read ahead of their turn, however little memory there is.
const LEAST_SEPARATE: usize = 100_000;

/// The number of failures in a list.
const LIST: usize = 1024;

/// The number of kinds in separate counts with this memory budget in bytes, of which they take up to a quarter. None is
/// left out.
pub(super) fn separate_limit(memory: usize) -> usize {
    (memory / 4 / size_of::<(FailureKey, u64)>()).clamp(LEAST_SEPARATE, LIMIT)
}

/// One kind of failure in one second, by indexes of its names.
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
/// Past seconds are kept in packed lists, which take a tenth of the memory of a map.
#[derive(Debug, Default)]
pub(super) struct FailureCounts {
    /// Those of past seconds, ascending.
    past: Vec<FailureList>,
    /// Those after them, ascending.
    tail: Vec<(FailureKey, u64)>,
    /// The list that was opened last, and its content.
    open: Option<(usize, Vec<(FailureKey, u64)>)>,
    /// The number of failures in the lists.
    packed: usize,
    /// The others with the smallest keys, up to [`LIMIT`] of all.
    recent: BTreeMap<FailureKey, u64>,
    /// Those of logs that were counted separately, each ascending. A failure may be in several of them, and among the others.
    separate: Vec<Vec<FailureList>>,
    /// The number of failures in them.
    separate_len: usize,
    /// All others, by second and whether they are transactions.
    other: BTreeMap<(u32, bool), u64>,
}

/// Failures that ascend by key, packed.
#[derive(Debug)]
struct FailureList {
    first: FailureKey,
    last: FailureKey,
    bytes: Box<[u8]>,
}

impl FailureList {
    /// Packs failures; `None` if there are none.
    fn pack(failures: &[(FailureKey, u64)]) -> Option<Self> {
        let ((first, _), (last, _)) = failures.first().zip(failures.last())?;
        let (mut bytes, mut second) = (Vec::new(), first.second);
        for (key, count) in failures {
            unsigned(&mut bytes, u64::from(key.second - second));
            unsigned(&mut bytes, u64::from(key.label));
            unsigned(&mut bytes, u64::from(key.response_code));
            unsigned(&mut bytes, u64::from(key.message) << 1 | u64::from(key.transaction));
            unsigned(&mut bytes, *count);
            second = key.second;
        }
        Some(Self { first: *first, last: *last, bytes: bytes.into() })
    }

    /// The failures.
    fn iter(&self) -> impl Iterator<Item = (FailureKey, u64)> + Send + '_ {
        let (mut rest, mut second) = (&*self.bytes, self.first.second);
        let mut next = move || read_unsigned(&mut rest);
        std::iter::from_fn(move || {
            second += next()? as u32;
            let [label, response_code] = [next()? as u32, next()? as u32];
            let message = next()?;
            let key = FailureKey {
                second,
                label,
                response_code,
                message: (message >> 1) as u32,
                transaction: message & 1 != 0,
            };
            Some((key, next()?))
        })
    }
}

impl FailureCounts {
    /// The number of kinds by second, or more: those of logs that were counted separately count for each log.
    pub(super) fn len(&self) -> usize {
        self.packed + self.tail.len() + self.recent.len() + self.separate_len
    }

    /// Returns true if there were more than [`LIMIT`].
    pub(super) fn has_others(&self) -> bool {
        !self.other.is_empty()
    }

    /// Adds occurrences of a failure.
    pub(super) fn add(&mut self, key: FailureKey, count: u64) {
        self.insert(key, count);
        self.keep_to_limit();
    }

    /// Adds occurrences of a failure, however many there are.
    fn insert(&mut self, key: FailureKey, count: u64) {
        if !self.add_to_past(key, count) {
            *self.recent.entry(key).or_default() += count;
        }
    }

    /// Adds occurrences of the failures of a block, in any order. Of the seconds before `past`, no more is expected.
    pub(super) fn add_all(&mut self, mut failures: Vec<(FailureKey, u64)>, past: u32) {
        failures.sort_unstable();
        for (key, count) in failures {
            if key.second >= past || !self.add_last(key, count) {
                self.add(key, count);
            }
        }
        self.end_before(past);
        self.keep_to_limit();
    }

    /// Appends a failure of a past second to the lists, after those of the recent ones that have smaller keys. Returns false
    /// if it may be in the lists, or is among the recent ones.
    fn add_last(&mut self, key: FailureKey, count: u64) -> bool {
        if self.recent.first_key_value().is_some_and(|(first, _)| *first < key) {
            self.end_before_key(key);
        }
        let is_last = self.last_past() < Some(key) && !self.recent.contains_key(&key);
        if is_last {
            self.push(key, count);
        }
        is_last
    }

    /// Drops failures beyond the limit. A dropped key is larger than all kept ones and can't return. So the result does not
    /// depend on the order in which the failures came.
    fn keep_to_limit(&mut self) {
        if self.len() > LIMIT && !self.separate.is_empty() {
            self.gather();
        }
        while self.len() > LIMIT
            && let Some((key, count)) = self.pop_last()
        {
            self.add_other((key.second, key.transaction), count);
        }
    }

    /// Adds those of a log that was counted separately, ascending by key. Where none is of a second before those so far, they go
    /// on the same lists.
    pub(super) fn absorb(&mut self, others: impl Iterator<Item = (FailureKey, u64)>) {
        let mut others = others.peekable();
        let Some((first, _)) = others.peek().copied() else { return };
        let last = self.last_past().max(self.recent.last_key_value().map(|(key, _)| *key));
        let last = last.map_or(0, |last| last.second);
        if last <= first.second {
            // Logs one after another may share a second.
            while let Some((key, count)) = others.next_if(|(key, _)| key.second == last) {
                self.insert(key, count);
            }
            self.end_before(u32::MAX);
            others.for_each(|(key, count)| self.push(key, count));
        } else {
            let mut lists = Self::default();
            others.for_each(|(key, count)| lists.push(key, count));
            self.separate_len += lists.len();
            lists.past.extend(FailureList::pack(&lists.tail));
            self.separate.push(lists.past);
        }
        self.keep_to_limit();
    }

    /// Adds up those of logs that were counted separately.
    fn gather(&mut self) {
        let mut own = std::mem::take(self);
        self.other = std::mem::take(&mut own.other);
        own.close();
        own.between(0, u32::MAX).for_each(|(key, count)| self.push(key, count));
    }

    /// Appends a failure, whose key is larger than all in the lists.
    fn push(&mut self, key: FailureKey, count: u64) {
        if self.tail.len() >= LIST {
            self.packed += self.tail.len();
            self.past.extend(FailureList::pack(&self.tail));
            self.tail.clear();
        }
        self.tail.push((key, count));
    }

    /// Adds occurrences of failures beyond the limit.
    fn add_other(&mut self, kind: (u32, bool), count: u64) {
        *self.other.entry(kind).or_default() += count;
    }

    /// Adds those beyond the limit of logs that were counted separately.
    pub(super) fn absorb_others(&mut self, later: &Self) {
        for (kind, count) in &later.other {
            self.add_other(*kind, *count);
        }
    }

    /// Adds occurrences of a failure that is in a list. Returns false if it is in none.
    fn add_to_past(&mut self, key: FailureKey, count: u64) -> bool {
        if self.last_past().is_none_or(|last| last < key) {
            return false;
        }
        let list = match self.past.partition_point(|list| list.last < key) {
            // Records that come late mostly come in groups.
            at if at < self.past.len() => self.open(at),
            _ => &mut self.tail,
        };
        let found = list.binary_search_by_key(&key, |(key, _)| *key);
        let known = found.ok().and_then(|at| list.get_mut(at));
        known.map(|(_, known)| *known += count).is_some()
    }

    /// Opens a list.
    fn open(&mut self, at: usize) -> &mut Vec<(FailureKey, u64)> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != at) {
            self.close();
        }
        let list = || self.past.get(at).map(|list| list.iter().collect()).unwrap_or_default();
        &mut self.open.get_or_insert_with(|| (at, list())).1
    }

    /// Packs the list that is open.
    fn close(&mut self) {
        if let Some((at, open)) = self.open.take()
            && let Some(list) = self.past.get_mut(at)
            && let Some(packed) = FailureList::pack(&open)
        {
            *list = packed;
        }
    }

    fn last_past(&self) -> Option<FailureKey> {
        self.tail.last().map(|(key, _)| *key).or_else(|| self.past.last().map(|list| list.last))
    }

    /// Removes the failure with the largest key.
    fn pop_last(&mut self) -> Option<(FailureKey, u64)> {
        if self.last_past() < self.recent.last_key_value().map(|(key, _)| *key) {
            return self.recent.pop_last();
        }
        if self.tail.is_empty() {
            self.close();
            self.tail = self.past.pop()?.iter().collect();
            self.packed -= self.tail.len();
        }
        self.tail.pop()
    }

    /// Moves those of the seconds before this one to lists. What comes later is added all the same.
    pub(super) fn end_before(&mut self, second: u32) {
        self.end_before_key(FailureKey::first_of(second));
    }

    /// Moves those with smaller keys than this one to lists.
    fn end_before_key(&mut self, end: FailureKey) {
        let after = |last: Option<FailureKey>| last.map_or(Bound::Unbounded, Bound::Excluded);
        while let Some((key, _)) = self.recent.range((after(self.last_past()), Bound::Unbounded)).next()
            && *key < end
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
        let first = first.min(last);
        let from = self.past.partition_point(|list| list.last.second < first);
        let lists = self.past.iter().enumerate().skip(from).flat_map(move |(at, list)| {
            let open =
                self.open.as_ref().filter(|(open, _)| *open == at).map(|(_, open)| open.iter().copied());
            let packed = if open.is_none() { Some(list.iter()) } else { None };
            open.into_iter().flatten().chain(packed.into_iter().flatten())
        });
        let past = lists.chain(self.tail.iter().copied()).skip_while(move |(key, _)| key.second < first);
        let recent = self.recent.range(FailureKey::first_of(first)..).map(|(key, count)| (*key, *count));
        let (mut past, mut recent) = (past.peekable(), recent.peekable());
        let own = std::iter::from_fn(move || next_of(&mut past, &mut recent));
        let own: FailureIter<'_> = Box::new(own);
        let all = merged(self.separate.iter().map(|lists| of_log(lists, first)).chain([own]).collect());
        all.take_while(move |(key, _)| key.second <= last)
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

/// Adds up neighbours of one kind, such as those whose texts share a name beyond the limits.
pub(super) fn join_equal<K: PartialEq>(kinds: &mut Vec<(K, u64)>) {
    kinds.dedup_by(|from, into| {
        let same = from.0 == into.0;
        if same {
            into.1 += from.1;
        }
        same
    });
}

/// Failures that ascend by key.
type FailureIter<'a> = Box<dyn Iterator<Item = (FailureKey, u64)> + Send + 'a>;

/// The failures of lists from a second on.
fn of_log(lists: &[FailureList], first: u32) -> FailureIter<'_> {
    Box::new(lists.iter().flat_map(FailureList::iter).skip_while(move |(key, _)| key.second < first))
}

/// Merges failures, and adds up those of one key.
fn merged(mut all: Vec<FailureIter<'_>>) -> FailureIter<'_> {
    while all.len() > 1 {
        let mut pairs = all.into_iter();
        all = std::iter::from_fn(|| Some(both(pairs.next()?, pairs.next()))).collect();
    }
    all.pop().unwrap_or_else(|| Box::new(std::iter::empty()))
}

fn both<'a>(one: FailureIter<'a>, other: Option<FailureIter<'a>>) -> FailureIter<'a> {
    let Some(other) = other else { return one };
    let (mut one, mut other) = (one.peekable(), other.peekable());
    Box::new(std::iter::from_fn(move || {
        let (key, mut count) = next_of(&mut one, &mut other)?;
        // The other side may have the same key.
        let rest = one.next_if(|(next, _)| *next == key).or_else(|| other.next_if(|(next, _)| *next == key));
        count += rest.map_or(0, |(_, more)| more);
        Some((key, count))
    }))
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

/// The names of one sort.
struct RankedNames {
    /// The names and [`OTHER`], ascending.
    names: Vec<Arc<str>>,
    /// The ranks of the names by their indexes.
    ranks: Vec<u32>,
    /// The rank of [`OTHER`].
    other: u32,
}

impl RankedNames {
    fn of(names: &NameIndex) -> Self {
        let mut sorted = names.shared();
        sorted.push(OTHER.into());
        sorted.sort_unstable();
        sorted.dedup();
        let rank = |name: &str| sorted.partition_point(|other| **other < *name) as u32;
        let ranks = names.names.texts().iter().map(rank).collect();
        Self { ranks, other: rank(OTHER), names: sorted }
    }

    fn rank(&self, index: u32) -> Option<u32> {
        self.ranks.get(index as usize).copied()
    }

    fn name(&self, rank: u32) -> Option<Arc<str>> {
        self.names.get(rank as usize).cloned()
    }
}

/// A failure: the ranks of its label, response code and message, and whether it is one of transactions.
type RankedKind = ([u32; 3], bool);

/// Failures with their names, ascending.
pub(super) struct NamedFailures<T: Iterator, O: Iterator> {
    /// The failures that are counted by their own names, with ascending seconds.
    own: Peekable<T>,
    /// Those beyond the limit, which ascend.
    others: Peekable<O>,
    labels: RankedNames,
    response_codes: RankedNames,
    messages: RankedNames,
    /// The second whose failures are being returned, and those that are left, descending.
    second: u32,
    kinds: Vec<(RankedKind, u64)>,
}

impl<T: Iterator<Item = (FailureKey, u64)>, O: Iterator<Item = (u32, bool, u64)>> NamedFailures<T, O> {
    /// Names failures, given by indexes among labels, response codes and messages.
    pub(super) fn new(own: T, others: O, [labels, response_codes, messages]: [&NameIndex; 3]) -> Self {
        Self {
            own: own.peekable(),
            others: others.peekable(),
            labels: RankedNames::of(labels),
            response_codes: RankedNames::of(response_codes),
            messages: RankedNames::of(messages),
            second: 0,
            kinds: Vec::new(),
        }
    }

    /// Reads the failures of the second with this number. `None` if a name was not kept.
    fn read_second(&mut self, second: u32) -> Option<()> {
        self.second = second;
        while let Some((key, count)) = self.own.next_if(|(key, _)| key.second == second) {
            let ranks = [
                self.labels.rank(key.label)?,
                self.response_codes.rank(key.response_code)?,
                self.messages.rank(key.message)?,
            ];
            self.kinds.push(((ranks, key.transaction), count));
        }
        let other = [self.labels.other, self.response_codes.other, self.messages.other];
        while let Some((_, transaction, count)) = self.others.next_if(|(other, ..)| *other == second) {
            self.kinds.push(((other, transaction), count));
        }
        self.kinds.sort_unstable_by(|a, b| b.cmp(a));
        join_equal(&mut self.kinds);
        Some(())
    }

    fn named(&self, (([label, code, message], transaction), count): (RankedKind, u64)) -> Option<ErrorCount> {
        Some(ErrorCount {
            second: self.second,
            label: self.labels.name(label)?,
            response_code: self.response_codes.name(code)?,
            message: self.messages.name(message)?,
            transaction,
            count,
        })
    }
}

impl<T, O> Iterator for NamedFailures<T, O>
where
    T: Iterator<Item = (FailureKey, u64)>,
    O: Iterator<Item = (u32, bool, u64)>,
{
    type Item = Result<ErrorCount>;

    fn next(&mut self) -> Option<Self::Item> {
        let lost = || Error::bug("naming failures", "a name was not kept");
        if self.kinds.is_empty() {
            let own = self.own.peek().map(|(key, _)| key.second);
            let second = own.into_iter().chain(self.others.peek().map(|(second, ..)| *second)).min()?;
            if self.read_second(second).is_none() {
                self.kinds.clear();
                return Some(Err(lost()));
            }
        }
        let kind = self.kinds.pop()?;
        Some(self.named(kind).ok_or_else(lost))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn failures_are_those_of_a_map(
            added in prop::collection::vec((0..40u32, 0..9u32, 0..60u32), 0..200), lists in 1..4usize, blocks in 1..9usize, window in (0..50u32, 0..50u32),
        ) {
            let (mut failures, mut expected) = (FailureCounts::default(), BTreeMap::new());
            // Enough of them that there are several lists.
            for copy in 0..lists as u32 {
                for block in added.chunks(blocks) {
                    let mut kinds = Vec::new();
                    for (second, message, _) in block {
                        let first = FailureKey::first_of(second + 40 * copy);
                        kinds.extend((0..10).rev().map(|label| (FailureKey { label, message: *message, ..first }, 2)));
                    }
                    kinds.iter().for_each(|(key, count)| *expected.entry(*key).or_insert(0) += count);
                    failures.add_all(kinds, block.first().map_or(0, |(.., before)| before + 40 * copy));
                }
            }
            prop_assert_eq!(failures.len(), expected.len());
            let (first, last) = (window.0.min(window.1), window.1);
            let inside: Vec<_> = failures.between(first, last).collect();
            let is_inside = |(key, _): &(FailureKey, u64)| (first..=last).contains(&key.second);
            prop_assert_eq!(inside, expected.clone().into_iter().filter(is_inside).collect::<Vec<_>>());
            let mut thrice = FailureCounts::default();
            failures.between(0, window.0).for_each(|(key, count)| thrice.add(key, count));
            thrice.absorb(failures.between(0, u32::MAX));
            thrice.absorb(failures.between(0, window.0));
            let mut summed: BTreeMap<_, _> = failures.between(0, u32::MAX).collect();
            summed.iter_mut().filter(|(key, _)| key.second <= window.0).for_each(|(_, count)| *count *= 3);
            for _ in 0..2 {
                let found: Vec<_> = thrice.between(first, last).collect();
                let inside = summed.iter().filter(|(key, _)| (first..=last).contains(&key.second));
                prop_assert_eq!(found, inside.map(|(key, count)| (*key, *count)).collect::<Vec<_>>());
                thrice.gather();
            }
            let mut in_turn = FailureCounts::default();
            let (from, to) = (FailureKey::first_of(window.0), FailureKey { label: window.1, ..FailureKey::first_of(window.0) });
            in_turn.absorb(failures.between(0, window.0).filter(|(key, _)| *key < to));
            in_turn.absorb(failures.between(window.0, u32::MAX).filter(|(key, _)| *key >= to || key.label % 2 == 0));
            prop_assert!(in_turn.separate.is_empty());
            let again = |(key, count): (FailureKey, u64)| (key, if from <= key && key < to && key.label % 2 == 0 { 2 * count } else { count });
            prop_assert!(in_turn.between(0, u32::MAX).eq(failures.between(0, u32::MAX).map(again)));
            // The largest are removed first, wherever they are.
            while let Some(last) = failures.pop_last() {
                prop_assert_eq!(Some(last), expected.pop_last());
            }
            prop_assert_eq!((failures.len(), expected.len()), (0, 0));
        }
    }
}
