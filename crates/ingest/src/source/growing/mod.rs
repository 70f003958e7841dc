//! Logs that are still being written: files that grow or are rotated, and pipes.

mod copies;
mod file;
mod following;
mod grown;
mod kept;
mod pipe;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use self::file::GrowingFile;
use self::grown::Grown;
use self::kept::Kept;
use self::pipe::GrowingPipe;

pub(crate) use self::following::{Control, Following};

/// A log that is still being written, as one text, in however many files.
pub(crate) struct GrowingLog {
    path: PathBuf,
    body: Mutex<Body>,
}

enum Body {
    File(GrowingFile),
    Pipe(GrowingPipe),
}

/// Where the text of a log is once nobody follows it any more.
pub(crate) enum Finished<'a> {
    /// In its own file, and nowhere else.
    Own,
    /// In this temporary file, since it came from a pipe or from several files.
    Kept(&'a Path),
    /// There is none.
    Nothing,
}

impl<'a> Finished<'a> {
    fn of(kept: Option<&'a Kept>) -> Self {
        match kept {
            Some(kept) if kept.is_empty() => Self::Nothing,
            Some(kept) => Self::Kept(kept.path()),
            None => Self::Own,
        }
    }
}

impl GrowingLog {
    /// Follows a file, which need not exist yet.
    pub(crate) fn file(path: &Path) -> Self {
        Self { path: path.to_owned(), body: Mutex::new(Body::File(GrowingFile::new(path))) }
    }

    /// Follows a pipe, which is opened by a thread of its own, since that waits for whoever writes to it.
    ///
    /// # Errors
    /// When no thread can be started, or no temporary file be written.
    pub(crate) fn pipe<R: Read + Send + 'static>(
        path: &Path,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), body: Mutex::new(Body::Pipe(GrowingPipe::begin(open)?)) })
    }

    /// The name that was given: of its file, or `-`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads from a byte of the text on.
    ///
    /// # Errors
    /// When a file can't be read, or a temporary one not written.
    pub(crate) fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        match &mut *self.body.lock().unwrap_or_else(PoisonError::into_inner) {
            Body::File(file) => file.read_at(at, out),
            Body::Pipe(pipe) => pipe.read_at(at, out),
        }
    }

    /// Shows where the text is.
    ///
    /// # Errors
    /// When the text of a file that is no longer in its place can't be kept.
    pub(crate) fn finished<T>(&self, show: impl FnOnce(Finished<'_>) -> T) -> io::Result<T> {
        match &mut *self.body.lock().unwrap_or_else(PoisonError::into_inner) {
            Body::File(file) if file.is_missing() => Ok(show(Finished::Nothing)),
            Body::File(file) => {
                file.settle()?;
                Ok(show(Finished::of(file.kept())))
            }
            Body::Pipe(pipe) => Ok(pipe.with_kept(|kept| show(Finished::of(Some(kept))))),
        }
    }
}
