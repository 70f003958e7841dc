//! The text of a log that no file of its own holds as a whole, in a temporary file.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// The number of bytes that are copied at once.
const PIECE: usize = 256 << 10;

/// A temporary file, which is removed when this is dropped. Bytes are appended, and read at any place.
pub(crate) struct Kept {
    file: NamedTempFile,
    bytes: u64,
}

impl Kept {
    /// Creates an empty file in the system's temporary folder.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::Builder::new().prefix("perfpipe-watch-").tempfile()?, bytes: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The number of bytes that it holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.bytes))?;
        self.file.write_all(bytes).map_err(full)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Appends what a reader has, to its end.
    pub(crate) fn take(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece)? {
                0 => return Ok(()),
                read => self.push(piece.get(..read).unwrap_or_default())?,
            }
        }
    }

    /// Reads from a byte on.
    pub(crate) fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read(out)
    }
}

/// Names the folder that is full.
fn full(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    io::Error::new(error.kind(), format!("keeping it in {} (TMPDIR names it): {error}", folder.display()))
}
