//! Asks for the CPU readings of a run's time, which its logs tell.

mod nowhere;

use std::path::PathBuf;

use super::options::IngestOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::{RunInfo, SourceKind};
use crate::run::key::Repeat;
use crate::source::ReadingsSource;

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
        series: Vec::new(),
        repeat: Repeat::default(),
        keep_samples: false,
        ..options.clone()
    })
}

/// Returns the options with the readings of a run's time.
///
/// # Errors
/// If there is a CPU export already, or the source has no readings.
pub(super) async fn with_readings(
    run: &RunInfo,
    options: &IngestOptions,
    source: &ReadingsSource,
) -> Result<IngestOptions> {
    if let Some(cpu) = run.sources.iter().find(|source| source.kind == SourceKind::Cpu) {
        let problem =
            format!("there are two sources of the CPU readings: {}, and {}", cpu.file, source.host());
        return Err(Error::usage(ErrorKind::SeveralCpuExports, problem, "Give one of them."));
    }
    let window = options.cpu.window(run.t0_ms, run.last_ms);
    let export = source.read(window, &options.source).await?;
    Ok(IngestOptions { cpu_from: None, fetched: Some(export), ..options.clone() })
}
