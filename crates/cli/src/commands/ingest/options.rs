//! The options of an ingest from its flags, and the number of a part, where a scheduler gives it to its tasks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::run::{PartNumber, Repeat, RunOptions};
use perfpipe_ingest::source::SourceOptions;

use super::args::{IngestArgs, KeepArgs};
use crate::args::{LogArgs, PartChoice, Tag};
use crate::error::CliError;
use crate::input::{name_pattern, readings, summaries, view};

/// Converts the flags of an ingest to the library's options.
pub(crate) fn options(args: &IngestArgs) -> Result<IngestOptions> {
    let mut options = keeping(&args.keep, reading(&args.log, args.salvage, args.charts.cores.cores)?)?;
    options.injector.clone_from(&args.injector);
    name_pattern::apply(&mut options, &args.points, &args.files)?;
    readings::with_series(&mut options, &args.series, &args.log.cpu.from)?;
    Ok(options)
}

/// Adds the flags on the run that is stored to those on how it is read.
pub(crate) fn keeping(args: &KeepArgs, reading: IngestOptions) -> Result<IngestOptions> {
    let mut options = reading.with_replace(args.replace).with_keep_samples(!args.no_samples);
    (options.framework, options.test) = (args.name.framework.clone(), args.name.test.clone());
    options.frameworks =
        args.frameworks.as_deref().map(summaries::frameworks_of_file).transpose()?.unwrap_or_default();
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
pub(crate) fn tags(given: &[Tag]) -> Result<BTreeMap<String, String>> {
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
    source.cpu_scale = readings::cpu_scale(log.cpu.cpu_scale, cores)?;
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

/// The remedy where a scheduler does not give the number of a part.
const NUMBER_IT: &str = "Give the number of the part and of all, as in --part 3/16.";

/// Returns the number of a part; of one that is left to the scheduler, by its environment.
pub(super) fn part_number(part: PartChoice) -> Result<PartNumber> {
    match part {
        PartChoice::Number(number) => Ok(number),
        PartChoice::Auto(of) => of_task(of, &|name| std::env::var(name).ok()?.trim().parse().ok()),
    }
}

/// Returns the number of the scheduler's task. `variable` returns the value of a variable of the environment if it is a
/// whole number.
fn of_task(of: Option<u32>, variable: &dyn Fn(&str) -> Option<u32>) -> Result<PartNumber> {
    if let Some(index) = variable("JOB_COMPLETION_INDEX") {
        let Some(of) = of else {
            return refuse(
                "Kubernetes gives the number of this part, but not the number of parts",
                "Give it: --part auto/16.",
            );
        };
        return Ok(PartNumber::new(index.saturating_add(1), of)?);
    }
    let of_array = |name: &str| variable(&format!("SLURM_ARRAY_TASK_{name}"));
    let (Some(task), Some(first)) = (of_array("ID"), of_array("MIN")) else {
        return refuse("--part auto: neither Slurm nor Kubernetes gives the number of this part", NUMBER_IT);
    };
    let step = of_array("STEP").unwrap_or(1).max(1);
    let (count, last) = (of_array("COUNT"), of_array("MAX"));
    let at = |task: u32| task.checked_sub(first).filter(|from| from % step == 0).map(|from| from / step + 1);
    let is_regular = count.is_none() || last.and_then(at).is_none_or(|all| Some(all) == count);
    match (at(task), of.or(count)) {
        (Some(number), Some(of)) if is_regular => Ok(PartNumber::new(number, of)?),
        _ => refuse("--part auto: the tasks of the Slurm array are not numbered at equal steps", NUMBER_IT),
    }
}

fn refuse<T>(problem: &str, remedy: &str) -> Result<T> {
    Err(CliError::usage(problem, remedy).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_of(of: Option<u32>, variables: &[(&str, u32)]) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        of_task(of, &variable).ok().map(|number| number.to_string())
    }

    #[test]
    fn task_of_a_slurm_array_has_the_number_of_its_place() {
        let task = |id, step| {
            [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_MIN", 1), ("SLURM_ARRAY_TASK_MAX", 1 + 3 * step)]
                .into_iter()
                .chain([("SLURM_ARRAY_TASK_STEP", step), ("SLURM_ARRAY_TASK_COUNT", 4)])
                .collect::<Vec<_>>()
        };
        assert_eq!(number_of(None, &task(1, 1)).unwrap(), "1/4");
        assert_eq!(number_of(None, &task(7, 2)).unwrap(), "4/4");
        assert_eq!(number_of(Some(16), &task(3, 1)).unwrap(), "3/16");
        assert_eq!(number_of(None, &task(6, 2)), None, "between two tasks");
        let gaps = [("SLURM_ARRAY_TASK_ID", 5), ("SLURM_ARRAY_TASK_MIN", 1), ("SLURM_ARRAY_TASK_MAX", 9)];
        assert_eq!(number_of(None, &[&gaps[..], &[("SLURM_ARRAY_TASK_COUNT", 3)]].concat()), None);
        assert_eq!(number_of(None, &gaps[..1]), None);
        assert_eq!(number_of(Some(4), &[]), None);
    }

    #[test]
    fn pod_of_an_indexed_job_is_counted_from_zero() {
        assert_eq!(number_of(Some(16), &[("JOB_COMPLETION_INDEX", 0)]).unwrap(), "1/16");
        assert_eq!(number_of(Some(16), &[("JOB_COMPLETION_INDEX", 16)]), None);
        assert_eq!(number_of(None, &[("JOB_COMPLETION_INDEX", 0)]), None);
    }
}
