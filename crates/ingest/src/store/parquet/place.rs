//! Where the files of a run are, and how they are written and read there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::checksum::{CheckedFile, FileSums, SummedFile};
#[cfg(feature = "lake")]
use super::lake::Generation;
use super::lock::{open_unlinked, unopened};
use super::write_back::WrittenBack;
use crate::error::{Error, Result};

/// Where the files of one run are.
#[derive(Debug, Clone)]
pub(super) enum RunPlace {
    /// In a folder.
    Folder(PathBuf),
    /// In a bucket.
    #[cfg(feature = "lake")]
    Bucket(Generation),
}

impl RunPlace {
    /// Returns the path of a file, if it is on the disk, or what error messages call it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => generation.shown(name),
        }
    }

    /// Begins a file, which must not exist yet.
    pub(super) fn create(&self, name: &str) -> Result<SummedFile> {
        match self {
            Self::Folder(folder) => create(&folder.join(name)),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => Ok(generation.create(name)),
        }
    }

    /// Opens a file, whose size must be that of `sums`.
    pub(super) fn open(&self, name: &str, sums: FileSums) -> Result<CheckedFile> {
        match self {
            Self::Folder(folder) => open(folder.join(name), sums),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => generation.open(name, sums),
        }
    }

    /// Gives a finished file of another place of the same store a second name, which must not exist yet. What both have is
    /// never changed.
    pub(super) fn take(&self, name: &str, (from, file): (&Self, &str), sums: &FileSums) -> Result<()> {
        // Only in a bucket is the size needed.
        let _ = sums;
        match (self, from) {
            #[cfg(feature = "lake")]
            (Self::Bucket(to), Self::Bucket(from)) => to.copy(name, (from, file), sums.bytes()),
            (to, from) => link(&from.path(file), &to.path(name)),
        }
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                fs::remove_file(&path).map_err(|error| Error::io(&path, error))
            }
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => generation.remove(name),
        }
    }

    /// Returns true if the files are one table with those of other runs: then all must have the same columns.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Folder(_) => false,
            #[cfg(feature = "lake")]
            Self::Bucket(_) => true,
        }
    }
}

/// Gives a file on the disk another name. Where the file system can't, it is copied.
fn link(file: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(file, to).is_ok() {
        return Ok(());
    }
    let mut from = open_unlinked(file).map_err(|error| unopened(file, error))?;
    let copied =
        File::create_new(to).and_then(|mut to| io::copy(&mut from, &mut to).and_then(|_| to.sync_all()));
    copied.map_err(|error| Error::io(to, error))
}

/// Creates a file on the disk, which must not exist yet.
pub(super) fn create(path: &Path) -> Result<SummedFile> {
    let file = File::create_new(path).map_err(|error| Error::io(path, error))?;
    Ok(SummedFile::new(Box::new(WrittenBack::new(file)), path.to_owned()))
}

/// Opens a file on the disk, whose size must be that of `sums`.
pub(super) fn open(path: PathBuf, sums: FileSums) -> Result<CheckedFile> {
    let file = open_unlinked(&path).map_err(|error| unopened(&path, error))?;
    CheckedFile::new(Box::new(file), path, sums)
}
