//! A store of one run, in memory: it waits for no disk.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use perfpipe_ingest::store::{BatchEncoder, FinishedRun, RunWriter};
use perfpipe_ingest::{CellTable, IngestOptions, Result, RunKey, RunStore, SampleBatch, StoredRun, ingest};

use crate::read_back::{Row, rows};
use crate::support::{Stored, block_on};

/// What a run came to that was ingested into memory.
pub(crate) fn in_memory(files: &[PathBuf], options: &IngestOptions) -> Stored {
    let memory = Memory::default();
    block_on(ingest(&memory, files, options, Default::default())).unwrap();
    memory.0.lock().unwrap().take().unwrap()
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Option<Stored>>>);

struct Writer {
    memory: Memory,
    rows: Vec<Row>,
}

struct Encoder;

impl RunStore for Memory {
    type Writer = Writer;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<Writer> {
        Ok(Writer { memory: self.clone(), rows: Vec::new() })
    }
}

impl BatchEncoder for Encoder {
    type Chunk = Vec<Row>;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Vec<Row>>> {
        Ok(Some(rows(batch).collect()))
    }

    fn finish(&mut self) -> Result<Option<Vec<Row>>> {
        Ok(None)
    }
}

impl RunWriter for Writer {
    type Encoder = Encoder;

    fn encoder(&self) -> Result<Encoder> {
        Ok(Encoder)
    }

    async fn write(&mut self, rows: Vec<Row>) -> Result<()> {
        self.rows.extend(rows);
        Ok(())
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        let mut info = run.info.clone();
        info.ingested_at.clear();
        *self.memory.0.lock().unwrap() = Some(Stored {
            run: StoredRun {
                info,
                cells: CellTable::new(run.labels.to_vec(), run.injectors.to_vec(), run.cells),
                cpu: run.cpu.clone(),
                errors: run.errors.to_vec(),
                labels: run.label_counts.to_vec(),
            },
            rejects: run.rejects.iter()?.collect::<Result<_>>()?,
            rows: self.rows,
        });
        Ok(())
    }
}
