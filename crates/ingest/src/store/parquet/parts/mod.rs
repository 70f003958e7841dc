//! Parts of runs in a folder or a bucket.

mod facts;
mod folder;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(crate) use self::facts::PartFacts;

use self::folder::LockedParts;
use super::home::{RunDraft, StoreHome};
#[cfg(feature = "lake")]
use super::lake::LakeParts;
use super::{ParquetStore, ParquetWriter, pieces};
use crate::error::Result;
use crate::pipeline::sink::RunStore;
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;
use crate::store::parts::{ClaimedParts, PartStore, StoredPart, StoredParts};

impl PartStore for ParquetStore {
    type Desk = ParquetPartTarget;
    type Held = ParquetParts;

    async fn parts(&self) -> Result<Vec<StoredParts>> {
        ParquetStore::parts(self)
    }

    async fn part_desk(&self, key: &RunKey, number: PartNumber) -> Result<ParquetPartTarget> {
        match &self.home {
            StoreHome::Folder(folder) => {
                let (store, lock) = LockedParts::for_part(folder, key, number.number())?;
                Ok(ParquetPartTarget { store, number, _lock: Some(lock) })
            }
            #[cfg(feature = "lake")]
            StoreHome::Lake(_) => Ok(ParquetPartTarget { store: self.clone(), number, _lock: None }),
        }
    }

    async fn hold_parts(&self, key: &RunKey) -> Result<ParquetParts> {
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
            StoreHome::Folder(folder) => folder::list(folder)?,
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.list_parts()?,
        };
        Ok(StoredParts::gather(parts))
    }
}

/// Where one part is written.
pub(crate) struct ParquetPartTarget {
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
pub(crate) struct ParquetParts {
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
        facts.ok_or_else(|| crate::store::parts::no_parts(&part.info.key))
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
