//! The latest seconds of a running test, computed as those of a stored run.

use anyhow::Result;
use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::watch::Watch;

/// The percentiles that are shown, in percent.
pub(in crate::commands::watch) const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// The number of seconds before those that are shown from which the load of an injector that is silent is known.
const BEFORE: u32 = 60;

/// Returns the complete seconds from `first` on; `None` if none is complete.
pub(super) fn recent(watch: &Watch, first: u32) -> Result<Option<(StoredRun, Timeline)>> {
    let Some(run) = watch.run(first.saturating_sub(BEFORE))? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES).with_window(first, None);
    let timeline = Timeline::new(&run, &view)?;
    Ok(Some((run, timeline)))
}
