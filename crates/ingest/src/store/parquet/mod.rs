//! The embedded store: a folder of Parquet files a run, made to appear by renaming one manifest.
//!
//! ```text
//! DIR/perfpipe.json                     the layout's version
//! DIR/runs/KEY/manifest.json            the run's own row, which generation is current, its files' checksums
//! DIR/runs/KEY/GENERATION/*.parquet     samples, seconds, cpu, errors, labels; rejects.jsonl
//! DIR/staging/RANDOM/                   a run that is being written
//! ```
//!
//! KEY is `framework+test`, and of further repeats `framework+test+2` and so on; what is not safe in every file system
//! is percent-encoded, and what is too long cut, with a hash at its end.
//!
//! Whoever writes holds a lock: `.lock` in a run's folder for its key, `.lock` in a staged run to say that its writer
//! lives, and the store's own `.lock` for moments while the others are taken or given back.

mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
mod guard;
mod lock;
mod manifest;
mod piece;
mod samples;
mod sums;
mod tables;
mod writer;

use std::path::Path;

pub use samples::{RowGroup, SampleEncoder, SampleExport};
pub use writer::ParquetWriter;

use crate::batch::SampleBatch;
use crate::error::{Error, Result};
use crate::ingest::RunStore;
use crate::rejects::Reject;
use crate::store::{RunInfo, RunKey, StoredRun};
use folder::Folder;
use manifest::Manifest;
use sums::CheckedFile;

/// How often a reader starts again when a new generation takes the place of the one it was reading.
const ATTEMPTS: usize = 5;

/// A store in a folder.
#[derive(Debug, Clone)]
pub struct ParquetStore {
    folder: Folder,
}

impl ParquetStore {
    /// The store in this folder; it need not exist yet.
    ///
    /// # Errors
    /// When the folder holds a store of another layout, or something that is not a store.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = Folder::new(folder.as_ref());
        folder.check_layout()?;
        Ok(Self { folder })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The runs that are stored, by test, framework and repeat.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn runs(&self) -> Result<Vec<RunInfo>> {
        let mut runs: Vec<RunInfo> =
            self.folder.manifests()?.into_iter().map(|manifest| manifest.info).collect();
        runs.sort_by(|a, b| a.key.in_lists().cmp(&b.key.in_lists()));
        Ok(runs)
    }

    /// The repeats that are stored of a framework and a test, ascending. No file is read.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn repeats(&self, framework: &str, test: &str) -> Result<Vec<u32>> {
        self.folder.repeats(&RunKey::new(framework, test))
    }

    /// One run, all but its samples; `None` if it is not stored.
    ///
    /// # Errors
    /// When its files can't be read.
    pub fn read(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        self.with_generation(key, |manifest, file| {
            Ok(StoredRun {
                info: manifest.info.clone(),
                cells: tables::read_seconds(file(tables::SECONDS)?)?,
                cpu: tables::read_cpu(file(tables::CPU)?)?,
                errors: tables::read_errors(file(tables::ERRORS)?)?,
                labels: tables::read_labels(file(tables::LABELS)?)?,
            })
        })
    }

    /// Streams the samples of a run, batch by batch.
    ///
    /// # Errors
    /// When the run is not stored, was stored without samples, or its files can't be read.
    pub fn samples(&self, key: &RunKey, sink: &mut dyn FnMut(SampleBatch) -> Result<()>) -> Result<()> {
        let opened = self.with_generation(key, |manifest, file| {
            if !manifest.info.samples_stored {
                return Err(Error::without_samples(key));
            }
            samples::open(file(tables::SAMPLES)?)
        })?;
        let Some(reader) = opened else { return Err(Error::missing_run(key)) };
        samples::stream(reader, sink)
    }

    /// Hands the rejected records of a run to `each`, in the order of the log.
    ///
    /// # Errors
    /// When the run is not stored, its file can't be read, or `each` fails.
    pub fn rejects(&self, key: &RunKey, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        let opened =
            self.with_generation(key, |_, file| Ok(tables::read_rejects(&file(tables::REJECTS)?)))?;
        opened.ok_or_else(|| Error::missing_run(key))?.try_for_each(|reject| each(reject?))
    }

    /// Takes a run away; false if it was not there.
    ///
    /// # Errors
    /// When it is being written, or its files can't be removed.
    pub fn drop_run(&self, key: &RunKey) -> Result<bool> {
        self.folder.drop_run(key)
    }

    /// Reads from the current generation of a run, again if it was replaced meanwhile.
    fn with_generation<T>(
        &self,
        key: &RunKey,
        read: impl Fn(&Manifest, &dyn Fn(&str) -> Result<CheckedFile>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut attempt = 1;
        loop {
            let Some(manifest) = self.folder.manifest(key)? else { return Ok(None) };
            let generation = self.folder.generation(key, &manifest.generation);
            let file = |name: &str| {
                CheckedFile::open(
                    generation.join(name),
                    manifest.files.get(name).cloned().unwrap_or_default(),
                )
            };
            match read(&manifest, &file) {
                Err(Error::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound && attempt < ATTEMPTS =>
                {
                    attempt += 1;
                }
                result => return result.map(Some),
            }
        }
    }
}

impl RunStore for ParquetStore {
    type Writer = ParquetWriter;

    async fn begin(&self, key: Option<&RunKey>, keep_samples: bool) -> Result<ParquetWriter> {
        ParquetWriter::begin(&self.folder, key, keep_samples)
    }
}
