//! The traits that a pipeline writes to: a store of runs, its writers and their encoders, and the stage of a commit.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use perfpipe_model::counts::part::{PartNamesRef, PartRow};
use perfpipe_model::counts::{CellKey, ErrorCount, LabelCount, PackedCell};
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::RejectSpool;
use perfpipe_model::run::replace::Replace;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::series::cpu::TimeSeries;
use perfpipe_model::series::server::ServerSeries;

/// A store to which runs can be written.
pub trait RunStore: Sync {
    /// True if a pass over the logs may be abandoned and restarted at no cost but time. Then looking ahead for t0 is
    /// kept short.
    const CAN_RESTART: bool = true;

    /// True if it accepts nothing but samples, so that a log without any can't be written.
    const ONLY_SAMPLES: bool = false;

    /// The writer of one run.
    type Writer: RunWriter;

    /// Begins a run. If the key is known from the start, a second writer of the same key fails at once. With
    /// `keep_samples`, the samples are stored too, not only their counts.
    ///
    /// # Errors
    /// When the store fails, or another writer is storing a run of the same key.
    fn begin(
        &self,
        key: Option<&RunKey>,
        keep_samples: bool,
    ) -> impl Future<Output = Result<Self::Writer>> + Send;
}

/// A run that was read to its end and is ready to commit.
pub struct FinishedRun<'a> {
    /// The run's metadata.
    pub info: &'a RunInfo,
    /// The labels by index, as used in the keys of cells.
    pub labels: &'a [String],
    /// The injectors by index, as used in the cells; "" is the unknown one.
    pub injectors: &'a [String],
    /// The cells, ascending by key.
    pub cells: &'a mut (dyn Iterator<Item = Result<(CellKey, PackedCell)>> + Send),
    /// The CPU readings.
    pub cpu: &'a TimeSeries,
    /// Other series of the server, ascending by name.
    pub series: &'a [ServerSeries],
    /// Failures, ascending.
    pub errors: Box<dyn Iterator<Item = Result<ErrorCount>> + Send + 'a>,
    /// Whole-run counts by label, ascending by label.
    pub label_counts: &'a [LabelCount],
    /// The rejected records.
    pub rejects: &'a mut RejectSpool,
    /// Which earlier run of the same key may be replaced.
    pub replace: Replace,
    /// How far the commit is, set by the writer: [`Stage::Asked`](crate::Stage) once dropping it need not undo the
    /// run, and [`Stage::Stored`](crate::Stage) once the run is stored.
    pub stage: &'a CommitStage,
    /// What is stored beside a run that is a part of one.
    #[doc(hidden)]
    pub part: Option<&'a (PartRow, PartNamesRef<'a>)>,
}

impl<'a> FinishedRun<'a> {
    /// Describes a run without labels, injectors and failures, which may replace a run of the same key.
    pub fn new(
        info: &'a RunInfo,
        cells: &'a mut (dyn Iterator<Item = Result<(CellKey, PackedCell)>> + Send),
        cpu: &'a TimeSeries,
        rejects: &'a mut RejectSpool,
        stage: &'a CommitStage,
    ) -> Self {
        Self {
            info,
            labels: &[],
            injectors: &[],
            cells,
            cpu,
            series: &[],
            errors: Box::new(std::iter::empty()),
            label_counts: &[],
            rejects,
            replace: Replace::SameKey,
            stage,
            part: None,
        }
    }
}

#[cfg(feature = "parquet")]
impl FinishedRun<'_> {
    /// The same run with other metadata, for another store.
    pub(crate) fn with_info<'b>(&'b mut self, info: &'b RunInfo, stage: &'b CommitStage) -> FinishedRun<'b> {
        FinishedRun {
            info,
            labels: self.labels,
            injectors: self.injectors,
            cells: &mut *self.cells,
            cpu: self.cpu,
            series: self.series,
            errors: Box::new(&mut *self.errors),
            label_counts: self.label_counts,
            rejects: &mut *self.rejects,
            replace: self.replace,
            stage,
            part: self.part,
        }
    }
}

/// Encodes batches for its writer. Each worker thread has its own encoder.
pub trait BatchEncoder: Send + 'static {
    /// The encoded form that the writer accepts.
    type Chunk: Send + 'static;

    /// Encodes one batch; `None` if nothing of it is to be written. An encoder keeps no samples between calls, so the
    /// chunks can be written in the order of the log, whichever encoder made them.
    ///
    /// # Errors
    /// When the batch can't be encoded.
    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Self::Chunk>>;
}

/// Writes one run. If dropped before `commit` has returned, it leaves nothing in the store.
pub trait RunWriter: Send {
    /// The encoder of the run's batches.
    type Encoder: BatchEncoder;

    /// Creates an encoder for one worker thread.
    ///
    /// # Errors
    /// When the encoder can't be set up.
    fn encoder(&self) -> Result<Self::Encoder>;

    /// A folder for temporary files, if the writer has one that is cleaned up even after a kill.
    fn scratch(&self) -> Option<PathBuf> {
        None
    }

    /// Writes an encoded chunk. Chunks must come in the order of the log.
    ///
    /// # Errors
    /// When the store fails.
    fn write(
        &mut self,
        chunk: <Self::Encoder as BatchEncoder>::Chunk,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Returns true if the samples of several pieces of the run may be written side by side, see
    /// [`write_piece`](Self::write_piece).
    fn takes_pieces(&self) -> bool {
        false
    }

    /// Writes an encoded chunk of a piece of the run. All samples of a piece come before those of pieces with greater
    /// numbers. The chunks of one piece come in the order of the log. If the writer [takes
    /// pieces](Self::takes_pieces), chunks of several come in any order.
    ///
    /// # Errors
    /// When the store fails.
    fn write_piece(
        &mut self,
        piece: usize,
        chunk: <Self::Encoder as BatchEncoder>::Chunk,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = piece;
        self.write(chunk)
    }

    /// Ends a piece, of which no further chunk comes.
    ///
    /// # Errors
    /// When the store fails.
    fn end_piece(&mut self, piece: usize) -> impl Future<Output = Result<()>> + Send {
        let _ = piece;
        std::future::ready(Ok(()))
    }

    /// Claims the lowest free repeat of the key's framework and test, and returns its key. No run has it, and no other
    /// writer is storing it or can claim it. A writer that stores no runs may return the key unchanged.
    ///
    /// # Errors
    /// When the store fails.
    fn claim_next(&mut self, key: RunKey) -> impl Future<Output = Result<RunKey>> + Send {
        std::future::ready(Ok(key))
    }

    /// Leaves nothing in the store, as dropping does. After it has returned, another writer may begin with the same
    /// key.
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

    /// Makes the run visible as a whole, replacing any earlier run of its key.
    ///
    /// # Errors
    /// When the store fails, or an earlier run may not be replaced. The stores of this crate refuse a run that they would
    /// refuse to read: one whose row, counts, failures and samples contradict each other.
    fn commit(self, run: FinishedRun<'_>) -> impl Future<Output = Result<()>> + Send;
}

/// The stage of a commit as its writer knows it, shared between threads.
#[derive(Debug, Default)]
pub struct CommitStage(AtomicU8);

/// The stages of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is stored yet, and nothing will be if the writer is dropped.
    Before,
    /// The store was asked to commit and has not answered. Only the store knows the result.
    Asked,
    /// The run is stored.
    Stored,
}

impl CommitStage {
    /// Returns the current stage.
    pub fn get(&self) -> Stage {
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Before,
            1 => Stage::Asked,
            _ => Stage::Stored,
        }
    }

    /// Sets the current stage.
    pub fn set(&self, stage: Stage) {
        let number = match stage {
            Stage::Before => 0,
            Stage::Asked => 1,
            Stage::Stored => 2,
        };
        self.0.store(number, Ordering::Release);
    }
}
