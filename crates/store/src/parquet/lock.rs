//! Lock files that show who is working on a store.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use perfpipe_model::error::{Error, ErrorKind, Result};

/// A lock on a file until it is dropped. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct LockFile(File);

impl Drop for LockFile {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is just being started still has it open for a moment.
        let _ = self.0.unlock();
    }
}

impl LockFile {
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

/// Opens a lock file, which is created if missing.
fn open(path: &Path) -> Result<File> {
    refuse_link(path)?;
    let mut options = File::options();
    let opened = opened(options.create(true).truncate(false).write(true), path);
    opened.map_err(|error| unopened(path, error))
}

/// Opens a file of the store by itself: not through a link, and without waiting, as one would at a pipe whose other end
/// nobody has.
fn opened(options: &mut fs::OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    if is_link(path) {
        return Err(io::Error::other("it is a link"));
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

/// Returns true if a path is a symbolic link.
pub(crate) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink())
}

/// Opens a file of the store to read it. [`unopened`] is the error for what can't be.
pub(crate) fn open_unlinked(path: &Path) -> io::Result<File> {
    opened(File::options().read(true), path)
}

/// Returns the error for a file of the store that can't be opened.
pub(crate) fn unopened(path: &Path, error: io::Error) -> Error {
    let refused = refuse_link(path).and_then(|()| refuse_other(path));
    refused.err().unwrap_or_else(|| Error::io(path, error))
}

/// Reads a file of the store whole, up to `most` bytes; `None` if there is none.
pub(crate) fn read_whole(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    match open_unlinked(path).and_then(|file| file.take(most + 1).read_to_end(&mut text)) {
        Ok(_) if text.len() as u64 > most => {
            Err(Error::store(format!("reading {}", path.display()), format!("it has more than {most} bytes")))
        }
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unopened(path, error)),
    }
}

/// Fails if there is something else than a file at a path within the store.
fn refuse_other(path: &Path) -> Result<()> {
    if path.symlink_metadata().map_or(true, |found| found.is_file() || found.is_symlink()) {
        return Ok(());
    }
    Err(Error::refused(
        ErrorKind::OtherInStore,
        format!("{} is a folder, a pipe, a device or a socket, and has to be a file", path.display()),
        "Remove it.",
    ))
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
