//! Streams the samples of a log into a sink of the calling program, instead of a store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use super::ingest::{Ingested, ingest};
use super::options::IngestOptions;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_store::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};

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
    let sink = Arc::new(Mutex::new(Lent(Some(sink))));
    let done = stream_into(sink.clone(), files, options).await?;
    let sink = sink.lock().unwrap_or_else(PoisonError::into_inner).0.take();
    sink.map(|sink| (sink, done)).ok_or_else(|| Error::store("streaming samples", "the sink is gone"))
}

/// Streams into a sink of any type, so that the pipeline is compiled once and not for each type.
fn stream_into<'a>(
    sink: Arc<Mutex<dyn SampleSink>>,
    files: &'a [PathBuf],
    options: &'a IngestOptions,
) -> BoxFuture<'a, Result<Ingested>> {
    Box::pin(async move {
        let store = SinkStore { sink, begun: Mutex::new(false) };
        ingest(&store, files, options).await
    })
}

/// A sink until it is handed back; batches that come later are dropped.
struct Lent<S>(Option<S>);

impl<S: SampleSink> SampleSink for Lent<S> {
    fn batch(&mut self, batch: SampleBatch) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |sink| sink.batch(batch))
    }

    fn restart(&mut self) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), S::restart)
    }
}

struct SinkStore {
    sink: Arc<Mutex<dyn SampleSink>>,
    begun: Mutex<bool>,
}

impl RunStore for SinkStore {
    // Not every sink can restart.
    const CAN_RESTART: bool = false;
    const ONLY_SAMPLES: bool = true;

    type Writer = SinkWriter;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<SinkWriter> {
        let again = std::mem::replace(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner), true);
        if again {
            self.sink.lock().unwrap_or_else(PoisonError::into_inner).restart()?;
        }
        Ok(SinkWriter(Arc::clone(&self.sink)))
    }
}

struct SinkWriter(Arc<Mutex<dyn SampleSink>>);

/// Passes batches on unchanged.
struct UnchangedBatches;

impl BatchEncoder for UnchangedBatches {
    type Chunk = SampleBatch;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<SampleBatch>> {
        Ok((!batch.is_empty()).then(|| batch.clone()))
    }
}

impl RunWriter for SinkWriter {
    type Encoder = UnchangedBatches;

    fn encoder(&self) -> Result<UnchangedBatches> {
        Ok(UnchangedBatches)
    }

    async fn write(&mut self, batch: SampleBatch) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).batch(batch)
    }

    async fn commit(self, mut run: FinishedRun<'_>) -> Result<()> {
        // An error follows them if they are not all.
        run.errors.try_for_each(|failure| failure.map(drop))
    }
}
