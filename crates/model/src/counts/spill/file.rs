//! Where chunks of packed cells are kept: in memory as long as there is room, then in an unnamed temporary file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::error::{Error, Result};

/// Keeps chunks in memory or in a temporary file.
#[derive(Debug, Default)]
pub struct SpillFile {
    /// The number of bytes that may still be kept in memory.
    room: usize,
    /// The folder of the temporary file; the system's temporary folder if `None`.
    folder: Option<PathBuf>,
    file: Option<Arc<Mutex<File>>>,
    /// The length of the file, in bytes.
    end: u64,
}

/// The location of a chunk.
#[derive(Debug, Clone)]
pub(super) enum SpillPlace {
    /// In memory.
    Memory(Bytes),
    /// In the temporary file.
    File(InFile),
}

/// A chunk's place in the temporary file.
#[derive(Debug, Clone)]
pub(super) struct InFile {
    file: Arc<Mutex<File>>,
    at: u64,
    length: usize,
    crc32: u32,
}

impl SpillFile {
    /// Creates a store that keeps up to `room` bytes in memory and the rest in a file in `folder`.
    pub fn new(room: usize, folder: Option<PathBuf>) -> Self {
        Self { room, folder, ..Self::default() }
    }

    /// Stores a chunk and returns its location.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(super) fn keep(&mut self, bytes: Bytes) -> Result<SpillPlace> {
        if let Some(room) = self.room.checked_sub(bytes.len()) {
            self.room = room;
            return Ok(SpillPlace::Memory(bytes));
        }
        let file = self.file()?;
        let at = self.end;
        write_at(&file, at, &bytes).map_err(|error| self.failed(error))?;
        self.end += bytes.len() as u64;
        Ok(SpillPlace::File(InFile { file, at, length: bytes.len(), crc32: crc32fast::hash(&bytes) }))
    }

    fn file(&mut self) -> Result<Arc<Mutex<File>>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let made = match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let file = Arc::new(Mutex::new(made.map_err(|error| self.failed(error))?));
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    fn failed(&self, error: std::io::Error) -> Error {
        match &self.folder {
            Some(folder) => Error::store(format!("keeping counts in {}", folder.display()), error),
            None => {
                let folder = std::env::temp_dir();
                Error::store(format!("keeping counts in {} (TMPDIR names it)", folder.display()), error)
            }
        }
    }
}

fn write_at(file: &Mutex<File>, at: u64, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

impl SpillPlace {
    /// Returns the bytes of the chunk.
    ///
    /// # Errors
    /// When the temporary file can't be read, or its content differs from what was written.
    pub(super) fn bytes(&self) -> Result<Bytes> {
        match self {
            Self::Memory(bytes) => Ok(bytes.clone()),
            Self::File(place) => place.read().map(Bytes::from),
        }
    }
}

impl InFile {
    fn read(&self) -> Result<Vec<u8>> {
        let what = "reading counts back from a temporary file";
        let mut bytes = vec![0; self.length];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(self.at)).and_then(|_| file.read_exact(&mut bytes));
        drop(file);
        read.map_err(|error| Error::store(what, error))?;
        match crc32fast::hash(&bytes) == self.crc32 {
            true => Ok(bytes),
            false => Err(Error::store(what, "its content is not what was written (the disk may be damaged)")),
        }
    }
}
