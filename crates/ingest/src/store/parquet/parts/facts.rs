//! What is stored of a part beside its samples: the files of a run and two more.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::counts::stored_run::StoredRun;
use crate::counts::totals::part::{PartNames, PartRow};
use crate::error::{Error, Result};
use crate::run::rejects::Reject;
use crate::store::held;
use crate::store::parquet::checksum::CheckedFile;
use crate::store::parquet::folder::manifest::Manifest;
use crate::store::parquet::home::StoreHome;
use crate::store::parquet::packed::PackedRun;
use crate::store::parquet::place::RunPlace;
use crate::store::parquet::tables::{NAMES, PART, read_document};
use crate::store::parquet::{pass_rejects, read_facts, rejects};

/// The files of a part.
#[derive(Debug, Clone)]
pub(crate) struct PartFacts {
    pub(in crate::store::parquet) place: RunPlace,
    pub(in crate::store::parquet) manifest: Manifest,
    /// Removes the files when it is dropped, if they were unpacked to be read.
    _unpacked: Option<Arc<PackedRun>>,
}

impl PartFacts {
    pub(in crate::store::parquet) fn new(place: RunPlace, manifest: Manifest) -> Self {
        Self { place, manifest, _unpacked: None }
    }

    /// Takes the files of a part that was packed into one file.
    pub(crate) fn unpacked(part: PackedRun) -> Result<Self> {
        let found = StoreHome::find(&part.store().home, &part.info().key)?;
        let (place, manifest) = found.ok_or_else(|| Error::missing_run(&part.info().key))?;
        Ok(Self { place, manifest, _unpacked: Some(Arc::new(part)) })
    }

    fn file(&self, name: &str) -> Result<CheckedFile> {
        self.place.open(name, self.manifest.files.get(name).cloned().unwrap_or_default())
    }

    fn document<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        read_document(&self.file(name)?)
    }

    /// Reads the number of the part.
    pub(crate) fn row(&self) -> Result<PartRow> {
        self.document(PART)
    }

    /// Reads the names in the counts of the part.
    pub(crate) fn names(&self) -> Result<PartNames> {
        self.document(NAMES)
    }

    /// Reads the part without its samples.
    pub(crate) fn run(&self) -> Result<StoredRun> {
        let read = read_facts(&self.manifest, &|name| self.file(name))?;
        held::check_run(Some(read))?.ok_or_else(|| Error::missing_run(&self.manifest.info.key))
    }

    /// Passes the rejected records of the part to `each`, in the order of the log.
    pub(crate) fn rejects(&self, each: &mut dyn FnMut(Reject) -> Result<()>) -> Result<()> {
        pass_rejects(rejects(&self.manifest, &|name| self.file(name))?, &self.manifest.info, each)
    }
}
