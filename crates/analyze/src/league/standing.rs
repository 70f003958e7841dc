//! The standings of frameworks, the median of their repeats, and the order of a league.

use std::collections::{BTreeMap, BTreeSet};

use perfpipe_model::run::Resolution;

use crate::stats::percentile::median;
use crate::table::Interval;
use crate::timeline::summary::{FAILING, Summary};
use crate::timeline::unseen::long_failures::LongFailures;
use crate::timeline::unseen::outstanding::Outstanding;
use crate::timeline::{Timeline, cpu_scale_in_doubt, requests_per_cpu_second};

/// A framework's row in a league. Each measure except the failures is the median over the repeats that have it; the
/// median of an even number of values is the mean of the middle two. Times are in ms.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// The system under test.
    pub framework: String,
    /// The ranks that the framework may have, from 1; `None` if more than 1 % of its requests failed.
    ///
    /// Those faster beyond chance are above it, those slower beyond chance below. In at least 95 % of leagues, all true
    /// ranks are within their intervals. More repeats narrow them. If no framework has two repeats, the spread is
    /// unknown, and each may have any rank.
    pub rank: Option<Interval>,
    /// The number of runs.
    pub repeats: u64,
    /// Successes per second, silent seconds included.
    pub throughput: f64,
    /// The lowest throughput of a repeat.
    pub throughput_min: f64,
    /// The highest throughput of a repeat.
    pub throughput_max: f64,
    /// The finest unit in which a repeat counts times.
    pub resolution: Resolution,
    /// The 50th percentile of elapsed.
    pub p50: Option<f64>,
    /// The 95th percentile of elapsed.
    pub p95: Option<f64>,
    /// The 99th percentile of elapsed.
    pub p99: Option<f64>,
    /// The failures of all repeats in percent of all their requests. A median would hide a repeat in which every
    /// request failed.
    pub failures_percent: Option<f64>,
    /// The mean CPU over the seconds that have a reading, in percent of one core.
    pub cpu_mean: Option<f64>,
    /// The lowest share of a repeat's seconds with a CPU reading, 0 to 1; `None` if no repeat has any.
    pub cpu_coverage: Option<f64>,
    /// Successes per second of one busy core: throughput ÷ (mean CPU ÷ 100), where 100 % is one core. Only repeats with
    /// a reading in at least 80 % of the seconds count.
    pub requests_per_cpu_second: Option<f64>,
    /// True if 100 % may mean the whole machine in the CPU export of a repeat: see [`crate::cpu_scale_in_doubt`]. A
    /// reading above 100 % in the export of any repeat answers it for all.
    pub cpu_scale_in_doubt: bool,
    /// The largest load of a second, in threads.
    pub load_max: Option<f64>,
    /// The figure of each of [`League::goals`](crate::League::goals).
    pub goals: Vec<Option<f64>>,
    /// The longest wait of a repeat for its last answer, in seconds, and the number of that repeat, if it made the run
    /// longer by more than 5 s: a request that hangs lowers the throughput.
    pub long_wait: Option<(f64, u32)>,
    /// The failures of all repeats that took longer than the 99th percentile of their successes, if they matter to it.
    pub long_failures: Option<LongFailures>,
    /// The smallest number of requests that the percentiles of a repeat are of.
    pub requests_min: u64,
    /// The requests that were outstanding when the log of a repeat ends, if it was cut at full load: the greatest share, and
    /// the number of that repeat.
    pub outstanding: Option<(Outstanding, u32)>,
    /// True if a repeat was made from damaged files that could be read only in part.
    pub partial: bool,
}

/// Returns the runs of a test in the order of its league: by throughput, best first, with frameworks of which too many
/// requests failed last. The repeats of each framework are ordered by throughput too.
pub fn in_league_order<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Vec<&'a Timeline> {
    let mut frameworks = by_framework(timelines);
    let standings = best_first(&frameworks);
    let of_framework = |standing: Standing| {
        let mut repeats = frameworks.remove(standing.framework.as_str()).unwrap_or_default();
        repeats.sort_by(|a, b| {
            let faster = b.summary.throughput.total_cmp(&a.summary.throughput);
            faster.then_with(|| a.info.key.cmp(&b.info.key))
        });
        repeats
    };
    standings.into_iter().flat_map(of_framework).collect()
}

/// Builds the standings in the league's order, not ranked yet.
pub(super) fn best_first(frameworks: &BTreeMap<&str, Vec<&Timeline>>) -> Vec<Standing> {
    let mut standings: Vec<Standing> =
        frameworks.iter().map(|(name, repeats)| Standing::of(name, repeats)).collect();
    standings.sort_by(|a, b| {
        let faster = b.throughput.total_cmp(&a.throughput);
        a.fails().cmp(&b.fails()).then(faster).then_with(|| a.framework.cmp(&b.framework))
    });
    standings
}

impl Standing {
    /// Builds the standing of a framework, not ranked yet.
    fn of(framework: &str, repeats: &[&Timeline]) -> Self {
        let summaries = || repeats.iter().map(|timeline| &timeline.summary);
        let over = |measure: fn(&Summary) -> Option<f64>| median(summaries().filter_map(measure));
        let throughputs = || summaries().map(|summary| summary.throughput);
        Self {
            framework: framework.to_owned(),
            rank: None,
            repeats: repeats.len() as u64,
            throughput: median(throughputs()).unwrap_or(0.0),
            throughput_min: throughputs().reduce(f64::min).unwrap_or(0.0),
            throughput_max: throughputs().reduce(f64::max).unwrap_or(0.0),
            resolution: repeats.iter().map(|repeat| repeat.info.resolution).min().unwrap_or_default(),
            p50: over(|summary| summary.p50),
            p95: over(|summary| summary.p95),
            p99: over(|summary| summary.p99),
            failures_percent: failures_percent(repeats),
            cpu_mean: over(|summary| summary.cpu_mean),
            cpu_coverage: summaries()
                .map(|summary| summary.cpu_coverage)
                .reduce(f64::min)
                .filter(|_| summaries().any(|summary| summary.cpu_mean.is_some())),
            requests_per_cpu_second: median(
                repeats.iter().filter_map(|repeat| requests_per_cpu_second(repeat)),
            ),
            cpu_scale_in_doubt: scale_in_doubt(repeats),
            load_max: over(|summary| summary.load_max),
            goals: goals_of(repeats),
            long_wait: repeats
                .iter()
                .filter_map(|repeat| Some((repeat.duration.long_wait()?, repeat.info.key.repeat)))
                .reduce(|longest, other| if other.0 > longest.0 { other } else { longest }),
            long_failures: LongFailures::of_repeats(
                summaries().map(|summary| (summary.long_failures(99.0).copied(), summary.requests())),
            ),
            requests_min: repeats.iter().map(|repeat| repeat.averaged()).min().unwrap_or_default(),
            outstanding: repeats
                .iter()
                .filter_map(|repeat| Some((repeat.outstanding?, repeat.info.key.repeat)))
                .reduce(|most, other| if other.0.share > most.0.share { other } else { most }),
            partial: repeats.iter().any(|timeline| timeline.info.is_partial()),
        }
    }

    /// Returns true if too many requests failed for a rank.
    pub(super) fn fails(&self) -> bool {
        self.failures_percent.is_some_and(|percent| percent > FAILING)
    }
}

/// Returns true if 100 % may mean the whole machine in the export of a repeat, and no repeat has a reading above it.
fn scale_in_doubt(repeats: &[&Timeline]) -> bool {
    let most = repeats.iter().filter_map(|repeat| repeat.summary.cpu_max).reduce(f64::max);
    let has_readings = |repeat: &&&Timeline| repeat.summary.cpu_max.is_some();
    repeats.iter().filter(has_readings).any(|repeat| cpu_scale_in_doubt(&repeat.info, most))
}

/// Returns the median over the repeats for each goal.
fn goals_of(repeats: &[&Timeline]) -> Vec<Option<f64>> {
    let goals = repeats.first().map_or(0, |first| first.view.goals.len());
    let values =
        |at: usize| repeats.iter().filter_map(move |repeat| repeat.summary.goals.get(at).copied().flatten());
    (0..goals).map(|at| median(values(at))).collect()
}

/// Groups timelines by framework, in their order.
pub(super) fn by_framework<'a>(
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
