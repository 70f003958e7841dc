//! The league of frameworks at one concurrency.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::points::{level_league, level_league_table};
use perfpipe_ingest::points::Point;
use perfpipe_plot::{Figures, Style};

use crate::args::ReportFormat;
use crate::error::CliError;
use crate::output::terminal::write_table;
use crate::output::{Output, note};

/// Ranks the frameworks of a test at a concurrency.
///
/// # Errors
/// If there is no point at it.
pub(super) fn print(
    points: &[Point],
    (test, at): (&str, u32),
    format: ReportFormat,
    output: &mut Output,
) -> Result<()> {
    let league = level_league(points, at);
    if league.is_empty() {
        return Err(missing(points, test, at).into());
    }
    let table = level_league_table(&league);
    match format {
        ReportFormat::Table(format) => write_table(&table, format, output)?,
        ReportFormat::Html => {
            let report = Figures::new(format!("{test} at concurrency {at}"), &table);
            output.write_all(report.html(&Style::default())?.as_bytes())?;
        }
    }
    let unranked = |row: &&perfpipe_analyze::points::LevelStanding| row.rank.is_none();
    let names: Vec<&str> = league.iter().filter(unranked).map(|row| row.level.framework.as_str()).collect();
    if !names.is_empty() {
        note(&format!("not ranked, with more than 1 % failures or no throughput: {}", names.join(", ")));
    }
    let tools: BTreeSet<&str> = league.iter().map(|row| row.level.tool.as_str()).collect();
    if tools.len() > 1 {
        note("each tool's points are ranked among themselves: tools measure the same server differently");
    }
    Ok(())
}

/// Says that there is no point at a concurrency, and at which there are some.
fn missing(points: &[Point], test: &str, at: u32) -> CliError {
    let levels: BTreeSet<u32> = points.iter().filter_map(|point| point.key.concurrency).collect();
    let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
    let remedy = match levels.as_slice() {
        [] => "Its points have no concurrency: give --concurrency at ingest.".to_owned(),
        levels => format!("There are points at {}.", levels.join(", ")),
    };
    CliError::refused(format!("there is no point of the test {test} at concurrency {at}"), remedy)
}
