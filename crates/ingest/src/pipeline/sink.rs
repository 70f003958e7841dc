//! Where a pipeline writes to: what a store of runs, its writers and their encoders must do.

use std::future::Future;
use std::path::PathBuf;

use super::stage::CommitStage;
use crate::counts::{Cell, CellKey, ErrorCount, LabelCount};
use crate::error::Result;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::rejects::RejectSpool;
use crate::run::replace::Replace;
use crate::sample::batch::SampleBatch;
use crate::series::cpu::CpuSeries;

/// A store that runs can be written to.
pub trait RunStore: Sync {
    /// Whether a pass over the logs may be given up and begun anew at no cost but time: then none looks ahead for t0 longer
    /// than it pays.
    const BEGINS_ANEW: bool = true;

    /// What writes a run.
    type Writer: RunWriter;

    /// Begins a run. With a key known from the start, a second writer of it is told at once.
    fn begin(
        &self,
        key: Option<&RunKey>,
        keep_samples: bool,
    ) -> impl Future<Output = Result<Self::Writer>> + Send;
}

/// A run that has been read to its end and is to be committed.
pub struct FinishedRun<'a> {
    /// The run's own row.
    pub info: &'a RunInfo,
    /// Labels that the cells' keys point to.
    pub labels: &'a [String],
    /// Injectors that the cells point to; "" is the one that can't be told.
    pub injectors: &'a [String],
    /// The cells, ascending by key.
    pub cells: &'a mut (dyn Iterator<Item = Result<(CellKey, Cell)>> + Send),
    /// The CPU readings.
    pub cpu: &'a CpuSeries,
    /// Failures, ascending.
    pub errors: &'a [ErrorCount],
    /// Whole-run counts by label, ascending by label.
    pub label_counts: &'a [LabelCount],
    /// The rejected records.
    pub rejects: &'a mut RejectSpool,
    /// What an earlier run of the same key must be for this one to replace it.
    pub replace: Replace,
    /// Where the writer notes that dropping it can't undo the run any more.
    pub stage: &'a CommitStage,
}

/// Turns batches into what its writer stores; each worker thread has one of its own.
pub trait BatchEncoder: Send + 'static {
    /// What the writer takes.
    type Chunk: Send + 'static;

    /// Encodes one batch, if there is anything to be written of it. An encoder keeps nothing of a batch to itself, so
    /// what is written is in the order of the log, whichever encoder had which batch.
    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Self::Chunk>>;
}

/// Writes one run. Dropped before `commit` has returned, it leaves nothing.
pub trait RunWriter: Send {
    /// The encoder of its batches.
    type Encoder: BatchEncoder;

    /// A new encoder, for one worker thread.
    fn encoder(&self) -> Result<Self::Encoder>;

    /// A folder for temporary files, where the writer has one that is swept if it is killed.
    fn scratch(&self) -> Option<PathBuf> {
        None
    }

    /// Writes one encoded chunk; they come in the order of the log.
    fn write(
        &mut self,
        chunk: <Self::Encoder as BatchEncoder>::Chunk,
    ) -> impl Future<Output = Result<()>> + Send;

    /// The same framework and test with the lowest repeat that no run has and no other writer is storing: it is this
    /// writer's alone from now on. A writer that keeps no runs has no others, so it may leave the key as it is.
    ///
    /// # Errors
    /// When the store fails.
    fn claim_next(&mut self, key: RunKey) -> impl Future<Output = Result<RunKey>> + Send {
        std::future::ready(Ok(key))
    }

    /// Leaves nothing, as dropping does; once this has returned, another may begin with the same key.
    ///
    /// # Errors
    /// When the store fails.
    fn give_up(self) -> impl Future<Output = Result<()>> + Send
    where
        Self: Sized,
    {
        drop(self);
        std::future::ready(Ok(()))
    }

    /// Makes the run appear, whole, in the place of any earlier one of its key.
    fn commit(self, run: FinishedRun<'_>) -> impl Future<Output = Result<()>> + Send;
}
