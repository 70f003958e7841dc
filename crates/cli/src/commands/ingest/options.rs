//! Conversion of flags to the options of an ingest.

use std::ops::RangeInclusive;

use std::collections::BTreeMap;

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::run::{Repeat, RunOptions};
use perfpipe_ingest::source::SourceOptions;

use super::args::{IngestArgs, KeepArgs};
use crate::args::{LogArgs, Tag};
use crate::error::CliError;
use crate::input::readings::{self, cpu_scale, series};
use crate::input::{file_names, ports, view};

/// Converts the flags of an ingest to the library's options.
pub(crate) fn options(args: &IngestArgs) -> Result<IngestOptions> {
    let mut options = keeping(&args.keep, reading(&args.log, args.salvage, args.charts.cores.cores)?)?;
    options.injector.clone_from(&args.injector);
    file_names::apply(&mut options, &args.points, &args.files)?;
    series::with(&mut options, &args.series, &args.log.cpu.from)?;
    Ok(options)
}

/// Adds the flags on the run that is stored to those on how it is read.
pub(crate) fn keeping(args: &KeepArgs, reading: IngestOptions) -> Result<IngestOptions> {
    let mut options = reading.with_replace(args.replace).with_keep_samples(!args.no_samples);
    (options.framework, options.test) = (args.name.framework.clone(), args.name.test.clone());
    options.frameworks = args.frameworks.as_deref().map(ports::of_file).transpose()?.unwrap_or_default();
    options.noted.tags = tags(&args.tag)?;
    options.repeat = match args.append_repeat {
        true => Repeat::Next,
        false => args.repeat.map_or_else(Repeat::default, Repeat::Number),
    };
    Ok(options)
}

/// Returns the tags by key.
///
/// # Errors
/// If a key is given twice.
fn tags(given: &[Tag]) -> Result<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for Tag { key, value } in given {
        if let Some(other) = tags.insert(key.clone(), value.clone()) {
            let problem = format!("--tag {key}: it is both {other} and {value}");
            return Err(CliError::usage(problem, "Give each key once.").into());
        }
    }
    Ok(tags)
}

/// Converts the flags on reading to the library's options, with defaults for all others.
pub(crate) fn reading(log: &LogArgs, salvage: bool, cores: Option<u32>) -> Result<IngestOptions> {
    let mut options = IngestOptions::default()
        .with_max_span_ms(log.max_span)
        .with_max_rejects(if log.strict { 0 } else { log.max_rejects })
        .with_source(source(log, salvage, cores)?)
        .with_cpu(view::cpu_choice(&log.cpu.join));
    options.cpu_from = readings::source(&log.cpu.from)?;
    options.origin = log.origin;
    options.only = log.only.as_deref().map(|only| times(only, &options.source)).transpose()?;
    options.injector_pattern.clone_from(&log.injector_pattern);
    options.sizes.workers = log.workers.map_or(options.sizes.workers, usize::from);
    if let Some(readers) = log.readers {
        options.sizes = options.sizes.with_readers(readers.into());
    }
    options.sizes.memory = log.memory;
    options.noted = noted(log, &options.source);
    Ok(options)
}

/// Converts the flags on the inputs to the library's options.
fn source(log: &LogArgs, salvage: bool, cores: Option<u32>) -> Result<SourceOptions> {
    let mut source =
        SourceOptions::default().with_time_zone(log.cpu.time_zone.parse()?).with_salvage(salvage);
    (source.time_unit, source.cores) = (log.time_unit, cores);
    source.cpu_item.clone_from(&log.cpu.cpu_item);
    source.cpu_columns.clone_from(&log.cpu.cpu_columns);
    source.time_format.clone_from(&log.cpu.time_format);
    source.cpu_scale = cpu_scale::of(log.cpu.cpu_scale, cores)?;
    source.layout.delimiter = log.delimiter.as_deref().map(delimiter).transpose()?;
    source.layout.columns.clone_from(&log.columns);
    source.layout.resolution = log.resolution;
    Ok(source)
}

/// Returns the options that are noted with the run for its readers.
fn noted(log: &LogArgs, source: &SourceOptions) -> RunOptions {
    let mut noted = cpu_noted(source);
    noted.injectors = log.injectors.injectors;
    noted.injector_pattern.clone_from(&log.injector_pattern);
    noted.time_zone = (log.cpu.time_zone != "UTC").then(|| log.cpu.time_zone.clone());
    noted.time_format = log.cpu.time_format.as_ref().map(ToString::to_string);
    noted.time_unit = log.time_unit;
    noted.delimiter.clone_from(&log.delimiter);
    noted.columns.clone_from(&log.columns);
    noted.origin = log.origin;
    noted.only.clone_from(&log.only);
    noted
}

/// Returns the options on a CPU export that are noted with its run.
pub(crate) fn cpu_noted(source: &SourceOptions) -> RunOptions {
    let mut noted = RunOptions::default();
    noted.cpu_columns.clone_from(&source.cpu_columns);
    noted.cpu_item.clone_from(&source.cpu_item);
    noted.cpu_scale = source.cpu_scale;
    noted.cores = source.cores.filter(|_| source.cpu_scale.is_some());
    noted
}

/// Reads a span of times, of which one end may be open.
fn times(text: &str, source: &SourceOptions) -> Result<RangeInclusive<i64>> {
    let end = |text: &str, open: i64| match text.trim() {
        "" => Some(open),
        text => source.moment(text),
    };
    let ends = text.split_once("..").filter(|_| text.trim() != "..");
    let ends = ends.and_then(|(from, to)| Some((end(from, i64::MIN)?, end(to, i64::MAX)?)));
    match ends.filter(|(from, to)| from <= to) {
        Some((from, to)) => Ok(from..=to),
        None => Err(CliError::usage(
            format!("--only {text} is no span of times"),
            "Give two of them as epoch ms or dates, as in --only '2026-11-20 19:42:18..2026-11-20 19:45:00', or one: --only 1795203738000..",
        )
        .into()),
    }
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        _ => Err(CliError::usage(
            format!("--delimiter is not one ASCII character: {text}"),
            "Give one, as in --delimiter ';', or the word tab.",
        )
        .into()),
    }
}
