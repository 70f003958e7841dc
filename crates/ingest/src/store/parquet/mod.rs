//! The embedded store: a folder of Parquet files a run, made to appear by renaming one manifest.
//!
//! ```text
//! DIR/perfpipe.json                     the layout's version
//! DIR/runs/KEY/manifest.json            the run's own row, which generation is current, its files' checksums
//! DIR/runs/KEY/GENERATION/*.parquet     samples, seconds, cpu, errors, labels; rejects.jsonl
//! DIR/staging/RANDOM/                   a run that is being written
//! DIR/set-aside/                        what `repair` found to be no whole run
//! ```
//!
//! KEY is `framework+test`, and of further repeats `framework+test+2` and so on; what is not safe in every file system,
//! capital letters among it, is percent-encoded, and what is too long cut, with a hash at its end. Earlier builds left
//! capital letters as they are; such folders stay where they are. A manifest says whose run it is: in the folder of
//! another key it is nobody's.
//!
//! A run appears when its manifest is renamed into place. Until then its files are staged; once the manifest is durable,
//! those of the earlier run are moved out of the run's folder, and those of the new one in: whoever looks for
//! `runs/*/*/samples.parquet` never finds both. A writer that is stopped between leaves the files where they are, for
//! readers to find and for the next writer to move.
//!
//! Whoever writes holds a lock: `.lock` in a run's folder for its key, `.lock` in a staged run to say that its writer
//! lives, and the store's own `.lock` for moments while the others are taken or given back.

mod checksum;
mod columns;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
pub(crate) mod lock;
mod panics;
mod samples;
mod table_reader;
mod tables;
mod writer;

use std::path::Path;

pub use self::samples::{SampleColumns, SampleEncoder, SampleExport};
pub use self::writer::ParquetWriter;

use self::checksum::CheckedFile;
use self::folder::Folder;
use self::folder::manifest::Manifest;
use self::lock::refuse_link;
use super::held::{self, Counted};
use super::repairer::Repairer;
use super::unreadable::fault;
use super::{Listing, Wanted};
use crate::counts::stored_run::StoredRun;
use crate::counts::table::CellTable;
use crate::error::{Error, Result};
use crate::pipeline::sink::RunStore;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::rejects::Reject;
use crate::sample::batch::SampleBatch;

/// How often a reader starts again when a new generation takes the place of the one it was reading.
const ATTEMPTS: usize = 10;

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
        match folder.check_layout() {
            // Each run says itself what it is, so that it can be read, and the store's own file made anew.
            Err(Error::Store { .. }) => {}
            checked => checked?,
        }
        Ok(Self { folder })
    }

    /// Whether there is a store in the folder, or only room for one.
    pub fn is_there(&self) -> bool {
        self.folder.is_there()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The runs that are stored, by test, framework and repeat.
    ///
    /// # Errors
    /// When the folder can't be read, or one of the runs' own rows.
    pub fn runs(&self) -> Result<Vec<RunInfo>> {
        let found = self.look()?;
        match found.unread.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(found.runs),
        }
    }

    /// What is stored: the runs, and why others can't be read.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn look(&self) -> Result<Listing> {
        let mut found = Listing::default();
        match self.folder.check_layout() {
            Err(error @ Error::Store { .. }) => found.unread.push(error),
            checked => checked?,
        }
        for (_, manifest) in self.folder.manifests()? {
            match manifest {
                Ok(manifest) => found.runs.push(manifest.info),
                Err(error) => found.unread.push(error),
            }
        }
        found.runs.sort_by(|a, b| a.key.in_lists().cmp(&b.key.in_lists()));
        Ok(found)
    }

    /// The repeats that are stored of a framework and a test, ascending.
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
        // What does not add up may have been changed at this moment.
        match held::whole(self.read_once(key)?) {
            Err(_) => held::whole(self.read_once(key)?),
            run => run,
        }
    }

    fn read_once(&self, key: &RunKey) -> Result<Option<(StoredRun, Counted)>> {
        self.with_generation(key, |manifest, file| {
            let (cells, counted) = tables::read_seconds(file(tables::SECONDS)?)?;
            let run = StoredRun {
                info: manifest.info.clone(),
                cells,
                cpu: tables::read_cpu(file(tables::CPU)?)?,
                errors: tables::read_errors(file(tables::ERRORS)?)?,
                labels: tables::read_labels(file(tables::LABELS)?)?,
            };
            Ok((run, counted))
        })
    }

    /// A run's own row; `None` if it is not stored.
    ///
    /// # Errors
    /// When its manifest can't be read.
    pub fn info(&self, key: &RunKey) -> Result<Option<RunInfo>> {
        Ok(self.folder.manifest(key)?.map(|manifest| manifest.info))
    }

    /// Reads every byte of a run's files, and says which are not what they were stored as; each fault names its file.
    pub(crate) fn check_files(&self, key: &RunKey) -> Result<Vec<String>> {
        let checked = self.with_generation(key, |manifest, file| {
            let mut faults = Vec::new();
            let samples = manifest.info.samples_stored.then_some(tables::SAMPLES);
            for name in tables::SMALL.into_iter().chain(samples) {
                match file(name).and_then(|file| file.check()) {
                    Err(error @ Error::Store { .. }) => faults.push(fault(error)?),
                    checked => checked?,
                }
            }
            Ok(faults)
        })?;
        checked.ok_or_else(|| Error::missing_run(key))
    }

    /// A run without its counts, which may be damaged; `None` if it is not stored.
    pub(crate) fn without_counts(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        self.with_generation(key, |manifest, file| {
            Ok(StoredRun {
                info: manifest.info.clone(),
                cells: CellTable::default(),
                cpu: tables::read_cpu(file(tables::CPU)?)?,
                errors: tables::read_errors(file(tables::ERRORS)?)?,
                labels: Vec::new(),
            })
        })
    }

    /// Puts right what is wrong with the store itself.
    pub(crate) fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        self.folder.repair(repairer)
    }

    /// Moves a run out of the way of all readers.
    pub(crate) fn set_aside(&self, key: &RunKey, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        self.folder.set_aside(key, why, repairer)
    }

    /// Streams the samples of a run, batch by batch.
    ///
    /// # Errors
    /// When the run is not stored, was stored without samples, or its files can't be read.
    pub fn samples(&self, key: &RunKey, sink: &mut dyn FnMut(SampleBatch) -> Result<()>) -> Result<()> {
        self.stream(Wanted::now(key), sink)
    }

    /// The same of a run that was read before, as it was then.
    ///
    /// # Errors
    /// As [`ParquetStore::samples`]; [`Error::Replaced`] when the run gave way to another since.
    pub fn samples_of(&self, run: &RunInfo, sink: &mut dyn FnMut(SampleBatch) -> Result<()>) -> Result<()> {
        self.stream(Wanted::as_it_was(run), sink)
    }

    fn stream(&self, wanted: Wanted<'_>, sink: &mut dyn FnMut(SampleBatch) -> Result<()>) -> Result<()> {
        let opened = self.with_generation(wanted.key(), |manifest, file| {
            wanted.check(&manifest.info)?;
            if !manifest.info.samples_stored {
                return Err(Error::without_samples(wanted.key()));
            }
            Ok((samples::open(file(tables::SAMPLES)?)?, manifest.info.clone()))
        })?;
        let (reader, info) = opened.ok_or_else(|| wanted.missing())?;
        let mut counted = Counted::default();
        samples::stream(reader, &mut |batch| {
            counted.add_batch(&batch);
            sink(batch)
        })?;
        held::samples(&info, counted)
    }

    /// Hands the rejected records of a run to `each`, in the order of the log.
    ///
    /// # Errors
    /// When the run is not stored, its file can't be read, or `each` fails.
    pub fn rejects(&self, key: &RunKey, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        self.each_reject(Wanted::now(key), each)
    }

    /// The same of a run that was read before, as it was then.
    ///
    /// # Errors
    /// As [`ParquetStore::rejects`]; [`Error::Replaced`] when the run gave way to another since.
    pub fn rejects_of(&self, run: &RunInfo, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        self.each_reject(Wanted::as_it_was(run), each)
    }

    fn each_reject(&self, wanted: Wanted<'_>, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        let opened = self.with_generation(wanted.key(), |manifest, file| {
            wanted.check(&manifest.info)?;
            Ok((tables::read_rejects(&file(tables::REJECTS)?), manifest.info.clone()))
        })?;
        let (rejects, info) = opened.ok_or_else(|| wanted.missing())?;
        let mut read = 0;
        for reject in rejects {
            each(reject?)?;
            read += 1;
        }
        held::rejects(&info, read)
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
            let Some((run, manifest)) = self.folder.find(key)? else { return Ok(None) };
            let generation = self.folder.generation(&run, &manifest.generation);
            refuse_link(&generation)?;
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
