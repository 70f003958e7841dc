//! A store of one run, in memory: it waits for no disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use perfpipe_ingest::counts::{CellTable, PackedCell};
use perfpipe_ingest::store::RunStore;
use perfpipe_ingest::store::{BatchEncoder, FinishedRun, RunWriter};
use perfpipe_ingest::{IngestOptions, Result, RunKey, SampleBatch, StoredRun, ingest};

use crate::read_back::{Row, rows};
use crate::support::{Stored, block_on};

/// What a run came to that was ingested into memory.
pub(crate) fn in_memory(files: &[PathBuf], options: &IngestOptions) -> Stored {
    passes(files, options).0
}

/// The same, whether the user was told that the log was read twice, and how often reading was begun.
pub(crate) fn passes(files: &[PathBuf], options: &IngestOptions) -> (Stored, bool, usize) {
    let memory = Memory::default();
    let done = block_on(ingest(&memory, files, options)).unwrap();
    let stored = memory.stored.lock().unwrap().take().unwrap();
    (stored, done.read_twice, memory.begun.load(Ordering::Relaxed))
}

#[derive(Clone, Default)]
struct Memory {
    stored: Arc<Mutex<Option<Stored>>>,
    begun: Arc<AtomicUsize>,
}

struct Writer {
    memory: Memory,
    /// The rows of each piece.
    rows: BTreeMap<usize, Vec<Row>>,
}

struct Encoder;

impl RunStore for Memory {
    type Writer = Writer;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<Writer> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Ok(Writer { memory: self.clone(), rows: BTreeMap::new() })
    }
}

impl BatchEncoder for Encoder {
    type Chunk = Vec<Row>;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Vec<Row>>> {
        Ok(Some(rows(batch).collect()))
    }
}

impl RunWriter for Writer {
    type Encoder = Encoder;

    fn encoder(&self) -> Result<Encoder> {
        Ok(Encoder)
    }

    async fn write(&mut self, rows: Vec<Row>) -> Result<()> {
        self.write_piece(0, rows).await
    }

    fn takes_pieces(&self) -> bool {
        true
    }

    async fn write_piece(&mut self, piece: usize, rows: Vec<Row>) -> Result<()> {
        self.rows.entry(piece).or_default().extend(rows);
        Ok(())
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        let mut info = run.info.clone();
        info.ingested_at.clear();
        let opened = |cell: Result<(_, PackedCell)>| cell.and_then(|(key, cell)| Ok((key, cell.open()?)));
        let cells = run.cells.map(opened).collect::<Result<Vec<_>>>()?;
        let mut stored =
            StoredRun::new(info, CellTable::new(run.labels.to_vec(), run.injectors.to_vec(), cells));
        stored.cpu = run.cpu.clone();
        stored.errors = run.errors.collect::<perfpipe_ingest::Result<_>>()?;
        stored.labels = run.label_counts.to_vec();
        *self.memory.stored.lock().unwrap() = Some(Stored {
            run: stored,
            rejects: run.rejects.iter()?.collect::<Result<_>>()?,
            rows: self.rows.into_values().flatten().collect(),
        });
        Ok(())
    }
}
