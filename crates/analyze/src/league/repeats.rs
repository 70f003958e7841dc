//! Several runs of one test of one framework taken together: medians, and the run in the middle.

use std::collections::{BTreeMap, BTreeSet};

use crate::timeline::Timeline;
use crate::timeline::summary::FAILING;

/// Timelines by framework, those of each in the order in which they came.
pub(crate) fn by_framework<'a>(
    timelines: impl IntoIterator<Item = &'a Timeline>,
) -> BTreeMap<&'a str, Vec<&'a Timeline>> {
    let mut frameworks: BTreeMap<&str, Vec<&Timeline>> = BTreeMap::new();
    for timeline in timelines {
        frameworks.entry(&timeline.info.key.framework).or_default().push(timeline);
    }
    frameworks
}

/// The failures of some runs in percent of all their requests; `None` where there is no request.
pub(crate) fn failures_percent(repeats: &[&Timeline]) -> Option<f64> {
    let sum = |count: fn(&Timeline) -> u64| repeats.iter().map(|timeline| count(timeline)).sum::<u64>();
    let requests = sum(|timeline| timeline.summary.requests());
    (requests > 0).then(|| sum(|timeline| timeline.summary.failures) as f64 / requests as f64 * 100.0)
}

/// The frameworks of which more than 1 % of the requests failed, those of all repeats together: they are not ranked.
pub fn failing_frameworks<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> BTreeSet<&'a str> {
    let fails = |repeats: &Vec<&Timeline>| failures_percent(repeats).is_some_and(|percent| percent > FAILING);
    by_framework(timelines).into_iter().filter(|(_, repeats)| fails(repeats)).map(|(name, _)| name).collect()
}

/// Of each framework, by name, the repeat that stands in the middle by throughput; of an even number the slower of the
/// two in the middle, and of equal ones that which came first.
///
/// It is one of the runs, and so has seconds that can be drawn, which medians of several runs have not.
pub fn median_repeats<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Vec<&'a Timeline> {
    let middle = |mut repeats: Vec<&'a Timeline>| {
        repeats.sort_by(|a, b| a.summary.throughput.total_cmp(&b.summary.throughput));
        repeats.get(repeats.len().saturating_sub(1) / 2).copied()
    };
    by_framework(timelines).into_values().filter_map(middle).collect()
}
