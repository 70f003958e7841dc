//! Parts of runs in a folder or a bucket.
//!
//! In a folder each is the one run of a store of its own until all parts of its run are merged:
//!
//! ```text
//! DIR/parts/KEY/.lock     shared by those who write parts of the run; a merge has it alone
//! DIR/parts/KEY/3/        the store of part 3
//! ```
//!
//! KEY is the name of the folder that the run will have. The parts of a run are removed in one step.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::folder::manifest::{GENERATION, sync_dir, temporary};
use super::folder::paths::folder_name;
use super::folder::{LOCK, StoreFolder, not_durable};
use super::home::{RunDraft, StoreHome};
#[cfg(feature = "lake")]
use super::lake::LakeParts;
use super::lock::{LockFile, refuse_link};
use super::packed::PartFacts;
use super::{ParquetStore, ParquetWriter, pieces};
use crate::parts::{ClaimedParts, PartStore, StoredPart, StoredParts, being_merged, in_use, no_parts};
use crate::sink::RunStore;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

impl PartStore for ParquetStore {
    type Target = ParquetPartTarget;
    type Claimed = ParquetParts;

    async fn parts(&self) -> Result<Vec<StoredParts>> {
        ParquetStore::parts(self)
    }

    async fn part_target(&self, key: &RunKey, number: PartNumber) -> Result<ParquetPartTarget> {
        match &self.home {
            StoreHome::Folder(folder) => {
                let (store, lock) = LockedParts::for_part(folder, key, number.number())?;
                Ok(ParquetPartTarget { store, number, _lock: Some(lock) })
            }
            #[cfg(feature = "lake")]
            StoreHome::Lake(_) => Ok(ParquetPartTarget { store: self.clone(), number, _lock: None }),
        }
    }

    async fn claim_parts(&self, key: &RunKey) -> Result<ParquetParts> {
        let kind = match &self.home {
            StoreHome::Folder(folder) => PartsLocation::Folder(LockedParts::alone(folder, key)?),
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => PartsLocation::Lake(LakeParts::of(lake, key)?),
        };
        Ok(ParquetParts { home: self.home.clone(), kind, read: Mutex::default() })
    }
}

impl ParquetStore {
    /// Returns the parts of runs that are not yet merged, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If a folder or the metadata of a part can't be read.
    pub fn parts(&self) -> Result<Vec<StoredParts>> {
        let parts = match &self.home {
            StoreHome::Folder(folder) => list(folder)?,
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.list_parts()?,
        };
        Ok(StoredParts::gather(parts))
    }
}

/// Where one part is written.
pub struct ParquetPartTarget {
    /// In a folder, the store of this part.
    store: ParquetStore,
    number: PartNumber,
    _lock: Option<LockedParts>,
}

impl RunStore for ParquetPartTarget {
    type Writer = ParquetWriter;

    async fn begin(&self, key: Option<&RunKey>, keep_samples: bool) -> Result<ParquetWriter> {
        ParquetWriter::of(RunDraft::of_part(&self.store.home, key, self.number)?, keep_samples)
    }
}

/// The parts of one run.
pub struct ParquetParts {
    home: StoreHome,
    kind: PartsLocation,
    /// The parts that were read.
    read: Mutex<BTreeMap<u32, PartFacts>>,
}

enum PartsLocation {
    Folder(LockedParts),
    #[cfg(feature = "lake")]
    Lake(LakeParts),
}

impl ParquetParts {
    fn facts_of(&self, part: &StoredPart) -> Result<PartFacts> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = read.get(&part.row.number.number()).cloned();
        facts.ok_or_else(|| crate::parts::no_parts(&part.info.key))
    }
}

impl ClaimedParts for ParquetParts {
    type Writer = ParquetWriter;

    fn numbers(&self) -> Result<Vec<u32>> {
        match &self.kind {
            PartsLocation::Folder(parts) => parts.numbers(),
            #[cfg(feature = "lake")]
            PartsLocation::Lake(parts) => Ok(parts.numbers()),
        }
    }

    async fn all(&self) -> Result<Vec<StoredPart>> {
        let found = match &self.kind {
            PartsLocation::Folder(parts) => parts.all()?,
            #[cfg(feature = "lake")]
            PartsLocation::Lake(parts) => parts.all()?,
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = Vec::with_capacity(found.len());
        for (part, facts) in found {
            read.insert(part.row.number.number(), facts);
            parts.push(part);
        }
        Ok(parts)
    }

    async fn facts(&self, part: &StoredPart) -> Result<PartFacts> {
        self.facts_of(part)
    }

    async fn begin_merged(&self, key: &RunKey, parts: &[StoredPart]) -> Result<ParquetWriter> {
        let mut files = Vec::new();
        for part in parts.iter().filter(|part| part.info.samples_stored) {
            let PartFacts { place, manifest, .. } = self.facts_of(part)?;
            let sums = |name: &str| manifest.files.get(name).cloned().unwrap_or_default();
            files.extend(pieces(&manifest).map(|name| (place.clone(), name.to_owned(), sums(name))));
        }
        ParquetWriter::begin_linked(&self.home, key, &files)
    }

    async fn remove_merged(&self) -> Result<()> {
        match &self.kind {
            PartsLocation::Folder(parts) => parts.remove(None),
            #[cfg(feature = "lake")]
            PartsLocation::Lake(parts) => parts.remove(&parts.numbers()),
        }
    }

    async fn drop_parts(&self, numbers: &[u32]) -> Result<()> {
        match &self.kind {
            PartsLocation::Folder(parts) => numbers.iter().try_for_each(|number| parts.remove(Some(*number))),
            #[cfg(feature = "lake")]
            PartsLocation::Lake(parts) => parts.remove(numbers),
        }
    }
}

/// The parts of a run, locked until this is dropped.
struct LockedParts {
    folder: StoreFolder,
    home: PathBuf,
    lock: Option<LockFile>,
}

/// Returns the key, number and requests of each part of all runs.
fn list(folder: &StoreFolder) -> Result<Vec<(RunKey, PartNumber, u64)>> {
    let mut found = Vec::new();
    for home in folders(&folder.parts())? {
        let parts = parts_in(&home)?;
        let summary = |part: StoredPart| (part.info.key.clone(), part.row.number, part.info.requests());
        found.extend(parts.into_iter().map(|(part, _)| summary(part)));
    }
    Ok(found)
}

impl LockedParts {
    /// Locks the parts of a run against a merge. Returns the store for one of them.
    fn for_part(folder: &StoreFolder, key: &RunKey, number: u32) -> Result<(ParquetStore, Self)> {
        let parts = Self::lock(folder, key, LockFile::try_shared)?.ok_or_else(|| being_merged(key))?;
        Ok((ParquetStore::open(parts.of(number))?, parts))
    }

    /// Locks the parts of a run, so that nobody else writes, merges or drops one.
    fn alone(folder: &StoreFolder, key: &RunKey) -> Result<Self> {
        if !folder.parts().join(folder_name(key)).is_dir() {
            return Err(no_parts(key));
        }
        Self::lock(folder, key, LockFile::try_new)?.ok_or_else(|| in_use(key))
    }

    fn lock(
        folder: &StoreFolder,
        key: &RunKey,
        try_lock: fn(&Path) -> Result<Option<LockFile>>,
    ) -> Result<Option<Self>> {
        folder.create()?;
        let parts = folder.parts();
        let home = parts.join(folder_name(key));
        let _gate = folder.gate()?;
        refuse_link(&parts)?;
        refuse_link(&home)?;
        fs::create_dir_all(&home).map_err(|error| Error::io(&home, error))?;
        let lock = try_lock(&home.join(LOCK))?;
        Ok(lock.map(|lock| Self { folder: folder.clone(), home, lock: Some(lock) }))
    }

    fn of(&self, number: u32) -> PathBuf {
        self.home.join(number.to_string())
    }

    /// Returns the numbers of the parts, whether they can be read or not.
    fn numbers(&self) -> Result<Vec<u32>> {
        let names = folders(&self.home)?.into_iter();
        Ok(names.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect())
    }

    /// Reads what is known of the stored parts, ascending by number.
    fn all(&self) -> Result<Vec<(StoredPart, PartFacts)>> {
        parts_in(&self.home)
    }

    /// Removes a part of the run, which must be locked against all others; without a number, all of them in one step.
    fn remove(&self, number: Option<u32>) -> Result<()> {
        self.move_out(&number.map_or_else(|| self.home.clone(), |number| self.of(number)))
    }

    /// Moves a folder to where no reader looks, and deletes it there.
    fn move_out(&self, parts: &Path) -> Result<()> {
        let staging = self.folder.staging();
        let gate = self.folder.gate()?;
        let made = temporary(GENERATION, 0o777).tempdir_in(&staging);
        let out = made.map_err(|error| Error::io(&staging, error))?.keep();
        // It replaces the folder that was made, which is empty.
        fs::rename(parts, &out).map_err(|error| Error::io(parts, error))?;
        drop(gate);
        let synced = parts.parent().map_or(Ok(()), sync_dir);
        synced.map_err(|error| not_durable("the parts were removed", &error))?;
        // The next ingest removes what can't be removed now, or is left after a kill, as that of a stopped writer.
        let _ = fs::remove_dir_all(&out);
        Ok(())
    }

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

impl Drop for LockedParts {
    fn drop(&mut self) {
        self.lock = None;
        let Ok(_gate) = self.folder.gate() else { return };
        if let Some(_alone) =
            self.home.is_dir().then(|| LockFile::try_new(&self.home.join(LOCK)).ok()?).flatten()
        {
            self.clear();
        }
        // Only if no run has parts.
        let _ = fs::remove_dir(self.folder.parts());
    }
}

/// Reads what is known of the parts in the folder of a run, ascending by number.
fn parts_in(home: &Path) -> Result<Vec<(StoredPart, PartFacts)>> {
    let mut parts = Vec::new();
    for folder in folders(home)? {
        let store = ParquetStore::open(&folder)?;
        for info in store.runs()? {
            let Some((place, manifest)) = store.home.find(&info.key)? else { continue };
            let facts = PartFacts::new(place, manifest);
            parts.push((StoredPart { row: facts.row()?, info }, facts));
        }
    }
    parts.sort_by_key(|(part, _)| part.row.number.number());
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
