//! Files that have no name yet: they are removed with whatever stops the command, and get no name after that.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// Those that there are now.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether the command is to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// A file without its final name, as readable as any other. Dropped, it is gone.
pub(crate) struct Unfinished {
    file: NamedTempFile,
    // It drops after the file.
    _listed: Listed,
}

/// A path that is among all for as long as this lives.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        all().retain(|path| *path != self.0);
    }
}

impl Unfinished {
    /// Makes one in the folder in which it is to get its name.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".perfpipe-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder)?;
        let path = file.path().to_owned();
        all().push(path.clone());
        Ok(Self { file, _listed: Listed(path) })
    }

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it its name, in the place of whatever has it now.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        go_on()?;
        self.file.persist(path).map(drop).map_err(|error| error.error)
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Lets nothing more be written.
pub(crate) fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// An error where the command is to end.
pub(crate) fn go_on() -> io::Result<()> {
    match STOPPED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("the command was stopped")),
        false => Ok(()),
    }
}

/// Removes all of them, when the command ends while they are still being written.
pub(crate) fn remove_all() {
    for path in std::mem::take(&mut *all()) {
        // One that has got its name meanwhile is whole.
        let _ = std::fs::remove_file(path);
    }
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
