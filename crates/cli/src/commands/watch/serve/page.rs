//! The page of a running test: the report of its complete seconds.

use anyhow::Result;
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::{League, Timeline, View};
use perfpipe_ingest::watch::Watch;
use perfpipe_plot::{Report, ReportRun, Style};

use crate::commands::watch::recent::PERCENTILES;

/// Returns the page of a state; `None` if no second is complete.
///
/// What stands out is left to the report of the stored run: what is looked for again each second is found too often.
pub(super) fn page(watch: &Watch, state: u64) -> Result<Option<String>> {
    let Some(run) = watch.run(0)? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES);
    let details = Details::new(&run, &view)?;
    let timelines = [Timeline::new(&run, &view)?];
    let league = League::new(&timelines)?;
    let runs = timelines.iter().map(|timeline| ReportRun { timeline, details: &details, findings: &[] });
    let report = Report { test: &run.info.key.test, runs: runs.collect(), league: &league, verdicts: &[] };
    Ok(Some(perfpipe_plot::live_html(&report, &Style::default(), state)?))
}
