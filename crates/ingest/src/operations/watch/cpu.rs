//! The CPU readings of a running test: a growing export, or a system that is asked now and then.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::live::Live;
use crate::operations::options::IngestOptions;
use crate::source::Inputs;
use perfpipe_model::error::{Error, Result};
#[cfg(feature = "fetch")]
use perfpipe_model::series::cpu::TimeSeries;

/// The largest export that is read again and again, in bytes: weeks of readings of each second.
const LARGEST: u64 = 64 << 20;

/// The number of first bytes that distinguish a packed export from a text.
const HEAD: usize = 64;

/// The CPU readings of a running test, so far.
pub struct WatchedCpu {
    live: Arc<Live>,
    options: IngestOptions,
    /// The files beside the logs.
    beside: Vec<PathBuf>,
    /// The sizes of these files, and when they were written, as of the last time that they were read.
    seen: Vec<Option<(u64, SystemTime)>>,
    /// The readings that were asked for, and from which second on.
    #[cfg(feature = "fetch")]
    asked: (TimeSeries, i64),
}

impl WatchedCpu {
    /// Returns the CPU readings of a test; `None` if none are given.
    pub(super) fn of(live: &Arc<Live>, options: &IngestOptions, beside: &[PathBuf]) -> Option<Self> {
        let (live, options, beside) = (Arc::clone(live), options.clone(), beside.to_vec());
        let is_given = !beside.is_empty() || options.asked_cpu().is_some();
        is_given.then(|| Self {
            seen: vec![None; beside.len()],
            live,
            options,
            beside,
            #[cfg(feature = "fetch")]
            asked: (TimeSeries::default(), i64::MAX),
        })
    }

    /// Reads what is new, and joins it to the seconds of the test.
    ///
    /// # Errors
    /// If an export can't be read, or a system can't be asked; the readings so far stay.
    pub async fn refresh(&mut self) -> Result<()> {
        #[cfg(feature = "fetch")]
        self.ask().await?;
        for at in 0..self.beside.len() {
            self.read(at).await?;
        }
        Ok(())
    }

    /// Reads a file, if it was written since it was read.
    async fn read(&mut self, at: usize) -> Result<()> {
        let (Some(file), Some(seen)) = (self.beside.get(at), self.seen.get_mut(at)) else { return Ok(()) };
        let state = std::fs::metadata(file).and_then(|of| Ok((of.len(), of.modified()?)));
        let state = state.map_err(|error| Error::io(file, error))?;
        if *seen == Some(state) || state.0 > LARGEST {
            return Ok(());
        }
        let lines = lines(file).map_err(|error| Error::io(file, error))?;
        let (file, source) = (file.clone(), self.options.source.clone());
        let recognise = move || {
            let inputs = match &lines {
                Some(lines) => {
                    let kept = [(file.clone(), lines.path().to_owned())];
                    Inputs::recognise_kept(&[file], &kept, &source)
                }
                None => Inputs::recognise(&[file], &source),
            };
            (inputs, lines)
        };
        let recognised = tokio::task::spawn_blocking(recognise).await;
        // The copy is there until it was read.
        let (inputs, _lines) =
            recognised.map_err(|error| Error::store("looking at the CPU export", error))?;
        let Some(cpu) = inputs?.cpu else { return Ok(()) };
        let export = cpu.read(&self.options.source).await?;
        *seen = Some(state);
        self.live.know_cpu(&export.series, self.options.cpu.join(&export.series), export.scale);
        Ok(())
    }

    /// Asks for the readings of the complete seconds that are not known yet.
    #[cfg(feature = "fetch")]
    async fn ask(&mut self) -> Result<()> {
        use perfpipe_model::error::ErrorKind;

        let Some((source, (t0_ms, last_ms))) = self.options.cpu_from.as_ref().zip(self.live.time()) else {
            return Ok(());
        };
        let (first, last) = self.options.cpu.window(t0_ms, last_ms);
        let (known, begin) = &self.asked;
        // The latest second may have had only the first of its readings. An earlier record makes the test begin earlier.
        let latest = known.readings().last().filter(|_| first >= *begin).map(|(clock, _)| *clock);
        let from = latest.map_or(first, |latest| latest.max(first));
        if from > last {
            return Ok(());
        }
        let export = match source.read((from, last), &self.options.source).await {
            // What was read just now is not always there yet.
            Err(error) if error.kind() == ErrorKind::SourceEmpty => return Ok(()),
            read => read?,
        };
        let all = known.readings().iter().chain(export.series.readings()).copied();
        let all = TimeSeries::new(all.collect());
        self.live.know_cpu(&all, self.options.cpu.join(&all), export.scale);
        self.asked = (all, first.min(*begin));
        Ok(())
    }
}

/// Copies the lines of an export that are written to their end; `None` if it has no lines, as a packed one.
fn lines(file: &Path) -> io::Result<Option<tempfile::NamedTempFile>> {
    let mut text = Vec::new();
    File::open(file)?.take(LARGEST).read_to_end(&mut text)?;
    let is_packed = text.iter().take(HEAD).any(|byte| !byte.is_ascii());
    let is_json = matches!(text.first(), Some(b'{' | b'['));
    let end = memchr::memrchr(b'\n', &text).filter(|_| !is_packed && !is_json);
    let Some(lines) = end.and_then(|end| text.get(..=end)) else { return Ok(None) };
    let mut copy = tempfile::NamedTempFile::new()?;
    copy.write_all(lines)?;
    Ok(Some(copy))
}
