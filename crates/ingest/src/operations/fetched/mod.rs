//! Asks for the readings of a run's time, which its logs tell.

mod clock;
mod nowhere;

use std::path::PathBuf;

use super::options::{Fetched, IngestOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::{RunInfo, SourceKind};
use crate::run::key::Repeat;
use crate::series::cpu::CpuChoice;
use crate::series::server;
use crate::source::CpuExport;
use crate::source::cpu_export::fetch::apart;

pub(super) use self::nowhere::Nowhere;

/// Returns the options by which the logs of a run are read for their time only. Of the `kept` ones the text can be read
/// again.
///
/// # Errors
/// If one of the files can be read only once.
pub(super) fn for_time(
    files: &[PathBuf],
    options: &IngestOptions,
    kept: &[(PathBuf, PathBuf)],
) -> Result<IngestOptions> {
    let is_pipe = |file: &&PathBuf| {
        file.as_os_str() == "-" || std::fs::metadata(file).is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
    };
    let is_kept = |file: &PathBuf| kept.iter().any(|(name, _)| name == file);
    if let Some(file) = files.iter().find(|file| is_pipe(file) && !is_kept(file)) {
        return Err(Error::input(
            ErrorKind::SourceOfPipe,
            file,
            "the time of the run, for which readings are asked, is known only once its log was read, and a pipe can't be read again",
            "Store the run without readings, and attach them.",
        ));
    }
    Ok(IngestOptions {
        cpu_from: None,
        series_from: Vec::new(),
        series: Vec::new(),
        repeat: Repeat::default(),
        keep_samples: false,
        ..options.clone()
    })
}

/// Returns the options with the readings of a run's time.
///
/// # Errors
/// If there is a CPU export already, or a source has no readings.
pub(super) async fn with_readings(
    run: &RunInfo,
    files: &[PathBuf],
    options: &IngestOptions,
) -> Result<IngestOptions> {
    if let Some(source) = &options.cpu_from
        && let Some(cpu) = run.sources.iter().find(|source| source.kind == SourceKind::Cpu)
    {
        let problem =
            format!("there are two sources of the CPU readings: {}, and {}", cpu.file, source.host());
        return Err(Error::usage(ErrorKind::SeveralCpuExports, problem, "Give one of them."));
    }
    let mut options = with_readings_of((run.t0_ms, run.last_ms), options).await?;
    let Fetched { cpu, series } = &mut options.fetched;
    let notes =
        cpu.iter_mut().map(|cpu| &mut cpu.notes).chain(series.iter_mut().map(|of| &mut of.notes)).next();
    notes.into_iter().for_each(|notes| notes.extend(clock::note(files, run)));
    Ok(options)
}

/// Returns the options with the readings of this time (epoch ms, both inclusive), which are then asked for no more.
///
/// # Errors
/// If a source has no readings, or what it answers makes two series of one name.
pub(crate) async fn with_readings_of(
    (t0_ms, last_ms): (i64, i64),
    options: &IngestOptions,
) -> Result<IngestOptions> {
    let mut fetched = Fetched::default();
    if let Some(source) = &options.cpu_from {
        let mut export = source.read(options.cpu.window(t0_ms, last_ms), &options.source).await?;
        let parts = std::mem::take(&mut export.parts);
        // The CPU export tells all that is to be told of them.
        let untold = CpuExport { notes: Vec::new(), ..export.clone() };
        fetched.series.extend(apart(("cpu", "%"), parts, &untold));
        fetched.cpu = Some(export);
    }
    let window = CpuChoice::default().with_offset(options.cpu.offset).window(t0_ms, last_ms);
    for series in &options.series_from {
        fetched.series.extend(series.read(window, &options.source).await?);
    }
    let asked = fetched.series.iter().map(|export| &export.series);
    let named = asked.map(|series| (series.name.as_str(), series.unit.as_str()));
    server::check(options.series.iter().map(|of| (of.name.as_str(), of.unit.as_str())).chain(named))?;
    Ok(IngestOptions { cpu_from: None, series_from: Vec::new(), fetched, ..options.clone() })
}
