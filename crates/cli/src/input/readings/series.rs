//! The series of the server that flags name: in files, or where they are asked for.

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::series::SeriesFile;
use perfpipe_ingest::source::SeriesSource;

use super::of;
use crate::args::{AskArgs, SeriesArgs, SeriesFromArgs};
use crate::error::CliError;

/// The series that flags name.
#[derive(Default)]
pub(crate) struct Series {
    pub(crate) files: Vec<SeriesFile>,
    pub(crate) asked: Vec<SeriesSource>,
}

/// Sets the series of an ingest.
///
/// # Errors
/// As those of [`all`].
pub(crate) fn with(
    options: &mut IngestOptions,
    args: &SeriesArgs,
    from: (&SeriesFromArgs, &AskArgs),
) -> Result<()> {
    let Series { files, asked } = all(args, from)?;
    (options.series, options.series_from) = (files, asked);
    Ok(())
}

/// Returns the series in files, each with its unit, where none can be asked for.
///
/// # Errors
/// If a flag lacks the name or the file, or if there are neither one nor as many units as series.
pub(crate) fn files(args: &SeriesArgs) -> Result<Vec<SeriesFile>> {
    all(args, (&SeriesFromArgs::default(), &AskArgs::default())).map(|series| series.files)
}

/// Returns all series, each with its unit. Those that are named without a file are asked for.
///
/// # Errors
/// If a flag lacks the name, or both file and URL, if a URL can't be used, or if there are neither one nor as many units as
/// series.
pub(crate) fn all(args: &SeriesArgs, (from, ask): (&SeriesFromArgs, &AskArgs)) -> Result<Series> {
    let (count, units) = (args.series.len(), args.unit.len());
    if units > 1 && units != count {
        let problem = format!("there are {count} --series and {units} --unit");
        return Err(CliError::usage(problem, "Give one unit for all series, or one for each.").into());
    }
    let mut urls = from.from.iter();
    let mut series = Series::default();
    for (given, unit) in args.series.iter().zip(args.unit.iter().cycle()) {
        let unit = unit.trim();
        match (given.contains('='), urls.len()) {
            (false, 1..) => {
                let Some(url) = urls.next() else { continue };
                series.asked.push(SeriesSource::new(name_of(given)?, unit, of(url, ask)?));
            }
            (false, 0) if !from.from.is_empty() => return Err(unpaired(args, from)),
            _ => series.files.push(series_file(given, unit)?),
        }
    }
    if urls.len() > 0 { Err(unpaired(args, from)) } else { Ok(series) }
}

/// Returns the name of a series that is asked for. Its URL names the item.
fn name_of(given: &str) -> Result<&str> {
    match given.split_once(':') {
        None => Ok(given),
        Some((name, item)) => {
            let remedy = format!(
                "Leave the number out, and name the item in the URL: --series {name} --from '...?itemid={item}'."
            );
            Err(CliError::usage(format!("--series {given} is asked for, and its URL names the item"), remedy)
                .into())
        }
    }
}

fn unpaired(args: &SeriesArgs, from: &SeriesFromArgs) -> anyhow::Error {
    let without = args.series.iter().filter(|given| !given.contains('=')).count();
    let problem = format!("there are {} --from, and {without} --series without a file", from.from.len());
    let remedy = "Give one for each: --series memory --from URL; a series of a file is --series memory=FILE.";
    CliError::usage(problem, remedy).into()
}
/// Returns the file of a series in a unit, as it is given: `NAME=FILE` or `NAME:ID=FILE`.
fn series_file(given: &str, unit: &str) -> Result<SeriesFile> {
    let refuse = |problem: String| {
        let remedy = "Write NAME=FILE, as in --series memory=memory.csv, or NAME:ID=FILE for one of several Zabbix items; ingest, inspect and attach-series take NAME with --from URL too.";
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
