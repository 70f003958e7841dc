//! A buffer for data that an ingest keeps aside: in memory up to a few MiB, then in a temporary file.

use std::io::{self, Read, Seek, Write};

use tempfile::SpooledTempFile;

use crate::error::{Error, Result};

/// The number of bytes kept in memory before they move to the temporary file.
const IN_MEMORY: usize = 4 << 20;

/// The number of bytes gathered before a write. One system call for each line would take most of the time.
const GATHERED: usize = 64 << 10;

/// Bytes that are written once and then read back.
pub(crate) struct Spool {
    file: SpooledTempFile,
    /// The bytes that follow those of the file.
    gathered: Vec<u8>,
    /// Description of the bytes, for error messages.
    what: &'static str,
}

impl Spool {
    /// Creates an empty spool. `what` describes its content in error messages.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), gathered: Vec::new(), what }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() < GATHERED { Ok(()) } else { self.write_gathered() }
    }

    fn write_gathered(&mut self) -> Result<()> {
        self.file.write_all(&self.gathered).map_err(|error| self.failed(error))?;
        self.gathered.clear();
        Ok(())
    }

    /// Returns a reader of all bytes, from the first.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub(crate) fn reader(&mut self) -> Result<&mut (impl Read + use<>)> {
        self.write_gathered()?;
        self.file.rewind().map_err(|error| self.failed(error))?;
        Ok(&mut self.file)
    }

    /// Returns a reader of all bytes, from the first, that outlives the spool.
    ///
    /// # Errors
    /// When the temporary file can't be read.
    pub(crate) fn into_reader(mut self) -> Result<impl Read + Send + use<>> {
        self.write_gathered()?;
        self.file.rewind().map_err(|error| self.failed(error))?;
        Ok(self.file)
    }

    fn failed(&self, error: io::Error) -> Error {
        let folder = std::env::temp_dir();
        Error::store(format!("keeping {} in {} (TMPDIR names it)", self.what, folder.display()), error)
    }
}
