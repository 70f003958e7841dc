//! Inspects the files of a run: reports what an ingest would find, without storing anything.

mod columns;
mod cpu;
mod found;
mod log;
mod sampler;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use futures_util::future::BoxFuture;

pub use self::columns::MissingColumn;
pub use self::cpu::{CpuInspection, Gap, SeriesInspection};
pub use self::found::{Inspection, RejectKind};
pub use self::log::{InjectorsBy, LogInspection, TimeForm};
use self::sampler::Sampler;
#[cfg(feature = "fetch")]
use crate::operations::fetched::with_readings_of;
use crate::operations::ingest::{Prepared, lacks_log};
use crate::operations::options::{IngestOptions, check};
use crate::pipeline::plan::ReadPlan;
use crate::source::Inputs;
use perfpipe_model::error::{Error, Result};

/// The minimum number of bytes to read of each log.
const LEAST: u64 = 256 << 10;

/// Inspects the files of a run as [`ingest`](crate::ingest()) would read them, and reports what it would find.
///
/// It uses the code of the ingest. It reads `options.sizes.look_ahead` unpacked bytes of all logs together (but at
/// least 256 KiB of each), and the end of those that are not packed. No store is opened. What is read of standard input
/// or a named pipe is consumed.
///
/// # Errors
/// As for `ingest` while the files are recognised: when a file can't be read, is neither a log nor a CPU export, or is
/// visibly damaged. Later errors are in [`Inspection::refusal`].
///
/// ```
/// use perfpipe_ingest::{IngestOptions, inspect};
/// # let dir = tempfile::tempdir().unwrap();
/// # let log = dir.path().join("perfectnio_2048.csv");
/// # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n").unwrap();
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let found = inspect(&[log], &IngestOptions::default()).await?;
/// assert_eq!(found.key.unwrap().to_string(), "perfectnio_2048");
/// assert_eq!((found.t0_ms, found.successes, found.whole), (Some(1795203738615), 1, true));
/// # Ok::<(), perfpipe_ingest::Error>(())
/// # }).unwrap();
/// ```
pub fn inspect<'a>(files: &'a [PathBuf], options: &'a IngestOptions) -> BoxFuture<'a, Result<Inspection>> {
    Box::pin(async move {
        check(options)?;
        #[cfg(feature = "fetch")]
        if options.asks() {
            let plain = IngestOptions { cpu_from: None, series_from: Vec::new(), ..options.clone() };
            let found = inspect(files, &plain).await?;
            let Some(time) = found.t0_ms.zip(found.last_ms) else { return Ok(found) };
            return inspect(files, &with_readings_of(time, options).await?).await;
        }
        let inputs = Inputs::recognise_aside(files.to_vec(), options.source.clone()).await?;
        let refusal = lacks_log(&inputs);
        let prepared = Prepared::of(inputs, options).await?;
        let options = options.clone();
        let mut found = tokio::task::spawn_blocking(move || look(prepared, &options))
            .await
            .map_err(|error| Error::store("looking at the logs", error))??;
        if refusal.is_some() {
            found.refusal = refusal;
        }
        Ok(found)
    })
}

/// Reads the samples and combines their results.
fn look(prepared: Prepared, options: &IngestOptions) -> Result<Inspection> {
    let parser = prepared.parser(options, true)?;
    let logs = prepared.logs.lock().unwrap_or_else(PoisonError::into_inner).len().max(1) as u64;
    let limit = (options.sizes.look_ahead as u64 / logs).max(LEAST);
    // An ingest judges a log by its first block, so it is the same here. But the last block of a log that is not read to
    // its end is dropped, and that must be the lesser part.
    let block_size = options.sizes.block_size.min(limit as usize / 4);
    let plan = ReadPlan { limit: Some(limit), block_size, ..prepared.plan(options, prepared.t0(options)) };
    let mut sampler = Sampler::new(parser.clone(), options, &prepared, limit);
    let read = plan.run(parser, Arc::clone(&sampler.packed), &mut sampler);
    let broken = sampler.refusal.take().or(read.err());
    sampler.read_ends(&prepared)?;
    sampler.found(prepared, options, broken)
}
