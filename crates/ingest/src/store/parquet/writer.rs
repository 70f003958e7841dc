//! Writes one run into the embedded store; until it is committed nobody sees it.

use std::collections::BTreeMap;

use super::folder::{Folder, RunLock, Staging};
use super::samples::{RowGroup, SampleEncoder, SampleFile};
use super::sums::SummedFile;
use super::tables;
use crate::error::{Error, Result};
use crate::store::{FinishedRun, RunKey, RunWriter};

/// A run that is being written.
pub struct ParquetWriter {
    folder: Folder,
    // Fields drop in this order: the files are closed before their folder goes.
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

impl RunWriter for ParquetWriter {
    type Encoder = SampleEncoder;

    fn encoder(&self) -> Result<SampleEncoder> {
        Ok(self.samples.as_ref().map_or_else(SampleEncoder::nothing, SampleFile::encoder))
    }

    async fn write(&mut self, group: RowGroup) -> Result<()> {
        match &mut self.samples {
            Some(samples) => samples.append(group),
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
        let mut files = BTreeMap::new();
        if let Some(samples) = samples {
            let (stored, sums) = samples.close()?;
            let expected = run.info.requests() + run.info.transactions;
            if stored != expected {
                return Err(Error::store(
                    "checking the samples",
                    format!("{stored} were stored of {expected}; nothing was kept"),
                ));
            }
            files.insert(tables::SAMPLES.to_owned(), sums);
        }
        let path = |name: &str| staging.path.join(name);
        let seconds = tables::write_seconds(&path(tables::SECONDS), run.labels, run.injectors, run.cells)?;
        for (name, sums) in [
            (tables::SECONDS, seconds),
            (tables::CPU, tables::write_cpu(&path(tables::CPU), run.cpu)?),
            (tables::ERRORS, tables::write_errors(&path(tables::ERRORS), run.errors)?),
            (tables::LABELS, tables::write_labels(&path(tables::LABELS), run.label_counts)?),
            (tables::REJECTS, tables::write_rejects(&path(tables::REJECTS), run.rejects)?),
        ] {
            files.insert(name.to_owned(), sums);
        }
        folder.publish(staging, files, run.info, lock, run.replace)
    }
}
