//! The failures of a run as they are told: with their names, and sorted by them within each second.

use std::iter::Peekable;
use std::sync::Arc;

use super::failures::{FailureKey, join_equal};
use super::names::Names;
use crate::counts::ErrorCount;
use crate::error::{Error, Result};
use crate::sample::reserved::OTHER;

/// The names of one sort.
struct Ranked {
    /// The names and [`OTHER`], ascending.
    names: Vec<Arc<str>>,
    /// The ranks of the names by their indexes.
    ranks: Vec<u32>,
    /// The rank of [`OTHER`].
    other: u32,
}

impl Ranked {
    fn of(names: &Names) -> Self {
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
type Kind = ([u32; 3], bool);

/// Failures with their names, ascending.
pub(super) struct Named<T: Iterator, O: Iterator> {
    /// The failures whose names are told apart, with ascending seconds.
    told: Peekable<T>,
    /// Those beyond the limit, which ascend.
    others: Peekable<O>,
    labels: Ranked,
    response_codes: Ranked,
    messages: Ranked,
    /// The second whose failures are being told, and those that are left, descending.
    second: u32,
    kinds: Vec<(Kind, u64)>,
}

impl<T: Iterator<Item = (FailureKey, u64)>, O: Iterator<Item = (u32, bool, u64)>> Named<T, O> {
    /// Names failures, given by indexes among labels, response codes and messages.
    pub(super) fn new(told: T, others: O, [labels, response_codes, messages]: [&Names; 3]) -> Self {
        Self {
            told: told.peekable(),
            others: others.peekable(),
            labels: Ranked::of(labels),
            response_codes: Ranked::of(response_codes),
            messages: Ranked::of(messages),
            second: 0,
            kinds: Vec::new(),
        }
    }

    /// Takes the failures of the second with this number. `None` if a name was not kept.
    fn take_second(&mut self, second: u32) -> Option<()> {
        self.second = second;
        while let Some((key, count)) = self.told.next_if(|(key, _)| key.second == second) {
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

    fn named(&self, (([label, code, message], transaction), count): (Kind, u64)) -> Option<ErrorCount> {
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

impl<T, O> Iterator for Named<T, O>
where
    T: Iterator<Item = (FailureKey, u64)>,
    O: Iterator<Item = (u32, bool, u64)>,
{
    type Item = Result<ErrorCount>;

    fn next(&mut self) -> Option<Self::Item> {
        let lost = || Error::bug("naming failures", "a name was not kept");
        if self.kinds.is_empty() {
            let told = self.told.peek().map(|(key, _)| key.second);
            let second = told.into_iter().chain(self.others.peek().map(|(second, ..)| *second)).min()?;
            if self.take_second(second).is_none() {
                self.kinds.clear();
                return Some(Err(lost()));
            }
        }
        let kind = self.kinds.pop()?;
        Some(self.named(kind).ok_or_else(lost))
    }
}
