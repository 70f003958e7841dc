//! Detects files that change between their recognition and the end of reading.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::error::ErrorKind;
use crate::run::fault::Fault;

/// The size and identity of a regular file when it was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    bytes: u64,
    identity: (u64, u64),
}

impl Seen {
    pub(crate) fn of(file: &Metadata) -> Self {
        Self { bytes: file.len(), identity: identity(file) }
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Opens the file.
    ///
    /// # Errors
    /// If it was replaced or has shrunk, or has grown although it may not.
    pub(crate) fn open(&self, path: &Path, may_grow: bool) -> io::Result<File> {
        let file = File::open(path)?;
        let now = file.metadata()?;
        if identity(&now) != self.identity {
            return Err(changed("another file took its place"));
        }
        self.compare(now.len(), may_grow)?;
        Ok(file)
    }

    /// Returns the number of bytes by which the file has grown since it was recognised. Returns 0 if the file was
    /// removed or replaced meanwhile, since the open file could still be read.
    ///
    /// # Errors
    /// If the file has shrunk, or has grown although it may not.
    pub(crate) fn grown(&self, path: &Path, may_grow: bool) -> io::Result<u64> {
        match std::fs::metadata(path) {
            Ok(now) if identity(&now) == self.identity => self.compare(now.len(), may_grow),
            _ => Ok(0),
        }
    }

    /// Returns by how many bytes the present size exceeds the recognised one.
    fn compare(&self, now: u64, may_grow: bool) -> io::Result<u64> {
        match now.checked_sub(self.bytes) {
            None => Err(self.shrunk(now)),
            Some(1..) if !may_grow => {
                Err(changed(&format!("it has {now} bytes now, and had {} before", self.bytes)))
            }
            Some(grown) => Ok(grown),
        }
    }

    /// Limits a reader to the bytes that the file had when it was recognised.
    pub(crate) fn snapshot<R>(&self, text: R) -> Snapshot<R> {
        Snapshot { text, seen: *self, read: 0 }
    }

    fn shrunk(&self, bytes: u64) -> io::Error {
        changed(&format!("{bytes} of its {} bytes are left", self.bytes))
    }
}

fn changed(how: &str) -> io::Error {
    let problem = format!("it changed while it was being read: {how}");
    Fault::new(
        ErrorKind::FileChanged,
        problem,
        "Ingest it again once nothing writes to it; nothing was stored.",
    )
    .into()
}

/// Returns device and inode number, on systems that have them.
pub(super) fn identity(file: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (file.dev(), file.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        (0, 0)
    }
}

/// Reads a text up to the size that it had when it was recognised. It is an error if it has become shorter.
pub(crate) struct Snapshot<R> {
    text: R,
    seen: Seen,
    read: u64,
}

impl<R: Read> Read for Snapshot<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.seen.bytes.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let length = left.min(out.len());
        if length == 0 {
            return Ok(0);
        }
        match self.text.read(out.get_mut(..length).unwrap_or_default())? {
            0 => Err(self.seen.shrunk(self.read)),
            read => {
                self.read += read as u64;
                Ok(read)
            }
        }
    }
}
