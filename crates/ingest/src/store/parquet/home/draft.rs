//! A run that is being written into its home.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::checksum::FileSums;
use super::super::folder::{RunLock, StagingFolder, StoreFolder};
#[cfg(feature = "lake")]
use super::super::lake::LakeDraft;
use super::super::place::RunPlace;
use super::StoreHome;
use crate::error::Result;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;
use crate::run::replace::Replace;

/// A run that is being written. Dropping it removes its files.
pub(in crate::store::parquet) enum RunDraft {
    Folder(FolderDraft),
    #[cfg(feature = "lake")]
    Lake(LakeDraft),
}

/// A run that is being written into a folder.
pub(in crate::store::parquet) struct FolderDraft {
    folder: StoreFolder,
    staging: StagingFolder,
    lock: Option<RunLock>,
}

impl RunDraft {
    pub(super) fn in_folder(folder: &StoreFolder, key: Option<&RunKey>) -> Result<Self> {
        let lock = key.map(|key| folder.lock(key)).transpose()?;
        let staging = folder.stage()?;
        Ok(Self::Folder(FolderDraft { folder: folder.clone(), staging, lock }))
    }

    /// Begins a part of a run. In a folder, `home` is that of this part alone.
    pub(in crate::store::parquet) fn of_part(
        home: &StoreHome,
        key: Option<&RunKey>,
        number: PartNumber,
    ) -> Result<Self> {
        // Only in a bucket do parts share a home.
        let _ = number;
        match home {
            StoreHome::Folder(folder) => Self::in_folder(folder, key),
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => LakeDraft::of_part(lake, key, number).map(Self::Lake),
        }
    }

    /// Returns where the files of the run are written.
    pub(in crate::store::parquet) fn place(&self) -> RunPlace {
        match self {
            Self::Folder(draft) => RunPlace::Folder(draft.staging.path.clone()),
            #[cfg(feature = "lake")]
            Self::Lake(draft) => RunPlace::Bucket(draft.generation().clone()),
        }
    }

    /// Returns a folder for temporary files, if there is one that is cleaned up even after a kill.
    pub(in crate::store::parquet) fn scratch(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(draft) => Some(draft.staging.path.clone()),
            #[cfg(feature = "lake")]
            Self::Lake(_) => None,
        }
    }

    /// Claims the lowest free repeat of a key's framework and test.
    pub(in crate::store::parquet) fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        match self {
            Self::Folder(draft) => {
                let (key, lock) = draft.folder.lock_next(key)?;
                draft.lock = Some(lock);
                Ok(key)
            }
            #[cfg(feature = "lake")]
            Self::Lake(draft) => draft.claim_next(key),
        }
    }

    /// Makes the run appear, replacing an earlier one of its key.
    pub(in crate::store::parquet) fn publish(
        self,
        files: BTreeMap<String, FileSums>,
        info: &RunInfo,
        replace: Replace,
    ) -> Result<()> {
        match self {
            Self::Folder(FolderDraft { folder, staging, lock }) => {
                folder.publish(staging, files, info, lock, replace)
            }
            #[cfg(feature = "lake")]
            Self::Lake(draft) => draft.publish(files, info, replace),
        }
    }
}
