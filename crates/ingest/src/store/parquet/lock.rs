//! Lock files that show who is working on a store.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// A lock on a file until it is dropped. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started still has it open for a moment.
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// Locks a file, which is created if missing. Waits while another process holds the lock.
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        let file = open(path)?;
        file.lock().map_err(|error| Error::io(path, error))?;
        Ok(Self(file))
    }

    /// Locks a file, which is created if missing; `None` if another process holds the lock.
    pub(crate) fn try_new(path: &Path) -> Result<Option<Self>> {
        Self::try_by(path, File::try_lock)
    }

    /// Locks a file, as others may do in the same way; `None` if another process holds the lock alone.
    pub(crate) fn try_shared(path: &Path) -> Result<Option<Self>> {
        Self::try_by(path, File::try_lock_shared)
    }

    fn try_by(path: &Path, try_lock: fn(&File) -> Result<(), fs::TryLockError>) -> Result<Option<Self>> {
        let file = open(path)?;
        match try_lock(&file) {
            Ok(()) => Ok(Some(Self(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(Error::io(path, error)),
        }
    }
}

fn open(path: &Path) -> Result<File> {
    refuse_link(path)?;
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| Error::io(path, error))
}

/// Returns true if a path is a symbolic link.
pub(crate) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink())
}

/// Opens a file to read it, but not through a link.
#[cfg(unix)]
pub(crate) fn open_unlinked(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Opens a file to read it, but not through a link.
#[cfg(not(unix))]
pub(crate) fn open_unlinked(path: &Path) -> io::Result<File> {
    match is_link(path) {
        true => Err(io::Error::other("it is a link")),
        false => File::open(path),
    }
}

/// Fails if a path within the store is a link, since it may lead out of the store.
pub(crate) fn refuse_link(path: &Path) -> Result<()> {
    if !is_link(path) {
        return Ok(());
    }
    Err(Error::refused(
        ErrorKind::LinkInStore,
        format!("{} is a link, and links within a store are not followed", path.display()),
        "Replace it with what it points to, or remove it.",
    ))
}
