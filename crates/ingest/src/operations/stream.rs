//! Streams the samples of a log into a sink of the calling program, instead of a store.

use std::sync::{Arc, Mutex, PoisonError};

use std::path::PathBuf;

use super::ingest::{Ingested, ingest};
use super::options::IngestOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
use crate::run::key::RunKey;
use crate::sample::batch::SampleBatch;

/// A receiver of samples, batch by batch in the order of the log. Closures implement it.
pub trait SampleSink: Send + 'static {
    /// Receives a batch.
    ///
    /// # Errors
    /// Any error ends the stream.
    fn batch(&mut self, batch: SampleBatch) -> Result<()>;

    /// Discards everything received so far: a record earlier than t0 was found, and the log is read again.
    ///
    /// # Errors
    /// If the sink can't restart. The default implementation always fails, also for closures.
    fn restart(&mut self) -> Result<()> {
        Err(Error::refused(
            ErrorKind::CannotRestart,
            "the earliest record comes late in the log, so the samples streamed so far would have to be \
             discarded",
            "Implement SampleSink::restart, or give the smallest timeStamp of the log as IngestOptions::origin.",
        ))
    }
}

impl<F: FnMut(SampleBatch) -> Result<()> + Send + 'static> SampleSink for F {
    fn batch(&mut self, batch: SampleBatch) -> Result<()> {
        self(batch)
    }
}

/// Streams the samples of a run into a sink. Returns the sink, and what is known about the run.
///
/// # Errors
/// As for [`ingest`], and any error of the sink.
///
/// # Examples
/// See `examples/stream.rs`, which sums the bytes of a log.
pub async fn stream<S: SampleSink>(
    sink: S,
    files: &[PathBuf],
    options: &IngestOptions,
) -> Result<(S, Ingested)> {
    let store = SinkStore { sink: Arc::new(Mutex::new(Some(sink))), begun: Mutex::new(false) };
    let done = ingest(&store, files, options).await?;
    let sink = store.sink.lock().unwrap_or_else(PoisonError::into_inner).take();
    sink.map(|sink| (sink, done)).ok_or_else(|| Error::store("streaming samples", "the sink is gone"))
}

struct SinkStore<S> {
    sink: Arc<Mutex<Option<S>>>,
    begun: Mutex<bool>,
}

impl<S: SampleSink> RunStore for SinkStore<S> {
    // Not every sink can restart.
    const CAN_RESTART: bool = false;

    type Writer = SinkWriter<S>;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<SinkWriter<S>> {
        let again = std::mem::replace(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner), true);
        if again && let Some(sink) = &mut *self.sink.lock().unwrap_or_else(PoisonError::into_inner) {
            sink.restart()?;
        }
        Ok(SinkWriter(Arc::clone(&self.sink)))
    }
}

struct SinkWriter<S>(Arc<Mutex<Option<S>>>);

/// Passes batches on unchanged.
struct Whole;

impl BatchEncoder for Whole {
    type Chunk = SampleBatch;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<SampleBatch>> {
        Ok((!batch.is_empty()).then(|| batch.clone()))
    }
}

impl<S: SampleSink> RunWriter for SinkWriter<S> {
    type Encoder = Whole;

    fn encoder(&self) -> Result<Whole> {
        Ok(Whole)
    }

    async fn write(&mut self, batch: SampleBatch) -> Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(sink) => sink.batch(batch),
            None => Ok(()),
        }
    }

    async fn commit(self, _run: FinishedRun<'_>) -> Result<()> {
        Ok(())
    }
}
