//! The histograms of one interval: those with tags, and perhaps one without that is their sum.

use std::collections::BTreeMap;

use super::flaw::Flaw;
use crate::formats::histogram::Histogram;

/// A histogram that is held until all of its interval are known.
pub(super) struct Held {
    pub(super) tag: Option<String>,
    /// The line and the byte at which it begins in the log.
    pub(super) place: (u64, u64),
    /// `None` if there were no requests.
    pub(super) histogram: Option<Histogram>,
}

/// The histograms of one interval, in the order of their lines.
#[derive(Default)]
pub(super) struct Group {
    /// The begin and the length of the interval, in ns.
    pub(super) start_ns: i64,
    pub(super) length_ns: i64,
    pub(super) held: Vec<Held>,
    /// The number of different times in all of them.
    times: usize,
}

/// The most histograms of an interval, and the most different times in them.
const MOST: usize = 10_000;
const MOST_TIMES: usize = 1_000_000;

impl Group {
    /// Begins a group.
    pub(super) fn of(start_ns: i64, length_ns: i64) -> Self {
        Self { start_ns, length_ns, ..Self::default() }
    }

    /// Adds a histogram.
    pub(super) fn add(&mut self, held: Held) -> Result<(), Flaw> {
        let times = self.times + held.histogram.as_ref().map_or(0, |histogram| histogram.counts.len());
        if self.held.len() >= MOST || times > MOST_TIMES {
            return Err(Flaw::Crowded);
        }
        self.times = times;
        self.held.push(held);
        Ok(())
    }

    /// Leaves out the histograms without a tag if they are the sum of those with tags, since their requests would be
    /// counted twice. The first of those with tags tells how many.
    pub(super) fn leave_out_sums(&mut self) {
        let (Some(sum), Some(parts)) = (self.counts(false), self.counts(true)) else { return };
        if sum != parts {
            return;
        }
        let mut sums = 0;
        for held in self.held.iter_mut().filter(|held| held.tag.is_none()) {
            sums += u32::from(held.histogram.take().is_some());
        }
        if let Some(first) = self.held.iter_mut().find_map(|held| held.histogram.as_mut()) {
            first.sums = sums;
        }
    }

    /// The requests by response time of all histograms with, or without, a tag; `None` if there are none.
    fn counts(&self, with_tag: bool) -> Option<BTreeMap<i32, u64>> {
        let wanted = self.held.iter().filter(|held| held.tag.is_some() == with_tag);
        let mut all = BTreeMap::new();
        for (time, requests) in wanted.filter_map(|held| held.histogram.as_ref()).flat_map(|one| &one.counts)
        {
            let entry: &mut u64 = all.entry(*time).or_default();
            *entry = entry.saturating_add(*requests);
        }
        (!all.is_empty()).then_some(all)
    }
}
