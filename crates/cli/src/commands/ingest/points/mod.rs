//! Summaries of load tools: their sections are stored as points of sweeps.

mod files;

use std::path::PathBuf;

use anyhow::Result;
use perfpipe_analyze::format::{counted, thousands};
use perfpipe_ingest::points::{FoundSections, NamePattern, Point, PointNames, Unknown, named_points};

use super::args::IngestArgs;
use crate::args::StoreArgs;
use crate::error::CliError;
use crate::input::{ports, store};
use crate::output::{note, warn};

pub(super) use self::files::{SummaryFile, summaries};

/// The largest number of points that are named one by one.
const NAMED: usize = 12;

/// Stores the points of files that are summaries: all of them, or none.
pub(super) async fn run(args: &IngestArgs, files: Vec<SummaryFile>, store: &StoreArgs) -> Result<()> {
    refuse_flags(args)?;
    let names = names(args)?;
    let sections: Vec<_> = files.iter().map(|file| (file.name(), file.found.sections.clone())).collect();
    let points = named_points(&sections, &names).map_err(|(file, section, unknown)| {
        let file = files.get(file);
        let path = file.map(|file| file.path.clone()).unwrap_or_default();
        let line = file.and_then(|file| file.found.sections.get(section)).map_or(1, |section| section.line);
        nameless(&path, line, unknown)
    })?;
    for file in &files {
        tell_ignored(file);
    }
    if args.campaign.dry_run {
        tell(&points, "would be stored");
        return Ok(());
    }
    let store = store::open(store).await?;
    store.put_points(&points).await?;
    tell(&points, &format!("stored in {store}"));
    Ok(())
}

/// Converts the flags on keys.
fn names(args: &IngestArgs) -> Result<PointNames> {
    let pattern = args.points.name.as_deref().map(NamePattern::new).transpose().map_err(|problem| {
        CliError::usage(format!("--name {problem}"), "Write it as in 'result_w{workers}_{repeat}.log'.")
    })?;
    Ok(PointNames {
        framework: args.name.framework.clone(),
        test: args.name.test.clone(),
        concurrency: args.points.concurrency,
        workers: args.points.server_workers,
        repeat: args.repeat,
        pattern,
        frameworks: args.frameworks.as_deref().map(ports::of_file).transpose()?.unwrap_or_default(),
    })
}

/// Refuses flags that are about logs.
fn refuse_flags(args: &IngestArgs) -> Result<()> {
    let given = [
        ("--report", args.report.is_some()),
        ("--tag", !args.tag.is_empty()),
        ("--append-repeat", args.append_repeat),
        ("--salvage", args.salvage),
        ("--no-samples", args.no_samples),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            let problem = format!("{flag} is for logs, and these files are summaries of load tools");
            Err(CliError::usage(problem, "Leave it out.").into())
        }
    }
}

fn nameless(path: &std::path::Path, line: usize, unknown: Unknown) -> CliError {
    let place = format!("{}, line {line}", path.display());
    match unknown {
        Unknown::Framework => CliError::usage(
            format!("{place}: the framework is not known: the output has no URL"),
            "Give --framework, or --name with the field {framework}.",
        ),
        Unknown::Test => CliError::usage(
            format!("{place}: the test is not known: the output has no URL"),
            "Give --test, or --name with the field {test}.",
        ),
        Unknown::Name => CliError::usage(
            format!("{}: the file's name does not follow the pattern of --name", path.display()),
            "Correct the pattern ({*} stands for any text), or leave the file out.",
        ),
        _ => CliError::usage(
            format!("{place}: another section has the same key and the same repeat"),
            "Leave {repeat} out of --name, so that sections of equal keys are numbered, or give each file another name.",
        ),
    }
}

/// Tells of lines that belong to no section.
fn tell_ignored(file: &SummaryFile) {
    let FoundSections { ignored, first_ignored: Some((line, text)), .. } = &file.found else { return };
    let lines = counted(*ignored as u64, "line");
    note(&format!(
        "{}: {lines} of other text ignored, the first is line {line}: {text}",
        file.path.display()
    ));
}

/// Tells which points there are, and what is to be known of them.
fn tell(points: &[Point], done: &str) {
    for point in points.iter().take(NAMED) {
        let figures = &point.figures;
        let (Some(throughput), None) = (figures.throughput(), &figures.aborted) else {
            let reason = figures.aborted.as_deref().unwrap_or("it tells no throughput");
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

/// Tells each note once, with how many points have one like it: numbers within it aside.
fn common_notes(points: &[Point]) {
    let mut told: Vec<(String, &str, usize)> = Vec::new();
    for text in points.iter().flat_map(|point| &point.figures.notes) {
        let like: String = text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
        match told.iter_mut().find(|(other, ..)| *other == like) {
            Some((.., count)) => *count += 1,
            None => told.push((like, text, 1)),
        }
    }
    for (_, text, count) in told {
        let of = if count == 1 {
            "1 point".to_owned()
        } else {
            format!("{} points, such as", thousands(count as u64))
        };
        note(&format!("{of}: {text}"));
    }
}

/// Refuses files of which some are summaries and some are not.
pub(super) fn refuse_mixed(summary: &std::path::Path, others: &[PathBuf]) -> Result<()> {
    let Some(other) = others.first() else { return Ok(()) };
    let problem =
        format!("{} is the summary of a load tool, and {} is not", summary.display(), other.display());
    Err(CliError::usage(problem, "Ingest summaries and logs by commands of their own.").into())
}
