//! Summaries of load tools: the files among given ones, and the points that their sections are.

mod files;

use std::path::Path;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_ingest::points::{FoundSections, NamePattern, Point, PointNames, Unknown, named_points};

pub(crate) use self::files::{SummaryFile, find};

use crate::args::PointArgs;
use crate::error::CliError;
use crate::input::ports;
use crate::output::note;

/// Converts the flags on keys. The framework and the test are left open.
pub(crate) fn names(args: &PointArgs, frameworks: Option<&Path>) -> Result<PointNames> {
    let pattern = pattern(args, "result_w{workers}_{repeat}.log")?;
    Ok(PointNames {
        concurrency: args.concurrency,
        workers: args.server_workers,
        pattern,
        frameworks: frameworks.map(ports::of_file).transpose()?.unwrap_or_default(),
        ..PointNames::default()
    })
}

/// Returns the pattern of file names, if one is given.
///
/// # Errors
/// If it can't be read.
pub(crate) fn pattern(args: &PointArgs, example: &str) -> Result<Option<NamePattern>> {
    let pattern = args.name.as_deref().map(NamePattern::new).transpose();
    Ok(pattern.map_err(|problem| {
        CliError::usage(format!("--name {problem}"), format!("Write it as in '{example}'."))
    })?)
}

/// Returns the points of the files.
///
/// # Errors
/// If the key of a section is not known.
pub(crate) fn named(files: &[SummaryFile], names: &PointNames) -> Result<Vec<Point>> {
    let sections: Vec<_> = files.iter().map(|file| (file.name(), &file.found.sections)).collect();
    let points = named_points(&sections, names).map_err(|(file, section, unknown)| {
        let file = files.get(file);
        let shown = file.map(|file| file.shown.clone()).unwrap_or_default();
        let line = file.and_then(|file| file.found.sections.get(section)).map_or(1, |section| section.line);
        nameless(&shown, line, unknown)
    })?;
    Ok(points)
}

fn nameless(shown: &str, line: usize, unknown: Unknown) -> CliError {
    let place = format!("{shown}, line {line}");
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
            format!("{shown}: the file's name does not follow the pattern of --name"),
            "Correct the pattern ({*} stands for any text), or leave the file out.",
        ),
        Unknown::Folder => CliError::usage(
            format!(
                "{place}: it has the same URL as a file in another folder, and would be a repeat of that"
            ),
            "Say what the folders are: --name '{framework}/{test}/{*}', or --name '{*}{repeat}/{*}'; or that all are of one \
             framework: --framework.",
        ),
        _ => CliError::usage(
            format!("{place}: another section has the same key and the same repeat"),
            "Leave {repeat} out of --name, so that sections of equal keys are numbered, or give each file another name.",
        ),
    }
}

/// Prints how many runs are no points, and of lines that belong to no section.
pub(crate) fn note_ignored(file: &SummaryFile) {
    if file.found.warm_ups > 0 {
        let runs = counted(file.found.warm_ups as u64, "run");
        note(&format!("{}: {runs} left out, which warm the server up (primer, warm-up)", file.shown));
    }
    let FoundSections { ignored, first_ignored: Some((line, text)), .. } = &file.found else { return };
    let lines = counted(*ignored as u64, "line");
    note(&format!("{}: {lines} of other text ignored, the first is line {line}: {text}", file.shown));
}
