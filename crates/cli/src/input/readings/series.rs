//! The series of the server that flags name: in files, or where they are asked for.

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::series::SeriesFile;
use perfpipe_ingest::source::SeriesSource;

use super::of;
use crate::args::{AskArgs, CpuFromArgs, SeriesArgs};
use crate::error::CliError;

/// The series that flags name.
#[derive(Default)]
pub(crate) struct SeriesSources {
    pub(crate) files: Vec<SeriesFile>,
    pub(crate) asked: Vec<SeriesSource>,
}

/// Sets the series of an ingest, which also has the source of the CPU readings.
///
/// # Errors
/// As those of [`all`]; or if a flag on asking is given, and nothing is asked for.
pub(crate) fn with(options: &mut IngestOptions, args: &SeriesArgs, from: &CpuFromArgs) -> Result<()> {
    let SeriesSources { files, asked } = all(args, &from.ask)?;
    if from.cpu_from.is_none() && asked.is_empty() {
        refuse_idle(&from.ask)?;
    }
    (options.series, options.series_from) = (files, asked);
    Ok(())
}

/// Returns the series in files, each with its unit, where none can be asked for.
///
/// # Errors
/// If a flag lacks the name or the file or names a URL, or if there are neither one nor as many units as series.
pub(crate) fn files(args: &SeriesArgs) -> Result<Vec<SeriesFile>> {
    let series = all(args, &AskArgs::default())?;
    if series.asked.is_empty() {
        return Ok(series.files);
    }
    let problem = "--series names a URL, and readings beside summaries of load tools come from files";
    Err(CliError::usage(problem, "Give a file: --series NAME=FILE.").into())
}

/// Returns all series, each with its unit. Those that are named with a URL are asked for.
///
/// # Errors
/// If a flag lacks the name, the file or the URL, if a URL can't be used, or if there are neither one nor as many units as
/// series.
pub(crate) fn all(args: &SeriesArgs, ask: &AskArgs) -> Result<SeriesSources> {
    let count = args.series.len();
    for (flag, given, remedy) in [
        ("--unit", args.unit.len(), "Give one unit for all series, or one for each."),
        ("--series-columns", args.series_columns.len(), "Give the columns once for all series, or for each."),
    ] {
        if given > 1 && given != count {
            let problem = format!("there are {count} --series and {given} {flag}");
            return Err(CliError::usage(problem, remedy).into());
        }
    }
    let columns = args.series_columns.iter().map(Some).cycle().chain(std::iter::repeat(None));
    let mut series = SeriesSources::default();
    for ((given, unit), columns) in args.series.iter().zip(args.unit.iter().cycle()).zip(columns) {
        let unit = unit.trim();
        match given.split_once('=') {
            Some((name, url)) if is_url(url) => {
                series.asked.push(SeriesSource::new(name_of(name)?, unit, of(url, ask)?));
            }
            _ => {
                let mut file = series_file(given, unit)?;
                file.columns = columns.cloned();
                series.files.push(file);
            }
        }
    }
    Ok(series)
}

/// Refuses flags on how a monitoring system is asked, where none is.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn refuse_idle(ask: &AskArgs) -> Result<()> {
    let given = [("--ca-file", ask.ca_file.is_some()), ("--cpu-timeout", ask.cpu_timeout.is_some())];
    let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let problem = format!("{flag} has no effect, since no monitoring system is asked");
    Err(CliError::usage(problem, "Leave it out, or name one: --cpu-from URL, or --series NAME=URL.").into())
}

/// Returns true if the readings of a series are at a URL, not in a file: a scheme stands before `://`.
fn is_url(text: &str) -> bool {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(is_of_scheme))
}

/// Returns the name of a series that is asked for. Its URL names the item.
fn name_of(name: &str) -> Result<&str> {
    match name.split_once(':') {
        None => Ok(name),
        Some((bare, item)) => {
            let remedy =
                format!("Leave the number out, and name the item in the URL: {bare}=...?itemid={item}.");
            Err(CliError::usage(format!("--series {name} is asked for, and its URL names the item"), remedy)
                .into())
        }
    }
}

/// Returns the file of a series in a unit, as it is given: `NAME=FILE` or `NAME:ID=FILE`.
fn series_file(given: &str, unit: &str) -> Result<SeriesFile> {
    let refuse = |problem: String| {
        let remedy = "Write NAME=FILE, as in --series memory=memory.csv, or NAME:ID=FILE for one of several Zabbix items; ingest, inspect and attach-series also read NAME=URL.";
        Err(CliError::usage(problem, remedy).into())
    };
    let Some((name, file)) = given.split_once('=').filter(|(_, file)| !file.is_empty()) else {
        return refuse(format!("--series {given} is not a name and a file"));
    };
    let Some((name, item)) = name.split_once(':') else { return Ok(SeriesFile::new(name, unit, file)) };
    match item.parse() {
        Ok(item) => Ok(SeriesFile::new(name, unit, file).with_item(item)),
        Err(_) => refuse(format!("--series {given}: {item:?} is not the number of an item")),
    }
}
