//! The histograms of one interval: those with tags, and perhaps one without that is their sum.

use std::collections::BTreeMap;

use super::flaw::IntervalFlaw;
use crate::formats::histogram::Histogram;
use crate::formats::tools::rejects::RejectCause;

/// A line that is kept until all of its interval are known.
pub(super) struct PendingLine {
    /// The line and the byte at which it begins in the log.
    pub(super) place: (u64, u64),
    pub(super) what: LineContent,
}

/// The content of a line.
pub(super) enum LineContent {
    /// A histogram, or `None` if there were no requests.
    Histogram { tag: Option<String>, histogram: Option<Histogram> },
    /// A record that is rejected.
    Reject { cause: RejectCause, record: Vec<u8> },
}

/// The lines of one interval, in their order.
#[derive(Default)]
pub(super) struct IntervalGroup {
    /// The begin and the length of the interval, in ns.
    pub(super) start_ns: i64,
    pub(super) length_ns: i64,
    pub(super) pending: Vec<PendingLine>,
    /// The number of different times in all of them.
    times: usize,
    /// The number of bytes of tags, and of the records that are rejected.
    texts: usize,
    /// True if one of the histograms may have been rejected.
    lacks: bool,
}

/// The most lines of an interval, the most different times in them, and the most bytes of tags and of
/// rejected ones.
const MOST: usize = 10_000;
const MOST_TIMES: usize = 1_000_000;
const MOST_TEXT: usize = 8 << 20;

/// The requests by response time.
type TimeCounts = BTreeMap<i32, u64>;

impl IntervalGroup {
    /// Begins a group. `lacks` is true if one of its histograms may have been rejected before.
    pub(super) fn of(start_ns: i64, length_ns: i64, lacks: bool) -> Self {
        Self { start_ns, length_ns, lacks, ..Self::default() }
    }

    /// Adds a histogram.
    pub(super) fn add(
        &mut self,
        place: (u64, u64),
        tag: Option<String>,
        histogram: Option<Histogram>,
    ) -> Result<(), IntervalFlaw> {
        let times = self.times + histogram.as_ref().map_or(0, |histogram| histogram.counts.len());
        let texts = self.texts + tag.as_ref().map_or(0, String::len);
        if self.pending.len() >= MOST || times > MOST_TIMES || texts > MOST_TEXT {
            return Err(IntervalFlaw::Crowded);
        }
        (self.times, self.texts) = (times, texts);
        self.pending.push(PendingLine { place, what: LineContent::Histogram { tag, histogram } });
        Ok(())
    }

    /// Adds a line that is rejected. Returns false if there are too many to keep.
    pub(super) fn reject(&mut self, place: (u64, u64), cause: RejectCause, record: &[u8]) -> bool {
        self.lacks = true;
        self.texts += record.len();
        self.pending
            .push(PendingLine { place, what: LineContent::Reject { cause, record: record.to_vec() } });
        self.pending.len() < MOST && self.texts < MOST_TEXT
    }

    /// Leaves out the histograms without a tag if they are the sum of those with tags, since their requests would be
    /// counted twice. The first of those with tags has their number.
    ///
    /// Where one with a tag may have been rejected, the sum keeps the requests that none of the others has.
    pub(super) fn leave_out_sums(&mut self) {
        let (Some(sum), Some(parts)) = (self.counts(false), self.counts(true)) else { return };
        if sum == parts {
            return self.leave_out();
        }
        if let Some(rest) = difference(&sum, &parts).filter(|_| self.lacks) {
            let mut rest = Some(rest.into_iter().collect());
            for histogram in self.histograms(false) {
                histogram.counts = rest.take().unwrap_or_default();
            }
        }
    }

    fn leave_out(&mut self) {
        let mut sums = 0;
        for pending in &mut self.pending {
            if let LineContent::Histogram { tag: None, histogram } = &mut pending.what {
                sums += u32::from(histogram.take().is_some());
            }
        }
        if let Some(first) = self.histograms(true).next() {
            first.sums = sums;
        }
    }

    /// All histograms with, or without, a tag.
    fn histograms(&mut self, with_tag: bool) -> impl Iterator<Item = &mut Histogram> {
        self.pending.iter_mut().filter_map(move |pending| match &mut pending.what {
            LineContent::Histogram { tag, histogram } if tag.is_some() == with_tag => histogram.as_mut(),
            _ => None,
        })
    }

    /// The requests by response time of all histograms with, or without, a tag; `None` if there are none.
    fn counts(&mut self, with_tag: bool) -> Option<TimeCounts> {
        let mut all = TimeCounts::new();
        for (time, requests) in self.histograms(with_tag).flat_map(|one| &one.counts) {
            let entry = all.entry(*time).or_default();
            *entry = entry.saturating_add(*requests);
        }
        (!all.is_empty()).then_some(all)
    }
}

/// Returns the rest of a sum without its parts; `None` if one of the parts has more.
fn difference(sum: &TimeCounts, parts: &TimeCounts) -> Option<TimeCounts> {
    let mut rest = sum.clone();
    for (time, requests) in parts {
        let left = rest.get_mut(time)?;
        *left = left.checked_sub(*requests)?;
    }
    rest.retain(|_, requests| *requests > 0);
    Some(rest)
}
