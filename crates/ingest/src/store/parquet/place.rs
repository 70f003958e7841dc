//! Where the files of a run are, and how they are written and read there.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::checksum::{CheckedFile, SummedFile, Sums};
use super::lock::refuse_link;
use crate::error::{Error, Result};

/// A new file, which is written from start to end.
pub(super) trait Target: Write + Send {
    /// Makes what was written durable. Nothing may be written afterwards.
    fn finish(&mut self) -> io::Result<()>;
}

/// A stored file.
pub(super) trait Source: Send {
    /// Returns its size in bytes.
    fn size(&self) -> io::Result<u64>;

    /// Fills `out` with the bytes from offset `at`. It is an error of the kind `UnexpectedEof` if there are fewer.
    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<()>;
}

/// Where the files of one run are.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In a folder.
    Folder(PathBuf),
}

impl Place {
    /// Begins a file, which must not exist yet.
    pub(super) fn create(&self, name: &str) -> Result<SummedFile> {
        match self {
            Self::Folder(folder) => create(&folder.join(name)),
        }
    }

    /// Opens a file, whose size must be that of `sums`.
    pub(super) fn open(&self, name: &str, sums: Sums) -> Result<CheckedFile> {
        match self {
            Self::Folder(folder) => open(folder.join(name), sums),
        }
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                fs::remove_file(&path).map_err(|error| Error::io(&path, error))
            }
        }
    }
}

/// Creates a file on the disk, which must not exist yet.
pub(super) fn create(path: &Path) -> Result<SummedFile> {
    let file = File::create_new(path).map_err(|error| Error::io(path, error))?;
    Ok(SummedFile::new(Box::new(file), path.to_owned()))
}

/// Opens a file on the disk, whose size must be that of `sums`.
pub(super) fn open(path: PathBuf, sums: Sums) -> Result<CheckedFile> {
    refuse_link(&path)?;
    let file = File::open(&path).map_err(|error| Error::io(&path, error))?;
    CheckedFile::new(Box::new(file), path, sums)
}

impl Target for File {
    fn finish(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Source for File {
    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|found| found.len())
    }

    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.read_exact(out)
    }
}
