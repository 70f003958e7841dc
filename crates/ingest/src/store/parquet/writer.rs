//! Writes a run into the embedded store. Until it is committed, no reader sees it.

use std::path::PathBuf;

use super::checksum::{SummedFile, Sums};
use super::folder::{Folder, RunLock, Staging};
use super::samples::{SampleColumns, SampleEncoder, SampleFile};
use super::{seconds, tables};
use crate::error::{Error, Result};
use crate::pipeline::sink::{FinishedRun, RunWriter};
use crate::pipeline::{Job, side_by_side};
use crate::run::key::RunKey;
use crate::store::counted::CountedCells;

/// A run that is being written.
pub struct ParquetWriter {
    folder: Folder,
    // Fields are dropped in this order: the files must be closed before their folder is removed.
    samples: Option<SampleFile<SummedFile>>,
    staging: Staging,
    lock: Option<RunLock>,
}

impl ParquetWriter {
    pub(super) fn begin(folder: &Folder, key: Option<&RunKey>, keep_samples: bool) -> Result<Self> {
        let lock = key.map(|key| folder.lock(key)).transpose()?;
        let staging = folder.stage()?;
        let path = staging.path.join(tables::SAMPLES);
        let samples = keep_samples.then(|| SampleFile::create(&path)).transpose()?;
        Ok(Self { folder: folder.clone(), samples, staging, lock })
    }
}

/// Ends the file of the samples, whose number must be `expected`.
fn close(samples: SampleFile<SummedFile>, expected: u64) -> Result<Sums> {
    let (stored, sums) = samples.close()?;
    match stored == expected {
        true => Ok(sums),
        false => Err(Error::store(
            "checking the samples",
            format!("{stored} were stored of {expected}; nothing was kept"),
        )),
    }
}

impl RunWriter for ParquetWriter {
    type Encoder = SampleEncoder;

    fn encoder(&self) -> Result<SampleEncoder> {
        Ok(SampleEncoder::new(self.samples.is_some()))
    }

    fn scratch(&self) -> Option<PathBuf> {
        Some(self.staging.path.clone())
    }

    async fn write(&mut self, rows: SampleColumns) -> Result<()> {
        match &mut self.samples {
            Some(samples) => samples.append(rows),
            None => Ok(()),
        }
    }

    async fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        let (key, lock) = self.folder.lock_next(key)?;
        self.lock = Some(lock);
        Ok(key)
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        let Self { folder, samples, staging, lock } = self;
        let path = |name: &str| staging.path.join(name);
        let mut cells = CountedCells::new(run.cells);
        let expected = run.info.requests() + run.info.transactions;
        let mut tables: Vec<Job<'_, Sums>> = vec![
            (tables::SECONDS, {
                let (path, cells) = (path(tables::SECONDS), &mut cells);
                let (unit, names) = (run.info.resolution, (run.labels, run.injectors));
                Box::new(move || seconds::write_seconds(&path, unit, names, cells))
            }),
            (tables::CPU, Box::new(|| tables::write_cpu(&path(tables::CPU), run.cpu))),
            (tables::ERRORS, Box::new(|| tables::write_errors(&path(tables::ERRORS), run.errors))),
            (tables::LABELS, Box::new(|| tables::write_labels(&path(tables::LABELS), run.label_counts))),
            (tables::REJECTS, {
                let (path, rejects) = (path(tables::REJECTS), run.rejects);
                Box::new(move || tables::write_rejects(&path, rejects))
            }),
        ];
        if !run.series.is_empty() {
            let path = path(tables::SERIES);
            tables.push((tables::SERIES, Box::new(move || tables::write_series(&path, run.series))));
        }
        if let Some(samples) = samples {
            // The samples come first: the largest file is the likeliest to fill the disk, and the error should name it.
            tables.insert(0, (tables::SAMPLES, Box::new(move || close(samples, expected))));
        }
        let files = side_by_side(tables)?.into_iter().map(|(name, sums)| (name.to_owned(), sums)).collect();
        cells.check(run.info)?;
        folder.publish(staging, files, run.info, lock, run.replace)
    }
}
