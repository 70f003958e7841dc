//! Writes a run into the embedded store. Until it is committed, no reader sees it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::checksum::Sums;
use super::folder::{Folder, RunLock, Staging};
use super::samples::{SampleColumns, SampleEncoder, SamplePieces, file_name};
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
    samples: Option<SamplePieces>,
    staging: Staging,
    lock: Option<RunLock>,
    /// Files of samples that were written elsewhere.
    linked: BTreeMap<String, Sums>,
}

impl ParquetWriter {
    pub(super) fn begin(folder: &Folder, key: Option<&RunKey>, keep_samples: bool) -> Result<Self> {
        let lock = key.map(|key| folder.lock(key)).transpose()?;
        let staging = folder.stage()?;
        let samples = keep_samples.then(|| SamplePieces::create(&staging.path)).transpose()?;
        Ok(Self { folder: folder.clone(), samples, staging, lock, linked: BTreeMap::new() })
    }

    /// Begins a run whose samples are those of these files, in their order. The files themselves become the run's.
    pub(super) fn begin_linked(folder: &Folder, key: &RunKey, files: &[(PathBuf, Sums)]) -> Result<Self> {
        let mut writer = Self::begin(folder, Some(key), false)?;
        for (piece, (file, sums)) in files.iter().enumerate() {
            let name = file_name(piece);
            link(file, &writer.staging.path.join(&name))?;
            writer.linked.insert(name, sums.clone());
        }
        Ok(writer)
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
        self.write_piece(0, rows).await
    }

    fn takes_pieces(&self) -> bool {
        true
    }

    async fn write_piece(&mut self, piece: usize, rows: SampleColumns) -> Result<()> {
        self.samples.as_mut().map_or(Ok(()), |samples| samples.append(piece, rows))
    }

    async fn end_piece(&mut self, piece: usize) -> Result<()> {
        self.samples.as_mut().map_or(Ok(()), |samples| samples.end(piece))
    }

    async fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        let (key, lock) = self.folder.lock_next(key)?;
        self.lock = Some(lock);
        Ok(key)
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        let Self { folder, samples, staging, lock, linked } = self;
        let path = |name: &str| staging.path.join(name);
        let mut cells = CountedCells::new(run.cells);
        let expected = run.info.requests() + run.info.transactions;
        let mut tables: Vec<Job<'_, Vec<(String, Sums)>>> = vec![
            table(tables::SECONDS, {
                let (path, cells) = (path(tables::SECONDS), &mut cells);
                let (unit, names) = (run.info.resolution, (run.labels, run.injectors));
                move || seconds::write_seconds(&path, unit, names, cells)
            }),
            table(tables::CPU, || tables::write_cpu(&path(tables::CPU), run.cpu)),
            table(tables::ERRORS, || tables::write_errors(&path(tables::ERRORS), run.errors)),
            table(tables::LABELS, || tables::write_labels(&path(tables::LABELS), run.label_counts)),
            table(tables::REJECTS, {
                let (path, rejects) = (path(tables::REJECTS), run.rejects);
                move || tables::write_rejects(&path, rejects)
            }),
        ];
        if !run.series.is_empty() {
            let path = path(tables::SERIES);
            tables.push(table(tables::SERIES, move || tables::write_series(&path, run.series)));
        }
        if let Some((row, names)) = run.part {
            let (of_row, of_names) = (path(tables::PART), path(tables::NAMES));
            tables.push(table(tables::PART, move || tables::write_document(&of_row, row)));
            tables.push(table(tables::NAMES, move || tables::write_document(&of_names, names)));
        }
        if let Some(samples) = samples {
            // The samples come first: the largest file is the likeliest to fill the disk, and the error should name it.
            tables.insert(0, (tables::SAMPLES, Box::new(move || samples.close(expected))));
        }
        let written = side_by_side(tables)?.into_iter().flat_map(|(_, files)| files);
        let files = linked.into_iter().chain(written).collect();
        cells.check(run.info)?;
        folder.publish(staging, files, run.info, lock, run.replace)
    }
}

/// Gives a file another name. Where the file system can't, it is copied.
fn link(file: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(file, to).is_ok() {
        return Ok(());
    }
    let copied = fs::copy(file, to).and_then(|_| File::open(to)?.sync_all());
    copied.map_err(|error| Error::io(to, error))
}

/// The job of writing one file.
fn table<'a>(
    name: &'static str,
    write: impl FnOnce() -> Result<Sums> + Send + 'a,
) -> Job<'a, Vec<(String, Sums)>> {
    (name, Box::new(move || Ok(vec![(name.to_owned(), write()?)])))
}
