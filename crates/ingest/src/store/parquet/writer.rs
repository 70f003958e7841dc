//! Writes one run into the embedded store; until it is committed nobody sees it.

use std::fs::File;

use super::folder::{Folder, Lock, Staging};
use super::samples::{RowGroup, SampleEncoder, SampleFile};
use super::tables;
use crate::error::{Error, Result};
use crate::store::{FinishedRun, RunKey, RunWriter};

/// A run that is being written.
pub struct ParquetWriter {
    folder: Folder,
    // Fields drop in this order: the files are closed before their folder goes.
    samples: Option<SampleFile<File>>,
    staging: Staging,
    lock: Option<Lock>,
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

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        let Self { folder, samples, staging, lock } = self;
        if let Some(samples) = samples {
            let (stored, expected) = (samples.close()?, run.info.requests() + run.info.transactions);
            if stored != expected {
                return Err(Error::store(
                    "checking the samples",
                    format!("{stored} were stored of {expected}; nothing was kept"),
                ));
            }
        }
        let path = |name: &str| staging.path.join(name);
        tables::write_seconds(&path(tables::SECONDS), run.labels, run.injectors, run.cells)?;
        tables::write_cpu(&path(tables::CPU), run.cpu)?;
        tables::write_errors(&path(tables::ERRORS), run.errors)?;
        tables::write_labels(&path(tables::LABELS), run.label_counts)?;
        tables::write_rejects(&path(tables::REJECTS), run.rejects)?;
        folder.publish(staging, run.info, lock, run.replace)
    }
}
