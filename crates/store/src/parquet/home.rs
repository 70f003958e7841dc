//! The home of a store's runs, a folder or a bucket, and the draft of a run that is being written into it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::checksum::FileSums;
use super::folder::manifest::Manifest;
use super::folder::{RunLock, StagingFolder, StoreFolder};
#[cfg(feature = "lake")]
use super::lake::{Lake, LakeDraft};
use super::lock::refuse_link;
use super::place::RunPlace;
use crate::{Repairer, RunRef};
use perfpipe_model::error::Result;
#[cfg(feature = "lake")]
use perfpipe_model::error::{Error, ErrorKind};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;
use perfpipe_model::run::replace::Replace;

/// Where a store keeps its runs.
#[derive(Debug, Clone)]
pub(super) enum StoreHome {
    Folder(StoreFolder),
    #[cfg(feature = "lake")]
    Lake(Lake),
}

impl StoreHome {
    /// Fails if it holds a store of another layout version, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        match self {
            Self::Folder(folder) => folder.check_layout(),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.check_layout(),
        }
    }

    /// Returns true if a store was created here.
    pub(super) fn is_there(&self) -> Result<bool> {
        match self {
            Self::Folder(folder) => Ok(folder.is_there()),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.is_there(),
        }
    }

    /// Returns the folder's path, or the bucket's URL.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder.path(),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.path(),
        }
    }

    /// Returns the folder.
    ///
    /// # Errors
    /// If it is a bucket, which does not have `what`.
    pub(super) fn folder(&self, what: &str) -> Result<&StoreFolder> {
        // Only a bucket lacks it.
        let _ = what;
        match self {
            Self::Folder(folder) => Ok(folder),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => Err(Error::refused(
                ErrorKind::NotInBucket,
                format!("{} is a store in a bucket, where perfpipe has no {what}", lake.path().display()),
                "Use a store in a folder.",
            )),
        }
    }

    /// Returns the keys of the stored runs.
    pub(super) fn keys(&self) -> Result<Vec<RunKey>> {
        match self {
            Self::Folder(folder) => folder.keys(),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.keys(),
        }
    }

    /// Returns what `keep` returns of the manifests of all runs, or of those of a test: of each, or the error of reading
    /// it.
    pub(super) fn manifests<T: Send>(
        &self,
        test: Option<&str>,
        keep: impl Fn(Manifest) -> T + Sync,
    ) -> Result<Vec<Result<T>>> {
        match self {
            Self::Folder(folder) => {
                Ok(folder.manifests(test, keep)?.into_iter().map(|(_, kept)| kept).collect())
            }
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.manifests(test, keep),
        }
    }

    /// Returns the manifest of a run; `None` if it is not stored.
    pub(super) fn manifest(&self, key: &RunKey) -> Result<Option<Manifest>> {
        match self {
            Self::Folder(folder) => folder.manifest(key),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => Ok(lake.find(key)?.map(|(_, manifest)| manifest)),
        }
    }

    /// Returns where the files of a run are, and its manifest; `None` if it is not stored.
    pub(super) fn find(&self, key: &RunKey) -> Result<Option<(RunPlace, Manifest)>> {
        match self {
            Self::Folder(folder) => {
                let Some((run, manifest)) = folder.find(key)? else { return Ok(None) };
                let generation = folder.generation(&run, &manifest.generation);
                refuse_link(&generation)?;
                Ok(Some((RunPlace::Folder(generation), manifest)))
            }
            #[cfg(feature = "lake")]
            Self::Lake(lake) => {
                Ok(lake.find(key)?.map(|(generation, manifest)| (RunPlace::Bucket(generation), manifest)))
            }
        }
    }

    /// Returns the stored repeats of a key's framework and test, ascending.
    pub(super) fn repeats(&self, key: &RunKey) -> Result<Vec<u32>> {
        match self {
            Self::Folder(folder) => folder.repeats(key),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.repeats(key),
        }
    }

    /// Removes a run; returns false if it is not stored.
    pub(super) fn drop_run(&self, wanted: RunRef<'_>) -> Result<bool> {
        match self {
            Self::Folder(folder) => folder.drop_run(wanted),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.drop_run(wanted),
        }
    }

    /// Repairs the store itself, as opposed to the contents of its runs.
    pub(super) fn repair(&self, repairer: &mut Repairer<'_>) -> Result<()> {
        match self {
            Self::Folder(folder) => folder.repair(repairer),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => lake.repair(repairer),
        }
    }

    /// Moves a run that can't be repaired to where no reader looks. In a bucket it stays, since other programs may read it.
    pub(super) fn set_aside(&self, key: &RunKey, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        match self {
            Self::Folder(folder) => folder.set_aside(key, why, repairer),
            #[cfg(feature = "lake")]
            Self::Lake(_) => {
                repairer.leave(format!("{key}: {why} (drop it, and ingest it again)"));
                Ok(())
            }
        }
    }

    /// Begins a run, with its key if that is known.
    pub(super) fn begin(&self, key: Option<&RunKey>) -> Result<RunDraft> {
        match self {
            Self::Folder(folder) => RunDraft::in_folder(folder, key),
            #[cfg(feature = "lake")]
            Self::Lake(lake) => LakeDraft::begin(lake, key).map(RunDraft::Lake),
        }
    }
}

/// A run that is being written. Dropping it removes its files.
pub(super) enum RunDraft {
    Folder(FolderDraft),
    #[cfg(feature = "lake")]
    Lake(LakeDraft),
}

/// A run that is being written into a folder.
pub(super) struct FolderDraft {
    folder: StoreFolder,
    staging: StagingFolder,
    lock: Option<RunLock>,
}

impl RunDraft {
    fn in_folder(folder: &StoreFolder, key: Option<&RunKey>) -> Result<Self> {
        let lock = key.map(|key| folder.lock(key)).transpose()?;
        let staging = folder.stage()?;
        Ok(Self::Folder(FolderDraft { folder: folder.clone(), staging, lock }))
    }

    /// Begins a part of a run. In a folder, `home` is that of this part alone.
    pub(super) fn of_part(home: &StoreHome, key: Option<&RunKey>, number: PartNumber) -> Result<Self> {
        // Only in a bucket do parts share a home.
        let _ = number;
        match home {
            StoreHome::Folder(folder) => Self::in_folder(folder, key),
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => LakeDraft::of_part(lake, key, number).map(Self::Lake),
        }
    }

    /// Returns where the files of the run are written.
    pub(super) fn place(&self) -> RunPlace {
        match self {
            Self::Folder(draft) => RunPlace::Folder(draft.staging.path.clone()),
            #[cfg(feature = "lake")]
            Self::Lake(draft) => RunPlace::Bucket(draft.generation().clone()),
        }
    }

    /// Returns a folder for temporary files, if there is one that is cleaned up even after a kill.
    pub(super) fn scratch(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(draft) => Some(draft.staging.path.clone()),
            #[cfg(feature = "lake")]
            Self::Lake(_) => None,
        }
    }

    /// Claims the lowest free repeat of a key's framework and test.
    pub(super) fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
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
    pub(super) fn publish(
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
