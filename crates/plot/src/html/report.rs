//! What a report shows, and its runs grouped by framework.

use std::ptr;

use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::league::{failing_frameworks, in_league_order, median_repeats};
use perfpipe_analyze::{Finding, League, Timeline, Verdict};

/// The contents of a report of one test.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The test.
    pub test: &'a str,
    /// The runs, in any order.
    pub runs: Vec<ReportRun<'a>>,
    /// The league of the runs.
    pub league: &'a League,
    /// The verdicts of rules that the runs were checked against; empty without rules.
    pub verdicts: &'a [Verdict],
}

/// A run of a report.
#[derive(Debug, Clone, Copy)]
pub struct ReportRun<'a> {
    /// The seconds of the run.
    pub timeline: &'a Timeline,
    /// The details, of the same view.
    pub details: &'a Details,
    /// What stands out in the run.
    pub findings: &'a [Finding],
    /// The verdicts of the rules that it was checked against; empty without rules.
    pub verdicts: &'a [Verdict],
}

/// A run with its place among the others.
pub(super) struct Grouped<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) details: &'a Details,
    pub(super) findings: &'a [Finding],
    /// The number of the framework, best first, which gives its colour.
    pub(super) color: usize,
    /// True for the framework's median repeat.
    pub(super) median: bool,
    /// True if too many of the framework's requests failed.
    pub(super) failing: bool,
    /// True if the framework has other runs too.
    pub(super) repeated: bool,
}

impl Grouped<'_> {
    /// Returns the name that distinguishes the run from the others of its test.
    pub(super) fn name(&self) -> String {
        let key = &self.timeline.info.key;
        if self.is_numbered() { format!("{}#{}", key.framework, key.repeat) } else { key.framework.clone() }
    }

    /// Returns the title of the run.
    pub(super) fn title(&self) -> String {
        let key = &self.timeline.info.key;
        let repeat = if self.is_numbered() { format!(" #{}", key.repeat) } else { String::new() };
        let partial = if self.timeline.info.is_partial() { crate::pages::footer::PARTIAL } else { "" };
        format!("{} {}{repeat}{partial}", key.framework, key.test)
    }

    fn is_numbered(&self) -> bool {
        self.repeated || self.timeline.info.key.repeat != 1
    }
}

/// Groups runs by framework, the best first, as on the page of all frameworks; repeats in ascending order.
pub(super) fn grouped<'a>(runs: &[ReportRun<'a>]) -> Vec<Grouped<'a>> {
    let timelines = || runs.iter().map(|run| run.timeline);
    let medians = median_repeats(timelines());
    let failing = failing_frameworks(timelines());
    let ranked = in_league_order(timelines());
    let mut grouped = Vec::with_capacity(runs.len());
    let same = |a: &&Timeline, b: &&Timeline| a.info.key.framework == b.info.key.framework;
    for (color, repeats) in ranked.chunk_by(same).enumerate() {
        let mut repeats: Vec<&Timeline> = repeats.to_vec();
        repeats.sort_by_key(|timeline| timeline.info.key.repeat);
        for timeline in &repeats {
            let Some(run) = runs.iter().find(|run| ptr::eq(run.timeline, *timeline)) else { continue };
            grouped.push(Grouped {
                timeline: run.timeline,
                details: run.details,
                findings: run.findings,
                color,
                median: medians.iter().any(|median| ptr::eq(*median, run.timeline)),
                failing: failing.contains(&*run.timeline.info.key.framework),
                repeated: repeats.len() > 1,
            });
        }
    }
    grouped
}
