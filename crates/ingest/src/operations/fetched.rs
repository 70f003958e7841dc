//! Asks for the readings of a run's time, which is known from its logs.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::options::{Fetched, IngestOptions};
use crate::source::CpuExport;
use crate::source::cpu_export::fetch::by_host;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::{RunInfo, SourceKind};
use perfpipe_model::run::key::{Repeat, RunKey};
use perfpipe_model::run::note::Note;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::series::cpu::CpuChoice;
use perfpipe_model::series::server;
use perfpipe_store::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};

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
    notes.into_iter().for_each(|notes| notes.extend(clock_note(files, run)));
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
        // The notes on them are those of the CPU export.
        let without_notes = CpuExport { notes: Vec::new(), ..export.clone() };
        fetched.series.extend(by_host(("cpu", "%"), parts, &without_notes));
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

/// An hour, in seconds.
const HOUR: i64 = 3600;

/// The largest difference of time zones, in hours.
const WIDEST: i64 = 14;

/// How far the last record may be from when its log was last written, beside whole hours, in seconds. A log that was
/// copied at any other time is within it once in 180 times.
const NEAR: i64 = 10;

/// A note if the logs were last written whole hours before or after their last record: readings of another time than the
/// run's are asked for then.
fn clock_note(files: &[PathBuf], run: &RunInfo) -> Option<Note> {
    let (file, written) = files.iter().filter_map(written).max_by_key(|(_, written)| *written)?;
    let ended = run.last_end_ms.unwrap_or(run.last_ms).div_euclid(1000);
    let hours = hours_off(written.saturating_sub(ended))?;
    let (count, side, other) = match hours {
        1.. => (hours, "after", "behind"),
        _ => (-hours, "before", "ahead"),
    };
    Some(Note::from(format!(
        "{} was last written {count} h {side} its last record: if the log's clock is {count} h {other}, add {} to the CPU offset",
        file.display(),
        -hours * HOUR
    )))
}

/// The second in which a file was last written.
fn written(file: &PathBuf) -> Option<(&PathBuf, i64)> {
    let state = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let since = state.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file, i64::try_from(since.as_secs()).ok()?))
}

/// The whole hours in a number of seconds, if it is near them.
fn hours_off(seconds: i64) -> Option<i64> {
    let hours = seconds.saturating_add(HOUR / 2).div_euclid(HOUR);
    let rest = seconds.saturating_sub(hours.saturating_mul(HOUR));
    (hours != 0 && hours.abs() <= WIDEST && rest.abs() <= NEAR).then_some(hours)
}

/// A store that keeps nothing.
pub(crate) struct NullStore;

impl RunStore for NullStore {
    type Writer = Self;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<Self> {
        Ok(Self)
    }
}

impl BatchEncoder for NullStore {
    type Chunk = ();

    fn encode(&mut self, _batch: &SampleBatch) -> Result<Option<()>> {
        Ok(None)
    }
}

impl RunWriter for NullStore {
    type Encoder = Self;

    fn encoder(&self) -> Result<Self> {
        Ok(Self)
    }

    async fn write(&mut self, (): ()) -> Result<()> {
        Ok(())
    }

    async fn commit(self, _run: FinishedRun<'_>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_hours_are_told_from_other_times() {
        for (seconds, hours) in [
            (3600, Some(1)),
            (3590, Some(1)),
            (3611, None),
            (-7205, Some(-2)),
            (0, None),
            (9, None),
            (14 * 3600, Some(14)),
            (15 * 3600, None),
            (i64::MAX, None),
        ] {
            assert_eq!(hours_off(seconds), hours, "{seconds}");
        }
    }
}
