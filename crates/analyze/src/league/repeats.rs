//! Several runs of one framework in one test: grouping, and the median run.

use std::collections::{BTreeMap, BTreeSet};

use crate::timeline::Timeline;
use crate::timeline::summary::FAILING;

/// Groups timelines by framework, in their order.
pub(crate) fn by_framework<'a>(
    timelines: impl IntoIterator<Item = &'a Timeline>,
) -> BTreeMap<&'a str, Vec<&'a Timeline>> {
    let mut frameworks: BTreeMap<&str, Vec<&Timeline>> = BTreeMap::new();
    for timeline in timelines {
        frameworks.entry(&timeline.info.key.framework).or_default().push(timeline);
    }
    frameworks
}

/// Returns the failures of some runs in percent of all their requests; `None` if there are no requests.
pub(crate) fn failures_percent(repeats: &[&Timeline]) -> Option<f64> {
    let sum = |count: fn(&Timeline) -> u64| repeats.iter().map(|timeline| count(timeline)).sum::<u64>();
    let requests = sum(|timeline| timeline.summary.requests());
    (requests > 0).then(|| sum(|timeline| timeline.summary.failures) as f64 / requests as f64 * 100.0)
}

/// Returns the frameworks with more than 1 % failed requests over all repeats, which are not ranked.
pub fn failing_frameworks<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> BTreeSet<&'a str> {
    let fails = |repeats: &Vec<&Timeline>| failures_percent(repeats).is_some_and(|percent| percent > FAILING);
    by_framework(timelines).into_iter().filter(|(_, repeats)| fails(repeats)).map(|(name, _)| name).collect()
}

/// Returns each framework's median repeat by throughput, in the order of the frameworks' names. Of an even number it is
/// the slower of the middle two; of equal ones, the one that came first.
///
/// Unlike medians over several runs, the median repeat is one run, so it has seconds that can be drawn.
pub fn median_repeats<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Vec<&'a Timeline> {
    let middle = |mut repeats: Vec<&'a Timeline>| {
        repeats.sort_by(|a, b| a.summary.throughput.total_cmp(&b.summary.throughput));
        repeats.get(repeats.len().saturating_sub(1) / 2).copied()
    };
    by_framework(timelines).into_values().filter_map(middle).collect()
}
