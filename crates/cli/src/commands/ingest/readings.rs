//! Series of the server beside the points of summaries.

use anyhow::Result;
use perfpipe_analyze::format::thousands;
use perfpipe_ingest::points::{Point, add_readings};

use crate::args::SeriesArgs;
use crate::error::CliError;
use crate::input::readings::series;
use crate::output::note;

/// Returns the points with what the given series read while the tools ran.
///
/// # Errors
/// If a series can't be read, or no output says when its tool began.
pub(crate) async fn with_readings(mut points: Vec<Point>, args: &SeriesArgs) -> Result<Vec<Point>> {
    if args.series.is_empty() {
        return Ok(points);
    }
    if points.iter().all(|point| point.figures.seconds().is_none()) {
        let problem =
            "no output has the time at which its tool started, so no reading of --series can be assigned";
        let remedy = "Write a time before each command, as in: echo \"### $(date +%s.%N) wrk -c 50 URL\".";
        return Err(CliError::refused(problem, remedy).into());
    }
    let known = add_readings(&mut points, &series::files(args)?).await?;
    if known < points.len() {
        let (without, all) = (thousands((points.len() - known) as u64), thousands(points.len() as u64));
        note(&format!(
            "{without} of {all} points have no reading of --series: there is none while their tools ran, or it is not known when they did"
        ));
    }
    Ok(points)
}
