//! The points of files, which no store is needed for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use perfpipe_analyze::table::Format;
use perfpipe_ingest::points::{Point, PointNames};
use perfpipe_ingest::{ErrorKind, IngestOptions};

use super::args::SweepArgs;
use crate::args::ReportFormat;
use crate::error::CliError;
use crate::input::summaries::{self, SummaryFile, find};

/// Returns the points of the files.
///
/// # Errors
/// If no file is a summary, or the key of a section is not known.
pub(super) async fn points(args: &SweepArgs) -> Result<Vec<Point>> {
    let files = find(&args.files).await?.files;
    if files.is_empty() {
        name_what_they_are(&args.files).await?;
        let problem = "no file is the summary of a load tool";
        let remedy = "Give what wrk, ab or another tool printed. Logs are read by `perfpipe ingest`; then \
                      `perfpipe sweep --test` shows their runs.";
        return Err(CliError::refused(problem, remedy).into());
    }
    let names = PointNames {
        framework: args.framework.first().filter(|_| is_name(args)).cloned(),
        ..summaries::names(&args.points, args.frameworks.as_deref())?
    };
    let of_outputs = summaries::named(&files, &names);
    let points = match &args.test {
        // Outputs that do not name their test are of the one that is given.
        Some(_) if of_outputs.is_err() && name_tests(&files) => return Err(mixed()),
        Some(test) if of_outputs.is_err() => {
            summaries::named(&files, &PointNames { test: Some(test.clone()), ..names })?
        }
        _ => of_outputs?,
    };
    files.iter().for_each(summaries::note_ignored);
    Ok(points)
}

/// Names the first file that is known to be no log, nor a summary in a form that is read.
///
/// # Errors
/// If there is such a file.
async fn name_what_they_are(files: &[PathBuf]) -> Result<()> {
    let files: Vec<PathBuf> = files.iter().filter(|path| path.is_file()).cloned().collect();
    match perfpipe_ingest::inspect(&files, &IngestOptions::default()).await {
        Err(error) if [ErrorKind::UnsupportedFormat, ErrorKind::Utf16].contains(&error.kind()) => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// Returns true if any output names its test.
fn name_tests(files: &[SummaryFile]) -> bool {
    files.iter().flat_map(|file| &file.found.sections).any(|section| section.url.is_some())
}

fn mixed() -> anyhow::Error {
    let problem = "some outputs have a URL and some have none; --test would give all of them the same test";
    CliError::usage(
        problem,
        "Show those without a URL in a separate command, or read the test from file names with --name.",
    )
    .into()
}

/// Returns true if `--framework` names the framework of files, since neither their names nor a file of ports do.
pub(super) fn is_name(args: &SweepArgs) -> bool {
    let by_name = args.points.name.as_deref().is_some_and(|pattern| pattern.contains("{framework}"));
    !args.files.is_empty() && args.framework.len() == 1 && !by_name && args.frameworks.is_none()
}

/// Returns the tests of points.
///
/// # Errors
/// If there are several, and the format has room for one.
pub(super) fn tests<'a>(points: &'a [Point], args: &SweepArgs) -> Result<Vec<&'a str>> {
    let tests: BTreeSet<&str> = points.iter().map(|point| point.key.test.as_str()).collect();
    let tests = Vec::from_iter(tests);
    let has_room = matches!(args.output.format(), ReportFormat::Table(Format::Text | Format::Markdown));
    if tests.len() > 1 && !has_room {
        let problem = format!("the files have {} tests, and this format has room for one", tests.len());
        return Err(CliError::usage(problem, format!("Choose one by --test: {}.", tests.join(", "))).into());
    }
    Ok(tests)
}

/// Refuses flags on files where there are none.
pub(super) fn refuse_flags(args: &SweepArgs) -> Result<()> {
    let series = (!args.series.series.is_empty()).then_some("--series");
    let name = args.points.name.as_ref().map(|_| "--name");
    let Some(flag) = name.or(args.points.of_summaries()).or(series) else { return Ok(()) };
    let problem = format!("{flag} is about the outputs of load tools, and no FILE is given");
    Err(CliError::usage(problem, "Leave it out, or name the files.").into())
}
