//! The parts of runs, each of which is the one run of a store of its own until all parts of its run are merged.
//!
//! ```text
//! DIR/parts/KEY/.lock     shared by those who write parts of the run; a merge has it alone
//! DIR/parts/KEY/3/        the store of part 3
//! ```
//!
//! KEY is the name of the folder that the run will have. The parts of a run are removed in one step, together.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::checksum::Sums;
use super::folder::manifest::{GENERATION, sync_dir, temporary};
use super::folder::name::folder_name;
use super::folder::{Folder, LOCK};
use super::lock::{Lock, refuse_link};
use super::tables::{NAMES, PART, read_document};
use super::{ParquetStore, ParquetWriter, pieces};
use crate::counts::totals::part::{PartNames, PartRow};
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;

/// The parts of a run that are stored and not yet merged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredParts {
    /// The key of the run.
    pub key: RunKey,
    /// The number of all parts, as the first of them has it.
    pub of: u32,
    /// The numbers of the stored parts, ascending.
    pub numbers: Vec<u32>,
    /// The number of requests in them.
    pub requests: u64,
}

/// A part as it is stored.
pub(crate) struct Part {
    pub(crate) row: PartRow,
    pub(crate) info: RunInfo,
    pub(crate) store: ParquetStore,
}

impl Part {
    /// Reads the names in the counts of the part.
    pub(crate) fn names(&self) -> Result<PartNames> {
        self.store.document(&self.info.key, NAMES)
    }
}

/// The parts of a run, locked until this is dropped.
pub(crate) struct LockedParts {
    folder: Folder,
    home: PathBuf,
    lock: Option<Lock>,
}

impl ParquetStore {
    /// Returns the parts of runs that are not yet merged, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If a folder or the metadata of a part can't be read.
    pub fn parts(&self) -> Result<Vec<StoredParts>> {
        let mut found = Vec::new();
        // A store in a bucket has no parts.
        let Some(folder) = self.home.as_folder() else { return Ok(found) };
        for home in folders(&folder.parts())? {
            let parts = parts_in(&home)?;
            let Some(first) = parts.first() else { continue };
            found.push(StoredParts {
                key: first.info.key.clone(),
                of: first.row.number.of(),
                numbers: parts.iter().map(|part| part.row.number.number()).collect(),
                requests: parts.iter().map(|part| part.info.requests()).fold(0, u64::saturating_add),
            });
        }
        found.sort_by(|a, b| a.key.in_lists().cmp(&b.key.in_lists()));
        Ok(found)
    }

    /// Returns the store for a part of a run. No merge of the run begins while the parts are locked.
    pub(crate) fn part_store(&self, key: &RunKey, number: u32) -> Result<(Self, LockedParts)> {
        let parts = self.lock_parts(key, Lock::try_shared)?.ok_or_else(|| {
            let problem = format!("the parts of {key} are being merged by another perfpipe");
            Error::refused(ErrorKind::PartsBusy, problem, "Wait until it is done.")
        })?;
        Ok((Self::open(parts.home.join(number.to_string()))?, parts))
    }

    /// Locks the parts of a run, so that nobody else writes, merges or drops one.
    pub(crate) fn parts_alone(&self, key: &RunKey) -> Result<LockedParts> {
        if !self.home.folder("parts of runs")?.parts().join(folder_name(key)).is_dir() {
            return Err(none(key));
        }
        self.lock_parts(key, Lock::try_new)?.ok_or_else(|| {
            let problem = format!("parts of {key} are being written or merged by another perfpipe");
            Error::refused(ErrorKind::PartsBusy, problem, "Wait until it is done.")
        })
    }

    fn lock_parts(
        &self,
        key: &RunKey,
        try_lock: fn(&Path) -> Result<Option<Lock>>,
    ) -> Result<Option<LockedParts>> {
        let folder = self.home.folder("parts of runs")?;
        folder.create()?;
        let parts = folder.parts();
        let home = parts.join(folder_name(key));
        let _gate = folder.gate()?;
        refuse_link(&parts)?;
        refuse_link(&home)?;
        fs::create_dir_all(&home).map_err(|error| Error::io(&home, error))?;
        let lock = try_lock(&home.join(LOCK))?;
        Ok(lock.map(|lock| LockedParts { folder: folder.clone(), home, lock: Some(lock) }))
    }

    /// Drops parts of a run that are not yet merged.
    ///
    /// # Errors
    /// If one of them is not stored, or another perfpipe is writing or merging parts of the run.
    pub fn drop_parts(&self, key: &RunKey, numbers: &[u32]) -> Result<()> {
        let parts = self.parts_alone(key)?;
        if let Some(number) = numbers.iter().find(|number| !parts.is_stored(**number)) {
            let problem = format!("there is no part {number} of {key}");
            return Err(Error::refused(
                ErrorKind::NoParts,
                problem,
                "Choose one of the parts that are stored.",
            ));
        }
        numbers.iter().try_for_each(|number| parts.take_out(&parts.home.join(number.to_string())))
    }
}

/// The error for a run of which no part is stored.
pub(crate) fn none(key: &RunKey) -> Error {
    let problem = format!("the store has no parts of {key}");
    Error::refused(ErrorKind::NoParts, problem, "Ingest them first, each with the number of its part.")
}

impl LockedParts {
    /// Reads what is known of the stored parts, ascending by number.
    pub(crate) fn all(&self) -> Result<Vec<Part>> {
        parts_in(&self.home)
    }

    fn is_stored(&self, number: u32) -> bool {
        self.home.join(number.to_string()).is_dir()
    }

    /// Removes all parts of the run in one step. The parts must be locked against all others.
    pub(crate) fn remove(&self) -> Result<()> {
        self.take_out(&self.home)
    }

    /// Moves a folder to where no reader looks, and deletes it there.
    fn take_out(&self, parts: &Path) -> Result<()> {
        let staging = self.folder.staging();
        let gate = self.folder.gate()?;
        let made = temporary(GENERATION, 0o777).tempdir_in(&staging);
        let out = made.map_err(|error| Error::io(&staging, error))?.keep();
        // It replaces the folder that was made, which is empty.
        fs::rename(parts, &out).map_err(|error| Error::io(parts, error))?;
        drop(gate);
        parts.parent().map_or(Ok(()), sync_dir)?;
        // The next ingest removes what can't be removed now, or is left after a kill, as that of a stopped writer.
        let _ = fs::remove_dir_all(&out);
        Ok(())
    }
}

impl Drop for LockedParts {
    fn drop(&mut self) {
        self.lock = None;
        let Ok(_gate) = self.folder.gate() else { return };
        if let Some(_alone) = self.home.is_dir().then(|| Lock::try_new(&self.home.join(LOCK)).ok()?).flatten()
        {
            self.clear();
        }
        // Only if no run has parts.
        let _ = fs::remove_dir(self.folder.parts());
    }
}

impl LockedParts {
    /// Removes the folders of parts that were not stored, and that of the run if there is none. The caller holds all locks.
    fn clear(&self) {
        let is_empty = |part: &&PathBuf| {
            let found = ParquetStore::open(part).and_then(|part| part.look());
            found.is_ok_and(|found| found.runs.is_empty() && found.unread.is_empty())
        };
        let parts = folders(&self.home).unwrap_or_default();
        parts.iter().filter(is_empty).for_each(|part| _ = fs::remove_dir_all(part));
        if folders(&self.home).is_ok_and(|left| left.is_empty()) {
            let _ = fs::remove_dir_all(&self.home);
        }
    }
}

/// Reads what is known of the parts in the folder of a run, ascending by number.
fn parts_in(home: &Path) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for folder in folders(home)? {
        let store = ParquetStore::open(&folder)?;
        for info in store.runs()? {
            let row = store.document(&info.key, PART)?;
            parts.push(Part { row, info, store: store.clone() });
        }
    }
    parts.sort_by_key(|part| part.row.number.number());
    Ok(parts)
}

/// Returns the folders in a folder, which need not exist.
fn folders(of: &Path) -> Result<Vec<PathBuf>> {
    refuse_link(of)?;
    let failed = |error| Error::io(of, error);
    let entries = match fs::read_dir(of) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

impl ParquetStore {
    /// Begins a run whose samples are those of its parts, in this order.
    pub(crate) fn begin_merged(&self, key: &RunKey, parts: &[Part]) -> Result<ParquetWriter> {
        let mut files = Vec::new();
        for part in parts.iter().filter(|part| part.info.samples_stored) {
            files.extend(part.store.sample_files(key)?);
        }
        ParquetWriter::begin_linked(&self.home, key, &files)
    }

    /// Reads a document that the store has of its run because it is a part.
    fn document<T: DeserializeOwned>(&self, key: &RunKey, name: &str) -> Result<T> {
        let read = self.with_generation(key, |_, file| read_document(&file(name)?))?;
        read.ok_or_else(|| Error::missing_run(key))
    }

    /// Returns the files of the samples of a run in their order, each with its size and checksums.
    fn sample_files(&self, key: &RunKey) -> Result<Vec<(PathBuf, Sums)>> {
        let folder = self.home.folder("parts of runs")?;
        let (run, manifest) = folder.find(key)?.ok_or_else(|| Error::missing_run(key))?;
        let files = folder.generation(&run, &manifest.generation);
        let sums = |name: &str| manifest.files.get(name).cloned().unwrap_or_default();
        Ok(pieces(&manifest).map(|name| (files.join(name), sums(name))).collect())
    }
}
