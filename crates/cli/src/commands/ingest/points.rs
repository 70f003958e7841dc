//! Points of summaries, with the series of the server that were read meanwhile.

use anyhow::Result;
use perfpipe_analyze::format::{counted, thousands};
use perfpipe_analyze::points::point_table;
use perfpipe_ingest::points::{Point, PointNames, add_readings};

use super::args::IngestArgs;
use crate::args::{SeriesArgs, StoreArgs};
use crate::error::CliError;
use crate::input::summaries::SummaryFile;
use crate::input::{readings, store, summaries};
use crate::output::terminal::write_table;
use crate::output::{Output, note, warn};

/// The largest number of points that are named one by one.
const NAMED: usize = 12;

/// Stores the points of files that are summaries: all of them, or none.
pub(super) async fn run(args: &IngestArgs, files: Vec<SummaryFile>, store: &StoreArgs) -> Result<()> {
    refuse_flags(args)?;
    let names = PointNames {
        framework: args.keep.name.framework.clone(),
        test: args.keep.name.test.clone(),
        repeat: args.keep.repeat,
        ..summaries::names(&args.points, args.keep.frameworks.as_deref())?
    };
    let points = with_readings(summaries::named(&files, &names)?, &args.series).await?;
    files.iter().for_each(summaries::note_ignored);
    let output = Output::open(args.output.file.output.as_deref())?;
    if args.campaign.dry_run {
        print_notes(&points, "would be stored");
        return print(&points, args, output);
    }
    let store = store::open(store).await?;
    store.put_points(&points).await?;
    print_notes(&points, &format!("stored in {store}"));
    print(&points, args, output)
}

/// Prints the table of the points, unless their notes are enough.
fn print(points: &[Point], args: &IngestArgs, mut output: Output) -> Result<()> {
    if args.output.is_notes() {
        return Ok(());
    }
    write_table(&point_table(points), args.output.format(), &mut output)?;
    output.finish()
}

/// Refuses flags that are about logs.
fn refuse_flags(args: &IngestArgs) -> Result<()> {
    let given = [
        ("--out", args.out.is_some()),
        ("--tag", !args.keep.tag.is_empty()),
        ("--append-repeat", args.keep.append_repeat),
        ("--salvage", args.salvage),
        ("--no-samples", args.keep.no_samples),
        ("--part", args.part.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            let problem = format!("{flag} is for logs, and these files are summaries of load tools");
            Err(CliError::usage(problem, "Leave it out.").into())
        }
    }
}

/// Prints which points there are, and what is to be known of them.
fn print_notes(points: &[Point], done: &str) {
    for point in points.iter().take(NAMED) {
        let figures = &point.figures;
        let (Some(throughput), None) = (figures.throughput(), &figures.aborted) else {
            let reason = figures.aborted.as_deref().unwrap_or("it reports no throughput");
            warn(&format!("{}: no figures: {reason}", point.key));
            continue;
        };
        let failures = figures.failures.map_or_else(|| "unknown".to_owned(), |failures| failures.to_string());
        note(&format!("{}: {throughput:.2} successes/s, failures {failures}", point.key));
    }
    let aborted = points.iter().filter(|point| point.figures.aborted.is_some()).count();
    if points.len() > NAMED {
        let hidden = points.iter().skip(NAMED).filter(|point| point.figures.aborted.is_some());
        hidden.for_each(|point| {
            warn(&format!(
                "{}: no figures: {}",
                point.key,
                point.figures.aborted.as_deref().unwrap_or_default()
            ));
        });
        note(&format!("and {} more", thousands((points.len() - NAMED) as u64)));
    }
    common_notes(points);
    let without = if aborted > 0 { format!(", {aborted} of them aborted") } else { String::new() };
    note(&format!("{}{without}: {done}", counted(points.len() as u64, "point")));
}

/// Prints each note once, with how many points have one like it, whatever the numbers in it are.
fn common_notes(points: &[Point]) {
    let mut notes: Vec<(String, &str, usize)> = Vec::new();
    for text in points.iter().flat_map(|point| &point.figures.notes) {
        let like: String = text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
        match notes.iter_mut().find(|(other, ..)| *other == like) {
            Some((.., count)) => *count += 1,
            None => notes.push((like, text, 1)),
        }
    }
    for (_, text, count) in notes {
        let of = if count == 1 {
            "1 point".to_owned()
        } else {
            format!("{} points, such as", thousands(count as u64))
        };
        note(&format!("{of}: {text}"));
    }
}

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
    let known = add_readings(&mut points, &readings::series_files(args)?).await?;
    if known < points.len() {
        let (without, all) = (thousands((points.len() - known) as u64), thousands(points.len() as u64));
        note(&format!(
            "{without} of {all} points have no reading of --series: there is none while their tools ran, or it is not known when they did"
        ));
    }
    Ok(points)
}
