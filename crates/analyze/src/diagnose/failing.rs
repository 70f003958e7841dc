//! Stretches of a run in which a larger share of the requests fails than in the rest.
//!
//! Each step of the search looks for the stretch whose share differs most from that of the rest, by the likelihood of both
//! counts (Kulldorff, "A spatial scan statistic", 1997), among the seconds that are in no stretch yet. Failures come in
//! clusters, so the gain is divided by their dispersion, the largest at several lengths of time. The rates of error are
//! in `tests/rates/failures.rs`.

use std::iter::Sum;
use std::ops::{Add, Sub};

use super::noise::{SURPRISE, contrast};
use super::seconds::{RuleSecond, requests};

/// The share of failures in a stretch is at least so many times that of the rest, and so much more: in one of at least
/// [`LONG`] seconds, and in a shorter one.
const MORE: [(f64, f64); 2] = [(1.5, 0.01), (2.0, 0.05)];
const LONG: usize = 10;
/// The largest number of blocks that are searched, of one or several seconds.
const BLOCKS: usize = 300;
/// The largest number of stretches.
const STRETCHES: usize = 8;
/// Lengths in seconds at which the dispersion is estimated, and the least number of such lengths it takes.
const LENGTHS: [usize; 4] = [1, 3, 10, 30];
const ENOUGH: usize = 10;
/// The dispersion where it is not known: a few failures may have one cause, as where a client repeats a request.
const CLUSTER: f64 = 3.0;
/// The share of seconds that shows the usual dispersion.
const USUAL: f64 = 0.95;

/// The failures among requests.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FailingCount {
    pub(super) failed: f64,
    pub(super) sent: f64,
}

impl FailingCount {
    pub(super) fn of(row: &RuleSecond) -> Self {
        Self { failed: row.failures as f64, sent: requests(row) }
    }

    /// Returns the share that failed, 0 to 1; 0 without requests.
    pub(super) fn share(self) -> f64 {
        if self.sent > 0.0 { self.failed / self.sent } else { 0.0 }
    }

    /// Returns the surprise of the difference to another count.
    pub(super) fn contrast(self, other: Self) -> f64 {
        contrast((self.failed, self.sent), (other.failed, other.sent))
    }
}

impl Add for FailingCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { failed: self.failed + other.failed, sent: self.sent + other.sent }
    }
}

impl Sub for FailingCount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { failed: self.failed - other.failed, sent: self.sent - other.sent }
    }
}

impl Sum for FailingCount {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Returns of each second the number of its stretch, if it is in one. Seconds between those of a stretch may be in
/// another.
pub(super) fn stretches(rows: &[RuleSecond]) -> Vec<Option<usize>> {
    let counts: Vec<FailingCount> = rows.iter().map(FailingCount::of).collect();
    let mut of_second = vec![None; counts.len()];
    for number in 0..STRETCHES {
        let free: Vec<usize> =
            of_second.iter().enumerate().filter(|(_, of)| of.is_none()).map(|(at, _)| at).collect();
        let rest: Vec<FailingCount> = free.iter().filter_map(|at| counts.get(*at)).copied().collect();
        let Some((from, to)) = most_failing(&rest) else { break };
        for at in free.get(from..to).unwrap_or_default() {
            of_second.get_mut(*at).into_iter().for_each(|of| *of = Some(number));
        }
    }
    of_second
}

/// Returns the stretch with the clearest excess of failures, from an index to the one after its last; `None` if chance explains it.
fn most_failing(seconds: &[FailingCount]) -> Option<(usize, usize)> {
    let mut before = vec![FailingCount::default()];
    let mut sum = FailingCount::default();
    for count in seconds {
        sum = sum + *count;
        before.push(sum);
    }
    let excess = |from: usize, to: usize| {
        let inside = *before.get(to)? - *before.get(from)?;
        let outside = sum - inside;
        let [long, short] = MORE;
        let (times, more) = if to - from >= LONG { long } else { short };
        let is_more = inside.share() >= times * outside.share() + more && outside.sent > 0.0;
        is_more.then(|| (inside.contrast(outside), from, to))
    };
    let most = |edges: &mut dyn Iterator<Item = (usize, usize)>| {
        edges.filter_map(|(from, to)| excess(from, to)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let size = seconds.len().div_ceil(BLOCKS).max(1);
    let bounds: Vec<usize> = (0..seconds.len()).step_by(size).chain([seconds.len()]).collect();
    let of_blocks =
        bounds.iter().enumerate().flat_map(|(at, from)| bounds.iter().skip(at + 1).map(|to| (*from, *to)));
    let (_, from, to) = most(&mut { of_blocks })?;
    // Blocks of several seconds leave the edges open to the second.
    let near = |edge: usize| edge.saturating_sub(size)..=(edge + size).min(seconds.len());
    let (_, from, _) = most(&mut near(from).filter(|from| *from < to).map(|from| (from, to)))?;
    let (gain, from, to) = most(&mut near(to).filter(|to| *to > from).map(|to| (from, to)))?;
    let outside = [seconds.get(..from)?, seconds.get(to..)?].concat();
    let parts = [seconds.get(from..to)?, &outside];
    let known = LENGTHS.into_iter().filter_map(|length| dispersion(&parts, length, 1.0));
    let dispersion = known.reduce(f64::max).unwrap_or(CLUSTER);
    (gain >= SURPRISE * dispersion).then_some((from, to))
}

/// Returns the dispersion of failures in seconds of one share as far as it is no matter of a few seconds, so that bursts do not
/// count, but small clusters do. What the largest distances would add is taken to be as much again, as where a second's share
/// is exponential.
pub(super) fn usual_dispersion(seconds: &[FailingCount]) -> f64 {
    let of = |kept| dispersion(&[seconds], 1, kept).unwrap_or(CLUSTER);
    (2.0 * of(USUAL) - 1.0).max(of(1.0).min(CLUSTER))
}

/// Returns the dispersion of failures, the ratio of their variance to that of independent ones, at least 1: over chunks of
/// so many seconds, each part with its own share, the largest distances left out but for a share `kept`. `None` if there are
/// too few chunks.
fn dispersion(parts: &[&[FailingCount]], length: usize, kept: f64) -> Option<f64> {
    let mut distances: Vec<f64> = Vec::new();
    for part in parts {
        let share = part.iter().copied().sum::<FailingCount>().share();
        if share <= 0.0 || share >= 1.0 {
            continue;
        }
        let chunks = part.chunks_exact(length).map(|chunk| chunk.iter().copied().sum());
        let distance = |FailingCount { failed, sent }: FailingCount| {
            (failed - sent * share).powi(2) / (sent * share * (1.0 - share))
        };
        distances.extend(chunks.filter(|chunk: &FailingCount| chunk.sent > 0.0).map(distance));
    }
    distances.sort_by(f64::total_cmp);
    let seen = (distances.len() as f64 * kept).ceil() as usize;
    let freedom = (distances.len().saturating_sub(parts.len()) as f64 * kept).ceil();
    (distances.len() >= ENOUGH).then(|| (distances.iter().take(seen).sum::<f64>() / freedom).max(1.0))
}
