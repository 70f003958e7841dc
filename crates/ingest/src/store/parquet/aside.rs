//! A folder for a short time, in that for temporary files. If perfpipe is killed, the next one removes it.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::folder::LOCK;
use super::lock::LockFile;
use crate::error::{Error, Result};

/// What the names of such folders begin with.
const PREFIX: &str = "perfpipe-aside-";

/// The age of a folder from which on it is nobody's, although it has no lock yet.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// An empty folder, which dropping removes.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    /// The folder within that of the lock, so that a store in it has a lock of its own.
    path: PathBuf,
    // Dropped in this order: the lock shows that the folder is in use.
    _folder: TempDir,
    _lock: LockFile,
}

impl TemporaryFolder {
    /// Makes a folder in `parent`, and removes those of others that were killed.
    pub(crate) fn new(parent: &Path) -> Result<Self> {
        sweep(parent);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let folder = made.map_err(|error| Error::io(parent, error))?;
        let lock = LockFile::wait(&folder.path().join(LOCK))?;
        let path = folder.path().join("store");
        fs::create_dir(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Self { path, _folder: folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the folders that this user's perfpipe left when it was killed. What can't be removed is left to the next one.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let named = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    for entry in entries.filter(named).filter(is_own_folder) {
        let (path, lock) = (entry.path(), entry.path().join(LOCK));
        let is_locked = lock.symlink_metadata().is_ok();
        // A folder that was just made has no lock for a moment.
        let free = if is_locked { LockFile::try_new(&lock).ok().flatten() } else { None };
        if free.is_some() || (!is_locked && is_old(&entry)) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_old(entry: &DirEntry) -> bool {
    let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age > OLD)
}

/// Returns true for a folder of this user, which is no link.
fn is_own_folder(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found))
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // A file of one's own has the user's number: the system's call for it would be unsafe.
    let own = tempfile::tempfile().and_then(|file| file.metadata());
    own.is_ok_and(|own| own.uid() == found.uid())
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_killed_are_removed_and_those_in_use_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let alive = TemporaryFolder::new(parent.path()).unwrap();
        let [dead, new, other] = ["perfpipe-aside-dead", "perfpipe-aside-new", "other"].map(|name| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        });
        [&dead, &other].iter().for_each(|folder| fs::write(folder.join(LOCK), "").unwrap());
        fs::create_dir(dead.join("store")).unwrap();
        let next = TemporaryFolder::new(parent.path()).unwrap();
        assert!(alive.path().exists() && next.path().exists() && new.exists() && other.exists());
        assert!(!dead.exists());
        drop((alive, next));
        let left = fs::read_dir(parent.path()).unwrap().count();
        assert_eq!(left, 2);
    }
}
