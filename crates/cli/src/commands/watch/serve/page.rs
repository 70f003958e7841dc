//! The page of a running test: the report of its complete seconds.

use anyhow::Result;
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::{League, Phases, Timeline, View};
use perfpipe_ingest::watch::Watch;
use perfpipe_plot::{Report, ReportRun, Style};

use crate::commands::watch::recent::PERCENTILES;

/// Returns the page of a state; `None` if no second is complete.
///
/// What stands out is left to the report of the stored run: what is looked for again each second is found too often. So are
/// the phases: while a load climbs in steps, each step looks like a hold, and those after it like a tail.
pub(super) fn page(watch: &Watch, state: u64) -> Result<Option<String>> {
    let Some(run) = watch.run(0)? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES);
    let mut details = Details::new(&run, &view)?;
    details.phases.clear();
    let mut timeline = Timeline::new(&run, &view)?;
    (timeline.phases, timeline.hold) = (Phases::default(), None);
    let timelines = [timeline];
    let league = League::new(&timelines)?;
    let runs = timelines.iter().map(|timeline| ReportRun { timeline, details: &details, findings: &[] });
    let report = Report { test: &run.info.key.test, runs: runs.collect(), league: &league, verdicts: &[] };
    Ok(Some(perfpipe_plot::live_html(&report, &Style::default(), state)?))
}
