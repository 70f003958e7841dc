//! Parts of runs in a folder or a bucket.

mod facts;
mod folder;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub(crate) use self::facts::Facts;

use self::folder::LockedParts;
use super::home::{Draft, Home};
#[cfg(feature = "lake")]
use super::lake::LakeParts;
use super::{ParquetStore, ParquetWriter, pieces};
use crate::error::Result;
use crate::pipeline::sink::RunStore;
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;
use crate::store::parts::{HeldParts, Part, PartStore, StoredParts};

impl PartStore for ParquetStore {
    type Desk = PartDesk;
    type Held = ParquetParts;

    async fn parts(&self) -> Result<Vec<StoredParts>> {
        ParquetStore::parts(self)
    }

    async fn part_desk(&self, key: &RunKey, number: PartNumber) -> Result<PartDesk> {
        match &self.home {
            Home::Folder(folder) => {
                let (store, lock) = LockedParts::for_part(folder, key, number.number())?;
                Ok(PartDesk { store, number, _lock: Some(lock) })
            }
            #[cfg(feature = "lake")]
            Home::Lake(_) => Ok(PartDesk { store: self.clone(), number, _lock: None }),
        }
    }

    async fn hold_parts(&self, key: &RunKey) -> Result<ParquetParts> {
        let kind = match &self.home {
            Home::Folder(folder) => Kind::Folder(LockedParts::alone(folder, key)?),
            #[cfg(feature = "lake")]
            Home::Lake(lake) => Kind::Lake(LakeParts::of(lake, key)?),
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
            Home::Folder(folder) => folder::list(folder)?,
            #[cfg(feature = "lake")]
            Home::Lake(lake) => lake.list_parts()?,
        };
        Ok(StoredParts::gather(parts))
    }
}

/// Where one part is written.
pub(crate) struct PartDesk {
    /// In a folder, the store of this part.
    store: ParquetStore,
    number: PartNumber,
    _lock: Option<LockedParts>,
}

impl RunStore for PartDesk {
    type Writer = ParquetWriter;

    async fn begin(&self, key: Option<&RunKey>, keep_samples: bool) -> Result<ParquetWriter> {
        ParquetWriter::of(Draft::of_part(&self.store.home, key, self.number)?, keep_samples)
    }
}

/// The parts of one run.
pub(crate) struct ParquetParts {
    home: Home,
    kind: Kind,
    /// The parts that were read.
    read: Mutex<BTreeMap<u32, Facts>>,
}

enum Kind {
    Folder(LockedParts),
    #[cfg(feature = "lake")]
    Lake(LakeParts),
}

impl ParquetParts {
    fn facts_of(&self, part: &Part) -> Result<Facts> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = read.get(&part.row.number.number()).cloned();
        facts.ok_or_else(|| crate::store::parts::none(&part.info.key))
    }
}

impl HeldParts for ParquetParts {
    type Writer = ParquetWriter;

    fn numbers(&self) -> Result<Vec<u32>> {
        match &self.kind {
            Kind::Folder(parts) => parts.numbers(),
            #[cfg(feature = "lake")]
            Kind::Lake(parts) => Ok(parts.numbers()),
        }
    }

    async fn all(&self) -> Result<Vec<Part>> {
        let found = match &self.kind {
            Kind::Folder(parts) => parts.all()?,
            #[cfg(feature = "lake")]
            Kind::Lake(parts) => parts.all()?,
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = Vec::with_capacity(found.len());
        for (part, facts) in found {
            read.insert(part.row.number.number(), facts);
            parts.push(part);
        }
        Ok(parts)
    }

    async fn facts(&self, part: &Part) -> Result<Facts> {
        self.facts_of(part)
    }

    async fn begin_merged(&self, key: &RunKey, parts: &[Part]) -> Result<ParquetWriter> {
        let mut files = Vec::new();
        for part in parts.iter().filter(|part| part.info.samples_stored) {
            let Facts { place, manifest, .. } = self.facts_of(part)?;
            let sums = |name: &str| manifest.files.get(name).cloned().unwrap_or_default();
            files.extend(pieces(&manifest).map(|name| (place.clone(), name.to_owned(), sums(name))));
        }
        ParquetWriter::begin_linked(&self.home, key, &files)
    }

    async fn remove_merged(&self) -> Result<()> {
        match &self.kind {
            Kind::Folder(parts) => parts.remove(None),
            #[cfg(feature = "lake")]
            Kind::Lake(parts) => parts.remove(&parts.numbers()),
        }
    }

    async fn drop_parts(&self, numbers: &[u32]) -> Result<()> {
        match &self.kind {
            Kind::Folder(parts) => numbers.iter().try_for_each(|number| parts.remove(Some(*number))),
            #[cfg(feature = "lake")]
            Kind::Lake(parts) => parts.remove(numbers),
        }
    }
}
