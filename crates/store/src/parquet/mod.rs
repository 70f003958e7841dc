//! The embedded store: a folder with Parquet files for each run. A run appears when its manifest is renamed into place.
//!
//! ```text
//! DIR/perfpipe.json                     the layout's version
//! DIR/runs/KEY/manifest.json            the run's own row, which generation is current, its files' checksums
//! DIR/runs/KEY/GENERATION/*.parquet     samples (of many logs in several files), seconds, cpu, errors, labels, perhaps series; rejects.jsonl
//! DIR/staging/RANDOM/                   a run that is being written
//! DIR/parts/KEY/NUMBER/                 a store with one part of a run, until all parts are merged
//! DIR/points.json                       what other load tools reported in summary
//! DIR/set-aside/                        what `repair` found to be no whole run
//! ```
//!
//! KEY is `framework+test`, and for further repeats `framework+test+2` and so on. Capital letters, and characters that
//! are not safe in every file system, are percent-encoded. Long names are cut and end in a hash. Earlier versions did
//! not encode capital letters; their folders stay where they are. The manifest states the run's key. A run in the
//! folder of another key is not read.
//!
//! A run appears when its manifest is renamed into place. Until then its files are in the staging folder. Once the
//! manifest is durable, the files of the earlier run are moved out of the run's folder, and then those of the new one
//! in, so that `runs/*/*/samples*.parquet` never matches both. If a writer is stopped in between, readers find the files
//! where they are, and the next writer moves them.
//!
//! Writers hold locks: `.lock` in a run's folder locks its key, `.lock` in a staged run shows that its writer is alive,
//! and the store's own `.lock` is held briefly while the others are taken or released.

mod checksum;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod guard;
mod home;
#[cfg(feature = "lake")]
mod lake;
pub(crate) mod lock;
pub mod packed;
mod pages;
pub(crate) mod parts;
mod place;
mod points;
mod samples;
mod schema;
mod seconds;
mod table_reader;
mod tables;
mod writer;

use std::path::Path;

pub use self::packed::PackedRun;
pub use self::samples::{SampleColumns, SampleEncoder, SampleExport};
pub use self::writer::ParquetWriter;

use self::checksum::CheckedFile;
use self::folder::StoreFolder;
use self::folder::manifest::Manifest;
use self::home::StoreHome;
#[cfg(feature = "lake")]
use self::lake::Lake;
use super::consistency::{self, SampleTotals, damage_message};
use super::{Listing, Repairer, RunRef, StoreCheck};
use crate::sink::RunStore;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::Reject;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::series::server::ServerSeries;

/// The number of attempts of a reader whose run is replaced while it reads.
const ATTEMPTS: usize = 10;

/// A store in a folder, or in a bucket.
///
/// # Blocking
///
/// All functions read and write files on the calling thread, also those of its writers that are `async`. The store of
/// `perfpipe-ingest` reads on threads for blocking work.
#[derive(Debug, Clone)]
pub struct ParquetStore {
    home: StoreHome,
}

impl ParquetStore {
    /// Opens the store in this folder, which need not exist yet.
    ///
    /// # Errors
    /// If the folder holds a store of another layout version, or something that is not a store.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = StoreFolder::new(folder.as_ref());
        match folder.check_layout() {
            // With a damaged marker the runs can still be read, since each describes itself, and the marker can be
            // repaired.
            Err(Error::Store { .. }) => {}
            checked => checked?,
        }
        Ok(Self { home: StoreHome::Folder(folder) })
    }

    /// Opens the store in a bucket, which need not exist yet: `s3://bucket/folder`, `gs://bucket/folder`,
    /// `az://container/folder`, or `file:///folder` for the same tables in a folder. `settings` have the names of the
    /// environment variables that the object store's own tools know, such as `AWS_REGION`.
    ///
    /// # Errors
    /// If the bucket can't be asked, or its folder holds something that is not a store.
    #[cfg(feature = "lake")]
    pub fn open_bucket(url: &str, settings: &[(String, String)]) -> Result<Self> {
        let lake = Lake::open(url, settings)?;
        match lake.check_layout() {
            // Damage is reported when it is read, and `verify` names all of it.
            Err(Error::Store { .. }) => {}
            checked => checked?,
        }
        Ok(Self { home: StoreHome::Lake(lake) })
    }

    /// Returns true if a text is the URL of a store in a bucket.
    #[cfg(feature = "lake")]
    pub fn is_bucket(text: &str) -> bool {
        lake::is_bucket(text)
    }

    /// Returns true if a store exists in the folder.
    pub fn is_there(&self) -> bool {
        self.home.is_there().unwrap_or_default()
    }

    /// Returns the store's folder, or the URL of its bucket.
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// Returns the stored runs, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If the folder or the metadata of a run can't be read.
    pub fn runs(&self) -> Result<Vec<RunInfo>> {
        let found = self.look()?;
        match found.unread.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(found.runs),
        }
    }

    /// Returns the keys of the stored runs, sorted by test, framework and repeat. Nothing else of them is read, as far as
    /// that is possible.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn keys(&self) -> Result<Vec<RunKey>> {
        let mut keys = self.home.keys()?;
        keys.sort_by(|a, b| a.in_lists().cmp(&b.in_lists()));
        keys.dedup();
        Ok(keys)
    }

    /// Returns the stored runs, and the errors of those that can't be read.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn look(&self) -> Result<Listing> {
        self.look_at(None)
    }

    /// Returns the stored runs of a test, as [`look`](Self::look) does of all, without reading the others.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn look_at_test(&self, test: &str) -> Result<Listing> {
        self.look_at(Some(test))
    }

    fn look_at(&self, test: Option<&str>) -> Result<Listing> {
        let mut found = Listing::default();
        match self.home.check_layout() {
            Err(error @ Error::Store { .. }) => found.unread.push(error),
            checked => checked?,
        }
        let runs = match self.home.manifests(test, |manifest| (manifest.bytes(), manifest.info)) {
            // It is not known which runs there are, as was said above.
            Err(Error::Store { .. }) if !found.unread.is_empty() => Vec::new(),
            runs => runs?,
        };
        found.runs.reserve(runs.len());
        for run in runs {
            match run {
                // The name of a folder may not show the test.
                Ok((_, info)) if test.is_some_and(|test| info.key.test != test) => {}
                Ok((bytes, info)) => {
                    found.sizes.insert(info.key.clone(), bytes);
                    found.runs.push(info);
                }
                Err(error) => found.unread.push(error),
            }
        }
        found.runs.sort_by(|a, b| a.key.in_lists().cmp(&b.key.in_lists()));
        Ok(found)
    }

    /// Returns the stored repeats of a framework and a test, ascending.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn repeats(&self, framework: &str, test: &str) -> Result<Vec<u32>> {
        self.home.repeats(&RunKey::new(framework, test))
    }

    /// Reads a run without its samples; `None` if it is not stored.
    ///
    /// # Errors
    /// If its files can't be read or contradict each other.
    pub fn read(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        // A contradiction may mean that the run was just replaced, so read it once more.
        match consistency::check_run(self.read_once(key)?) {
            Err(_) => consistency::check_run(self.read_once(key)?),
            run => run,
        }
    }

    fn read_once(&self, key: &RunKey) -> Result<Option<(StoredRun, SampleTotals)>> {
        self.with_generation(key, read_facts)
    }

    /// Reads a run's metadata; `None` if it is not stored.
    ///
    /// # Errors
    /// If its manifest can't be read.
    pub fn info(&self, key: &RunKey) -> Result<Option<RunInfo>> {
        Ok(self.home.manifest(key)?.map(|manifest| manifest.info))
    }

    /// Returns the size of a run's files in bytes; `None` if it is not stored.
    ///
    /// # Errors
    /// If its manifest can't be read.
    pub fn stored_bytes(&self, key: &RunKey) -> Result<Option<u64>> {
        Ok(self.home.manifest(key)?.map(|manifest| manifest.bytes()))
    }

    /// Reads what the store itself says of its runs, as opposed to the contents of runs.
    pub fn check_store(&self) -> Result<StoreCheck> {
        match &self.home {
            // Its file is read when it is opened, and each run describes itself.
            StoreHome::Folder(_) => Ok(StoreCheck::default()),
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.verify(),
        }
    }

    /// Reads every byte of a run's files. Returns a fault for each damaged file, with its name.
    pub fn check_files(&self, key: &RunKey) -> Result<Vec<String>> {
        let checked = self.with_generation(key, |manifest, file| {
            let mut faults = Vec::new();
            for name in small(manifest).chain(pieces(manifest)) {
                match file(name).and_then(|file| file.check()) {
                    Err(error @ Error::Store { .. }) => faults.push(damage_message(error)?),
                    checked => checked?,
                }
            }
            Ok(faults)
        })?;
        checked.ok_or_else(|| Error::missing_run(key))
    }

    /// Reads a run without its counts, which may be damaged; `None` if it is not stored.
    pub fn without_counts(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        self.with_generation(key, |manifest, file| {
            Ok(StoredRun {
                cpu: tables::read_cpu(file(tables::CPU)?)?,
                series: series(manifest, file)?,
                errors: tables::read_errors(file(tables::ERRORS)?, &manifest.info)?,
                ..StoredRun::new(manifest.info.clone(), CellTable::default())
            })
        })
    }

    /// Repairs the store itself, as opposed to the contents of its runs.
    pub fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        self.home.repair(repairer)
    }

    /// Moves a run to where no reader looks.
    pub fn set_aside(&self, key: &RunKey, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        self.home.set_aside(key, why, repairer)
    }

    /// Streams the samples of a run to `sink`, batch by batch.
    ///
    /// # Errors
    /// If the run is not stored, was replaced, was stored without samples, its files can't be read, or `sink` fails.
    pub fn samples<'a>(
        &self,
        run: impl Into<RunRef<'a>>,
        sink: &mut dyn FnMut(SampleBatch) -> Result<()>,
    ) -> Result<()> {
        let wanted = run.into();
        let opened = self.with_generation(wanted.key(), |manifest, file| {
            wanted.check(&manifest.info)?;
            if !manifest.info.samples_stored {
                return Err(Error::without_samples(wanted.key(), manifest.info.had_requests()));
            }
            let open = |name| samples::open(file(name)?);
            Ok((pieces(manifest).map(open).collect::<Result<Vec<_>>>()?, manifest.info.clone()))
        })?;
        let (readers, info) = opened.ok_or_else(|| wanted.missing())?;
        let mut counted = SampleTotals::default();
        for reader in readers {
            samples::stream(reader, info.resolution, &mut |batch| {
                counted.merge(SampleTotals::of_batch(&batch));
                sink(batch)
            })?;
        }
        consistency::check_samples_read(&info, counted)
    }

    /// Passes the rejected records of a run to `each`, in the order of the log.
    ///
    /// # Errors
    /// If the run is not stored, was replaced, its file can't be read, or `each` fails.
    pub fn rejects<'a>(
        &self,
        run: impl Into<RunRef<'a>>,
        each: &mut dyn FnMut(Reject) -> Result<()>,
    ) -> Result<()> {
        let wanted = run.into();
        let opened = self.with_generation(wanted.key(), |manifest, file| {
            wanted.check(&manifest.info)?;
            Ok((rejects(manifest, file)?, manifest.info.clone()))
        })?;
        let (rejects, info) = opened.ok_or_else(|| wanted.missing())?;
        pass_rejects(rejects, &info, each)
    }

    /// Removes a run; returns false if it is not stored.
    ///
    /// # Errors
    /// If it was replaced, is being written, or its files can't be removed.
    pub fn drop_run<'a>(&self, run: impl Into<RunRef<'a>>) -> Result<bool> {
        self.home.drop_run(run.into())
    }

    /// Reads from the current generation of a run, and starts again if it is replaced meanwhile.
    fn with_generation<T>(
        &self,
        key: &RunKey,
        read: impl Fn(&Manifest, &dyn Fn(&str) -> Result<CheckedFile>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut attempt = 1;
        loop {
            let Some((place, manifest)) = self.home.find(key)? else { return Ok(None) };
            let file = |name: &str| place.open(name, manifest.files.get(name).cloned().unwrap_or_default());
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

/// Reads a run without its samples. The second number is the samples in its cells.
fn read_facts(
    manifest: &Manifest,
    file: &dyn Fn(&str) -> Result<CheckedFile>,
) -> Result<(StoredRun, SampleTotals)> {
    let (cells, counted) = seconds::read_seconds(file(tables::SECONDS)?, &manifest.info)?;
    let run = StoredRun {
        info: manifest.info.clone(),
        cells,
        cpu: tables::read_cpu(file(tables::CPU)?)?,
        series: series(manifest, file)?,
        errors: tables::read_errors(file(tables::ERRORS)?, &manifest.info)?,
        labels: tables::read_labels(file(tables::LABELS)?)?,
    };
    Ok((run, counted))
}

/// Passes rejected records to `each`. Fails if they are not all of the run.
fn pass_rejects(
    rejects: impl Iterator<Item = Result<Reject>>,
    info: &RunInfo,
    each: &mut dyn FnMut(Reject) -> Result<()>,
) -> Result<()> {
    let mut read = 0;
    for reject in rejects {
        read += 1;
        if read > info.rejects {
            break;
        }
        each(reject?)?;
    }
    consistency::check_rejects_read(info, read)
}

/// Returns the names of the files of a run's samples in their order, if they are stored.
fn pieces(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let names = manifest.files.keys().map(String::as_str);
    let mut listed: Vec<_> = names.filter_map(|name| Some((samples::piece_of(name)?, name))).collect();
    listed.sort_unstable();
    // A manifest may lack the checksums of its files.
    let unlisted = listed.is_empty().then_some(tables::SAMPLES);
    let names = listed.into_iter().map(|(_, name)| name).chain(unlisted);
    names.filter(|_| manifest.info.samples_stored)
}

/// Returns the names of a run's files, except those of its samples.
fn small(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let optional = tables::OPTIONAL.into_iter().filter(|name| manifest.files.contains_key(*name));
    let always = tables::SMALL.into_iter().map(|name| match name {
        tables::REJECTS if has_reject_table(manifest) => tables::REJECT_TABLE,
        name => name,
    });
    always.chain(optional)
}

/// Returns true if the rejected records of a run are a table, not lines.
fn has_reject_table(manifest: &Manifest) -> bool {
    manifest.files.contains_key(tables::REJECT_TABLE)
}

/// Reads a run's rejected records.
fn rejects(
    manifest: &Manifest,
    file: &dyn Fn(&str) -> Result<CheckedFile>,
) -> Result<Box<dyn Iterator<Item = Result<Reject>>>> {
    match has_reject_table(manifest) {
        #[cfg(feature = "lake")]
        true => Ok(Box::new(lake::read_rejects(file(tables::REJECT_TABLE)?, manifest.info.rejects)?)),
        _ => Ok(Box::new(tables::read_rejects(&file(tables::REJECTS)?))),
    }
}

/// Reads a run's other series than the CPU.
fn series(manifest: &Manifest, file: &dyn Fn(&str) -> Result<CheckedFile>) -> Result<Vec<ServerSeries>> {
    match manifest.files.contains_key(tables::SERIES) {
        true => tables::read_series(file(tables::SERIES)?),
        false => Ok(Vec::new()),
    }
}

impl RunStore for ParquetStore {
    type Writer = ParquetWriter;

    async fn begin(&self, key: Option<&RunKey>, keep_samples: bool) -> Result<ParquetWriter> {
        ParquetWriter::begin(&self.home, key, keep_samples)
    }
}
