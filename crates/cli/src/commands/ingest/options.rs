//! Conversion of flags to the options of an ingest.

use std::collections::BTreeMap;

use anyhow::Result;
use perfpipe_analyze::View;
use perfpipe_ingest::{IngestOptions, LayoutOptions, PipelineOptions, Repeat, SourceOptions};

use super::args::IngestArgs;
use crate::args::LogArgs;
use crate::error::CliError;
use crate::input::{cpu_scale, ports, view};

/// Converts the flags of an ingest to the library's options.
pub(crate) fn options(args: &IngestArgs) -> Result<IngestOptions> {
    Ok(IngestOptions {
        framework: args.name.framework.clone(),
        test: args.name.test.clone(),
        frameworks: args.frameworks.as_deref().map(ports::of_file).transpose()?.unwrap_or_default(),
        repeat: match args.append_repeat {
            true => Repeat::Next,
            false => args.repeat.map_or_else(Repeat::default, Repeat::Number),
        },
        replace: args.replace,
        keep_samples: !args.no_samples,
        ..reading(&args.log, args.salvage, args.charts.cores.cores)?
    })
}

/// Converts the flags on reading to the library's options, with defaults for all others.
pub(crate) fn reading(log: &LogArgs, salvage: bool, cores: Option<u32>) -> Result<IngestOptions> {
    let delimiter = log.delimiter.as_deref().map(delimiter).transpose()?;
    let sizes = PipelineOptions::default();
    Ok(IngestOptions {
        origin: log.origin,
        max_span_ms: log.max_span,
        max_rejects: if log.strict { 0 } else { log.max_rejects },
        injector_pattern: log.injector_pattern.clone(),
        source: SourceOptions {
            time_zone: log.cpu.time_zone.parse()?,
            time_unit: log.time_unit,
            cpu_item: log.cpu.cpu_item,
            cpu_scale: cpu_scale::of(log.cpu.cpu_scale, cores)?,
            cores,
            layout: LayoutOptions { delimiter, columns: log.columns.clone() },
            salvage,
        },
        cpu: view::cpu_choice(&log.cpu.join),
        sizes: PipelineOptions {
            workers: log.workers.map_or(sizes.workers, usize::from),
            memory: log.memory,
            ..sizes
        },
        noted: noted(log, cores),
        ..IngestOptions::default()
    })
}

/// Returns the options that are noted with the run for its readers.
fn noted(log: &LogArgs, cores: Option<u32>) -> BTreeMap<String, String> {
    let named = [
        (View::INJECTORS, log.injectors.injectors.map(|n| n.to_string())),
        ("injector-pattern", log.injector_pattern.clone()),
        ("time-zone", (log.cpu.time_zone != "UTC").then(|| log.cpu.time_zone.clone())),
        ("time-unit", log.time_unit.map(|unit| unit.to_string())),
        ("delimiter", log.delimiter.clone()),
        ("columns", log.columns.clone()),
        ("origin", log.origin.map(|ms| ms.to_string())),
        (view::CPU_ITEM, log.cpu.cpu_item.map(|id| id.to_string())),
    ];
    let named = named.into_iter().chain(cpu_scale::noted(log.cpu.cpu_scale, cores));
    named.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
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
