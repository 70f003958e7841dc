//! Files without their final names, which are removed if the command is stopped, and get no names after that.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The paths of all unfinished files.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// True once the command is to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// How the names of unfinished files begin. Letters and digits follow, [`LETTERS`] of them.
const PREFIX: &str = ".perfpipe-";
const LETTERS: usize = 6;

/// Returns true for names that unfinished files have, also those that a killed command left.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let letters = name.strip_prefix(PREFIX);
    letters
        .is_some_and(|letters| letters.len() == LETTERS && letters.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// The number of threads that write to a pipe, whose reader may never come.
static PIPED: AtomicUsize = AtomicUsize::new(0);

/// A file without its final name, with the usual permissions. Dropping it removes it.
pub(crate) struct Unfinished {
    file: NamedTempFile,
    // Dropped after the file.
    _listed: Listed,
}

/// An entry in the list of unfinished files, which lasts until it is dropped.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        all().retain(|path| *path != self.0);
    }
}

impl Unfinished {
    /// Creates a file in the folder in which it will get its name.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(LETTERS);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(without_name)?;
        let path = file.path().to_owned();
        all().push(path.clone());
        Ok(Self { file, _listed: Listed(path) })
    }

    /// Returns the open file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name, and replaces any file with that name.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        go_on()?;
        self.file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// Removes the name of the file from an error: nobody has asked for a file of that name.
fn without_name(error: io::Error) -> io::Error {
    // The crate that makes it does not give the error that it was made of.
    match error.to_string().split_once(" at path \"") {
        Some((why, _)) => io::Error::new(error.kind(), why.to_owned()),
        None => error,
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

/// Makes all further writing fail.
pub(crate) fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Fails if the command is to end.
pub(crate) fn go_on() -> io::Result<()> {
    match STOPPED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("the command was stopped")),
        false => Ok(()),
    }
}

/// Opens a pipe or writes to one, which waits for its reader.
pub(crate) fn piped<T>(write: impl FnOnce() -> T) -> T {
    PIPED.fetch_add(1, Ordering::Relaxed);
    let written = write();
    PIPED.fetch_sub(1, Ordering::Relaxed);
    written
}

/// Returns true if a thread waits for the reader of a pipe.
pub(crate) fn waits_for_reader() -> bool {
    PIPED.load(Ordering::Relaxed) > 0
}

/// Removes all unfinished files, if the command ends while they are being written.
pub(crate) fn remove_all() {
    for path in std::mem::take(&mut *all()) {
        // A file that has got its name meanwhile is complete, and not at this path any more.
        let _ = std::fs::remove_file(path);
    }
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
